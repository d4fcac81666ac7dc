package sqldb

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/ncruces/go-sqlite3"
)

// InRanges returns the condition that an expression is in one of the ranges whose bounds are passed
// as parameter $n by Bounds: from the first bound to before the second, from the third to before
// the fourth, and so on. Many ranges cost little more than one. The type is that of the expression:
// BIGINT, DOUBLE PRECISION or TEXT.
func (db *DB) InRanges(expr string, n int, typ string) string {
	if db.dialect == Postgres {
		return fmt.Sprintf("width_bucket(%s, $%d::%s[]) %% 2 = 1", expr, n, typ)
	}
	return fmt.Sprintf("in_ranges(%s, $%d)", expr, n)
}

// Bounds returns the parameter of InRanges: an even number of bounds in ascending order.
func Bounds[T int64 | float64 | string](db *DB, list []T) any {
	if db.dialect == Postgres {
		return slices.Clone(list)
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic("sqldb: bounds cannot be encoded: " + err.Error())
	}
	return string(b)
}

// registerInRanges adds the function of InRanges to a connection of SQLite. It keeps the decoded
// bounds of the last call, since a query passes the same ones for each row.
func registerInRanges(c *sqlite3.Conn) error {
	var last string
	var texts []string
	var numbers []float64 // exact for microseconds
	return c.CreateFunction("in_ranges", 2, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if string(arg[1].RawText()) != last {
			last = arg[1].Text()
			texts, numbers = nil, nil
			if json.Unmarshal([]byte(last), &numbers) != nil {
				numbers = nil
				_ = json.Unmarshal([]byte(last), &texts)
			}
		}
		var below int // number of bounds up to the value
		switch arg[0].Type() {
		case sqlite3.NULL:
			ctx.ResultNull()
			return
		case sqlite3.TEXT:
			v := arg[0].Text()
			below = sort.Search(len(texts), func(i int) bool { return texts[i] > v })
		default:
			v := arg[0].Float()
			below = sort.Search(len(numbers), func(i int) bool { return numbers[i] > v })
		}
		ctx.ResultBool(below%2 == 1)
	})
}
