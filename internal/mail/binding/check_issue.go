package binding

import (
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
)

// location is a position in a binding. It is formatted only for issues. Numbers count from 1; 0
// means none.
type location struct {
	base    string // for a position outside of a binding
	slot    string // slots.<slot>
	part    string // of the slot: its strategy, its block_id
	section string // sections.<section>
	row     int    // [row-1]
	name    string // parameters.<name>, or .<name> of a row
	element int    // [element-1] of a list
}

// path formats the location for callers.
func (p location) path() string {
	b := append(make([]byte, 0, 64), p.base...)
	step := func(name string) {
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, clip.Ellipsis(name, maxQuoted)...)
	}
	if p.slot != "" {
		step("slots")
		step(p.slot)
	}
	if p.part != "" {
		step(p.part)
	}
	if p.section != "" {
		step("sections")
		step(p.section)
		if p.row > 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(p.row-1), 10), ']')
		}
	}
	if p.name != "" {
		if p.section == "" {
			step("parameters")
		}
		step(p.name)
	}
	if p.element > 0 {
		b = append(strconv.AppendInt(append(b, '['), int64(p.element-1), 10), ']')
	}
	return string(b)
}

// issue adds a problem. The first %s of the fix is replaced by the path.
func (c *checker) issue(at location, code IssueCode, message, fix string) {
	if len(c.issues) >= maxIssues {
		return
	}
	path := at.path()
	c.issues = append(c.issues, Issue{
		Path:    path,
		Code:    code,
		Message: message,
		Fix:     strings.Replace(fix, "%s", "'"+path+"'", 1),
	})
}

// invalid adds the problem of an invalid value, and returns false.
func (c *checker) invalid(at location, message, fix string) bool {
	c.issue(at, InvalidType, message, fix)
	return false
}

func (c *checker) shape(path, message, fix string) {
	c.issue(location{base: path}, Shape, message, fix)
}

// unknown adds problems for the undeclared names of m, in order.
func (c *checker) unknown(code IssueCode, at location, m map[string]any, declared []string, s scope) {
	known := declaredNames(s.also, code)
	for _, n := range declared {
		known[n] = true
	}
	var strange []string
	for n := range m {
		if !known[n] {
			strange = append(strange, n)
		}
	}
	slices.Sort(strange)
	for _, n := range strange[:min(len(strange), maxIssues)] {
		at := at
		switch {
		case code == UnknownSlot:
			at.slot = n
		case code == UnknownSection:
			at.section = n
		default:
			at.name = n
		}
		c.issue(at, code, s.declares+" does not declare it", unknownNameFix(at.path(), n, declared))
	}
}

// unknownNameFix returns the fix for an undeclared name.
func unknownNameFix(path, name string, declared []string) string {
	switch near := nearest(name, declared); {
	case near != "":
		return "Rename '" + path + "' to '" + near + "'"
	case len(declared) == 0:
		return "Remove '" + path + "'"
	}
	return "Remove '" + path + "' or use one of: " + listNames(declared)
}

// listNames lists names, up to a readable number.
func listNames(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}

// nearest returns the most similar declared name, or "".
func nearest(name string, declared []string) string {
	if len(name) > 64 {
		return ""
	}
	plain := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, d := range declared {
		if d == plain || strings.ReplaceAll(d, "_", "") == strings.ReplaceAll(plain, "_", "") {
			return d
		}
	}
	best, least := "", min(3, 1+len(plain)/3) // the number of edits that is too large
	for _, d := range declared {
		if n := edits(plain, d, least); n < least {
			best, least = d, n
		}
	}
	return best
}

// edits returns how many bytes must be added, removed or replaced to turn a into b, or most if it
// is at least that many.
func edits(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, smallest := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			smallest = min(smallest, cost)
		}
		if smallest >= most {
			return most
		}
	}
	return min(row[len(b)], most)
}

// maxQuoted limits the characters of a caller's text in a message.
const maxQuoted = 80
