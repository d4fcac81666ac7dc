package rule

import (
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// source is what history keeps of one kind of event: rows x of a table, some of
// which are a contact's.
type source struct {
	from     string // "hit AS x"
	where    string // holds the rows to the tenant, $1, and to what is asked
	contact  string // the column with the contact; empty: x.contact_id
	owner    string // what it is compared with; empty: c.id
	distinct string // what is counted; empty: rows
	having   string // asked of a contact's rows together, besides a count

	// broad says that a contact has few of the rows, and that all contacts'
	// rows are many: to look up each contact is less work.
	broad bool
}

func (t source) column() string {
	if t.contact == "" {
		return "x.contact_id"
	}
	return t.contact
}

func (t source) key() string {
	if t.owner == "" {
		return "c.id"
	}
	return t.owner
}

func (t source) number() string {
	if t.distinct == "" {
		return "COUNT(*)"
	}
	return "COUNT(DISTINCT " + t.distinct + ")"
}

func (t source) with(having string) source {
	if t.having != "" {
		having = t.having + " AND " + having
	}
	t.having = having
	return t
}

// condition is what a leaf about history comes to: whether a contact has a trace, or
// has none.
type condition struct {
	trace source
	deny  bool
	known bool // without asking: everybody has, or nobody, where it is denied
}

// unless is a, or its opposite.
func (a condition) unless(deny bool) condition {
	a.deny = a.deny != deny
	return a
}

// occurred asks for contacts that have such rows; how many, when count says so.
func (b *builder) occurred(t source, count *Count) condition {
	switch {
	case count == nil, count.Operator == AtLeast && count.N == 1:
		return condition{trace: t}
	case count.Operator == AtLeast && count.N <= 0:
		return condition{known: true}
	case count.N <= 0: // at most or exactly none
		return condition{trace: t, deny: true}
	}
	compare := map[CountOperator]string{AtLeast: " >= ", AtMost: " > ", Exactly: " = "}[count.Operator]
	return condition{trace: t.with(t.number() + compare + b.arg(count.N)), deny: count.Operator == AtMost}
}

// answer renders what a leaf asks.
func (b *builder) answer(a condition) string {
	holds := always
	if !a.known {
		holds = b.has(a.trace)
	}
	if a.deny {
		return not(holds)
	}
	return holds
}

// has asks for contacts that have such rows.
//
// PostgreSQL may choose how to go about it: EXISTS becomes a join of whatever
// kind is cheapest, while a set that is negated, or one of several alternatives,
// would be gone through row by row once it is too large to hash. SQLite does what
// is written: it looks up each contact for EXISTS, and reads all rows once for
// IN, even where only a page of contacts is wanted.
func (b *builder) has(t source) string {
	rows := " FROM " + t.from + " WHERE " + t.where
	group := ""
	if t.having != "" {
		group = " GROUP BY " + t.column() + " HAVING " + t.having
	}
	if t.broad || t.having == "" && b.db.Dialect() == sqldb.Postgres {
		return "EXISTS (SELECT 1" + rows + " AND " + t.column() + " = " + t.key() + group + ")"
	}
	set := "SELECT " + t.column() + " AS whose" + rows + " AND " + t.column() + " IS NOT NULL" + group
	if b.db.Dialect() == sqldb.Postgres {
		return "EXISTS (SELECT 1 FROM (" + set + ") AS h WHERE h.whose = " + t.key() + ")"
	}
	return t.key() + " IN (" + set + ")"
}

// broadly is how far a window reaches back from which on SQLite has less work
// with looking up the contacts one by one than with reading what all of them did.
const broadly = 60 * 24 * time.Hour

// broad reports whether the window holds much of what ever happened. PostgreSQL
// judges that itself, but for counts, of which it would make one for everybody:
// those it is spared where nothing limits them.
func (b *builder) broad(w *Window) bool {
	from, to := w.bounds(b.env)
	if b.db.Dialect() == sqldb.Postgres {
		return from.IsZero()
	}
	if to.IsZero() || to.After(b.env.Now) {
		to = b.env.Now
	}
	return to.Sub(from) > broadly
}
