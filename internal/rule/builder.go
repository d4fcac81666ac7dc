package rule

import (
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// leaf is a condition that is no group. Both methods mean the same: sql is a
// predicate over the row c of contact, where $1 is the tenant; within a negation
// it is never null.
type leaf interface {
	Condition
	sql(b *builder) string
	match(env Env, s *Subject) bool
}

// builder renders a tree for one database.
type builder struct {
	db       *sqldb.DB
	env      Env
	arg      func(value any) string // takes a parameter and returns its name, "$7"
	denied   bool                   // within a negation, where null is not as good as false
	activity bool                   // set by what reads contact_activity a
	leaves   int                    // rendered so far, those of segments included
	err      error

	texts   foldedTexts
	pending map[*folded]int // compared by name in what is rendered, and not yet folded around it
}

// at takes a time as a parameter.
func (b *builder) at(t time.Time) string { return b.arg(sqldb.Micros(t)) }

// place takes a parameter and returns its number.
func (b *builder) place(value any) int {
	n, err := strconv.Atoi(strings.TrimPrefix(b.arg(value), "$"))
	if err != nil {
		panic("rule: a parameter that has no number: " + err.Error())
	}
	return n
}

// in tests, behind an expression of text or identifiers, whether it is one of list.
func in[T ~string | ~[16]byte](b *builder, list []T) string {
	if len(list) == 1 {
		return " = " + b.arg(list[0]) + " "
	}
	return b.db.In(b.place(sqldb.List(b.db, list)))
}

// unless renders a predicate, or the negation of one.
func (b *builder) unless(negative bool, render func() string) string {
	if !negative {
		return render()
	}
	denied := b.denied
	b.denied = true
	defer func() { b.denied = denied }()
	return not(render())
}

// not negates a predicate that is never null.
func not(predicate string) string { return "NOT (" + predicate + ")" }

// never and always are predicates.
const (
	never  = "1 = 0"
	always = "1 = 1"
)
