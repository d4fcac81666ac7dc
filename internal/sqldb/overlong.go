package sqldb

import (
	"errors"
	"strings"
)

// ErrOverlong is what SQLite answers to a statement that is too large for it.
var ErrOverlong = errors.New("sqldb: the statement is too large for SQLite")

// What a statement for SQLite may be. Its connection has 256 MB of memory, which
// about 5,000 subqueries fill; the engine would not survive that.
const (
	maxSelects = 4500
	maxBytes   = 2 << 20
)

func overlong(text string) bool {
	switch n := len(text); {
	case n < 64<<10:
		return false
	case n > maxBytes:
		return true
	}
	return strings.Count(text, "SELECT") > maxSelects
}
