package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Folding a text, and extracting it from a JSON object, costs far more than comparing it. A text
// that several conditions of a tree compare is therefore folded once per row: the conditions are
// wrapped in a subquery of one row whose columns are the folded texts. The subquery wraps as few
// conditions as possible, because an index or a join cannot serve conditions inside it.

// folded is a text of contacts that is compared ignoring case.
type folded struct {
	raw     string   // the expression
	name    string   // of the subquery's column
	uses    int      // number of conditions that compare it
	needles []string // the texts it is compared with, folded
}

// foldedTexts are the folded texts of a tree, by expression. They are counted by a first rendering.
type foldedTexts struct {
	texts  map[string]*folded
	counts bool // true during the first rendering
}

// folded returns the folded text of an expression over contacts.
func (b *builder) folded(raw string, needles []string) string {
	f := b.texts.texts[raw]
	switch {
	case b.texts.counts:
		if f == nil {
			f = &folded{raw: raw, name: fmt.Sprintf("folded_%d", len(b.texts.texts))}
			b.texts.texts[raw] = f
		}
		f.uses++
		f.needles = append(f.needles, needles...)
		return b.fold(raw, needles)
	case f == nil || f.uses < 2:
		return b.fold(raw, needles)
	}
	b.pending[f]++
	return f.name
}

// fold folds an expression in ASCII, and in the other letters that the needles contain.
func (b *builder) fold(x string, needles []string) string {
	x = b.db.Lower(x)
	if from, to := variants(needles); from != "" {
		x = "translate(" + x + ", " + b.arg(from) + ", " + b.arg(to) + ")"
	}
	return x
}

// combined renders and joins conditions. Texts that only these conditions compare are folded here.
func (b *builder) combined(logic Logic, conditions []func() string) string {
	outer := b.pending
	defer func() { b.pending = outer }()
	all := map[*folded]int{}
	tests := make([]string, len(conditions))
	use := make([]map[*folded]int, len(conditions))
	for i, render := range conditions {
		b.pending = map[*folded]int{}
		tests[i], use[i] = render(), b.pending
		for f, n := range b.pending {
			all[f] += n
		}
	}
	var here []*folded
	for f, n := range all {
		if n == f.uses {
			here = append(here, f)
		} else {
			outer[f] += n
		}
	}
	if len(here) == 0 {
		return joined(tests, logic)
	}
	var within, rest []string
	for i, test := range tests {
		if slices.ContainsFunc(here, func(f *folded) bool { return use[i][f] > 0 }) {
			within = append(within, test)
		} else {
			rest = append(rest, test)
		}
	}
	return joined(append(rest, b.foldedOnce(here, joined(within, logic))), logic)
}

// foldedOnce wraps conditions that compare folded texts by name. LIMIT 1 prevents the databases
// from flattening the subquery, which would duplicate the expressions.
func (b *builder) foldedOnce(texts []*folded, conditions string) string {
	slices.SortFunc(texts, func(a, b *folded) int { return strings.Compare(a.name, b.name) })
	columns := make([]string, len(texts))
	for i, f := range texts {
		columns[i] = b.fold(f.raw, f.needles) + " AS " + f.name
	}
	return "EXISTS (SELECT 1 FROM (SELECT " + strings.Join(columns, ", ") + " LIMIT 1) AS folded WHERE " + conditions + ")"
}

// contains tests whether a folded text contains a needle.
func (b *builder) contains(x, needle string) string {
	if b.db.Dialect() == sqldb.SQLite { // SQLite's LIKE would fold both again
		return "instr(" + x + ", " + b.arg(needle) + ") > 0"
	}
	return x + " LIKE " + b.arg(pattern(Contains, needle)) + ` ESCAPE '\'`
}
