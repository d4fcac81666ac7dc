package rule

import (
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// leaf is a condition that is no group. Its methods are equivalent: sql renders a predicate over
// row c of contact, where $1 is the tenant, which is never NULL within a negation; match evaluates
// the same in memory.
type leaf interface {
	Condition
	sql(b *builder) string
	match(env Env, s *Subject) bool
}

// builder renders a tree as SQL for one dialect.
type builder struct {
	db       *sqldb.DB
	env      Env
	arg      func(value any) string // adds a parameter and returns its name, "$7"
	denied   bool                   // within a negation, where NULL must become false
	activity bool                   // set if a predicate reads contact_activity a
	leaves   int                    // rendered so far, including those of segments
	err      error

	texts   foldedTexts
	pending map[*folded]int // texts used by name in what is rendered, whose subquery has yet to be added
}

// at adds a time as a parameter.
func (b *builder) at(t time.Time) string { return b.arg(sqldb.Micros(t)) }

// place adds a parameter and returns its number.
func (b *builder) place(value any) int {
	n, err := strconv.Atoi(strings.TrimPrefix(b.arg(value), "$"))
	if err != nil {
		panic("rule: a parameter without a number: " + err.Error())
	}
	return n
}

// in renders the test that the preceding expression, of text or ids, is in list.
func in[T ~string | ~[16]byte](b *builder, list []T) string {
	if len(list) == 1 {
		return " = " + b.arg(list[0]) + " "
	}
	return b.db.In(b.place(sqldb.List(b.db, list)))
}

// unless renders a predicate, negated if negative.
func (b *builder) unless(negative bool, render func() string) string {
	if !negative {
		return render()
	}
	denied := b.denied
	b.denied = true
	defer func() { b.denied = denied }()
	return not(render())
}

// not negates a predicate that is never NULL.
func not(predicate string) string { return "NOT (" + predicate + ")" }

// never and always are predicates.
const (
	never  = "1 = 0"
	always = "1 = 1"
)
