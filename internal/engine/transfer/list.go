package transfer

import (
	"strings"
	"unicode"
)

// joinList joins members with commas, as a row of RFC 4180: a member that holds a comma, a quote or a line end
// is quoted. So is one that spaces begin or end, which are trimmed elsewhere.
func joinList(list []string) string {
	quoted := make([]string, len(list))
	for i, v := range list {
		if v == "" || strings.ContainsAny(v, "\",\r\n") || v != strings.TrimSpace(v) {
			v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
		quoted[i] = v
	}
	return strings.Join(quoted, ",")
}

// splitList is the reverse of joinList. Spaces around members and empty members are left out. A quote that is not
// closed before a comma or the end is part of its member, since people write quotes in plain lists too.
func splitList(cell string) []string {
	var out []string
	for rest, more := cell, true; more; {
		var member string
		member, rest, more = cutMember(rest)
		if member = strings.TrimSpace(member); member != "" {
			out = append(out, member)
		}
	}
	return out
}

// cutMember returns the first member of a list, what follows its comma, and whether there is one.
func cutMember(list string) (member, rest string, more bool) {
	quoted, opened := strings.CutPrefix(strings.TrimLeftFunc(list, unicode.IsSpace), `"`)
	if !opened {
		return strings.Cut(list, ",")
	}
	for at := 0; ; {
		i := strings.IndexByte(quoted[at:], '"')
		if i < 0 {
			return strings.Cut(list, ",")
		}
		at += i + 1
		if strings.HasPrefix(quoted[at:], `"`) { // two quotes stand for one
			at++
			continue
		}
		after := strings.TrimLeftFunc(quoted[at:], unicode.IsSpace)
		if after != "" && after[0] != ',' {
			return strings.Cut(list, ",")
		}
		member = strings.ReplaceAll(quoted[:at-1], `""`, `"`)
		return member, strings.TrimPrefix(after, ","), after != ""
	}
}
