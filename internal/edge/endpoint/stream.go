package endpoint

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"reflect"
	"strconv"
)

// Stream is the envelope of a collection that is only paged on request and may be long: its rows are written as they
// are read, and never all in memory.
//
// An error before the first kilobyte becomes an error response. Later, the connection is closed, so that a
// caller cannot mistake a part for the whole list.
type Stream[T any] struct {
	Rows iter.Seq2[T, error]
	Next string // the cursor of the next page, if Rows is a page and not the last
}

// streamed is implemented by every Stream[T].
type streamed interface{ stream(w io.Writer) error }

func (s Stream[T]) stream(w io.Writer) error {
	b := bufio.NewWriterSize(w, 16<<10)
	_, _ = b.WriteString(`{"data":[`)
	if err := writeRows(b, s.Rows); err != nil {
		return err
	}
	if s.Next == "" {
		_, _ = b.WriteString("],\"next_cursor\":null,\"has_more\":false}\n")
	} else {
		_, _ = b.WriteString("],\"next_cursor\":" + strconv.Quote(s.Next) + ",\"has_more\":true}\n") // a cursor is base64
	}
	return b.Flush()
}

// writeRows writes rows as they are read, with commas between them.
func writeRows[T any](b *bufio.Writer, rows iter.Seq2[T, error]) error {
	first := true
	for row, err := range rows {
		if err != nil {
			return err
		}
		if !first {
			_ = b.WriteByte(',')
		}
		first = false
		text, err := AppendValue(nil, row)
		if err != nil {
			return err
		}
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Parts is an object that may be long: its lists are written as they are read. Errors are handled as in a
// Stream.
type Parts struct {
	List []Part
}

// Part is a member of Parts: a value or, if Rows is set, a list.
type Part struct {
	Name  string
	Value any
	Rows  iter.Seq2[any, error]
}

func (p Parts) stream(w io.Writer) error {
	b := bufio.NewWriterSize(w, 16<<10)
	between := byte('{')
	for _, part := range p.List {
		name, err := json.Marshal(part.Name)
		if err != nil {
			return err
		}
		_ = b.WriteByte(between)
		between = ','
		_, _ = b.Write(name)
		_ = b.WriteByte(':')
		if part.Rows == nil {
			text, err := AppendValue(nil, part.Value)
			if err != nil {
				return err
			}
			_, _ = b.Write(text)
			continue
		}
		_ = b.WriteByte('[')
		if err := writeRows(b, part.Rows); err != nil {
			return err
		}
		_ = b.WriteByte(']')
	}
	_, _ = b.WriteString("}\n")
	return b.Flush()
}

// Schema returns the schema of any object.
func (p Parts) Schema(Registry) *Schema {
	return &Schema{Type: TypeObject, AdditionalProperties: true}
}

// Schema returns the schema of a List.
func (s Stream[T]) Schema(r Registry) *Schema {
	return r.Schema(reflect.TypeFor[List[T]](), true, "")
}

// Download is a response that is a file, not JSON.
type Download struct {
	Name, MediaType string
	Size            int64 // bytes
	Content         io.Reader
}

// writeDownload writes a file, or only its headers for HEAD.
func (x *call) writeDownload(file Download) error {
	h := x.w.Header()
	h.Set("Content-Type", file.MediaType)
	h.Set("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	h.Set("Content-Length", strconv.FormatInt(file.Size, 10))
	if x.w.head {
		return nil
	}
	_, err := io.Copy(x.w, file.Content)
	return err
}
