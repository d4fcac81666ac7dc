package transfer

import (
	"bytes"
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

// readHeader reads the header row of a file and detects its format. If the file cannot be read at
// all, it returns a fault for the field "file".
func readHeader(open func(at int64) io.Reader) (header, error) {
	begin, err := io.ReadAll(io.LimitReader(open(0), MaxRow))
	if err != nil {
		return header{}, fmt.Errorf("read the beginning of an import: %w", err)
	}
	if why := unreadable(begin); why != "" {
		return header{}, badFile(why)
	}
	var h header
	if rest, ok := bytes.CutPrefix(begin, []byte("\xEF\xBB\xBF")); ok { // byte order mark of UTF-8
		begin, h.at = rest, 3
	}
	if comma, n := declaredSeparator(begin); n > 0 {
		h.format, h.at, h.number = sniff(begin[n:]), h.at+int64(n), 1
		h.format.Comma = comma
	} else {
		h.format = sniff(begin)
	}
	row, err := NewRows(open, h.format, maxColumns, h.at, h.number).Next()
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
	return h, nil
}

func badFile(why string) error { return fault.Input(fault.Field{Path: "file", Message: why}) }

// unreadable returns why a file with this beginning is not a CSV file in UTF-8, or "".
func unreadable(begin []byte) string {
	for _, kind := range []struct{ mark, why string }{
		{"\xFF\xFE", "is UTF-16; save it as UTF-8"},
		{"\xFE\xFF", "is UTF-16; save it as UTF-8"},
		{"\x00\x00\xFE\xFF", "is UTF-32; save it as UTF-8"},
		{"PK\x03\x04", "is a workbook or an archive; save it as CSV"},
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
	directive := bytes.TrimSuffix(line, []byte("\r"))
	if len(directive) != 5 || !strings.EqualFold(string(directive[:4]), "sep=") || !strings.ContainsRune(",;\t|", rune(directive[4])) {
		return 0, 0
	}
	return directive[4], min(len(line)+1, len(begin))
}

// sniff detects the format from the header row: the delimiter is the one that occurs most often;
// comma wins a tie.
func sniff(begin []byte) Format {
	counts := map[byte]int{}
	quoted := false
	f := Format{Comma: ','}
	begin = bytes.TrimLeft(begin, "\r\n")
scan:
	for i, c := range begin {
		switch {
		case c == '"':
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
