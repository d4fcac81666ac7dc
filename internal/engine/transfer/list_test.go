package transfer

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

func TestListsInACell(t *testing.T) {
	for _, c := range []struct {
		cell string
		want []string
	}{
		{"", nil}, {" , ,", nil}, {`"", "  "`, nil},
		{"a,b c, d ", []string{"a", "b c", "d"}},
		{`"a, b","c""d",e`, []string{"a, b", `c"d`, "e"}},
		{` "tag one" , "tag two" `, []string{"tag one", "tag two"}},
		{"\"two\nlines\",x", []string{"two\nlines", "x"}},
		{`c"d,e`, []string{`c"d`, "e"}},
		{`5" pipe,"best" buys,x`, []string{`5" pipe`, `"best" buys`, "x"}},
		{`"never closed,x`, []string{`"never closed`, "x"}},
		{`"a""`, []string{`"a""`}},
		{`"a`, []string{`"a`}}, {`"`, []string{`"`}}, {`"""a""",b`, []string{`"a"`, "b"}},
		{`"a",`, []string{"a"}},
	} {
		if got := splitList(c.cell); !slices.Equal(got, c.want) {
			t.Errorf("%q = %q, want %q", c.cell, got, c.want)
		}
	}
}

func FuzzListsInACell(f *testing.F) {
	for _, s := range []string{"a, b|c\"d|e", "\"|,|x", "a\n|\"\"", `"a" b|"c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list []string
		for v := range strings.SplitSeq(text, "|") {
			if v = strings.TrimSpace(v); v != "" {
				list = append(list, v)
			}
		}
		cell := joinList(list)
		if got := splitList(cell); !slices.Equal(got, list) {
			t.Errorf("%q is written as %q, and read as %q", list, cell, got)
		}
		if !strings.ContainsAny(cell, "\r\n") && len(list) > 0 { // other readers of CSV know the form
			if row, err := csv.NewReader(strings.NewReader(cell)).Read(); err != nil || !slices.Equal(row, list) {
				t.Errorf("%q is read as CSV as %q: %v", cell, row, err)
			}
		}
		for _, v := range splitList(text) {
			if v != strings.TrimSpace(v) || v == "" {
				t.Errorf("%q has the member %q", text, v)
			}
		}
	})
}
