package wire

import (
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// textID is an id that can be written to a cursor.
type textID interface {
	~[16]byte
	String() string
}

// TimePosition is a position in a list that is ordered by a time, newest first.
type TimePosition[T textID] struct {
	At time.Time
	ID T
}

// DecodeTimePosition decodes the cursor of a list that is ordered by the field sort.
func DecodeTimePosition[T textID](cursors *endpoint.Cursors, cursor, sort string) (TimePosition[T], error) {
	c, err := cursors.Decode(cursor, sort, "desc")
	if err != nil || c.LastValue == nil {
		return TimePosition[T]{}, endpoint.ErrCursor
	}
	micros, err := strconv.ParseInt(*c.LastValue, 10, 64)
	if err != nil {
		return TimePosition[T]{}, endpoint.ErrCursor
	}
	return TimePosition[T]{sqldb.Time(micros), id.Read[T](c.LastID)}, nil
}

// Encode returns the cursor for the rows after the position.
func (p TimePosition[T]) Encode(cursors *endpoint.Cursors, sort string) string {
	return cursors.Encode(endpoint.Cursor{
		Sort: sort, Dir: "desc", LastValue: new(strconv.FormatInt(sqldb.Micros(p.At), 10)), LastID: p.ID.String(),
	})
}
