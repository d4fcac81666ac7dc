package transfer

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDatesInTheirForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cell, day, month string // read with the day first, and with the month first; empty: no date
	}{
		{"1999-12-31", "1999-12-31", "1999-12-31"},
		{"1999/12/31", "1999-12-31", "1999-12-31"},
		{"1999.1.2", "1999-01-02", "1999-01-02"},
		{"1999-12-31 14:30:05", "1999-12-31 14:30:05", "1999-12-31 14:30:05"},
		{"31.12.1999", "1999-12-31", ""},
		{"31. 12. 1999", "1999-12-31", ""},
		{"1.2.1999", "1999-02-01", "1999-01-02"},
		{"12/31/1999", "", "1999-12-31"},
		{"31-12-1999", "1999-12-31", ""},
		{"31 12 1999", "1999-12-31", ""},
		{"31.12.29", "2029-12-31", ""},
		{"31.12.30", "1930-12-31", ""},
		{"31.12.1999 8:05", "1999-12-31 08:05", ""},
		{"31.12.1999, 14:30 Uhr", "1999-12-31 14:30", ""},
		{"12/31/1999 12:00:00 AM", "", "1999-12-31"},
		{"12/31/1999 2:30 p.m.", "", "1999-12-31 14:30"},
		{"31 Dec 1999", "1999-12-31", "1999-12-31"},
		{"31. Dezember 1999", "1999-12-31", "1999-12-31"},
		{"31-Dec-99", "1999-12-31", "1999-12-31"},
		{"1st March 2020", "2020-03-01", "2020-03-01"},
		{"Sept. 3, 2020 10:15 am", "2020-09-03 10:15", "2020-09-03 10:15"},
		{"3. Mär 2020", "2020-03-03", "2020-03-03"},
		{"31.02.1999", "", ""},
		{"31.12/1999", "", ""},
		{"00.12.1999", "", ""},
		{"31.12.999", "", ""},
		{"31.12.0000", "", ""},
		{"31 Foo 1999", "", ""},
		{"31.12.1999 25:00", "", ""},
		{"31.12.1999 10", "", ""},
		{"geb. 1980", "", ""},
		{"12", "", ""},
	} {
		show := func(f form) string {
			at, ok := parseDate(tt.cell, f)
			if !ok {
				return ""
			}
			text := strings.TrimSuffix(at.Format(time.DateTime), ":00")
			return strings.TrimSuffix(text, " 00:00")
		}
		if day, month := show(dayFirst), show(monthFirst); day != tt.day || month != tt.month {
			t.Errorf("%q = %q and %q, want %q and %q", tt.cell, day, month, tt.day, tt.month)
		}
	}
}

func TestNumbersInTheirForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ cell, point, comma string }{
		{"12", "12", "12"},
		{"-12.5", "-12.5", ""},
		{"12,5", "", "12.5"},
		{".5", "0.5", ""},
		{"1.234", "1.234", "1234"},
		{"1,234", "1234", "1.234"},
		{"0.125", "0.125", ""},
		{"1.234,50", "", "1234.5"},
		{"1,234.50", "1234.5", ""},
		{"1.234.567", "", "1234567"},
		{"12.34.567", "", ""},
		{"1 234,5", "", "1234.5"},
		{"1\u202F234,5", "", "1234.5"},
		{"1'234.5", "1234.5", ""},
		{"€ 1.234,50", "", "1234.5"},
		{"12,50 €", "", "12.5"},
		{"USD 12.50", "12.5", ""},
		{"12.50 CHF", "12.5", ""},
		{"12 %", "12", "12"},
		{"\u22125", "-5", "-5"},
		{"1e3", "1000", ""},
		{"1e999", "", ""},
		{"NaN", "", ""}, {"0x10", "", ""}, {"1_000", "", ""}, {"-", "", ""}, {"€", "", ""}, {",", "", ""}, {"12 34", "", ""}, {"many", "", ""},
	} {
		show := func(f form) string {
			n, ok := parseNumber(tt.cell, f)
			if !ok {
				return ""
			}
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
		if point, comma := show(pointDecimal), show(commaDecimal); point != tt.point || comma != tt.comma {
			t.Errorf("%q = %q and %q, want %q and %q", tt.cell, point, comma, tt.point, tt.comma)
		}
	}
}

func TestClocksAndWords(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"9:05": "09:05", "09:05:30": "09:05:30", "14.30 Uhr": "14:30", "14h30": "14:30", "2:30 PM": "14:30", "12:00 am": "00:00", "12 pm": "12:00",
		"24:00": "", "13:00 pm": "", "9": "", "9:60": "", "": "",
	} {
		of, ok := parseClock(cell)
		if got := clockText(of); ok != (want != "") || ok && got != want {
			t.Errorf("%q = %q, %t; want %q", cell, got, ok, want)
		}
	}
	for _, tt := range []struct {
		cell      string
		f         form
		value, ok bool
	}{
		{"Ja", "", true, true}, {"nein", "", false, true}, {"1", "", true, true}, {"N", "", false, true}, {"x", "", true, true}, {"maybe", "", false, false},
		{"aktiv", "aktiv/inaktiv", true, true}, {"INAKTIV", "aktiv/inaktiv", false, true}, {"yes", "aktiv/inaktiv", false, false},
	} {
		if value, ok := parseBoolean(tt.cell, tt.f); value != tt.value || ok != tt.ok {
			t.Errorf("%q as %q = %t, %t", tt.cell, tt.f, value, ok)
		}
	}
}

// The form of a column is what most of its cells fit; where two are as likely, both are named.
func TestFormsAreGuessedFromAllCells(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind      kind
		separator byte
		cells     string
		want      form
		either    bool
	}{
		{dateKind, ',', "1999-12-31|2000-01-02 10:00|", yearFirst, false},
		{dateKind, ',', "31 Dec 1999", "", false},
		{dateKind, ',', "||", "", false},
		{dateKind, ',', "01/02/2020|13/02/2020", dayFirst, false},
		{dateKind, ',', "01/02/2020|02/13/2020", monthFirst, false},
		{dateKind, ',', "01/02/2020|13/02/2020|14/02/2020|02/15/2020", dayFirst, false},
		{dateKind, ',', "01/02/2020|2020-02-13|geb. 1980", dayFirst, true},
		{dateKind, ',', "05/05/2020", "", false},
		{dateKind, ',', "13/01/2020|01/13/2020", dayFirst, true},
		{dateKind, ',', "01.02.2020|03.04.2020", dayFirst, false},
		{dateKind, ',', "01.02.2020|03.14.2020", monthFirst, false},
		{dateKind, ',', "01.02.2020|03/04/2020", dayFirst, true},
		{numberKind, ',', "1|22|333|", "", false},
		{numberKind, ',', "1.234", pointDecimal, false},
		{numberKind, ';', "1.234", pointDecimal, true},
		{numberKind, ';', "1.234|12,5", commaDecimal, false},
		{numberKind, ';', "1,234", commaDecimal, false},
		{numberKind, ',', "1,234", pointDecimal, true},
		{numberKind, '\t', "1,234", pointDecimal, true},
		{numberKind, ',', "1,234|1,234.50", pointDecimal, false},
		{numberKind, ';', "1.234|0.5", pointDecimal, false},
		{booleanKind, ',', "|nein|Ja|ja", "Ja/nein", false},
		{booleanKind, ',', "1|1", "", false},
	} {
		tally := tally{kind: tt.kind}
		for cell := range strings.SplitSeq(tt.cells, "|") {
			tally.add(cell)
		}
		if f, either := tally.form(tt.separator); f != tt.want || (len(either) > 0) != tt.either {
			t.Errorf("%q = %q, %q; want %q, either %t", tt.cells, f, either, tt.want, tt.either)
		}
	}
}

func TestFormsThatCallersName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind kind
		text string
		want form
	}{
		{dateKind, "DD.MM.YYYY", dayFirst}, {dateKind, "dd/mm/yyyy", dayFirst}, {dateKind, "DD-MM-YY", dayFirst}, {dateKind, "MM/DD/YYYY", monthFirst},
		{dateKind, "YYYY-MM-DD", yearFirst}, {dateKind, "YYYY.MM.DD", yearFirst}, {dateKind, "YYYY-DD-MM", ""}, {dateKind, "", ""},
		{numberKind, "1.234,50", commaDecimal}, {numberKind, "1,234.50", pointDecimal}, {numberKind, "1234,50", commaDecimal}, {numberKind, "1234.50", pointDecimal}, {numberKind, "#", ""},
		{booleanKind, " ja / nein ", "ja/nein"}, {booleanKind, "ja", ""}, {booleanKind, "a/A", ""}, {booleanKind, "/no", ""}, {plainKind, "DD.MM.YYYY", ""},
	} {
		if got := tt.kind.parseForm(tt.text); got != tt.want {
			t.Errorf("%s %q = %q, want %q", tt.kind, tt.text, got, tt.want)
		}
	}
}

// Whatever a cell is, it is read or not, and a number or date is the same when it is read again as it is stored.
func FuzzCells(f *testing.F) {
	for _, cell := range []string{"31.12.1999 14:30", "Dec 31, 1999", "1.234,50 €", "2:30 PM", "ja", "\u200b1\u00a0234", "9999-99-99", "0001-01-01T00:00:00Z"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		for _, written := range []form{"", yearFirst, dayFirst, monthFirst} {
			if at, ok := parseDate(cell, written); ok {
				if again, ok := parseDate(at.Format(time.RFC3339Nano), written); !ok || !again.Equal(at) {
					t.Fatalf("%q as %s is %s, and then %s, %t", cell, written, at, again, ok)
				}
			}
		}
		for _, written := range []form{"", pointDecimal, commaDecimal} {
			if n, ok := parseNumber(cell, written); ok {
				if again, ok := parseNumber(fmt.Sprint(n), ""); !ok || again != n {
					t.Fatalf("%q as %s is %v, and then %v, %t", cell, written, n, again, ok)
				}
			}
		}
		if of, ok := parseClock(cell); ok {
			if again, ok := parseClock(clockText(of)); !ok || again != of {
				t.Fatalf("%q is %s, and then %s, %t", cell, of, again, ok)
			}
		}
		if inner := trimmed(cell); trimmed(inner) != inner {
			t.Fatalf("%q has more to trim", cell)
		}
		_ = splitList(cell)
	})
}
