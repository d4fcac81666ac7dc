package httpapi

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// orNull returns nil for a zero value, so that it is null in JSON.
func orNull[T comparable](s T) *T {
	if s == *new(T) {
		return nil
	}
	return &s
}

// nullAsZero returns the value of a field, the zero value for null, and nil if the field is absent.
func nullAsZero[T any](o endpoint.Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return new(o.Or(*new(T)))
}

// nullAsNil returns a pointer to the value of a field, a pointer to nil for null, and nil if the
// field is absent.
func nullAsNil[T any](o endpoint.Opt[T]) **T {
	if !o.Set {
		return nil
	}
	return new(o.Pointer())
}

// setIfGiven replaces v by the value of a field that has one.
func setIfGiven[T any](v *T, o endpoint.Opt[T]) { *v = o.Or(*v) }

// setOrClear replaces v by the value of a field. Null and an empty text clear v, an absent field
// does not change it.
func setOrClear(v **string, o endpoint.Opt[string]) {
	if !o.Set {
		return
	}
	if *v = o.Pointer(); *v != nil && **v == "" {
		*v = nil
	}
}

// RecordPath is the path of one record.
type RecordPath struct {
	ID string `path:"id"`
}

// recordID parses the id in a path. It returns notFound for a text that is no id.
func recordID[T ~[16]byte](text string, notFound *fault.Error) (T, error) {
	v, ok := id.Parse[T](text)
	if !ok {
		return v, notFound
	}
	return v, nil
}

// textID is an id that can be written to a cursor.
type textID interface {
	~[16]byte
	String() string
}

// timePosition is a position in a list that is ordered by a time, newest first.
type timePosition[T textID] struct {
	at time.Time
	id T
}

// decodeTimePosition decodes the cursor of a list that is ordered by the field sort.
func decodeTimePosition[T textID](cursors *endpoint.Cursors, cursor, sort string) (timePosition[T], error) {
	c, err := cursors.Decode(cursor, sort, "desc")
	if err != nil || c.LastValue == nil {
		return timePosition[T]{}, endpoint.ErrCursor
	}
	micros, err := strconv.ParseInt(*c.LastValue, 10, 64)
	if err != nil {
		return timePosition[T]{}, endpoint.ErrCursor
	}
	return timePosition[T]{sqldb.Time(micros), id.Read[T](c.LastID)}, nil
}

// encode returns the cursor for the rows after the position.
func (p timePosition[T]) encode(cursors *endpoint.Cursors, sort string) string {
	return cursors.Encode(endpoint.Cursor{
		Sort: sort, Dir: "desc", LastValue: new(strconv.FormatInt(sqldb.Micros(p.at), 10)), LastID: p.id.String(),
	})
}

// nullableID returns the id in a field, the zero id for null, and nil if the field is absent. For a
// text that is no id it returns a new id, which no record has.
func nullableID[T ~[16]byte](o endpoint.Opt[string]) *T {
	text := nullAsZero(o)
	if text == nil {
		return nil
	}
	return new(idOrUnknown[T](*text))
}

// idOrUnknown returns the id in a text, the zero id for the empty text, and a new id, which no record
// has, for a text that is no id.
func idOrUnknown[T ~[16]byte](text string) T {
	parsed, ok := id.Parse[T](text)
	if !ok && text != "" {
		return id.New[T]()
	}
	return parsed
}

// checkID adds a problem if the text of a field is no id.
func checkID(bad *fault.Problems, path string, o endpoint.Opt[string], message string) {
	if text := o.Or(""); text != "" && !id.Valid(text) {
		bad.Add(path, message)
	}
}

// readID reads an id from the raw value of a field: nil if the field is absent, the zero id for null.
func readID[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *T {
	if len(raw) == 0 {
		return nil
	}
	if string(raw) == "null" {
		return new(T)
	}
	var text string
	v, ok := T{}, false
	if json.Unmarshal(raw, &text) == nil {
		v, ok = id.Parse[T](text)
	}
	if !ok {
		bad.Add(path, "must be a uuid")
	}
	return &v
}

// readIDs reads a list of ids, each once: nil if the field is absent, an empty list for null.
func readIDs[T ~[16]byte](bad *fault.Problems, path string, raw json.RawMessage) *[]T {
	if len(raw) == 0 {
		return nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		bad.Add(path, "must be a list of uuids")
		return nil
	}
	seen := map[T]bool{}
	list := []T{}
	for _, t := range texts {
		v, ok := id.Parse[T](t)
		if !ok {
			bad.Add(path, "must be a list of uuids")
			return nil
		}
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return &list
}

// audited calls do and writes an entry about it to the audit log, in one transaction.
func audited(ctx context.Context, db *sqldb.DB, p auth.Principal, action, target string, now time.Time, do func(tx *sqldb.DB) (targetID string, err error)) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		targetID, err := do(tx)
		if err != nil {
			return err
		}
		return auth.Audit(ctx, tx, p.Did(target+"."+action, target, targetID, now))
	})
}
