package transfer

import "strings"

// Format is the format of a file's rows.
type Format struct {
	Comma    byte   `json:"comma"`              // the delimiter
	Quote    byte   `json:"quote,omitempty"`    // 0: the double one
	CR       bool   `json:"cr,omitempty"`       // rows end with CR alone
	Encoding string `json:"encoding,omitempty"` // empty: utf-8
}

// quote returns the character that quotes cells.
func (f Format) quote() byte {
	if f.Quote == 0 {
		return '"'
	}
	return f.Quote
}

// appendRow appends a row in the format, but in UTF-8 and with a line feed.
func (f Format) appendRow(b []byte, cells []string) []byte {
	return f.appendCells(b, cells, string([]byte{f.Comma, f.quote(), '\r', '\n'}))
}

// appendHeader appends a header row by which the format is recognised: what else might separate or quote cells is quoted.
func (f Format) appendHeader(b []byte, names []string) []byte {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = escapeFormula(name)
	}
	if f.quote() == '"' {
		return f.appendCells(b, escaped, ",;\t|'\"\r\n")
	}
	b = f.appendCell(b, escaped[0])
	return f.appendCells(append(b, f.Comma), escaped[1:], ",;\t|'\"\r\n")
}

// appendCells appends a row, with quotes around the cells that have any of some characters.
func (f Format) appendCells(b []byte, cells []string, quoted string) []byte {
	for i, cell := range cells {
		if i > 0 {
			b = append(b, f.Comma)
		}
		if strings.ContainsAny(cell, quoted) {
			b = f.appendCell(b, cell)
		} else {
			b = append(b, cell...)
		}
	}
	return append(b, '\n')
}

// appendCell appends a cell in quotes.
func (f Format) appendCell(b []byte, cell string) []byte {
	quote := string(f.quote())
	b = append(b, quote...)
	b = append(b, strings.ReplaceAll(cell, quote, quote+quote)...)
	return append(b, quote...)
}
