package binding

import (
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// plainOutputs returns a text that was made from HTML with the outputs of Liquid as a text needs them: without
// the filters that turn a value into markup, and with the words alone of a value that is markup.
func plainOutputs(text string) string {
	var b strings.Builder
	last := 0
	for _, p := range markup.Spans(text) {
		if p.Output {
			b.WriteString(text[last:p.Start])
			b.WriteString(plainOutput(text[p.Start:p.End]))
			last = p.End
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

func plainOutput(code string) string {
	end := len(code) - len("}}")
	if strings.HasSuffix(code[:end], "-") {
		end--
	}
	parts := splitFilters(code[:end])
	kept := parts[:1]
	for _, filter := range parts[1:] {
		switch strings.TrimSpace(filter) {
		case "escape", "escape_once", "newline_to_br":
		case "raw":
			kept = append(kept, " strip_html ")
		default:
			kept = append(kept, filter)
		}
	}
	return strings.Join(kept, "|") + code[end:]
}

// splitFilters splits an output at the bars outside of texts in quotes.
func splitFilters(code string) []string {
	var parts []string
	var quote rune
	start := 0
	for i, r := range code {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '|':
			parts = append(parts, code[start:i])
			start = i + 1
		}
	}
	return append(parts, code[start:])
}
