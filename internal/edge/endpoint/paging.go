package endpoint

import (
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// List is the envelope of every collection.
type List[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor" doc:"Pass it back as cursor; null on the last page and on collections that are not paged."`
	HasMore    bool    `json:"has_more"`
	Total      *int    `json:"total,omitempty" doc:"Only where paging is by offset."`
}

// SchemaName returns "List" and the name of the rows' schema.
func (List[T]) SchemaName() string { return "List" + SchemaName[T]() }

// Whole returns the envelope of a collection that is not paged.
func Whole[T any](rows []T) List[T] { return List[T]{Data: NonNil(rows)} }

// Page returns one page of a collection paged by cursor; next is empty on the
// last page.
func Page[T any](rows []T, next string) List[T] {
	l := Whole(rows)
	if next != "" {
		l.NextCursor, l.HasMore = &next, true
	}
	return l
}

// Window returns one page of a collection of total rows paged by offset.
func Window[T any](rows []T, offset, total int) List[T] {
	l := Whole(rows)
	l.Total, l.HasMore = &total, offset+len(rows) < total
	return l
}

// NonNil returns list, or an empty list for nil, which JSON shows as [] and not as null.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// The limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// CursorQuery is the query of a collection paged by cursor.
type CursorQuery struct {
	Cursor string `query:"cursor" doc:"The next_cursor of the page before; absent for the first page."`
	Limit  string `query:"limit" as:"integer" minimum:"1" maximum:"200" default:"50" doc:"The length of a page. A number outside of the bounds becomes the nearest of them."`
}

// OffsetQuery is the query of a collection paged by offset.
type OffsetQuery struct {
	Limit  string `query:"limit" as:"integer" minimum:"1" maximum:"200" default:"50" doc:"The length of a page. A number outside of the bounds becomes the nearest of them."`
	Offset string `query:"offset" as:"integer" minimum:"0" default:"0" doc:"How many rows to skip."`
}

// Limit parses the limit in a query: 50 unless it is an integer, and always from 1 to 200.
func Limit(q string) int {
	n, err := strconv.Atoi(strings.TrimSpace(q))
	if err != nil {
		return DefaultLimit
	}
	return min(max(n, 1), MaxLimit)
}

// Offset parses the offset in a query: 0 if absent; anything but a whole number from 0 is INVALID_INPUT.
func Offset(q string) (int, error) {
	if q == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(q)
	if err != nil || n < 0 {
		return 0, fault.Input(fault.Field{Path: "offset", Message: "must be a whole number from 0"})
	}
	return n, nil
}

// CommaList splits a list in a query at its commas, and removes spaces and empty items. It never returns
// nil.
func CommaList(q string) []string {
	list := []string{}
	for item := range strings.SplitSeq(q, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// Flag parses a flag in a query: only "true" is true.
func Flag(q string) bool { return q == "true" }
