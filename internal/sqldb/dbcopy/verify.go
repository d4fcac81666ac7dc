package dbcopy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// verify compares the tables of both databases.
func (c *copier) verify(ctx context.Context) ([]Table, error) {
	var outcome []Table
	var wrong []string
	for _, t := range c.tables {
		here, there, err := c.checksums(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("verify table %s: %w", t.name, err)
		}
		if here != there {
			wrong = append(wrong, fmt.Sprintf("%s (%d rows in the source, %d in the target)", t.name, here.Rows, there.Rows))
		}
		c.Progress(Progress{Table: t.name, Rows: here.Rows, Verified: true})
		outcome = append(outcome, here)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%w in %s: was the source used since the copy began? Empty the target and copy again", ErrDifferent, strings.Join(wrong, ", "))
	}
	slices.SortFunc(outcome, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
	return outcome, nil
}

// checksums reads a table of both databases at the same time.
func (c *copier) checksums(ctx context.Context, t table) (here, there Table, err error) {
	var both sync.WaitGroup
	var errs [2]error
	both.Go(func() { here, errs[0] = c.sourceChecksum(ctx, t) })
	both.Go(func() { there, errs[1] = c.targetChecksum(ctx, t) })
	both.Wait()
	for _, err := range errs {
		if err != nil {
			return here, there, err
		}
	}
	return here, there, nil
}

func (c *copier) sourceChecksum(ctx context.Context, t table) (Table, error) {
	rows, err := c.rowsAfter(ctx, t, "")
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	s := newChecksum(t)
	values := make([]any, len(t.columns))
	for rows.Next() {
		if err := scan(rows, values); err != nil {
			return Table{}, err
		}
		if err := s.add(values); err != nil {
			return Table{}, err
		}
	}
	return s.table(), rows.Err()
}

func (c *copier) targetChecksum(ctx context.Context, t table) (Table, error) {
	columns, order := make([]string, len(t.columns)), make([]string, len(t.key))
	for i, name := range t.columns {
		columns[i] = quoted([]string{name}, "%s")
		if t.kinds[i] == jsonDocument { // as text, since pgx would decode it
			columns[i] += "::text"
		}
	}
	for i, k := range t.key {
		order[i] = quoted([]string{t.columns[k]}, "%s")
		if t.kinds[k] == text { // compare byte by byte, as SQLite does
			order[i] += ` COLLATE "C"`
		}
	}
	rows, err := c.target.Query(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM `+quoted([]string{t.name}, "%s")+` ORDER BY `+strings.Join(order, ", "))
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	s := newChecksum(t)
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return Table{}, err
		}
		if err := s.add(values); err != nil {
			return Table{}, err
		}
	}
	return s.table(), rows.Err()
}

var _ pgx.CopyFromSource = (*batch)(nil)

// checksum is the checksum of a table's rows in order. Each value is encoded by its meaning,
// whatever the form in which its database stores it.
type checksum struct {
	of   table
	hash hash.Hash
	rows int64
	row  []byte
}

func newChecksum(t table) *checksum { return &checksum{of: t, hash: sha256.New()} }

func (s *checksum) table() Table {
	return Table{Name: s.of.name, Rows: s.rows, Checksum: hex.EncodeToString(s.hash.Sum(nil))}
}

func (s *checksum) add(values []any) error {
	s.rows++
	s.row = s.row[:0]
	for i, v := range values {
		var err error
		if s.row, err = appendValue(s.row, s.of.kinds[i], v); err != nil {
			return fmt.Errorf("column %s of row %d: %w", s.of.columns[i], s.rows, err)
		}
	}
	_, _ = s.hash.Write(s.row) // never fails
	return nil
}

// appendValue appends a value so that different rows have different encodings: NULL as 0, others as
// 1, their length, and their bytes.
func appendValue(b []byte, k kind, v any) ([]byte, error) {
	if v == nil {
		return append(b, 0), nil
	}
	b = append(b, 1)
	framed := func(text []byte) []byte {
		return append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	switch v := v.(type) {
	case bool:
		if v {
			return binary.BigEndian.AppendUint64(b, 1), nil
		}
		return binary.BigEndian.AppendUint64(b, 0), nil
	case int16:
		return binary.BigEndian.AppendUint64(b, uint64(v)), nil
	case int32:
		return binary.BigEndian.AppendUint64(b, uint64(v)), nil
	case int64:
		return binary.BigEndian.AppendUint64(b, uint64(v)), nil
	case float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v)), nil
	case [16]byte:
		return framed(v[:]), nil
	case []byte:
		return framed(v), nil
	case string:
		if k != jsonDocument {
			return framed([]byte(v)), nil
		}
		doc, err := canonical([]byte(v))
		return framed(doc), err
	}
	return nil, fmt.Errorf("the value has type %T", v)
}

// canonical returns an encoding of a JSON text that does not depend on the database: PostgreSQL
// does not preserve the order of members, spaces and exponents.
func canonical(doc []byte) ([]byte, error) {
	if s := string(doc); s == "{}" || s == "[]" || s == "null" {
		return doc, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return appendJSON(nil, v), nil
}

func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		if v {
			return append(b, 't')
		}
		return append(b, 'f')
	case json.Number:
		b = append(b, '#')
		return append(append(b, decimal(string(v))...), ';')
	case string:
		b = binary.AppendUvarint(append(b, '"'), uint64(len(v)))
		return append(b, v...)
	case []any:
		b = binary.AppendUvarint(append(b, '['), uint64(len(v)))
		for _, e := range v {
			b = appendJSON(b, e)
		}
		return b
	case map[string]any:
		b = binary.AppendUvarint(append(b, '{'), uint64(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = appendJSON(appendJSON(b, k), v[k])
		}
		return b
	}
	panic(fmt.Sprintf("JSON contains no %T", v))
}

// decimal returns a JSON number as its digits, without zeros at either end, and the power of ten
// they are multiplied with.
func decimal(n string) string {
	n, negative := strings.CutPrefix(n, "-")
	n, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	whole, fraction, _ := strings.Cut(n, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	power := new(big.Int)
	if exponent != "" {
		power.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	power.Add(power, big.NewInt(int64(len(digits)-len(short)-len(fraction))))
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + short + "e" + power.String()
}
