package rule

import (
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// source is the rows x of a table that record one kind of event; some belong to a contact.
type source struct {
	from     string // "hit AS x"
	where    string // restricts the rows to tenant $1 and to the leaf's conditions
	contact  string // the contact's column; empty: x.contact_id
	owner    string // the expression it equals; empty: c.id
	distinct string // the expression that is counted; empty: rows
	having   string // condition on a contact's rows together, in addition to a count

	// broad means that each contact has few of the rows, but all contacts together many, so that
	// looking them up for each contact is cheaper.
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

// condition is the meaning of a leaf about history: the contact has such rows, or has none.
type condition struct {
	trace source
	deny  bool
	known bool // constant: true, or false if denied
}

// unless negates a if deny.
func (a condition) unless(deny bool) condition {
	a.deny = a.deny != deny
	return a
}

// occurred requires that a contact has such rows, as many as count says.
func (b *builder) occurred(t source, count *Count) condition {
	switch {
	case count == nil, count.Operator == AtLeast && count.N == 1:
		return condition{trace: t}
	case count.Operator == AtLeast && count.N <= 0:
		return condition{known: true}
	case count.N <= 0: // at most 0 or exactly 0
		return condition{trace: t, deny: true}
	}
	compare := map[CountOperator]string{AtLeast: " >= ", AtMost: " > ", Exactly: " = "}[count.Operator]
	return condition{trace: t.with(t.number() + compare + b.arg(count.N)), deny: count.Operator == AtMost}
}

// answer renders a condition.
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

// has renders the test that a contact has such rows.
//
// PostgreSQL plans EXISTS as the cheapest kind of join, while IN that is negated, or is one of
// several alternatives, is scanned row by row when it is too large to hash. SQLite executes what is
// written: EXISTS looks up each contact, and IN reads all rows once, even if only a page of
// contacts is wanted.
func (b *builder) has(t source) string {
	from := t.from
	if b.env.Paged {
		t.broad, from = true, b.ofContact(t)
	}
	rows := " FROM " + from + " WHERE " + t.where
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

// ofContact returns the rows of t that belong to contact c, as what t is selected from. They are read by the index that
// begins with the contact: a planner that knows little of the rows might read those of a time or a name instead, of
// all contacts for each one of the page. So nothing else may be compared within the subquery.
func (b *builder) ofContact(t source) string {
	table, also := strings.TrimSuffix(t.from, " AS x"), ""
	switch table {
	case "journal":
		also = ofContacts
	case "hit", "outbox":
	default: // the key begins with the contact, or with what it is asked about
		return t.from
	}
	if t.contact != "" || b.db.Distributed() { // Citus cannot plan the subquery
		return t.from
	}
	return "(SELECT * FROM " + table + " WHERE tenant_id = $1 AND contact_id = c.id" + also + b.db.Fence() + ") AS x"
}

// broadly is the length of a window from which on looking up each contact is cheaper on SQLite than
// reading the rows of all contacts.
const broadly = 60 * 24 * time.Hour

// broad reports whether the window contains a large part of all rows. PostgreSQL estimates that
// itself, except for counts, which it would compute for all contacts: so it is true there for a
// window without a beginning.
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
