package track

import (
	"slices"
	"time"
)

// pageByTime returns about limit rows of a query that is ordered by time alone, and whether there are
// more. Rows of one time are not divided between pages, so the next page begins after the time of the
// last row. read returns the first n rows.
//
// The order is that of an index. With a second column to order by, PostgreSQL sorts all rows of the range
// for each page when its statistics are older than the rows, which they are during a flood.
func pageByTime[T any](limit int, at func(T) time.Time, read func(n int) ([]T, error)) (page []T, more bool, err error) {
	for ; ; limit *= 2 {
		list, err := read(limit + 1)
		if err != nil || len(list) <= limit {
			return list, false, err
		}
		last := at(list[limit])
		if n := slices.IndexFunc(list, func(row T) bool { return at(row).Equal(last) }); n > 0 {
			return list[:n], true, nil
		}
	}
}
