package dbcopy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// copyTable copies the rows of a table that the target lacks, in batches.
func (c *copier) copyTable(ctx context.Context, t table) error {
	s, err := c.loadProgress(ctx, t)
	if err != nil || s.ended {
		return err
	}
	rows, err := c.rowsAfter(ctx, t, s.place)
	if err != nil {
		return err
	}
	defer rows.Close()
	// A batch commits with its last key. Killed in between, a run would copy rows again, which fails by
	// their keys, or leave rows out, which verify finds; messages left out would never be sent.
	for !s.ended {
		b := &batch{rows: rows, table: t, maxRows: c.batchRows, maxBytes: c.batchBytes, values: make([]any, len(t.columns))}
		err := pgx.BeginFunc(ctx, c.target, func(tx pgx.Tx) error {
			n, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, b)
			if err != nil {
				return err
			}
			if s.copied += n; n > 0 {
				s.place = b.lastKey
			}
			s.ended = b.end
			if c.beforeCommit != nil {
				if err := c.beforeCommit(t.name); err != nil {
					return err
				}
			}
			return saveProgress(ctx, tx, t, s)
		})
		if err != nil {
			return fmt.Errorf("after %d rows: %w", s.copied, err)
		}
		c.Progress(Progress{Table: t.name, Rows: s.copied})
	}
	return nil
}

// rowsAfter reads a table in the order of its key, after an encoded key.
func (c *copier) rowsAfter(ctx context.Context, t table, place string) (*sqldb.Rows, error) {
	key := quoted(t.keyNames(), "%s")
	text := `SELECT ` + quoted(t.columns, "%s") + ` FROM ` + quoted([]string{t.name}, "%s")
	var args []any
	if place != "" {
		var err error
		if args, err = t.decodeKey(place); err != nil {
			return nil, fmt.Errorf("decode the key %s: %w", place, err)
		}
		params := make([]string, len(args))
		for i := range args {
			params[i] = fmt.Sprintf("$%d", i+1)
		}
		text += ` WHERE (` + key + `) > (` + strings.Join(params, ", ") + `)`
	}
	return c.source.Query(ctx, text+` ORDER BY `+key, args...)
}

// batch is the rows of one transaction. It implements pgx.CopyFromSource.
type batch struct {
	rows              *sqldb.Rows
	table             table
	maxRows, maxBytes int

	count, bytes int
	lastKey      string // of the last row read
	end          bool   // there are no more rows
	values       []any
	err          error
}

// Next reads the next row, unless the batch is full.
func (b *batch) Next() bool {
	if b.err != nil || b.count >= b.maxRows || b.bytes >= b.maxBytes {
		return false
	}
	if !b.rows.Next() {
		b.end = true
		b.err = b.rows.Err()
		return false
	}
	b.count++
	b.err = scan(b.rows, b.values)
	return b.err == nil
}

// Values returns the row with the target's types.
func (b *batch) Values() ([]any, error) {
	place, err := b.table.encodeKey(b.values)
	if err != nil {
		return nil, err
	}
	b.lastKey = place
	row := make([]any, len(b.values))
	for i, v := range b.values {
		if row[i], err = targetValue(b.table.kinds[i], v); err != nil {
			return nil, fmt.Errorf("column %s of the row %s: %w", b.table.columns[i], place, err)
		}
		b.bytes += size(v)
	}
	return row, nil
}

// Err returns the error that ended the batch, if any.
func (b *batch) Err() error { return b.err }

func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 8
}

// scan reads a row into values.
func scan(rows interface{ Scan(...any) error }, values []any) error {
	dest := make([]any, len(values))
	for i := range values {
		values[i] = nil
		dest[i] = &values[i]
	}
	return rows.Scan(dest...)
}

// targetValue converts a value of SQLite to one of the target's column.
func targetValue(k kind, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch k {
	case uuid:
		if b, ok := v.([]byte); ok && len(b) == 16 {
			return pgtype.UUID{Bytes: [16]byte(b), Valid: true}, nil
		}
	case boolean:
		switch v {
		case int64(0), false:
			return false, nil
		case int64(1), true:
			return true, nil
		}
	case integer:
		if _, ok := v.(int64); ok {
			return v, nil
		}
	case float:
		if _, ok := v.(float64); ok {
			return v, nil
		}
	case octets:
		if _, ok := v.([]byte); ok {
			return v, nil
		}
	case text, jsonDocument:
		if _, ok := v.(string); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("the value has type %T", v)
}

// encodeKey returns a row's key as stored in the progress table: JSON, with ids in hexadecimal.
func (t table) encodeKey(values []any) (string, error) {
	key := make([]any, len(t.key))
	for i, k := range t.key {
		key[i] = values[k]
		if b, ok := values[k].([]byte); ok {
			key[i] = hex.EncodeToString(b)
		}
	}
	b, err := json.Marshal(key)
	return string(b), err
}

// decodeKey decodes a key of encodeKey as parameters.
func (t table) decodeKey(place string) ([]any, error) {
	d := json.NewDecoder(strings.NewReader(place))
	d.UseNumber()
	var key []any
	if err := d.Decode(&key); err != nil {
		return nil, err
	}
	if len(key) != len(t.key) {
		return nil, fmt.Errorf("table %s has another key", t.name)
	}
	for i, k := range t.key {
		var err error
		switch v := key[i].(type) {
		case json.Number:
			key[i], err = v.Int64()
		case string:
			if t.kinds[k] == uuid || t.kinds[k] == octets {
				key[i], err = hex.DecodeString(v)
			}
		default:
			err = fmt.Errorf("the key contains %T", v)
		}
		if err != nil {
			return nil, err
		}
	}
	return key, nil
}
