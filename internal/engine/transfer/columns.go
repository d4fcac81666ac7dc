package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// column is one column of a file and the field it maps to.
type column struct {
	Name   string `json:"name"`
	Key    string `json:"key,omitempty"`    // what options call it; empty in jobs of earlier versions: the name
	Target string `json:"target,omitempty"` // empty: left out
	By     mapper `json:"by,omitempty"`     // empty: by nothing, and left out
	Form   form   `json:"form,omitempty"`   // that the caller gave
}

// mapper is what decided where a column goes.
type mapper string

const (
	byMapping mapper = "mapping"    // the request's
	byName    mapper = "name"       // the column's, which is that of a field
	byMemory  mapper = "remembered" // the last import of a file with the same header
	byContent mapper = "content"    // addresses, in a file of which no other column has them
)

// targets resolves the fields that columns can map to.
type targets struct {
	fields field.Catalog
	types  contact.Types
}

// The targets besides text columns, custom fields and subscriptions.
const (
	emailTarget   = "email"
	tagsTarget    = "tags"
	stageTarget   = "stage_id"
	statusTarget  = "global_status"
	blockTarget   = "do_not_contact"
	customPrefix  = "custom_fields."
	consentPrefix = "subscriptions."
)

// newColumns returns the columns of a header. Options call a column by its name, or by its position if others have the name
// as well, or if it may be taken for the position of one of these: "#3".
func newColumns(names []string) []column {
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{Name: name, Key: name}
		_, position := positionOf(name, len(names))
		if count[name] > 1 || position && len(count) < len(names) {
			columns[i].Key = positionKey(i)
		}
	}
	return columns
}

// key returns what options call the column.
func (c column) key() string { return cmp.Or(c.Key, c.Name) }

func positionKey(i int) string { return "#" + strconv.Itoa(i+1) }

// positionOf returns the index of the column whose position a key is, among n columns.
func positionOf(key string, n int) (index int, ok bool) {
	position, ok := strings.CutPrefix(key, "#")
	if !ok {
		return 0, false
	}
	at, err := strconv.Atoi(position)
	return at - 1, err == nil && at >= 1 && at <= n && key == positionKey(at-1)
}

// ownColumns returns how many columns of a header are not those that an errors file has behind the others.
func ownColumns(names []string) int {
	if own := len(names) - len(errorColumns); own > 0 && slices.Equal(names[own:], errorColumns) {
		return own
	}
	return len(names)
}

// namesOf returns the names of columns.
func namesOf(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// columnsOf returns the indexes of the columns that options call by a key: the one that is called by this position, or all
// with the name, or the one at the position.
func columnsOf(columns []column, key string) (found []int) {
	at, position := positionOf(key, len(columns))
	if position && columns[at].key() == key {
		return []int{at}
	}
	for i, c := range columns {
		if c.Name == key {
			found = append(found, i)
		}
	}
	if position && found == nil {
		found = append(found, at)
	}
	return found
}

// assigned returns the targets that a mapping gives to columns, by their indexes. A position goes before a name.
func assigned(columns []column, mapping map[string]string, p *problems) map[int]string {
	targets, byPosition := map[int]string{}, map[int]bool{}
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		found := columnsOf(columns, key)
		if found == nil {
			p.Add("options.mapping."+key, "the file has no such column")
		}
		for _, i := range found {
			named := columns[i].Name == key
			if named && byPosition[i] {
				continue
			}
			targets[i] = mapping[key]
			byPosition[i] = byPosition[i] || !named
		}
	}
	return targets
}

// of maps columns to targets: by the mapping, or else as before, or else by name. Unknown columns are ignored.
func (t targets) of(names []string, mapping map[string]string, before memory, p *problems) []column {
	columns, own := newColumns(names), ownColumns(names)
	given := assigned(columns, mapping, p)
	for i, was := range before.of(columns) {
		c := &columns[i]
		target, mapped := given[i]
		switch {
		case mapped:
			c.Target, c.By = target, byMapping
			if why := t.refusal(target); why != "" {
				p.Add("options.mapping."+c.key(), why)
				c.Target = ""
			}
		case was.known && t.usable(was.target, mapping):
			c.Target, c.By = was.target, byMemory
		case i < own:
			if c.Target = t.named(c.Name); c.Target != "" {
				c.By = byName
			}
		}
	}
	first := map[string]string{}
	for _, c := range columns {
		if before, twice := first[c.Target]; twice && c.Target != "" && c.Target != tagsTarget && c.Target != statusTarget {
			p.Add("options.mapping."+c.key(), fmt.Sprintf("%s is what the column %q is about already", c.Target, before))
			continue
		}
		first[c.Target] = c.key()
	}
	return columns
}

// hasAddress reports whether a column maps to the address.
func hasAddress(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.Target == emailTarget })
}

// noAddress is the problem of a file of which no column is known to have the addresses.
var noAddress = fault.Field{Path: "options.mapping", Message: "no column is email"}

// Limits of the search for the column of addresses.
const (
	searchedRows = 200
	searchedPart = 0.8 // of a column's cells that are not empty
)

// findAddress maps a column to the address if it is the only one that is full of addresses, among those of which
// nothing else is known. It reads the first rows.
func findAddress(columns []column, rows *Rows) error {
	own := ownColumns(namesOf(columns))
	filled, addresses := make([]float64, own), make([]float64, own)
	for range searchedRows {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("look for the column of addresses: %w", err)
		}
		for i, cell := range row.Cells[:min(len(row.Cells), own)] {
			if cell = trimmed(unescapeFormula(cell)); cell == "" || row.Flaw != "" || columns[i].By != "" {
				continue
			}
			filled[i]++
			if _, err := address.Normalize(bareAddress(cell)); err == nil {
				addresses[i]++
			}
		}
	}
	best, only := -1, false
	for i := range addresses {
		if addresses[i] == 0 || addresses[i] < searchedPart*filled[i] {
			continue
		}
		switch {
		case best < 0 || addresses[i] > addresses[best]:
			best, only = i, true
		case addresses[i] == addresses[best]:
			only = false
		}
	}
	if only {
		columns[best].Target, columns[best].By = emailTarget, byContent
	}
	return nil
}

// refusal returns why a column cannot map to a target, or "".
func (t targets) refusal(target string) string {
	key, custom := strings.CutPrefix(target, customPrefix)
	typ, consent := strings.CutPrefix(target, consentPrefix)
	switch {
	case custom:
		if _, ok := t.fields[key]; !ok {
			return "not a declared custom field"
		}
	case consent:
		if !slices.ContainsFunc(t.types.EmailTypes, func(e contact.EmailType) bool { return e.Key == typ }) {
			return "there is no such email type"
		}
	case target != "" && !t.plain(target):
		return "is not a field that can be imported; custom fields are custom_fields.<key>, consent is subscriptions.<type_key>"
	}
	return ""
}

// plain reports whether a target is a built-in field.
func (t targets) plain(target string) bool {
	_, text := contact.ParseText(target)
	return text || slices.Contains([]string{emailTarget, tagsTarget, stageTarget, statusTarget, blockTarget}, target)
}

// statusColumns are what other systems call a column of statuses.
var statusColumns = []string{"status", "subscriber_status", "subscription_status"}

// named returns the target for the name of a column: a built-in field, ignoring case and with
// spaces for underscores; else a custom field; else the status for a column that is called so, since a refusal must
// not get lost on the way from another system; else "".
func (t targets) named(name string) string {
	if name == "" || t.refusal(name) == "" {
		return name
	}
	key := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(norm.NFKC.String(name)))
	if t.plain(key) {
		return key
	}
	if _, ok := t.fields[key]; ok && !slices.Contains(contact.ColumnNames(), key) {
		return customPrefix + key
	}
	if slices.Contains(statusColumns, key) {
		return statusTarget
	}
	return ""
}

// kindOf returns what the forms of a column that maps to a target are about.
func kindOf(target string, fields field.Catalog) kind {
	if key, custom := strings.CutPrefix(target, customPrefix); custom {
		switch fields[key].Type {
		case field.Date, field.DateTime:
			return dateKind
		case field.Number, field.Currency:
			return numberKind
		case field.Boolean:
			return booleanKind
		}
		return plainKind
	}
	if target == blockTarget || strings.HasPrefix(target, consentPrefix) {
		return booleanKind
	}
	return plainKind
}

// setForms adds the forms that the caller gave.
func (t targets) setForms(columns []column, forms map[string]string, p *problems) {
	byPosition := map[int]bool{}
	for _, key := range slices.Sorted(maps.Keys(forms)) {
		path := "options.forms." + key
		found := columnsOf(columns, key)
		if found == nil {
			p.Add(path, "the file has no such column")
			continue
		}
		fits := false
		for _, i := range found {
			k := kindOf(columns[i].Target, t.fields)
			f := k.parseForm(forms[key])
			if fits = fits || f != ""; f != "" && !(columns[i].Name == key && byPosition[i]) {
				columns[i].Form = f
				byPosition[i] = columns[i].Name != key
			}
		}
		if !fits {
			p.Add(path, kindOf(columns[found[0]].Target, t.fields).choices())
		}
	}
}
