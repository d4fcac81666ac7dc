package liquid

import (
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// In script and style elements a browser decodes no entities: their content is text of another language,
// in which outputs are escaped instead.

// place is where an output is printed. The zero place is HTML, or a text that is not escaped.
type place struct {
	language language
	quote    byte // of the text that it is in; 0: it is a value of its own
}

// String tells places apart.
func (c place) String() string {
	if c.language == ofHTML {
		return ""
	}
	return fmt.Sprint("\x00", c.language, c.quote)
}

type language uint8

const (
	ofHTML   language = iota
	ofScript          // JavaScript and JSON
	ofStyle           // CSS
)

// places returns the places of the outputs in HTML that are in scripts and styles, by their offsets.
func places(source string) map[int]place {
	if !hasFold(source, "<script") && !hasFold(source, "<style") {
		return nil
	}
	found := map[int]place{}
	in := markup.New(source, markup.Syntax{})
	kind := ""
	for t := range in.All() {
		switch {
		case t.Kind == markup.StartTag && t.Name == "script":
			kind = strings.ToLower(strings.TrimSpace(markup.Lookup(source[t.Start:t.End], "type")))
		case t.Kind == markup.Text && t.Name == "script" && isScript(kind):
			quotes(in, t, ofScript, found)
		case t.Kind == markup.Text && t.Name == "style":
			quotes(in, t, ofStyle, found)
		}
	}
	return found
}

// placesInJSON returns the places of the outputs in JSON, by their offsets.
func placesInJSON(source string) map[int]place {
	found := map[int]place{}
	quotes(markup.New(source, markup.Syntax{}), markup.Token{End: len(source)}, ofScript, found)
	return found
}

// isScript reports whether a type of script is JavaScript or JSON, not a text for a program of its own.
func isScript(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return kind == "" || kind == "module" || strings.Contains(kind, "json") || strings.Contains(kind, "javascript") || strings.Contains(kind, "ecmascript")
}

// quotes finds the outputs in the text of an element, and which are in quotes.
func quotes(in *markup.Scanner, t markup.Token, l language, found map[int]place) {
	text := in.Masked[t.Start:t.End]
	spans := in.Within(t.Start, t.End)
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		if len(spans) > 0 && spans[0].Start == t.Start+i {
			if spans[0].Output {
				found[spans[0].Start] = place{l, quote}
			}
			i = spans[0].End - t.Start - 1
			spans = spans[1:]
			continue
		}
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote || c == '\n' && quote != '`' { // a text that is not closed ends with its line
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`' && l == ofScript:
			quote = c
		case strings.HasPrefix(text[i:], "/*"):
			if n := strings.Index(text[i:], "*/"); n > 0 && (len(spans) == 0 || spans[0].Start > t.Start+i+n) {
				i += n + 1
			}
		}
	}
}

// hasFold reports whether s contains a word in any case; the word is in lower case.
func hasFold(s, word string) bool {
	for {
		i := strings.IndexByte(s, word[0])
		if i < 0 || len(s)-i < len(word) {
			return false
		}
		if s = s[i:]; strings.EqualFold(s[:len(word)], word) {
			return true
		}
		s = s[1:]
	}
}

// printIn prints a value at a place.
func (s *state) printIn(c place, v any) {
	if c.language == ofHTML {
		s.print(v)
		return
	}
	if raw, ok := v.(Raw); ok {
		printRaw(s, string(raw))
		return
	}
	if text, ok := v.(jsonText); ok && c.language == ofScript && c.quote == 0 {
		printRaw(s, string(text))
		return
	}
	from, html := len(s.out), s.html
	s.html = false
	s.print(v)
	s.html = html
	if s.err != nil {
		return
	}
	printed := string(s.out[from:])
	escaped := printed
	switch {
	case c.language == ofStyle:
		escaped = escapeStyle(printed, c.quote)
	case c.quote != 0:
		escaped = escapeScript(printed, c.quote)
	case v == nil:
		escaped = "null"
	case !isPlainValue(v):
		escaped = `"` + escapeScript(printed, '"') + `"`
	}
	if n := len(escaped) - len(printed); n > 0 && !s.claimBytes(n) {
		return
	}
	s.out = append(s.out[:from], escaped...)
}

// isPlainValue reports whether a value is written in JSON as it is printed.
func isPlainValue(v any) bool {
	switch v.(type) {
	case bool, int64, float64:
		return true
	}
	return false
}

// escapeScript escapes a text for a string of JSON or JavaScript in the given quotes. It cannot end the
// element.
func escapeScript(text string, quote byte) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '"' && quote == '"':
			b.WriteString(`\"`)
		case r == '\\':
			b.WriteString(`\\`)
		case r < ' ', r == '<', r == rune(quote), r == '$' && quote == '`', r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeStyle escapes a text for CSS: in quotes whatever could end them, otherwise what could end the
// declaration.
func escapeStyle(text string, quote byte) string {
	unsafe := "<{};"
	if quote != 0 {
		unsafe = "<\\\n\r\f" + string(quote)
	}
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(unsafe, r) {
			fmt.Fprintf(&b, `\%x `, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
