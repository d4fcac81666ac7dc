package endpoint

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Stream is the envelope of a collection that is not paged and may be long: its
// rows are written as they come, and never all in memory.
//
// An error before the first kilobyte becomes an ordinary refusal. Later, the
// connection breaks off, so that nobody takes half a list for a whole one.
type Stream[T any] struct {
	Rows iter.Seq2[T, error]
}

// streamed is what every Stream[T] is.
type streamed interface{ stream(w io.Writer) error }

func (s Stream[T]) stream(w io.Writer) error {
	b := bufio.NewWriterSize(w, 16<<10)
	_, _ = b.WriteString(`{"data":[`)
	first := true
	for row, err := range s.Rows {
		if err != nil {
			return err
		}
		if !first {
			_ = b.WriteByte(',')
		}
		first = false
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	_, _ = b.WriteString("],\"next_cursor\":null,\"has_more\":false}\n")
	return b.Flush()
}

// Schema is that of List.
func (s Stream[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[List[T]](), true, "")
}
