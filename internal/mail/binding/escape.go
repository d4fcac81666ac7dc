package binding

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// joiner concatenates texts without creating or destroying a Liquid delimiter where they are
// joined: there it writes an empty output, which prints nothing, in HTML as in text.
type joiner struct {
	strings.Builder
	last byte
}

// nothing is Liquid that prints nothing.
const nothing = "{{}}"

func (j *joiner) write(text string) {
	if text == "" {
		return
	}
	if formDelimiter(j.last, text[0]) {
		j.WriteString(nothing)
	}
	j.addPiece(text)
}

// addPiece writes a literal of the body, including its delimiters.
func (j *joiner) addPiece(text string) {
	if text != "" {
		j.WriteString(text)
		j.last = text[len(text)-1]
	}
}

// formDelimiter reports whether two adjacent bytes are a delimiter, or a part of what turns one into text
// (three braces).
func formDelimiter(a, b byte) bool {
	switch a {
	case '{':
		return b == '{' || b == '%'
	case '}', '%':
		return b == '}'
	}
	return false
}

// escapeLiquid returns text in a form that Liquid prints unchanged.
func escapeLiquid(text string) string {
	if !hasLiquid(text) {
		return text
	}
	var j joiner
	from := 0
	for i := 1; i < len(text); i++ {
		if text[i-1] == '{' && (text[i] == '{' || text[i] == '%') {
			j.write(text[from:i])
			from = i
		}
	}
	j.write(text[from:])
	return j.String()
}

// where is the position that a value is written for.
type where struct {
	form  form
	place place
	code  bool // as a value in Liquid
}

// inTag reports whether white space has a meaning there.
func (w where) inTag() bool { return w.place == inTag || w.place == inBare }

// prepared returns a value whose Liquid is allowed in a body, with param referring to the
// parameters of the block in the slot.
func prepared(v Value, slot string) Value {
	ready := func(t Type, text string) string {
		if checkLiquid(t, text) != "" {
			return escapeLiquid(text) // Check would have refused it
		}
		return scopeParams(neutralizePlaceholders(text), slot)
	}
	switch x := v.V.(type) {
	case string:
		v.V = ready(v.Type, x)
	case []string:
		list := make([]string, len(x))
		for i, item := range x {
			list[i] = ready(List, item)
		}
		v.V = list
	}
	return v
}

// escapeText returns a text of the program escaped for a position.
func escapeText(text string, at where) string { return escaped(prepared(Value{Text, text}, ""), at) }

// escaped returns a prepared value escaped for a position.
func escaped(v Value, at where) string {
	switch x := v.V.(type) {
	case json.Number:
		return decimal(x)
	case bool:
		return strconv.FormatBool(x)
	case []string:
		var j joiner
		for i, item := range x {
			if i > 0 {
				j.write(escapedText(List, ", ", at))
			}
			j.write(escapedText(List, item, at))
		}
		return j.String()
	case string:
		return escapedText(v.Type, x, at)
	}
	return ""
}

// decimal returns a number without an exponent.
func decimal(n json.Number) string {
	if strings.ContainsAny(string(n), "eE") {
		if f, err := n.Float64(); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(n)
}

func escapedText(t Type, text string, at where) string {
	switch {
	case t == RawHTML && at.form.marked():
		return text
	case t == RichText && at.form.marked() && at.place == inMarkup:
		return sanitised(text)
	case t == RichText || t == RawHTML:
		text = stripped(text, at.form == plainForm)
		if !at.form.marked() {
			text = plainOutputs(text)
		}
	}
	switch {
	case at.form.marked():
		return mapAround(text, func(s string) string { return escapeHTML(s, t, at) }, func(code string) string { return requote(code, at.place) })
	case at.form == subjectForm || t != Textarea && t != RichText && t != RawHTML:
		return oneLine(text)
	}
	return mapOutsideLiquid(text, clean)
}

// mapOutsideLiquid applies f to text outside of Liquid. Comments, which print nothing, are removed.
func mapOutsideLiquid(text string, f func(string) string) string {
	return mapAround(text, f, func(code string) string { return code })
}

// mapAround applies one function to text outside of Liquid, and another to each piece of Liquid.
func mapAround(text string, f, code func(string) string) string {
	spans := liquidSpans(text)
	if len(spans) == 0 {
		return f(text)
	}
	var j joiner
	last, write := 0, j.addPiece
	for _, span := range spans {
		write(f(text[last:span.Start]))
		last = span.End
		if isComment(text, span) {
			write = j.write // the following text has another neighbour
			continue
		}
		write(code(text[span.Start:span.End]))
		write = j.addPiece
	}
	write(f(text[last:]))
	return j.String()
}

func liquidSpans(text string) []markup.Span {
	if !hasLiquid(text) {
		return nil
	}
	return markup.Spans(text)
}

func isComment(text string, span markup.Span) bool {
	return markup.TagName(text[span.Start:span.End]) == "comment"
}

// oneLine returns text on one line, for a header.
func oneLine(text string) string {
	return mapOutsideLiquid(text, func(s string) string {
		s = strings.ReplaceAll(s, "\r\n", " ")
		return strings.Map(func(r rune) rune {
			switch r {
			case '\r', '\n', '\v', '\f', '\u0085', '\u2028', '\u2029':
				return ' '
			}
			return printable(r)
		}, s)
	})
}

// clean returns text without characters that are not allowed in XML or mail.
func clean(text string) string {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf {
			return strings.Map(printable, text)
		}
	}
	return text
}

// printable replaces characters that XML forbids. It does not remove them, so that their neighbours
// are not joined.
func printable(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r == 0xfffe || r == 0xffff {
		return utf8.RuneError
	}
	return r
}

// escapeHTML escapes text so that nothing in it has a meaning in HTML or XML at that position.
func escapeHTML(text string, t Type, at where) string {
	text = clean(text)
	if at.place == inStyle { // where entities are not decoded
		return strings.ReplaceAll(text, "<", `\3c `)
	}
	lines := t == Textarea && at.place == inMarkup
	if !strings.ContainsAny(text, "&<>\"'`=-\r\n\t /\f") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	from := 0
	for i := range len(text) {
		entity := ""
		switch c := text[i]; c {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '"':
			entity = "&quot;"
		case '\'':
			entity = "&#39;"
		case '-':
			if at.place == inComment {
				entity = "&#45;"
			}
		case '\r', '\n':
			switch {
			case !lines && at.place == inMarkup:
			case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
				b.WriteString(text[from:i])
				from = i + 1
			case lines && at.form == mjmlForm:
				entity = "<br />"
			case lines:
				entity = "<br>"
			case at.place == inDouble, at.place == inSingle, at.inTag():
				entity = "&#10;"
			}
		case ' ', '\t', '\f', '=', '`', '/':
			if at.inTag() {
				entity = "&#" + strconv.Itoa(int(c)) + ";"
			}
		}
		if entity != "" {
			b.WriteString(text[from:i])
			b.WriteString(entity)
			from = i + 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}
