package links

import (
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// HasUnsubscribe reports whether text, HTML or plain, prints unsubscribe_url or preferences_url by a
// Liquid output outside HTML comments.
func HasUnsubscribe(text string) bool {
	in := markup.New(text, markup.Syntax{})
	hidden := 0 // where the last comment seen ends
	seen := 0
	for _, p := range in.Spans {
		for seen < p.Start {
			open := strings.Index(in.Masked[seen:p.Start], "<!--")
			if open < 0 {
				break
			}
			seen += open
			if markup.ConditionalStart(in.Masked[seen:]) == 0 {
				hidden = len(text)
				if n := strings.Index(in.Masked[seen:], "-->"); n >= 0 {
					hidden = seen + n
				}
				seen = hidden
				break
			}
			seen += len("<!--")
		}
		seen = max(seen, p.End)
		if p.Output && p.Start >= hidden && mentions(text[p.Start:p.End], "unsubscribe_url", "preferences_url") {
			return true
		}
	}
	return false
}

// mentions reports whether one of the names is a word of s, outside string literals.
func mentions(s string, names ...string) bool {
	var quote byte
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			i++
		case c == '"' || c == '\'':
			quote = c
			i++
		case markup.IsWord(c):
			n := i
			for n < len(s) && (markup.IsWord(s[n]) || s[n] == '-') {
				n++
			}
			for _, name := range names {
				if s[i:n] == name && (i == 0 || s[i-1] != '.') {
					return true
				}
			}
			i = n
		default:
			i++
		}
	}
	return false
}
