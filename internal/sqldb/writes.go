package sqldb

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Write is a row that a statement of this process wrote, or rows of a table that its parameters do
// not identify.
type Write struct {
	Table  string
	Tenant id.Tenant
	ID     [16]byte // zero: some rows of the table
}

// IDParam returns the id in a parameter of a statement, if the parameter is an id of one kind.
type IDParam func(param any) (row [16]byte, ok bool)

// ParamOf returns the IDParam for ids of type T.
func ParamOf[T ~[16]byte]() IDParam {
	return func(param any) ([16]byte, bool) {
		v, ok := param.(T)
		return v, ok
	}
}

// maxWrites is how many rows of a transaction are reported one by one.
const maxWrites = 64

// writeWatch is what WatchWrites was called with.
type writeWatch struct {
	tables    map[string]IDParam
	committed func([]Write)
	texts     sync.Map // of []string: the watched tables that a statement writes, by its text
	textCount atomic.Int64
}

// WatchWrites has committed called with the rows of the given tables that transactions of this
// process have written, after each commit. It must not block. A row is identified by the parameters
// of its statement: by the tenant, and by the only one that is an id of the table's kind. Statements
// without a tenant as a parameter are not reported. It is called once, before other processes' or
// goroutines' work begins.
func (db *DB) WatchWrites(tables map[string]IDParam, committed func([]Write)) {
	db.watch.Store(&writeWatch{tables: tables, committed: committed})
}

// Wrote reports a write to the function of WatchWrites, as a statement does that writes the row. It is for
// rows that statements do not identify.
func (db *DB) Wrote(list ...Write) {
	w := db.watch.Load()
	if w == nil || len(list) == 0 {
		return
	}
	if db.tx == nil {
		w.committed(list)
		return
	}
	for _, one := range list {
		db.tx.writes.add(one)
	}
}

// WatchesWrites reports whether WatchWrites was called.
func (db *DB) WatchesWrites() bool { return db.watch.Load() != nil }

// writesOf returns what a statement writes in watched tables. It is called before the parameters are converted.
func (db *DB) writesOf(text string, args []any) []Write {
	w := db.watch.Load()
	if w == nil {
		return nil
	}
	tables := w.written(text)
	if len(tables) == 0 {
		return nil
	}
	i := slices.IndexFunc(args, func(a any) bool { _, ok := a.(id.Tenant); return ok })
	if i < 0 {
		return nil
	}
	list := make([]Write, len(tables))
	for n, table := range tables {
		list[n] = Write{Table: table, Tenant: args[i].(id.Tenant)}
		if param := w.tables[table]; param != nil {
			list[n].ID = onlyID(args, param)
		}
	}
	return list
}

// onlyID returns the id of a kind in the parameters, or zero if there are none or several.
func onlyID(args []any, param IDParam) (row [16]byte) {
	found := false
	for _, a := range args {
		v, ok := param(a)
		if !ok || found && v == row {
			continue
		}
		if found {
			return [16]byte{}
		}
		row, found = v, true
	}
	return row
}

// target finds the tables that a statement writes.
var target = regexp.MustCompile(`(?i)\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)`)

// written returns the watched tables that a statement writes.
func (w *writeWatch) written(text string) []string {
	if known, ok := w.texts.Load(text); ok {
		return known.([]string)
	}
	var tables []string
	for _, m := range target.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(m[1])
		if _, ok := w.tables[name]; ok && !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	if w.textCount.Add(1) <= maxTexts {
		w.texts.Store(strings.Clone(text), tables)
	}
	return tables
}

// writeList are the writes of a transaction, each once.
type writeList struct {
	rows  []Write
	known map[Write]bool // the rows, once there are more than fewWrites
	rest  []Write        // without ids: of the rows beyond maxWrites
}

// fewWrites is how many rows are compared one by one. Transactions that write the results of sends have many.
const fewWrites = 8

func (l *writeList) add(w Write) {
	whole := w
	whole.ID = [16]byte{}
	if slices.Contains(l.rest, whole) || l.has(w) {
		return
	}
	if len(l.rows) == maxWrites {
		l.rest = append(l.rest, whole)
		return
	}
	l.rows = append(l.rows, w)
	switch {
	case l.known != nil:
		l.known[w] = true
	case len(l.rows) > fewWrites:
		l.known = make(map[Write]bool, maxWrites)
		for _, row := range l.rows {
			l.known[row] = true
		}
	}
}

func (l *writeList) has(w Write) bool {
	if l.known != nil {
		return l.known[w]
	}
	return slices.Contains(l.rows, w)
}

func (l *writeList) all() []Write { return append(l.rows, l.rest...) }
