package mjml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// spans returns the Liquid of a source: outputs, tags, whole comments, and text inside raw blocks that
// looks like Liquid.
func spans(source string) []markup.Span {
	all := markup.Spans(source)
	var inner []markup.Span
	for i, s := range all {
		if markup.TagName(source[s.Start:s.End]) != "raw" {
			continue
		}
		end := len(source)
		if i+1 < len(all) {
			end = all[i+1].Start
		}
		for _, in := range markup.Spans(source[s.End:end]) {
			inner = append(inner, markup.Span{Start: s.End + in.Start, End: s.End + in.End, Output: in.Output})
		}
	}
	if inner == nil {
		return all
	}
	all = append(all, inner...)
	slices.SortFunc(all, func(a, b markup.Span) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// protected is a source with a word in place of each piece of Liquid, and of the text of each conditional
// comment, since the compiler joins comments that are next to each other. The words consist of letters, so
// that the compiler does not read one as a number, as it does not read Liquid as one.
type protected struct {
	text   string
	prefix string   // of the words; nothing else in the source has it
	liquid []string // the pieces that the words replace
	valued []bool   // whether ="" follows in the source
	moved  []moved
}

// moved means that text after line is more lines later in the source than in the text.
type moved struct{ line, more int }

func protect(source string, conditions []markup.Span) protected {
	p := protected{prefix: markup.WordNotIn(source, "liquid")}
	var b strings.Builder
	last, line, more := 0, 1, 0
	for _, s := range outermost(spans(source), conditions) {
		before, liquid := source[last:s.Start], source[s.Start:s.End]
		b.WriteString(before)
		b.WriteString(p.prefix + strings.Map(letter, strconv.Itoa(len(p.liquid))) + "x")
		p.liquid = append(p.liquid, liquid)
		p.valued = append(p.valued, strings.HasPrefix(source[s.End:], `=""`))
		line += strings.Count(before, "\n")
		if n := strings.Count(liquid, "\n"); n > 0 {
			more += n
			p.moved = append(p.moved, moved{line, more})
		}
		last = s.End
	}
	b.WriteString(source[last:])
	p.text = b.String()
	return p
}

// outermost returns the spans of both lists, except for those within others.
func outermost(liquid, conditions []markup.Span) []markup.Span {
	if len(conditions) == 0 {
		return liquid
	}
	all := slices.Concat(liquid, conditions)
	slices.SortFunc(all, func(a, b markup.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	end := 0
	return slices.DeleteFunc(all, func(s markup.Span) bool {
		inner := s.Start < end
		end = max(end, s.End)
		return inner
	})
}

// letter and digit convert digits to the letters a to j and back.
func letter(r rune) rune { return r - '0' + 'a' }
func digit(r rune) rune  { return r - 'a' + '0' }

// restore puts the Liquid back.
func (p protected) restore(text string) string {
	if len(p.liquid) == 0 {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, p.prefix)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := 0
		for end < len(rest) && 'a' <= rest[end] && rest[end] <= 'j' {
			end++
		}
		i, err := strconv.Atoi(strings.Map(digit, rest[:end]))
		if err != nil || i >= len(p.liquid) || !strings.HasPrefix(rest[end:], "x") { // a truncated word
			b.WriteString(p.prefix)
			text = rest
			continue
		}
		b.WriteString(p.liquid[i])
		text = rest[end+1:]
		if !p.valued[i] { // the compiler gave a value to an attribute without one
			text = strings.TrimPrefix(text, `=""`)
		}
	}
}

// line returns the line of the source for a line of the text.
func (p protected) line(line int) int {
	more := 0
	for _, m := range p.moved {
		if line <= m.line {
			break
		}
		more = m.more
	}
	return line + more
}
