package sqldb

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// On SQLite a Table is passed as a pointer: the table-valued function rows_of reads its cells from
// memory. If it were passed as JSON, decoding would take half of the time of an insert.

// maxTableColumns is the maximum number of columns of such a table.
const maxTableColumns = 100

// pointerType is the type of the parameter.
var pointerType = reflect.TypeOf(sqlite3.Pointer(nil))

// registerRowsOf adds the function to a connection.
func registerRowsOf(c *sqlite3.Conn) error {
	names := make([]string, maxTableColumns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	declared := "CREATE TABLE x(" + strings.Join(names, ", ") + ", handed HIDDEN)"
	//lint:ignore SA1019 the method that replaces it is generic, and needs Go 1.27
	return sqlite3.CreateModule(c, "rows_of", nil, func(c *sqlite3.Conn, _, _, _ string, _ ...string) (rowsOfModule, error) {
		return rowsOfModule{}, c.DeclareVTab(declared)
	})
}

// rowsOfModule is the function. It has no state but its argument.
type rowsOfModule struct{}

// BestIndex reports to SQLite's planner that the rows are read in order, and are few compared to
// those of a table.
func (rowsOfModule) BestIndex(info *sqlite3.IndexInfo) error {
	for i, c := range info.Constraint {
		if c.Column == maxTableColumns && c.Op == sqlite3.INDEX_CONSTRAINT_EQ && c.Usable {
			info.ConstraintUsage[i] = sqlite3.IndexConstraintUsage{ArgvIndex: 1, Omit: true}
			info.EstimatedCost, info.EstimatedRows = 1, 100
			return nil
		}
	}
	return sqlite3.CONSTRAINT
}

// Open returns a new cursor.
func (rowsOfModule) Open() (sqlite3.VTabCursor, error) { return &rowsOfCursor{}, nil }

// rowsOfCursor reads the rows of one table.
type rowsOfCursor struct {
	table *Table
	row   int
}

// Filter sets the table from the parameter.
func (c *rowsOfCursor) Filter(_ int, _ string, arg ...sqlite3.Value) error {
	t, ok := arg[0].Pointer().(*Table)
	if !ok {
		return errors.New("rows_of: the parameter is not a table")
	}
	c.table, c.row = t, 0
	return nil
}

// Next advances to the next row.
func (c *rowsOfCursor) Next() error {
	c.row++
	return nil
}

// EOF reports whether all rows were read.
func (c *rowsOfCursor) EOF() bool { return c.row >= c.table.Len() }

// RowID returns the number of the row, from 1.
func (c *rowsOfCursor) RowID() (int64, error) { return int64(c.row) + 1, nil }

// checkColumnTypes converts values of types that Column does not support.
func checkColumnTypes(column []any) error {
	for i, v := range column {
		switch v := v.(type) {
		case nil, []byte, string, int64, bool, float64, [16]byte, *string:
			continue
		case identifier:
			if reflect.ValueOf(v).Kind() != reflect.Pointer {
				continue
			}
		}
		if _, err := plainArgs(column[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Column returns one cell, whose type checkColumnTypes has checked.
func (c *rowsOfCursor) Column(ctx sqlite3.Context, n int) error {
	if n >= len(c.table.columns) {
		ctx.ResultNull()
		return nil
	}
	switch v := c.table.columns[n][c.row].(type) {
	case nil:
		ctx.ResultNull()
	case []byte:
		ctx.ResultBlob(v)
	case string:
		ctx.ResultText(v)
	case *string:
		if v == nil {
			ctx.ResultNull()
		} else {
			ctx.ResultText(*v)
		}
	case [16]byte:
		ctx.ResultBlob(v[:])
	case identifier:
		b := v.Bytes()
		ctx.ResultBlob(b[:])
	case int64:
		ctx.ResultInt64(v)
	case bool:
		ctx.ResultBool(v)
	case float64:
		ctx.ResultFloat(v)
	default:
		return fmt.Errorf("rows_of: a value of type %T", v)
	}
	return nil
}
