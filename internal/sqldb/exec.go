package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/ncruces/go-sqlite3"
)

// Rows is the result of a query; it must be closed.
type Rows struct {
	*sql.Rows
	release func()
}

// Close ends the query.
func (r *Rows) Close() error {
	err := r.Rows.Close()
	if r.release != nil {
		r.release()
		r.release = nil
	}
	return err
}

// Row is the result of a query for one row.
type Row struct {
	rows    *Rows
	failure error
}

// Scan copies the columns of the row; the error is ErrNoRows if there is none.
func (r *Row) Scan(dest ...any) error {
	if r.failure != nil {
		return r.failure
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	if r.rows.Next() { // read to the end, so that a RETURNING statement completes
		for r.rows.Next() {
		}
	}
	return r.rows.Err()
}

// Query runs a statement that returns rows.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	writes := db.writesOf(text, args)
	rows, err := db.query(ctx, text, args)
	switch {
	case err != nil || len(writes) == 0:
	case db.tx != nil:
		db.Wrote(writes...)
	default: // it has committed when all rows were read
		release := rows.release
		rows.release = func() {
			if release != nil {
				release()
			}
			db.Wrote(writes...)
		}
	}
	return rows, err
}

func (db *DB) query(ctx context.Context, text string, args []any) (*Rows, error) {
	if db.dialect == SQLite && tooLong(text) {
		return nil, ErrTooLong
	}
	args, err := db.driverArgs(args)
	if err != nil {
		return nil, err
	}
	if err := db.requireHome(ctx, text, args); err != nil {
		return nil, err
	}
	db.traceQuery(ctx, text, args)
	switch {
	case db.writer == nil && hasCustomPlan(text):
		return db.queryCustomPlan(ctx, text, args)
	case db.writer == nil && db.tx == nil:
		rows, err := db.poolFor(ctx).QueryContext(ctx, text, args...)
		return newRows(rows, nil, err)
	case db.writer == nil:
		rows, err := db.tx.pg.QueryContext(ctx, text, args...)
		return newRows(rows, nil, err)
	}
	t := toSQLite(text)
	if db.tx != nil && db.tx.reads {
		if t.writes {
			return nil, errReadOnly
		}
		rows, err := db.tx.conn.QueryContext(ctx, t.sqlite, args...)
		return newRows(rows, nil, err)
	}
	if db.tx != nil {
		rows, err := db.writer.query(ctx, t, args)
		return newRows(rows, nil, err)
	}
	if t.writes {
		if err := db.writer.acquire(ctx); err != nil {
			return nil, err
		}
		rows, err := db.writer.query(ctx, t, args)
		return newRows(rows, db.writer.release, err)
	}
	stmt, done, err := db.reads[db.poolFor(ctx)].get(ctx, t)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	return newRows(rows, done, err)
}

func newRows(rows *sql.Rows, release func(), err error) (*Rows, error) {
	if err != nil {
		if release != nil {
			release()
		}
		return nil, err
	}
	return &Rows{rows, release}, nil
}

// QueryRow runs a statement that returns at most one row.
func (db *DB) QueryRow(ctx context.Context, text string, args ...any) *Row {
	rows, err := db.Query(ctx, text, args...)
	return &Row{rows, err}
}

// Exec runs a statement and returns how many rows it changed.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if db.dialect == SQLite && tooLong(text) {
		return 0, ErrTooLong
	}
	writes := db.writesOf(text, args)
	args, err := db.driverArgs(args)
	if err != nil {
		return 0, err
	}
	if err := db.requireHome(ctx, text, args); err != nil {
		return 0, err
	}
	db.traceQuery(ctx, text, args)
	var res sql.Result
	switch {
	case db.writer == nil && hasCustomPlan(text):
		res, err = db.execCustomPlan(ctx, text, args)
	case db.writer == nil && db.tx == nil:
		res, err = db.poolFor(ctx).ExecContext(ctx, text, args...)
	case db.writer == nil:
		res, err = db.tx.pg.ExecContext(ctx, text, args...)
	case db.tx != nil && db.tx.reads:
		return 0, errReadOnly
	case db.tx != nil:
		res, err = db.writer.exec(ctx, toSQLite(text), args)
	default:
		if err := db.writer.acquire(ctx); err != nil {
			return 0, err
		}
		res, err = db.writer.exec(ctx, toSQLite(text), args)
		db.writer.release()
	}
	if err != nil {
		return 0, err
	}
	db.Wrote(writes...)
	n, err := res.RowsAffected()
	if db.growth != nil {
		db.growth.wrote(n)
	}
	return n, err
}

// Collect reads all rows with scan and closes rows. It returns a nil slice only with an error.
func Collect[T any](rows *Rows, err error, scan func(scan func(dest ...any) error) (T, error)) ([]T, error) {
	return CollectInto([]T{}, rows, err, scan)
}

// CollectInto is Collect for large rows whose maximum number is known: they are appended to list,
// which has the capacity for them.
func CollectInto[T any](list []T, rows *Rows, err error, scan func(scan func(dest ...any) error) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// Each calls read for each row and closes rows.
func Each(rows *Rows, err error, read func(scan func(dest ...any) error) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Names reads rows of an id and a name.
func Names[ID comparable](rows *Rows, err error) (map[ID]string, error) {
	names := map[ID]string{}
	err = Each(rows, err, func(scan func(...any) error) error {
		var v ID
		var name string
		err := scan(&v, &name)
		names[v] = name
		return err
	})
	return names, err
}

// driverArgs converts named strings, numbers and ids to types of the database's driver.
func (db *DB) driverArgs(args []any) ([]any, error) {
	args, err := plainArgs(args)
	if err == nil && db.dialect == SQLite {
		idsToBlobs(args)
	}
	return args, err
}

// idsToBlobs converts ids for SQLite.
func idsToBlobs(args []any) {
	for i, a := range args {
		if u, ok := a.([16]byte); ok {
			args[i] = u[:]
		}
	}
}

// plainArgs converts named strings and numbers to types that both drivers support, and ids to
// [16]byte.
func plainArgs(args []any) ([]any, error) {
	for i, a := range args {
		switch a := a.(type) {
		case nil, string, int64, bool, float64, []byte, [16]byte, []string, []int64, []float64, []bool,
			[]*string, []*int64, []*bool, []*float64, [][16]byte, [][]byte, []pgtype.UUID:
			continue
		case identifier:
			if v := reflect.ValueOf(a); v.Kind() == reflect.Pointer && v.IsNil() {
				args[i] = nil
			} else {
				args[i] = a.Bytes()
			}
			continue
		case *string:
			if args[i] = nil; a != nil {
				args[i] = *a
			}
			continue
		case int:
			args[i] = int64(a)
			continue
		case *Table:
			args[i] = sqlite3.Pointer(a)
			continue
		case time.Time, *time.Time:
			return nil, fmt.Errorf("sqldb: parameter $%d is a time; pass Micros", i+1)
		}
		v := reflect.ValueOf(args[i])
		if v.Type() == pointerType {
			continue
		}
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				break
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Pointer:
			args[i] = nil
		case reflect.String:
			args[i] = v.String()
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			args[i] = v.Int()
		case reflect.Uint8, reflect.Uint16, reflect.Uint32:
			args[i] = int64(v.Uint())
		case reflect.Bool:
			args[i] = v.Bool()
		case reflect.Float32, reflect.Float64:
			args[i] = v.Float()
		default:
			return nil, fmt.Errorf("sqldb: parameter $%d has the unsupported type %T", i+1, a)
		}
	}
	return args, nil
}

// Micros returns t as stored in the database: UTC microseconds.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// MicrosOrZero is Micros, or 0 for the zero time.
func MicrosOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// NullMicros is Micros, or nil for a nil or zero time.
func NullMicros(t *time.Time) any {
	if t == nil || t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Time returns the time stored in a column.
func Time(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// NullTime returns the time stored in a nullable column, or nil.
func NullTime(micros sql.NullInt64) *time.Time {
	if !micros.Valid {
		return nil
	}
	return new(Time(micros.Int64))
}

// Null returns nil for the zero value of T, which is then stored as NULL, and v otherwise.
func Null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
