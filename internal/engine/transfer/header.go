package transfer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// Limits of the header row. A column's name is written again with each row that the column has a problem with.
const (
	maxColumns    = 4096
	maxColumnName = 200 // characters
)

// header is the parsed beginning of a file.
type header struct {
	format Format
	names  []string // trimmed
	at     int64    // offset of the first row after the header
	number int64    // number of the header's row
}

// reading is how a file is to be read, where the caller knows better than the recognition: as in Options.
type reading struct {
	Encoding  string `json:"encoding,omitempty"`
	Separator string `json:"separator,omitempty"`
	Quote     string `json:"quote,omitempty"`
}

// or returns o with what it leaves open from other.
func (o reading) or(other reading) reading {
	return reading{cmp.Or(o.Encoding, other.Encoding), cmp.Or(o.Separator, other.Separator), cmp.Or(o.Quote, other.Quote)}
}

// check reports what the options do not allow.
func (o reading) check(p *problems) {
	if _, ok := parseEncoding(o.Encoding); o.Encoding != "" && !ok {
		p.Add("options.encoding", "must be one of utf-8, utf-16le, utf-16be, windows-1252, iso-8859-15, or another encoding with a byte for each character")
	}
	if o.Separator != "" && !isSeparator(o.Separator) {
		p.Add("options.separator", "must be one of comma, semicolon, tab, |")
	}
	if o.Quote != "" && o.Quote != `"` && o.Quote != "'" {
		p.Add("options.quote", `must be one of ", '`)
	}
}

// isSeparator reports whether a text is a character that may separate cells.
func isSeparator(s string) bool { return len(s) == 1 && strings.Contains(",;\t|", s) }

// readHeader reads the header row of a file and recognises its format, where valid options do not say it. If the
// file cannot be read at all, it returns a fault for the field "file".
func readHeader(open func(at int64) io.Reader, seen census, o reading) (header, error) {
	raw, err := io.ReadAll(io.LimitReader(open(0), MaxRow))
	if err != nil {
		return header{}, fmt.Errorf("read the beginning of an import: %w", err)
	}
	if why := unreadable(raw); why != "" {
		return header{}, badFile(why)
	}
	var h header
	h.format.Encoding, _ = parseEncoding(o.Encoding)
	if o.Encoding == "" || markedEncoding(raw) != "" { // a mark goes before what is declared, as on the web
		h.format.Encoding = seen.encoding(raw)
	}
	if mark := marks[h.format.Encoding]; mark != "" && bytes.HasPrefix(raw, []byte(mark)) {
		h.at = int64(len(mark))
	}
	begin, err := io.ReadAll(decode(bytes.NewReader(raw[h.at:]), h.format.Encoding))
	if err != nil {
		return header{}, fmt.Errorf("decode the beginning of an import: %w", err)
	}
	declared, n := declaredSeparator(begin)
	if n > 0 {
		h.at, h.number = h.at+encodedLen(begin[:n], h.format.Encoding), 1
	}
	h.format = sniff(begin[n:], h.format.Encoding, o.Quote)
	if o.Separator != "" {
		h.format.Comma = o.Separator[0]
	} else if n > 0 {
		h.format.Comma = declared
	}
	row, err := NewRows(open, h.format, maxColumns+len(errorColumns), h.at, h.number).Next()
	switch {
	case errors.Is(err, io.EOF):
		return header{}, badFile("is empty; it must begin with a header row that names the columns")
	case err != nil:
		return header{}, fmt.Errorf("read the header of an import: %w", err)
	case row.Flaw == extraCells:
		return header{}, badFile(fmt.Sprintf("has more than %d columns", maxColumns))
	case row.Flaw != "":
		return header{}, badFile("has a header row that cannot be read: " + row.Flaw)
	}
	h.at, h.number = row.End, row.Number
	h.names = make([]string, len(row.Cells))
	for i, name := range row.Cells {
		h.names[i] = unescapeFormula(strings.TrimSpace(norm.NFC.String(name)))
		if utf8.RuneCountInString(h.names[i]) > maxColumnName {
			return header{}, badFile(fmt.Sprintf("has a header row whose column %d has a name of more than %d characters", i+1, maxColumnName))
		}
	}
	if ownColumns(h.names) > maxColumns {
		return header{}, badFile(fmt.Sprintf("has more than %d columns", maxColumns))
	}
	return h, nil
}

func badFile(why string) error { return fault.Input(fault.Field{Path: "file", Message: why}) }

// unreadable returns why a file with this beginning is not a text of rows, or "".
func unreadable(begin []byte) string {
	for _, kind := range []struct{ mark, why string }{
		{"\xFF\xFE\x00\x00", "is UTF-32; save it as UTF-8"},
		{"\x00\x00\xFE\xFF", "is UTF-32; save it as UTF-8"},
		{workbookMark, "is an archive in an archive; send the file in it"},
		{"\xD0\xCF\x11\xE0", "is a workbook of an old format or with a password; save it as .xlsx or CSV"},
		{"\x1F\x8B", "is compressed; send it as it is"},
		{"%PDF-", "is a PDF; send CSV"},
	} {
		if bytes.HasPrefix(begin, []byte(kind.mark)) {
			return kind.why
		}
	}
	return ""
}

// declaredSeparator parses a first line such as "sep=;", by which spreadsheets declare the
// delimiter. It returns the delimiter and the length of the line, or 0.
func declaredSeparator(begin []byte) (comma byte, n int) {
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	directive := strings.Trim(string(bytes.TrimSuffix(line, []byte("\r"))), `"`)
	name, separator, _ := strings.Cut(directive, "=")
	if !strings.EqualFold(name, "sep") || !isSeparator(separator) {
		return 0, 0
	}
	return separator[0], min(len(line)+1, len(begin))
}

// sniff recognises the format from the header row: the delimiter is the one that occurs most often; comma wins a
// tie. Quotes are single if the first cell has such, unless the caller says which they are.
func sniff(begin []byte, encoding, quote string) Format {
	begin = bytes.TrimLeft(begin, "\r\n")
	f := Format{Comma: ',', Encoding: encoding}
	if quote == "'" || quote == "" && singleQuoted(begin) {
		f.Quote = '\''
	}
	counts := map[byte]int{}
	quoted := false
scan:
	for i, c := range begin {
		switch {
		case c == f.quote():
			quoted = !quoted
		case quoted:
		case c == '\n':
			break scan
		case c == '\r':
			f.CR = i+1 < len(begin) && begin[i+1] != '\n'
			break scan
		default:
			counts[c]++
		}
	}
	for _, c := range []byte{';', '\t', '|'} {
		if counts[c] > counts[f.Comma] {
			f.Comma = c
		}
	}
	return f
}

// singleQuoted reports whether the first cell of a text stands in single quotes.
func singleQuoted(text []byte) bool {
	rest, opened := bytes.CutPrefix(text, []byte("'"))
	if !opened {
		return false
	}
	cell, after, closed := bytes.Cut(rest, []byte("'"))
	return closed && !bytes.ContainsAny(cell, "\r\n") && (len(after) == 0 || bytes.IndexByte([]byte(",;\t|\r\n"), after[0]) >= 0)
}
