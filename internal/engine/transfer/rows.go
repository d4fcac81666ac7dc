package transfer

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxRow is the maximum number of bytes of a row, including quotes.
const MaxRow = 1 << 20

// rawShown is how many bytes of an unreadable row are written to the errors file.
const rawShown = 1000

// extraCells is the flaw of a row with non-empty cells beyond the last column.
const extraCells = "the row has more cells than the header"

// Row is one row of a file, or the readable part of it.
type Row struct {
	Number int64    // in the file, as spreadsheets count: the header is 1, empty rows count
	Cells  []string // valid until the next call of Next; at most one per column
	Flaw   string   // why it cannot be read; Cells then holds its raw beginning
	End    int64    // offset of the next row in the file
}

// Rows reads rows sequentially.
//
// It reads RFC 4180, and also any line end, and quotes inside cells that do not begin with one. A
// row with malformed quoting ends with its first line, so that an unclosed quote costs one row and
// not the rest of the file.
type Rows struct {
	format Format
	width  int // number of columns; a row with more cells is flawed
	open   func(at int64) io.Reader
	max    int // MaxRow

	quote  byte
	src    io.Reader // in UTF-8
	mem    []byte    // memory that buf is part of
	buf    []byte    // bytes read and not consumed yet
	at     int64     // offset in the file of what buf[0] was decoded from
	eof    bool
	number int64
	cells  []string
}

// NewRows reads from an offset of a file, after the row with the given number. open opens the file
// at an offset.
func NewRows(open func(at int64) io.Reader, f Format, width int, at, number int64) *Rows {
	r := &Rows{format: f, width: width, max: MaxRow, open: open, quote: f.quote(), number: number}
	r.seek(at)
	return r
}

// seek continues at an offset.
func (r *Rows) seek(at int64) {
	r.src, r.at, r.buf, r.eof = decode(r.open(at), r.format.Encoding), at, r.mem[:0], false
}

// offset returns the offset in the file of what follows the first n bytes of the buffer.
func (r *Rows) offset(n int) int64 { return r.at + encodedLen(r.buf[:n], r.format.Encoding) }

// Next returns the next row that is not empty, or io.EOF.
func (r *Rows) Next() (Row, error) {
	for {
		if err := r.want(1); err != nil {
			return Row{}, err
		}
		if len(r.buf) == 0 {
			return Row{}, io.EOF
		}
		r.number++
		row, err := r.row()
		if err != nil {
			return Row{}, err
		}
		row.Number, row.End = r.number, r.at
		if row.Flaw != "" || !blank(row.Cells) {
			return row, nil
		}
	}
}

// row reads one row with its line end.
func (r *Rows) row() (Row, error) {
	line, found, err := r.line()
	if err != nil {
		return Row{}, err
	}
	if bytes.IndexByte(line, r.quote) >= 0 {
		return r.quoted(len(line), found)
	}
	if !found {
		return r.overlong(len(line), false)
	}
	row := r.plain(line)
	r.drop(len(line))
	return row, nil
}

// line returns the first line of the buffer with its line end. If it is longer than a row may be,
// it returns its beginning and found is false.
func (r *Rows) line() (line []byte, found bool, err error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.bounded(seen), r.eol()); i >= 0 {
			return r.buf[:seen+i+1], true, nil
		}
		if seen = len(r.buf); seen >= r.max {
			return r.buf[:r.max], false, nil
		}
		if err := r.want(seen + 1); err != nil {
			return nil, false, err
		}
		if len(r.buf) == seen { // the last line has no line end
			return r.buf, true, nil
		}
	}
}

// bounded returns the bytes of the buffer from p on, up to the maximum length of a row. What a row
// is must not depend on how much of the file happens to be buffered.
func (r *Rows) bounded(p int) []byte { return r.buf[min(p, r.max):min(len(r.buf), r.max)] }

func (r *Rows) eol() byte {
	if r.format.CR {
		return '\r'
	}
	return '\n'
}

// chomp returns a line without its line end.
func (r *Rows) chomp(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{r.eol()})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// plain splits a line without quotes.
func (r *Rows) plain(line []byte) Row {
	line = r.chomp(line)
	if flaw := flawOf(line); flaw != "" {
		return r.flawed(line, flaw)
	}
	b := r.begin()
	text := string(line)
	for {
		i := strings.IndexByte(text, r.format.Comma)
		if i < 0 {
			b.add(text)
			return b.row(r, line)
		}
		b.add(text[:i])
		text = text[i+1:]
	}
}

// quoted reads a row that contains quotes; first is the length of its first line, if whole.
func (r *Rows) quoted(first int, whole bool) (Row, error) {
	b := r.begin()
	for p := 0; ; {
		if err := r.want(p + 1); err != nil {
			return Row{}, err
		}
		read := r.bareCell
		if p < len(r.buf) && r.buf[p] == r.quote {
			read = r.quotedCell
		}
		next, err := read(&b, p)
		switch {
		case errors.Is(err, errUnclosed):
			return r.broken(first, whole, "a quote is never closed")
		case errors.Is(err, errQuotedTooLong):
			return r.overlong(next, true)
		case errors.Is(err, errTooLong):
			return r.overlong(next, false)
		case err != nil:
			return Row{}, err
		}
		if p = next; p >= r.max {
			return r.overlong(p, false)
		}
		if p < len(r.buf) && r.buf[p] == '\r' && !r.format.CR { // of CRLF
			if err := r.want(p + 2); err != nil {
				return Row{}, err
			}
			if p+1 == len(r.buf) || r.buf[p+1] == '\n' {
				p++
			}
		}
		switch {
		case p == len(r.buf):
			return r.close(b, p), nil
		case r.buf[p] == r.eol():
			return r.close(b, p+1), nil
		case r.buf[p] == r.format.Comma:
			p++
		default:
			return r.broken(first, whole, "something follows the quote that closes a cell")
		}
	}
}

// The ways in which a cell ends its row.
var (
	errUnclosed      = errors.New("a quote is never closed")
	errQuotedTooLong = errors.New("the row is too long, and ends in a quoted cell")
	errTooLong       = errors.New("the row is too long")
)

// quotedCell adds the quoted cell at p, and returns where it ends, after the spaces behind it.
func (r *Rows) quotedCell(b *builder, p int) (int, error) {
	from, escaped := p+1, false
	for p++; ; {
		i := bytes.IndexByte(r.bounded(p), r.quote)
		if i < 0 {
			if len(r.buf) >= r.max {
				return max(p, r.max), errQuotedTooLong
			}
			p = len(r.buf)
			if err := r.want(p + 1); err != nil {
				return 0, err
			}
			if len(r.buf) == p {
				return p, errUnclosed
			}
			continue
		}
		p += i + 1
		if err := r.want(p + 1); err != nil {
			return 0, err
		}
		if p == len(r.buf) || r.buf[p] != r.quote {
			break
		}
		p++ // two quotes stand for one
		escaped = true
	}
	cell := r.buf[from : p-1]
	if escaped {
		cell = bytes.ReplaceAll(cell, []byte{r.quote, r.quote}, []byte{r.quote})
	}
	b.add(string(cell)) // a copy, since reading on may move r.buf
	for p < len(r.buf) && r.buf[p] == ' ' && p < r.max {
		p++
		if err := r.want(p + 1); err != nil {
			return 0, err
		}
	}
	return p, nil
}

// bareCell adds the cell without quotes at p, and returns where it ends.
func (r *Rows) bareCell(b *builder, p int) (int, error) {
	i := bytes.IndexAny(r.bounded(p), string([]byte{r.format.Comma, r.eol()}))
	for i < 0 {
		if len(r.buf) >= r.max {
			return r.max, errTooLong
		}
		n := len(r.buf)
		if err := r.want(n + 1); err != nil {
			return 0, err
		}
		if len(r.buf) == n { // the input ends with the cell
			i = n - p
			break
		}
		i = bytes.IndexAny(r.bounded(p), string([]byte{r.format.Comma, r.eol()}))
	}
	cell := r.buf[p : p+i]
	p += i
	if p == len(r.buf) || r.buf[p] == r.eol() {
		cell = bytes.TrimSuffix(cell, []byte{'\r'})
	}
	b.add(string(cell))
	return p, nil
}

// close ends a row with quotes after n bytes.
func (r *Rows) close(b builder, n int) Row {
	text := r.chomp(r.buf[:n])
	row := b.row(r, text)
	if flaw := flawOf(text); flaw != "" {
		row = r.flawed(text, flaw)
	}
	r.drop(n)
	return row
}

// broken ends a row with malformed quotes after its first line.
func (r *Rows) broken(first int, whole bool, flaw string) (Row, error) {
	if !whole {
		return r.overlong(first, false)
	}
	row := r.flawed(r.chomp(r.buf[:first]), flaw)
	r.drop(first)
	return row, nil
}

// overlong skips a row that is too long. The caller has read up to p, which is inside a quoted cell
// if open. If that quote is never closed properly, the lines after the first one are rows of their
// own.
func (r *Rows) overlong(p int, open bool) (Row, error) {
	const flaw = "the row is longer than a megabyte"
	row := r.flawed(r.bounded(0), flaw)
	second := int64(-1) // offset of the second line
	if open {
		if i := bytes.IndexByte(r.buf[:p], r.eol()); i >= 0 {
			second = r.offset(i + 1)
		}
		r.drop(p)
		closed, err := r.passQuote(&second)
		if err != nil {
			return Row{}, err
		}
		if !closed && second >= 0 {
			r.seek(second)
			return row, nil
		}
		p = 0
	}
	for {
		if i := bytes.IndexByte(r.buf[p:], r.eol()); i >= 0 {
			r.drop(p + i + 1)
			return row, nil
		}
		r.drop(len(r.buf))
		p = 0
		if err := r.want(1); err != nil || len(r.buf) == 0 {
			return row, err
		}
	}
}

// passQuote skips the rest of a quoted cell, and reports whether a delimiter, a line end or the end
// of the file follows. It sets second to the offset of the second line, if that is unknown yet.
func (r *Rows) passQuote(second *int64) (closed bool, err error) {
	for {
		if err := r.want(1); err != nil {
			return false, err
		}
		if len(r.buf) == 0 {
			return false, nil
		}
		for p := 0; p < len(r.buf); {
			i := bytes.IndexByte(r.buf[p:], r.quote)
			if *second < 0 {
				end := len(r.buf)
				if i >= 0 {
					end = p + i
				}
				if e := bytes.IndexByte(r.buf[p:end], r.eol()); e >= 0 {
					*second = r.offset(p + e + 1)
				}
			}
			if i < 0 {
				break
			}
			p += i + 1
			if err := r.want(p + 1); err != nil {
				return false, err
			}
			if p == len(r.buf) {
				return true, nil
			}
			if r.buf[p] != r.quote {
				c := r.buf[p]
				r.drop(p)
				return c == r.format.Comma || c == '\r' || c == '\n' || c == ' ', nil
			}
			p++
		}
		r.drop(len(r.buf))
	}
}

// want reads until the buffer has n bytes, or the file ends.
func (r *Rows) want(n int) error {
	for len(r.buf) < n && !r.eof {
		if cap(r.buf)-len(r.buf) < 4<<10 {
			if len(r.buf) > cap(r.mem)/2 || r.mem == nil {
				r.mem = make([]byte, max(128<<10, 4*len(r.buf)))
			}
			r.buf = r.mem[:copy(r.mem, r.buf)]
		}
		m, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+m]
		if err == io.EOF {
			r.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// drop consumes the first n bytes of the buffer.
func (r *Rows) drop(n int) {
	r.at, r.buf = r.offset(n), r.buf[n:]
}

// flawed returns a row that cannot be read.
func (r *Rows) flawed(text []byte, flaw string) Row {
	text = text[:min(len(text), rawShown)]
	return Row{Flaw: flaw, Cells: []string{strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")}}
}

// flawOf returns why a row is no valid text, or "".
func flawOf(text []byte) string {
	switch {
	case !utf8.Valid(text):
		return "the row is not UTF-8"
	case bytes.IndexByte(text, 0) >= 0:
		return "the row holds a NUL character"
	}
	return ""
}

// builder collects the cells of a row.
type builder struct {
	cells []string
	width int
	extra bool // there are non-empty cells beyond the width
}

func (r *Rows) begin() builder { return builder{cells: r.cells[:0], width: r.width} }

func (b *builder) add(cell string) {
	if len(b.cells) < b.width {
		b.cells = append(b.cells, cell)
		return
	}
	b.extra = b.extra || strings.TrimSpace(cell) != ""
}

func (b *builder) row(r *Rows, text []byte) Row {
	r.cells = b.cells
	if b.extra {
		return r.flawed(text, extraCells)
	}
	return Row{Cells: b.cells}
}

// blank reports whether every cell is empty.
func blank(cells []string) bool {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}
