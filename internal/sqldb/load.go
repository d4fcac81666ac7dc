package sqldb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Load inserts the rows of t into the columns of the same names of a tenant's table. If a unique
// key exists already, Load fails (IsUniqueViolation), and with it the transaction; Insert, which is
// slower, skips such rows. On PostgreSQL it is a COPY.
func (t *Table) Load(ctx context.Context, tx *DB, table string, tenant id.Tenant) error {
	if t.Len() == 0 {
		return nil
	}
	part := t.only(t.used())
	names := strings.Join(part.names, ", ")
	if t.dialect == SQLite {
		_, err := tx.Exec(ctx, `INSERT INTO `+table+` (tenant_id, `+names+`) SELECT $1, `+names+` FROM `+part.As("v", 2), part.Args(tenant)...)
		return err
	}
	rows, err := part.copyData(tenant)
	if err != nil {
		return err
	}
	if tx.tx == nil || tx.tx.pipe == nil {
		return fmt.Errorf("sqldb: Load into %s outside of a transaction", table)
	}
	if err := tx.tx.pipe.start(ctx); err != nil {
		return err
	}
	err = tx.tx.pipe.pgx(func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows), `COPY `+table+` (tenant_id, `+names+`) FROM STDIN (FORMAT binary)`)
		return err
	})
	if err == nil && tx.growth != nil {
		tx.growth.wrote(int64(t.Len()))
	}
	return err
}

// copyData returns the rows, each preceded by the tenant, in the binary format of COPY (PostgreSQL
// manual, "COPY", File Formats).
func (t *Table) copyData(tenant id.Tenant) ([]byte, error) {
	b := make([]byte, 0, t.Len()*(16*len(t.names)+64))
	b = append(b, "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
	var err error
	for row := range t.Len() {
		b = binary.BigEndian.AppendUint16(b, uint16(len(t.names)+1))
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(tenant))
		for i, column := range t.columns {
			if b, err = appendCopyValue(b, t.types[i], column[row]); err != nil {
				return nil, fmt.Errorf("sqldb: column %s: %w", t.names[i], err)
			}
		}
	}
	return binary.BigEndian.AppendUint16(b, 0xffff), nil
}

// appendCopyValue appends the length and the bytes of a value.
func appendCopyValue(b []byte, typ string, v any) ([]byte, error) {
	switch p := v.(type) { // the common ones without reflection
	case *string:
		if v = nil; p != nil {
			v = *p
		}
	case *int64:
		if v = nil; p != nil {
			v = *p
		}
	}
	switch v.(type) {
	case nil, string, int64, bool, float64, []byte, [16]byte:
	default:
		one, err := plainArgs([]any{v})
		if err != nil {
			return nil, err
		}
		v = one[0]
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	mismatch := func() ([]byte, error) { return nil, fmt.Errorf("%T is not a value of type %s", v, typ) }
	switch v := v.(type) {
	case nil:
		binary.BigEndian.PutUint32(b[at:], math.MaxUint32) // -1: NULL
		return b, nil
	case string:
		switch typ {
		case "JSONB":
			b = append(b, 1) // version of the format
		case "TEXT":
		default:
			return mismatch()
		}
		b = append(b, v...)
	case int64:
		switch typ {
		case "BIGINT":
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case "INTEGER":
			if v != int64(int32(v)) {
				return nil, fmt.Errorf("%d is too large", v)
			}
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		default:
			return mismatch()
		}
	case bool:
		if typ != "BOOLEAN" {
			return mismatch()
		}
		n := byte(0)
		if v {
			n = 1
		}
		b = append(b, n)
	case float64:
		if typ != "DOUBLE PRECISION" {
			return mismatch()
		}
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	case []byte:
		if typ != "BYTEA" {
			return mismatch()
		}
		b = append(b, v...)
	case [16]byte:
		if typ != "UUID" {
			return mismatch()
		}
		b = append(b, v[:]...)
	default:
		return mismatch()
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b, nil
}
