package sqldb

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/ncruces/go-sqlite3"
)

// InRanges tests whether an expression lies in one of the ranges whose bounds
// are passed as parameter $n by Bounds: from the first bound to before the
// second, from the third to before the fourth, and so on. Many ranges cost
// little more than one. The type is that of the expression: BIGINT, DOUBLE
// PRECISION or TEXT.
func (db *DB) InRanges(expr string, n int, typ string) string {
	if db.dialect == Postgres {
		return fmt.Sprintf("width_bucket(%s, $%d::%s[]) %% 2 = 1", expr, n, typ)
	}
	return fmt.Sprintf("in_ranges(%s, $%d)", expr, n)
}

// Bounds is the parameter of InRanges: bounds in ascending order, an even number
// of them.
func Bounds[T int64 | float64 | string](db *DB, list []T) any {
	if db.dialect == Postgres {
		return slices.Clone(list)
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic("sqldb: bounds that JSON cannot hold: " + err.Error())
	}
	return string(b)
}

// inRanges is InRanges' function of SQLite. A connection remembers the bounds
// it saw last, because a query asks each row with the same.
func inRanges(c *sqlite3.Conn) error {
	var last string
	var texts []string
	var numbers []float64 // microseconds fit
	return c.CreateFunction("in_ranges", 2, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if string(arg[1].RawText()) != last {
			last = arg[1].Text()
			texts, numbers = nil, nil
			if json.Unmarshal([]byte(last), &numbers) != nil {
				numbers = nil
				_ = json.Unmarshal([]byte(last), &texts)
			}
		}
		var below int // bounds that are not above the value
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
