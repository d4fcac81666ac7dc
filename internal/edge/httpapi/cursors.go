package httpapi

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
