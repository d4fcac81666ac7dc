package transfer

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"pgregory.net/rapid"
)

// countBytes counts a text that arrives some bytes at a time.
func countBytes(text string, step int) census {
	var c census
	for ; len(text) > step; text = text[step:] {
		_, _ = c.Write([]byte(text[:step]))
	}
	_, _ = c.Write([]byte(text))
	return c
}

func TestEncodingsAreRecognisedByContent(t *testing.T) {
	t.Parallel()
	utf16 := func(e unicode.Endianness, s string) string {
		s, err := unicode.UTF16(e, unicode.IgnoreBOM).NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", utf8Text},
		{"ASCII", "email,name\nann@example.org,Ann\n", utf8Text},
		{"UTF-8", "email,Straße\nann@example.org,Zoë\n", utf8Text},
		{"UTF-8 with a mark", "\xEF\xBB\xBFemail", utf8Text},
		{"UTF-8 with a damaged row", "email,name\na@b.example,Bj\xf6rn\nc@d.example,Zoë, Renée\n", utf8Text},
		{"UTF-8 with four bytes", "email,name\na@b.example,😀\n", utf8Text},
		{"UTF-8 that breaks off", "name\nZoë, Ren\xc3", utf8Text},
		{"UTF-16 with a mark", "\xFF\xFE" + utf16(unicode.LittleEndian, "email"), utf16LE},
		{"UTF-16, high byte first, with a mark", "\xFE\xFF" + utf16(unicode.BigEndian, "email"), utf16BE},
		{"UTF-16", utf16(unicode.LittleEndian, "email\tname\r\na@b.example\t漢字\r\n"), utf16LE},
		{"UTF-16, high byte first", utf16(unicode.BigEndian, "email\tname\r\na@b.example\tБорис\r\n"), utf16BE},
		{"Windows", "name\nBj\xf6rn\n", windows1252},
		{"Windows with a euro and quotes", "name\n\x80 5 \x93Bj\xf6rn\x94\n", windows1252},
		{"Windows with a fraction, an accent and a plural", "name\n2\xbd l d\xb4Or\xe9e 3\xbc\n", windows1252},
		{"Latin-9 with a euro", "name\n5 \xa4\n", latin9},
		{"Latin-9 with letters", "name\nKova\xe8\nDvo\xb8\xe1k\n", latin9},
		{"Latin-9 with a word's first letter", "name\n\xa6koda\n", latin9},
		{"Windows, though a word looks like Latin-9", "name\n\xa6koda \x96 B\xe9\n", windows1252},
	} {
		for _, step := range []int{1, 2, 3, 1000} {
			c := countBytes(tt.text, step)
			if got := c.encoding([]byte(tt.text)); got != tt.want || c.Size != int64(len(tt.text)) {
				t.Errorf("%s, %d bytes at a time: %s, want %s; %+v", tt.name, step, got, tt.want, c)
			}
		}
	}
}

func TestEncodingsHaveTheNamesOfTheWeb(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"UTF8": "utf-8", "utf-16": "utf-16le", "UTF-16BE": "utf-16be", "latin1": "windows-1252", "ISO-8859-15": "iso-8859-15", "cp1250": "windows-1250",
		"macintosh": "macintosh", "shift_jis": "", "utf-7": "", "": "", "replacement": "",
	} {
		name, ok := parseEncoding(label)
		if ok != (want != "") || ok && name != want {
			t.Errorf("parseEncoding(%q) = %q, %t; want %q", label, name, ok, want)
		}
	}
}

// In every encoding rows are the same as in UTF-8, from any row on.
func TestRowsAreTheSameInEveryEncoding(t *testing.T) {
	t.Parallel()
	encoders := map[string]transform.Transformer{
		utf16LE: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(), utf16BE: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder(),
		windows1252: charmap.Windows1252.NewEncoder(), latin9: charmap.ISO8859_15.NewEncoder(),
	}
	rapid.Check(t, func(t *rapid.T) {
		letters := "aß€é,\"\n\r"
		encoding := rapid.SampledFrom([]string{utf16LE, utf16BE, windows1252, latin9}).Draw(t, "encoding")
		if strings.HasPrefix(encoding, "utf") {
			letters += "漢😀\uFEFF"
		}
		text := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 0, 60, -1).Draw(t, "text")
		raw, _, err := transform.String(encoders[encoding], text)
		if err != nil {
			t.Fatal(err)
		}
		slow := rapid.Bool().Draw(t, "slow")
		plain := NewRows(opener(text, false), Format{Comma: ','}, 3, 0, 0)
		r := NewRows(opener(raw, slow), Format{Comma: ',', Encoding: encoding}, 3, 0, 0)
		plain.max, r.max = 30, 30
		for {
			want, done := plain.Next()
			row, err := r.Next()
			if !errors.Is(err, done) {
				t.Fatalf("%v, want %v", err, done)
			}
			if err != nil {
				return
			}
			encoded, _, err := transform.String(encoders[encoding], text[:want.End])
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(row.Cells, row.Flaw, row.Number) != fmt.Sprint(want.Cells, want.Flaw, want.Number) || row.End != int64(len(encoded)) {
				t.Fatalf("row %+v, want %+v with the end %d", row, want, len(encoded))
			}
			if rapid.Bool().Draw(t, "resume") {
				r = NewRows(opener(raw, slow), Format{Comma: ',', Encoding: encoding}, 3, row.End, row.Number)
				r.max = 30
			}
		}
	})
}

// Whatever the bytes are, a header is read or refused, and so are the rows after it.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		"\xFF\xFEe\x00;\x00\n\x00a\x00\n\x00b", "\xFE\xFF\x00e\x00\n\xD8\x00\x00\n", "sep=;\nemail;Stra\xdfe\n", "'a','b'\n'c''d',e\n", "\"sep=,\"\r\"", "\xEF\xBB\xBF\n\"",
		"a\x00\x00b\x00\n", "PK\x03\x04", "\x80\xa4\n\xa6a",
	} {
		for _, encoding := range []string{"", utf8Text, utf16LE, utf16BE, latin9, "macintosh"} {
			f.Add(seed, encoding, "", "")
		}
		f.Add(seed, "", ";", "'")
	}
	f.Fuzz(func(t *testing.T, text, encoding, separator, quote string) {
		var p problems
		how := reading{encoding, separator, quote}
		if how.check(&p); p.Any() {
			return
		}
		h, err := readHeader(opener(text, false), countBytes(text, 7), how)
		if err != nil {
			return
		}
		if h.at <= 0 || h.at > int64(len(text))+1 || len(h.names) == 0 {
			t.Fatalf("%q: the header ends at %d: %q", text, h.at, h.names)
		}
		r := NewRows(opener(text, true), h.format, len(h.names), h.at, h.number)
		for at := h.at; ; {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || row.End <= at || row.End > int64(len(text))+1 { // a half of a character of UTF-16 counts as a whole one
				t.Fatalf("%q: %+v, %v", text, row, err)
			}
			at = row.End
		}
	})
}
