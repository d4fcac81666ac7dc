package binding

import (
	"errors"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// hasLiquid reports whether a text may contain Liquid.
func hasLiquid(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%")
}

// maxBlocks is the maximum nesting of a value's own blocks. They are nested in those of the
// template, and together they must stay within Liquid's limit.
const maxBlocks = 20

// checkLiquid returns what is wrong with the Liquid in a value of that type, or "" if it is allowed
// in a body.
//
// Numbers, booleans, colours, dates, addresses and choices must not contain Liquid. In other types
// it must be complete: a value neither opens nor closes a block of the surrounding template, and
// does not break one of its loops. If the type is escaped or sanitised, nothing may bypass that: no
// raw filter, no captured text. Text that looks like a placeholder is text.
func checkLiquid(t Type, text string) string {
	if !hasLiquid(text) {
		return ""
	}
	switch t {
	case Number, Boolean, Color, Date, DateTime, Email, Select:
		return "must not hold Liquid ({{ … }} or {% … %})"
	}
	text = neutralizePlaceholders(text)
	if _, err := liquid.Parse(text, liquid.Options{}); err != nil {
		if e, ok := errors.AsType[*liquid.ParseError](err); ok {
			return "holds Liquid that cannot be read: " + e.Message
		}
		return "holds Liquid that cannot be read"
	}
	return checkTags(t, text)
}

// neutralizePlaceholders returns a value in which text that looks like a placeholder is text for Liquid: values
// are not parsed for placeholders, and Liquid could not parse them.
func neutralizePlaceholders(text string) string {
	if !hasLiquid(text) || !strings.ContainsAny(text, ":#/") {
		return text
	}
	var b strings.Builder
	last := 0
	for _, span := range markup.Spans(text) {
		piece := text[span.Start:span.End]
		if !span.Output || strings.Contains(piece, "{%") {
			continue
		}
		if kind, _ := placeholder(strings.TrimFunc(piece[2:len(piece)-2], markup.IsLiquidSpace)); kind != "" {
			b.WriteString(text[last:span.Start] + "{% raw %}" + piece + "{% endraw %}")
			last = span.End
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// checkTags checks the tags of a value whose Liquid parses.
func checkTags(t Type, text string) string {
	depth, loops := 0, 0
	for _, span := range markup.Spans(text) {
		piece := text[span.Start:span.End]
		code := markup.Code(piece)
		if t != RawHTML && usesFilter(code, "raw") {
			return `must not use the filter "raw": what it prints would not be escaped`
		}
		if span.Output {
			continue
		}
		name := markup.FirstWord(code)
		if sets(name) && markup.FirstWord(strings.TrimLeftFunc(strings.TrimLeft(code[len(name):], "\"' \t\r\n"), markup.IsLiquidSpace)) == "param" {
			return "must not set param, which is the template's"
		}
		switch name {
		case "if", "unless", "case", "for", "capture":
			if name == "capture" && t != RawHTML {
				return `must not use the tag "capture": what it prints would not be escaped`
			}
			if name == "for" {
				loops++
			}
			if depth++; depth > maxBlocks {
				return "holds Liquid that is nested too deep"
			}
		case "endfor":
			loops--
			depth--
		case "endif", "endunless", "endcase", "endcapture":
			depth--
		case "break", "continue":
			if loops == 0 {
				return `must not use the tag "` + name + `" outside a loop of its own`
			}
		}
	}
	return ""
}

// word is a name in the code of an output or a tag, outside of strings.
type word struct {
	start, end int
	after      byte // the last byte before it that is not a space, or 0
}

// eachName calls f for each name in code. It parses as package liquid does: a string ends at its
// closing quote, a name may contain hyphens and end in a question mark.
func eachName(code string, f func(word)) {
	after := byte(0)
	for i := 0; i < len(code); {
		c := code[i]
		switch {
		case c == '"' || c == '\'':
			n := strings.IndexByte(code[i+1:], c)
			if n < 0 {
				return
			}
			i += n + 2
			after = c
		case '0' <= c && c <= '9':
			for i < len(code) && '0' <= code[i] && code[i] <= '9' {
				i++
			}
			if i+1 < len(code) && code[i] == '.' && '0' <= code[i+1] && code[i+1] <= '9' {
				i++
			}
			after = '0'
		case markup.IsWord(c):
			w := word{start: i, after: after}
			for i < len(code) && (markup.IsWord(code[i]) || code[i] == '-') {
				i++
			}
			if i < len(code) && code[i] == '?' {
				i++
			}
			w.end = i
			f(w)
			after = 'a'
		case c == '.' && i+1 < len(code) && code[i+1] == '.':
			i += 2
			after = 0 // a range: what follows is a value
		case strings.HasPrefix(code[i:], "\u00a0"):
			i += len("\u00a0")
		default:
			if !markup.IsLiquidSpace(rune(c)) {
				after = c
			}
			i++
		}
	}
}

func usesFilter(code, name string) bool {
	found := false
	eachName(code, func(w word) {
		found = found || w.after == '|' && code[w.start:w.end] == name
	})
	return found
}

// params calls f for every mention of param in the Liquid of text, with its position and the name
// of the parameter, or "" if that is not known before rendering.
func params(text string, spans []markup.Span, f func(at int, name string)) {
	for _, span := range spans {
		piece := text[span.Start:span.End]
		if !strings.Contains(piece, "param") {
			continue
		}
		code := markup.Code(piece)
		tag := ""
		if !span.Output {
			if tag = markup.FirstWord(code); tag == "comment" {
				continue
			}
		}
		start := span.Start + strings.Index(piece, code)
		seen := 0
		eachName(code, func(w word) {
			seen++
			if code[w.start:w.end] != "param" || w.after == '.' || w.after == '|' || sets(tag) && seen == 2 {
				return
			}
			if rest := strings.TrimLeftFunc(code[w.end:], markup.IsLiquidSpace); !strings.HasPrefix(rest, ":") { // not a placeholder
				f(start+w.start, firstName(rest))
			}
		})
	}
}

// sets reports whether the word after the tag's name is one that the tag sets.
func sets(tag string) bool {
	switch tag {
	case "assign", "capture", "increment", "decrement", "for":
		return true
	}
	return false
}

// firstName returns the first name of a path, written .name or ["name"].
func firstName(path string) string {
	if rest, ok := strings.CutPrefix(path, "."); ok {
		return markup.FirstWord(strings.TrimLeftFunc(rest, markup.IsLiquidSpace))
	}
	rest, ok := strings.CutPrefix(path, "[")
	if !ok {
		return ""
	}
	rest = strings.TrimLeftFunc(rest, markup.IsLiquidSpace)
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	name, _, _ := strings.Cut(rest[1:], rest[:1])
	return name
}

// constantName returns the name of the parameters of the block in a slot for Liquid; without a
// slot, of those of the template.
func constantName(slot string) string {
	if slot == "" {
		return "param"
	}
	return "param._" + slot
}

// scopeParams returns text with param in its Liquid referring to the parameters of the block in that
// slot; without a slot, it returns text unchanged.
func scopeParams(text, slot string) string {
	if slot == "" || !strings.Contains(text, "param") {
		return text
	}
	var b strings.Builder
	last := 0
	params(text, markup.Spans(text), func(at int, _ string) {
		at += len("param")
		b.WriteString(text[last : at-len("param")])
		b.WriteString(constantName(slot))
		last = at
	})
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}
