package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// To fold a text, and to take it out of a JSON object, costs far more than to
// compare it. So a text that several conditions of a tree compare is folded once
// for each row: around the conditions stands a subquery of one row, whose columns
// are the folded texts. It stands around no more than it must, since what is
// within it cannot be served by an index or a join.

// folded is a text of contacts that is compared whatever its case.
type folded struct {
	raw     string   // the expression
	name    string   // of the column that holds it folded
	uses    int      // conditions of the tree that compare it
	needles []string // what they compare it with, folded
}

// foldedTexts are those of a tree, by expression. A first rendering counts them.
type foldedTexts struct {
	texts  map[string]*folded
	counts bool // this is the first rendering
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

// fold folds an expression, as far as the needles make it necessary.
func (b *builder) fold(x string, needles []string) string {
	x = b.db.Lower(x)
	if from, to := variants(needles); from != "" {
		x = "translate(" + x + ", " + b.arg(from) + ", " + b.arg(to) + ")"
	}
	return x
}

// combined renders conditions and joins them. Texts that nothing beyond these
// conditions compares are folded here.
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

// foldedOnce renders conditions that compare folded texts by their names. The
// limit keeps databases from writing the expressions in the places of the names.
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
	if b.db.Dialect() == sqldb.SQLite { // LIKE would fold both once more
		return "instr(" + x + ", " + b.arg(needle) + ") > 0"
	}
	return x + " LIKE " + b.arg(pattern(Contains, needle)) + ` ESCAPE '\'`
}
