package rule

import (
	"strconv"

	"packetboat/internal/sqldb"
)

// trace is what history keeps of one kind of event: rows x of a table, some of
// which are a contact's.
type trace struct {
	from     string // "hit AS x"
	where    string // holds the rows to the tenant, $1, and to what is asked
	contact  string // the column with the contact; empty: x.contact_id
	owner    string // what it is compared with; empty: c.id
	distinct string // what is counted; empty: rows
	having   string // asked of a contact's rows together, besides a count

	// once says that a contact has few of the rows, and that all contacts'
	// rows are many: to look up each contact is less work.
	once bool
}

func (t trace) column() string {
	if t.contact == "" {
		return "x.contact_id"
	}
	return t.contact
}

func (t trace) key() string {
	if t.owner == "" {
		return "c.id"
	}
	return t.owner
}

func (t trace) number() string {
	if t.distinct == "" {
		return "COUNT(*)"
	}
	return "COUNT(DISTINCT " + t.distinct + ")"
}

// did asks for contacts that have such rows; how many, when count says so.
func (b *builder) did(t trace, count *Count) string {
	switch {
	case count == nil, count.Operator == AtLeast && count.N == 1:
		return b.has(t)
	case count.Operator == AtLeast && count.N <= 0:
		return always
	case count.Operator == AtLeast:
		return b.has(t.with(t.number() + " >= " + strconv.Itoa(count.N)))
	case count.N <= 0: // at most or exactly none
		return not(b.has(t))
	case count.Operator == AtMost:
		return not(b.has(t.with(t.number() + " > " + strconv.Itoa(count.N))))
	}
	return b.has(t.with(t.number() + " = " + strconv.Itoa(count.N)))
}

func (t trace) with(having string) trace {
	if t.having != "" {
		having = t.having + " AND " + having
	}
	t.having = having
	return t
}

// has asks for contacts that have such rows. PostgreSQL may choose how to go
// about it: EXISTS becomes a join of whatever kind is cheapest, while a set that
// is negated or one of several alternatives would be gone through row by row
// once it is too large to hash. SQLite always does what is written: it looks up
// each contact for EXISTS, and reads the rows once for IN.
func (b *builder) has(t trace) string {
	rows := " FROM " + t.from + " WHERE " + t.where
	if t.having == "" && (t.once || b.db.Dialect() == sqldb.Postgres) {
		return "EXISTS (SELECT 1" + rows + " AND " + t.column() + " = " + t.key() + ")"
	}
	set := "SELECT " + t.column() + " AS whose" + rows + " AND " + t.column() + " IS NOT NULL"
	if t.having != "" {
		set += " GROUP BY " + t.column() + " HAVING " + t.having
	}
	if b.db.Dialect() == sqldb.Postgres {
		return "EXISTS (SELECT 1 FROM (" + set + ") AS h WHERE h.whose = " + t.key() + ")"
	}
	return t.key() + " IN (" + set + ")"
}
