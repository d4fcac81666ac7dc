package markup

import "strings"

// Span is a piece of Liquid inside a text: an output ({{ … }}), a tag
// ({% … %}) or a whole comment block.
type Span struct {
	Start, End int // byte offsets, End exclusive
	Output     bool
}

// Spans returns the Liquid in s, in order, as package liquid reads it: an
// output or tag ends at the first closing mark, quotes or not. Literal text are
// what never closes, what stands in a raw block, and triple braces.
func Spans(s string) []Span {
	var spans []Span
	open := map[byte]bool{'{': true, '%': true} // kinds that may still close
	noRaw := false                              // no endraw stands any further on
	for i := 0; ; {
		at := strings.IndexByte(s[i:], '{')
		if at < 0 || i+at+1 >= len(s) {
			return spans
		}
		i += at
		kind := s[i+1]
		if kind != '{' && kind != '%' || !open[kind] {
			i++
			continue
		}
		closing := "}}"
		if kind == '%' {
			closing = "%}"
		}
		n := strings.Index(s[i+2:], closing)
		if n < 0 {
			open[kind] = false
			i++
			continue
		}
		span := Span{i, i + 2 + n + 2, kind == '{'}
		if strings.HasPrefix(s[i:], "{{{") {
			if strings.HasPrefix(s[span.End:], "}") {
				i = span.End + 1
				continue
			}
			for s[span.Start+2] == '{' {
				span.Start++ // the innermost pair is an output
			}
		}
		next := span.End
		switch TagName(s[span.Start:span.End]) {
		case "raw":
			next = rawEnd(s, span.End)
		case "comment":
			span.End = commentBlockEnd(s, span.End, &noRaw)
			next = span.End
		}
		spans = append(spans, span)
		i = next
	}
}

// rawEnd returns where the endraw at or after from starts. A block that is
// never closed reaches to the end of the text.
func rawEnd(s string, from int) int {
	for i := from; ; i += 2 {
		at := strings.Index(s[i:], "{%")
		if at < 0 {
			return len(s)
		}
		i += at
		if isTag(s[i:], "endraw") > 0 {
			return i
		}
	}
}

// commentBlockEnd returns where the comment block that holds from ends. Such
// blocks nest, and a raw block in one hides what it holds, unless it is known
// that none is closed.
func commentBlockEnd(s string, from int, noRaw *bool) int {
	depth := 1
	for i := from; ; {
		at := strings.Index(s[i:], "{%")
		if at < 0 {
			return len(s)
		}
		i += at
		if n := isTag(s[i:], "endcomment"); n > 0 {
			depth--
			i += n
			if depth == 0 {
				return i
			}
			continue
		}
		if isTag(s[i:], "comment") > 0 {
			depth++
		} else if !*noRaw && isTag(s[i:], "raw") > 0 {
			if end := rawEnd(s, i); end < len(s) {
				i = end
			} else {
				*noRaw = true
			}
		}
		i += 2
	}
}

// isTag returns the length of the tag of that name, without arguments, that s
// starts with, else 0.
func isTag(s, name string) int {
	rest := strings.TrimLeftFunc(strings.TrimPrefix(s[2:], "-"), IsLiquidSpace)
	rest, ok := strings.CutPrefix(rest, name)
	if !ok {
		return 0
	}
	rest = strings.TrimPrefix(strings.TrimLeftFunc(rest, IsLiquidSpace), "-")
	if !strings.HasPrefix(rest, "%}") {
		return 0
	}
	return len(s) - len(rest) + 2
}

// Code returns what stands between the marks of an output or a tag, without
// white space and white-space control.
func Code(piece string) string {
	code := strings.TrimPrefix(piece[2:len(piece)-2], "-")
	return strings.TrimFunc(strings.TrimSuffix(code, "-"), IsLiquidSpace)
}

// TagName returns the name of a tag, and nothing for an output.
func TagName(piece string) string {
	if piece[1] != '%' {
		return ""
	}
	return FirstWord(strings.TrimLeftFunc(strings.TrimPrefix(piece[2:len(piece)-2], "-"), IsLiquidSpace))
}

// FirstWord returns the letters, digits and underscores that code starts with.
func FirstWord(code string) string {
	n := 0
	for n < len(code) && IsWord(code[n]) {
		n++
	}
	return code[:n]
}

// IsWord reports whether c may stand in a name of Liquid.
func IsWord(c byte) bool { return IsLetter(c) || '0' <= c && c <= '9' || c == '_' }

// IsLiquidSpace reports whether r is white space in Liquid. The no-break space
// is, too, as in package liquid.
func IsLiquidSpace(r rune) bool { return r == ' ' || r == '\u00a0' || '\t' <= r && r <= '\r' }

// Mask returns s with its Liquid painted over, byte for byte, so that a reader
// of HTML is not led astray by quotes and angle brackets inside Liquid and its
// offsets hold for s: outputs become digits, tags become spaces.
func Mask(s string) string { return mask(s, Spans(s)) }

func mask(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	b := []byte(s)
	for _, p := range spans {
		paint := byte(' ')
		if p.Output {
			paint = '0'
		}
		for i := p.Start; i < p.End; i++ {
			b[i] = paint
		}
	}
	return string(b)
}

// Outside returns s with f applied to the pieces between its Liquid.
func Outside(s string, f func(string) string) string {
	spans := Spans(s)
	if len(spans) == 0 {
		return f(s)
	}
	var b strings.Builder
	last := 0
	for _, p := range spans {
		b.WriteString(f(s[last:p.Start]))
		b.WriteString(s[p.Start:p.End])
		last = p.End
	}
	b.WriteString(f(s[last:]))
	return b.String()
}
