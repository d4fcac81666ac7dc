package liquid

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// textFilter makes a filter of a function that changes a text without inserting anything, so that a Raw
// stays Raw.
func textFilter(change func(string) string) func(*state, any, []any) any {
	return func(s *state, in any, _ []any) any {
		_, isRaw := in.(Raw)
		text := s.text(in)
		if !s.charge(len(text)) {
			return nil
		}
		return filterResult(change(text), isRaw)
	}
}

func capitalize(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + strings.ToLower(text[n:])
}

func strip(text string) string  { return strings.TrimFunc(text, unicode.IsSpace) }
func lstrip(text string) string { return strings.TrimLeftFunc(text, unicode.IsSpace) }
func rstrip(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }
func squish(text string) string { return strings.Join(strings.Fields(text), " ") }

func stripNewlines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", ""), "\n", "")
}

// stripHTML removes scripts, styles, comments and tags.
func stripHTML(text string) string {
	var b strings.Builder
	lower := lowerASCII(text)
	blocks := []struct{ open, end string }{
		{"<script", "</script>"}, {"<style", "</style>"}, {"<!--", "-->"}, {"<", ">"},
	}
	unclosed := [4]bool{} // kinds whose end does not occur any more
	for i := 0; i < len(text); {
		open := strings.IndexByte(text[i:], '<')
		if open < 0 {
			b.WriteString(text[i:])
			break
		}
		b.WriteString(text[i : i+open])
		i += open
		length := 1
		for k, block := range blocks {
			if unclosed[k] || !strings.HasPrefix(lower[i:], block.open) {
				continue
			}
			end := strings.Index(lower[i:], block.end)
			if end >= 0 {
				length = end + len(block.end)
				break
			}
			unclosed[k] = true
		}
		if length == 1 {
			b.WriteByte('<')
		}
		i += length
	}
	return b.String()
}

// lowerASCII keeps the length of the text, which strings.ToLower does not.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

func newlineToBreak(s *state, in any, _ []any) any {
	text := s.text(in)
	if _, ok := in.(Raw); !ok && s.html {
		text = s.escaped(text)
	}
	if !s.charge(len(text) + strings.Count(text, "\n")*len("<br />")) {
		return nil
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return filterResult(strings.ReplaceAll(text, "\n", "<br />\n"), s.html)
}

func escape(s *state, in any, _ []any) any {
	if v, ok := in.(Raw); ok && s.html {
		return v
	}
	return filterResult(s.escaped(s.text(in)), s.html)
}

// escapeOnce escapes everything that is not part of an entity.
func escapeOnce(s *state, in any, _ []any) any {
	if v, ok := in.(Raw); ok && s.html {
		return v
	}
	text := s.text(in)
	if !s.charge(len(text)) {
		return nil
	}
	var b []byte
	for text != "" {
		i := strings.IndexByte(text, '&')
		if i < 0 {
			break
		}
		b = appendEscaped(b, text[:i])
		text = text[i:]
		n := entityLen(text)
		if n == 0 {
			b, n = append(b, "&amp;"...), 1
		} else {
			b = append(b, text[:n]...)
		}
		text = text[n:]
	}
	return filterResult(string(appendEscaped(b, text)), s.html)
}

// entityLen returns the length of the character reference at the start of text, or 0.
func entityLen(text string) int {
	n, ok := 1, isLetter
	if len(text) > 1 && text[1] == '#' {
		n, ok = 2, isDigit
	}
	start := n
	for n < len(text) && ok(text[n]) {
		n++
	}
	if n == start || n == len(text) || text[n] != ';' {
		return 0
	}
	return n + 1
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func appendFilter(s *state, in any, args []any) any {
	texts, isRaw := s.texts(in, args[0])
	if !s.charge(len(texts[0]) + len(texts[1])) {
		return nil
	}
	return filterResult(texts[0]+texts[1], isRaw)
}

func prependFilter(s *state, in any, args []any) any {
	texts, isRaw := s.texts(args[0], in)
	if !s.charge(len(texts[0]) + len(texts[1])) {
		return nil
	}
	return filterResult(texts[0]+texts[1], isRaw)
}

// occurrences is which occurrences replace and remove change.
type occurrences int

const (
	everywhere occurrences = iota
	first
	last
)

func replaceFilter(which occurrences) func(*state, any, []any) any {
	return func(s *state, in any, args []any) any {
		texts, isRaw := s.texts(in, args[0], argument(args, 1))
		text, old, replacement := texts[0], texts[1], texts[2]
		at := -1
		switch which {
		case first:
			at = strings.Index(text, old)
		case last:
			at = strings.LastIndex(text, old)
		case everywhere:
			n := strings.Count(text, old)
			if n > 0 && len(replacement) > s.budget.work/n || !s.charge(len(text)+n*len(replacement)) {
				s.limit("work")
				return nil
			}
			return filterResult(strings.ReplaceAll(text, old, replacement), isRaw)
		}
		if at < 0 {
			return filterResult(text, isRaw)
		}
		if !s.charge(len(text) + len(replacement)) {
			return nil
		}
		return filterResult(text[:at]+replacement+text[at+len(old):], isRaw)
	}
}

func slice(s *state, in any, args []any) any {
	from, ok := s.integer(args[0], "the start of slice")
	if !ok {
		return nil
	}
	count := 1
	if length := argument(args, 1); length != nil {
		if count, ok = s.integer(length, "the length of slice"); !ok {
			return nil
		}
	}
	if list, ok := in.([]any); ok {
		from, to := sliceBounds(from, count, len(list))
		return list[from:to:to]
	}
	_, isRaw := in.(Raw)
	text := s.text(in)
	if !s.charge(len(text)) {
		return nil
	}
	from, to := sliceBounds(from, count, utf8.RuneCountInString(text))
	start := runeOffset(text, from)
	return filterResult(text[start:start+runeOffset(text[start:], to-from)], isRaw)
}

// sliceBounds counts a negative start from the end, as Ruby does. Outside the text the result is empty.
func sliceBounds(from, count, length int) (start, end int) {
	if from < 0 {
		from += length
	}
	if from < 0 || from >= length || count <= 0 {
		return 0, 0
	}
	return from, from + min(count, length-from)
}

// runeOffset returns the offset of the n-th character of text.
func runeOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// split splits a text at a separator. A single space means any white space, and empty parts at the end
// are dropped.
func split(s *state, in any, args []any) any {
	text, separator := s.text(in), s.text(args[0])
	_, isRaw := in.(Raw)
	n := len(text)
	if separator != "" && separator != " " {
		n = strings.Count(text, separator) + 1
	}
	if separator == " " {
		n = len(text)/2 + 1
	}
	if !s.chargeElements(n) {
		return nil
	}
	var parts []string
	if separator == " " {
		parts = strings.Fields(text)
	} else {
		parts = strings.Split(text, separator)
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = filterResult(part, isRaw)
	}
	return list
}

func truncateFilter(s *state, in any, args []any) any {
	length, ellipsis, ok := s.truncation(args, 50)
	if !ok {
		return nil
	}
	texts, isRaw := s.texts(in, ellipsis)
	text := texts[0]
	if !s.charge(len(text)) || utf8.RuneCountInString(text) <= length {
		return filterResult(text, isRaw)
	}
	keep := max(length-utf8.RuneCountInString(texts[1]), 0)
	return filterResult(text[:runeOffset(text, keep)]+texts[1], isRaw)
}

func truncateWords(s *state, in any, args []any) any {
	count, ellipsis, ok := s.truncation(args, 15)
	if !ok {
		return nil
	}
	texts, isRaw := s.texts(in, ellipsis)
	if !s.chargeElements(len(texts[0])/2 + 1) {
		return nil
	}
	words := strings.Fields(texts[0])
	count = max(count, 1)
	if len(words) <= count {
		return filterResult(texts[0], isRaw)
	}
	return filterResult(strings.Join(words[:count], " ")+texts[1], isRaw)
}

// truncation evaluates the arguments of truncate and truncatewords.
func (s *state) truncation(args []any, length int) (int, any, bool) {
	ok := true
	if len(args) > 0 {
		length, ok = s.integer(args[0], "the length")
	}
	if len(args) > 1 {
		return length, args[1], ok
	}
	return length, "...", ok
}

// pluralize returns the first word for 1 and the second for any other number.
func pluralize(s *state, in any, args []any) any {
	if order, _ := compareNumbers(toNumber(in), int64(1)); order == 0 {
		return args[0]
	}
	return args[1]
}
