package endpoint

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// Appender is a row that writes its own JSON without reflection, the same as encoding/json would. It is
// for lists that are requested often.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

var listBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the maximum size of buffers in the pool.
const maxPooledBuffer = 1 << 20

// writeList writes a list whose rows are Appenders, and reports whether they are.
func writeList(w io.Writer, v any) (bool, error) {
	list, ok := v.(interface {
		appendRows(b []byte) ([]byte, bool, error)
	})
	if !ok {
		return false, nil
	}
	buf := listBuffers.Get().(*[]byte)
	b, ok, err := list.appendRows((*buf)[:0])
	if ok && err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if cap(b) <= maxPooledBuffer {
		*buf = b
		listBuffers.Put(buf)
	}
	return ok, err
}

func (l List[T]) appendRows(b []byte) ([]byte, bool, error) {
	if len(l.Data) == 0 {
		return b, false, nil
	}
	b = append(b, `{"data":[`...)
	for i := range l.Data {
		row, ok := any(&l.Data[i]).(Appender)
		if !ok {
			return b, false, nil
		}
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = row.AppendJSON(b); err != nil {
			return b, true, err
		}
	}
	b = append(b, `],"next_cursor":`...)
	b = AppendText(b, l.NextCursor)
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, l.HasMore)
	if l.Total != nil {
		b = strconv.AppendInt(append(b, `,"total":`...), int64(*l.Total), 10)
	}
	return append(b, '}'), true, nil
}

// AppendText writes a text, or null.
func AppendText[T ~string](b []byte, s *T) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return AppendString(b, string(*s))
}

// AppendID writes an identifier, or null for none.
func AppendID[T interface {
	IsZero() bool
	String() string
}](b []byte, v T) []byte {
	if v.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = append(b, v.String()...)
	return append(b, '"')
}

// AppendString writes a JSON string.
func AppendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendEscaped writes a string that may need escapes.
func appendEscaped(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		size := 1
		escape := c < 0x20 || c == '"' || c == '\\'
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			escape = r == utf8.RuneError || r == '\u2028' || r == '\u2029'
		}
		if escape {
			b = append(b, s[from:i]...)
			quoted, _ := json.Marshal(s[i : i+size]) // a string always encodes
			b = append(b, quoted[1:len(quoted)-1]...)
			from = i + size
		}
		i += size
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// AppendValue writes any other value. Values decoded from JSON (map[string]any and so on) need no
// reflection.
func AppendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return AppendString(b, v), nil
	case float64:
		return AppendNumber(b, v)
	case []any:
		if v != nil {
			return appendArray(b, v)
		}
	case map[string]any:
		if v != nil {
			return appendObject(b, v)
		}
	}
	w := appendWriter{b}
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return b, err
	}
	return w.b[:len(w.b)-1], nil // without the line's end
}

func appendArray(b []byte, list []any) ([]byte, error) {
	var err error
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = AppendValue(b, v); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// appendObject writes an object with sorted keys.
func appendObject(b []byte, m map[string]any) ([]byte, error) {
	var room [16]string
	keys := room[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var err error
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, k), ':')
		if b, err = AppendValue(b, m[k]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// AppendNumber writes a number, with a fast path for whole numbers.
func AppendNumber(b []byte, n float64) ([]byte, error) {
	if n == math.Trunc(n) && math.Abs(n) < 1e15 && !(n == 0 && math.Signbit(n)) {
		return strconv.AppendInt(b, int64(n), 10), nil
	}
	text, err := json.Marshal(n)
	return append(b, text...), err
}

type appendWriter struct{ b []byte }

func (w *appendWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// AppendStamp writes a time in the format of the API, or null.
func AppendStamp(b []byte, s *Stamp) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = time.Time(*s).UTC().AppendFormat(b, stampLayout)
	return append(b, '"')
}
