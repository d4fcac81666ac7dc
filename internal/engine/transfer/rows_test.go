package transfer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/fault"
)

// opener returns a function that opens text, reading a few bytes at a time if slow.
func opener(text string, slow bool) func(at int64) io.Reader {
	return func(at int64) io.Reader {
		r := strings.NewReader(text[min(at, int64(len(text))):])
		if slow {
			return iotest.OneByteReader(r)
		}
		return r
	}
}

// render formats a row for comparison: number, and cells or the flaw.
func render(row Row) string {
	if row.Flaw != "" {
		return fmt.Sprintf("%d! %s", row.Number, row.Flaw)
	}
	return fmt.Sprintf("%d %s", row.Number, strings.Join(row.Cells, "|"))
}

func rest(t testing.TB, r *Rows) []string {
	t.Helper()
	var list []string
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, render(row))
	}
}

const (
	unclosed = "a quote is never closed"
	follows  = "something follows the quote that closes a cell"
	long     = "the row is longer than a megabyte"
)

func TestRowsOfHostileFiles(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "a,b\nc,d\n", []string{"1 a|b", "2 c|d"}},
		{"no line end at the end", "a,b\nc,d", []string{"1 a|b", "2 c|d"}},
		{"CRLF", "a,b\r\nc,d\r\n", []string{"1 a|b", "2 c|d"}},
		{"blank rows count and are passed over", "a\n\n  \n,,\r\nb\n\n", []string{"1 a", "5 b"}},
		{"nothing", "", nil},
		{"empty cells", ",a,\n,,b\n", []string{"1 |a|", "2 ||b"}},
		{"quotes", "\"a,b\",\"c\"\"d\"\n\"\",\"\"\"\"\n", []string{"1 a,b|c\"d", "2 |\""}},
		{"line ends in quotes", "\"a\nb\",\"c\r\nd\"\r\ne,f\n", []string{"1 a\nb|c\r\nd", "2 e|f"}},
		{"a quote at the very end", "a,\"b\"", []string{"1 a|b"}},
		{"a quote and CR at the very end", "a,\"b\"\r", []string{"1 a|b"}},
		{"spaces behind a quote", "\"a\"  ,\"b\" \n", []string{"1 a|b"}},
		{"quotes in the midst", "a \"b\" c,d\"\n5\",6\n", []string{"1 a \"b\" c|d\"", "2 5\"|6"}},
		{"short rows", "a\nb,c\n", []string{"1 a", "2 b|c"}},
		{"long rows", "a,b,c\na,b,c,\na,b,c,d\ne\n", []string{"1 a|b|c", "2 a|b|c", "3! " + extraCells, "4 e"}},
		{"NUL", "a\nb\x00c\n\"d\x00\"\ne\n", []string{"1 a", "2! the row holds a NUL character", "3! the row holds a NUL character", "4 e"}},
		{"not UTF-8", "a\nM\xfcller\n\"M\xfcller\"\ne\n", []string{"1 a", "2! the row is not UTF-8", "3! the row is not UTF-8", "4 e"}},
		{"text behind a quote", "\"a\"b,c\nd\n", []string{"1! " + follows, "2 d"}},
		{"CR behind a quote", "\"a\"\rb\nd\n", []string{"1! " + follows, "2 d"}},
		{"an unclosed quote", "a,\"b\nc,d\ne,f\n", []string{"1! " + unclosed, "2 c|d", "3 e|f"}},
		{"a quote that closes with another's beginning", "a,\"b\nc,\"d\"\ne,f\n", []string{"1! " + follows, "2 c|d", "3 e|f"}},
		{"an unclosed quote in the last row", "a\n\"b", []string{"1 a", "2! " + unclosed}},
		{"only a quote", "\"", []string{"1! " + unclosed}},
		{"a long row", "a\n" + x + "\nb\n", []string{"1 a", "2! " + long, "3 b"}},
		{"a long row at the end", "a\n" + x, []string{"1 a", "2! " + long}},
		{"a long row with quotes in it", "a\n1,\"b\",\"c\"\"" + x + "\"\nb\n", []string{"1 a", "2! " + long, "3 b"}},
		{"a long cell of many lines", "a\n\"" + strings.Repeat("y,\"\"\n", 60) + "\",2\nb\n", []string{"1 a", "2! " + long, "3 b"}},
		{"a long cell that is never closed", "a\n\"y\n" + x + "\nb\n", []string{"1 a", "2! " + long, "3! " + long, "4 b"}},
		{"a long cell that closes badly", "a\n\"y\nz\n" + strings.Repeat("w\n", 60) + "\"v\nb\n",
			slices.Concat([]string{"1 a", "2! " + long, "3 z"}, many(4, 60, "w"), []string{"64! " + unclosed, "65 b"})},
		{"a long first line that closes badly", "a\n\"" + x + "\"y\nb\n", []string{"1 a", "2! " + long, "3 b"}},
		{"a long unquoted cell behind a quoted one", "a\n\"b\nc\"," + x + "\nb\n", []string{"1 a", "2! " + long, "3 b"}},
		{"many cells", "a\n" + strings.Repeat(",", 90) + "\n" + strings.Repeat(",", 90) + "z\nb\n", []string{"1 a", "3! " + extraCells, "4 b"}},
	} {
		for _, slow := range []bool{false, true} {
			r := NewRows(opener(tt.text, slow), Format{Comma: ','}, 3, 0, 0)
			r.max = 100
			if diff := cmp.Diff(tt.want, rest(t, r)); diff != "" {
				t.Errorf("%s, a byte at a time %t: (-want +got)\n%s", tt.name, slow, diff)
			}
		}
	}
}

func many(from, n int, cell string) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%d %s", from+i, cell))
	}
	return list
}

func TestFlawedRowsHaveTheirRawBeginning(t *testing.T) {
	t.Parallel()
	r := NewRows(opener("M\xfc\x00ller\r\n"+strings.Repeat("z", 2<<20)+"\n", false), Format{Comma: ','}, 1, 0, 0)
	for _, want := range []string{"M\uFFFD\uFFFDller", strings.Repeat("z", rawShown)} {
		row, err := r.Next()
		if err != nil || row.Flaw == "" || !slices.Equal(row.Cells, []string{want}) {
			t.Errorf("Next = %.100q, %v; want %.100q", row.Cells, err, want)
		}
	}
}

func TestOtherFormats(t *testing.T) {
	t.Parallel()
	r := NewRows(opener("a;b,c\r\"d\re\";f\r", false), Format{Comma: ';', CR: true}, 3, 0, 0)
	if diff := cmp.Diff([]string{"1 a|b,c", "2 d\re|f"}, rest(t, r)); diff != "" {
		t.Errorf("rows that end with CR: %s", diff)
	}
	r = NewRows(opener("a\tb\n\"c\td\"\te\n", false), Format{Comma: '\t'}, 3, 0, 0)
	if diff := cmp.Diff([]string{"1 a|b", "2 c\td|e"}, rest(t, r)); diff != "" {
		t.Errorf("rows with tabs: %s", diff)
	}
}

// A cell of ten megabytes costs one row, and little memory.
func TestMemoryIsBoundedByARow(t *testing.T) {
	t.Parallel()
	cell := strings.Repeat("0123456789\n", 1<<20)
	r := NewRows(opener("a\n\""+cell+"\",b\nc\n\""+cell+"\nd\n", false), Format{Comma: ','}, 3, 0, 0)
	n := 0
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if n++; err != nil || cap(r.mem) > 5*MaxRow {
			t.Fatalf("after row %d: %d bytes of memory, %v", n, cap(r.mem), err)
		}
		if row.Number == 3 && render(row) != "3 c" {
			t.Errorf("after the long row comes %s", render(row))
		}
	}
	if want := 3 + 1 + (1<<20 - 1) + 1; n != want { // the lines of the unclosed cell are rows
		t.Errorf("%d rows, want %d", n, want)
	}
}

// A file written by encoding/csv is read correctly, from any row on.
func TestRowsAgreeWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringOfN(rapid.RuneFrom([]rune("ab,;\"\n\r\t é'=")), 0, 8, -1)
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, 3, 3), 0, 12).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		reader := csv.NewReader(bytes.NewReader(b.Bytes()))
		reader.FieldsPerRecord = -1
		want, err := reader.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, blank)
		open := opener(b.String(), rapid.Bool().Draw(t, "slow"))
		r := NewRows(open, Format{Comma: ','}, 3, 0, 0)
		for i := 0; ; i++ {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				if i != len(want) {
					t.Fatalf("%d rows, want %d of %q", i, len(want), b.String())
				}
				return
			}
			if err != nil || row.Flaw != "" || i >= len(want) {
				t.Fatalf("row %d = %+v, %v of %q", i, row, err, b.String())
			}
			for c := range row.Cells { // encoding/csv turns CRLF within quotes into LF
				if strings.ReplaceAll(row.Cells[c], "\r\n", "\n") != want[i][c] {
					t.Fatalf("row %d = %q, want %q", i, row.Cells, want[i])
				}
			}
			if rapid.Bool().Draw(t, "resume") {
				r = NewRows(open, Format{Comma: ','}, 3, row.End, row.Number)
			}
		}
	})
}

// For any input, reading terminates, advances, and continues from any row as it did before.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		"a,b\n\"c\"\"\n,d", "\"\"\"\n\"x", "\"a\nb\"c\n\"", "\r\n\r\"\r", "\xff\xfe\x00", strings.Repeat("\"\n", 80), strings.Repeat("a\"\"", 50) + "\n\"",
		"\"" + strings.Repeat("ab\n", 40) + "\"c\nd", "\"" + strings.Repeat("x", 70) + "\" " + strings.Repeat(" ", 70) + "\nb",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, cr bool) {
		format := Format{Comma: ',', CR: cr}
		read := func(at, number int64, slow bool) (list []string, ends []int64) {
			r := NewRows(opener(text, slow), format, 4, at, number)
			r.max = 64
			for {
				row, err := r.Next()
				if errors.Is(err, io.EOF) {
					return list, ends
				}
				if err != nil {
					t.Fatal(err)
				}
				if last := append([]int64{at}, ends...)[len(ends)]; row.End <= last || row.End > int64(len(text)) {
					t.Fatalf("%q: row %s ends at %d, the one before at %d", text, render(row), row.End, last)
				}
				if len(row.Cells) > 4 {
					t.Fatalf("%q: %d cells", text, len(row.Cells))
				}
				list, ends = append(list, render(row)+fmt.Sprintf(" %q", row.Cells)), append(ends, row.End)
			}
		}
		all, ends := read(0, 0, false)
		if again, _ := read(0, 0, true); !slices.Equal(all, again) {
			t.Fatalf("%q: %q, but a byte at a time %q", text, all, again)
		}
		for i, end := range ends {
			var number int64
			fmt.Sscan(all[i], &number)
			if tail, _ := read(end, number, false); !slices.Equal(tail, all[i+1:]) {
				t.Fatalf("%q: behind row %d %q, and when begun there %q", text, i, all[i+1:], tail)
			}
		}
	})
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	wide := strings.TrimSuffix(strings.Repeat("column,", 2000), ",")
	for _, tt := range []struct {
		name, text string
		want       header
		why        string
	}{
		{name: "comma", text: "email, first_name \na,b", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"email", "first_name"}, 18 + 1, 1}},
		{name: "semicolon", text: "email;\"a,b\";c,d\n", want: header{Format{Comma: ';', Encoding: utf8Text}, []string{"email", "a,b", "c,d"}, 16, 1}},
		{name: "tab", text: "email\tname\r\n", want: header{Format{Comma: '\t', Encoding: utf8Text}, []string{"email", "name"}, 12, 1}},
		{name: "one column", text: "email", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"email"}, 5, 1}},
		{name: "CR", text: "email,a\rb,c\r", want: header{Format{Comma: ',', CR: true, Encoding: utf8Text}, []string{"email", "a"}, 8, 1}},
		{name: "BOM", text: "\xEF\xBB\xBFemail,a\n", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"email", "a"}, 11, 1}},
		{name: "BOM and quotes", text: "\xEF\xBB\xBF\"email\",a\n", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"email", "a"}, 13, 1}},
		{name: "announced", text: "sep=;\r\nemail,b;c\n", want: header{Format{Comma: ';', Encoding: utf8Text}, []string{"email,b", "c"}, 17, 2}},
		{name: "blank rows before", text: "\n\r\nemail;b\n", want: header{Format{Comma: ';', Encoding: utf8Text}, []string{"email", "b"}, 11, 3}},
		{name: "NFC", text: "e\u0301mail\n", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"émail"}, 8, 1}},
		{name: "empty", text: "", why: "is empty; it must begin with a header row that names the columns"},
		{name: "blank", text: " \n\n", why: "is empty; it must begin with a header row that names the columns"},
		{name: "BOM alone", text: "\xEF\xBB\xBF", why: "is empty; it must begin with a header row that names the columns"},
		{name: "announced alone", text: "sep=;", why: "is empty; it must begin with a header row that names the columns"},
		{name: "UTF-16", text: "\xFF\xFEe\x00,\x00m\x00\r\x00\n\x00a\x00", want: header{Format{Comma: ',', Encoding: utf16LE}, []string{"e", "m"}, 12, 1}},
		{name: "UTF-16 with the high byte first, without a mark", text: "\x00s\x00e\x00p\x00=\x00;\x00\n\x00e\x00;\x00m\x00\n", want: header{Format{Comma: ';', Encoding: utf16BE}, []string{"e", "m"}, 20, 2}},
		{name: "UTF-32", text: "\xFF\xFE\x00\x00e\x00\x00\x00", why: "is UTF-32; save it as UTF-8"},
		{name: "Windows", text: "email,Stra\xdfe\n", want: header{Format{Comma: ',', Encoding: windows1252}, []string{"email", "Straße"}, 13, 1}},
		{name: "announced in quotes", text: "\"sep=\t\"\nemail\tb\n", want: header{Format{Comma: '\t', Encoding: utf8Text}, []string{"email", "b"}, 16, 2}},
		{name: "single quotes", text: "'email';'a;b'\n", want: header{Format{Comma: ';', Quote: '\'', Encoding: utf8Text}, []string{"email", "a;b"}, 14, 1}},
		{name: "an apostrophe", text: "'t Hof,email\n", want: header{Format{Comma: ',', Encoding: utf8Text}, []string{"'t Hof", "email"}, 13, 1}},
		{name: "a workbook", text: "PK\x03\x04\x14\x00", why: "is an archive in an archive; send the file in it"},
		{name: "compressed", text: "\x1f\x8b\x08", why: "is compressed; send it as it is"},
		{name: "an unclosed quote", text: "\"email\na\n", why: "has a header row that cannot be read: a quote is never closed"},
		{name: "endless", text: strings.Repeat("x", 3<<20), why: "has a header row that cannot be read: " + long},
		{name: "too many columns", text: wide + "," + wide + "," + wide + "\n", why: "has more than 4096 columns"},
	} {
		var seen census
		_, _ = seen.Write([]byte(tt.text))
		h, err := readHeader(opener(tt.text, false), seen, reading{})
		if tt.why != "" {
			f, ok := fault.As(err)
			if !ok || !cmp.Equal(f.Details, fault.Fields{Fields: []fault.Field{{Path: "file", Message: tt.why}}}) {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.why)
			}
			continue
		}
		if err != nil || !cmp.Equal(h, tt.want, cmp.AllowUnexported(header{})) {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, h, err, tt.want)
		}
	}
	if h, err := readHeader(opener(wide+"\n", true), census{}, reading{}); err != nil || len(h.names) != 2000 {
		t.Errorf("2,000 columns: %d, %v", len(h.names), err)
	}
}

func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	var r Report
	for i := range int64(1000) {
		r.addFault(i, rowError{message: fmt.Sprint(i%100) + strings.Repeat("x", 2*maxMessage), value: strings.Repeat("v", 1000)})
	}
	if text := fmt.Sprint(r.Faults); len(r.Faults) != maxFaults || r.Faults[0].Rows != 10 || len(text) > maxFaults*(maxMessage+2*maxSample) {
		t.Errorf("%d faults in %d bytes", len(r.Faults), len(text))
	}
	columns := make([]column, maxColumns)
	cells := slices.Repeat([]string{strings.Repeat("v", 200)}, maxColumns)
	s, err := takeSurvey(NewRows(opener(strings.Join(cells, ",")+"\n", false), Format{Comma: ','}, maxColumns, 0, 0), columns, nil)
	size := 0
	for _, c := range s.columns {
		size += len(strings.Join(c.Samples, ""))
	}
	if err != nil || s.rows != 1 || len(s.columns) != maxListed || size == 0 || size > maxSampleBytes {
		t.Errorf("%d rows, %d columns with %d bytes of samples, %v", s.rows, len(s.columns), size, err)
	}
}
