package legible

import (
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

var (
	// coloured matches a declaration of a colour.
	coloured = regexp.MustCompile(`(?i)(?:^|[;{\s])(?:color|background(?:-color)?)\s*:`)
	// media matches the beginning of a media query with its condition.
	media = regexp.MustCompile(`(?i)@media\b([^{}]*)\{`)
	// preferring matches a condition on the colours that the reader prefers.
	preferring = regexp.MustCompile(`(?i)^[^,]*\(\s*prefers-color-scheme\s*:\s*dark\s*\)[^,]*$`)
)

// schemes returns the HTML without rules for particular media, and with those for readers who prefer dark
// colours as if they were for all; empty if there are none. Ruled is whether other rules set colours.
func schemes(html string) (light, dark string, ruled bool) {
	if !strings.Contains(strings.ToLower(html), "<style") {
		return html, "", false
	}
	var plain, all strings.Builder
	last := 0
	declared := false
	for t := range markup.New(html, markup.Syntax{}).All() {
		if t.Kind != markup.Text || t.Name != "style" {
			continue
		}
		rest, ofDark := withoutMedia(html[t.Start:t.End])
		ruled = ruled || coloured.MatchString(rest)
		declared = declared || coloured.MatchString(ofDark)
		for _, b := range []*strings.Builder{&plain, &all} {
			b.WriteString(html[last:t.Start] + rest)
		}
		all.WriteString("\n" + ofDark)
		last = t.End
	}
	plain.WriteString(html[last:])
	all.WriteString(html[last:])
	if !declared {
		return plain.String(), "", ruled
	}
	return plain.String(), all.String(), ruled
}

// withoutMedia returns CSS without the rules for particular media, and the rules for dark colours alone.
func withoutMedia(css string) (rest, dark string) {
	var others, ofDark strings.Builder
	for {
		at := media.FindStringSubmatchIndex(css)
		if at == nil {
			others.WriteString(css)
			return others.String(), ofDark.String()
		}
		others.WriteString(css[:at[0]])
		end := blockEnd(css, at[1])
		if preferring.MatchString(css[at[2]:at[3]]) {
			ofDark.WriteString(css[at[1]:end] + "\n")
		}
		css = strings.TrimPrefix(css[end:], "}")
	}
}

// blockEnd returns where the block ends that begins at from: at its brace, or at the end of the CSS.
func blockEnd(css string, from int) int {
	depth := 1
	for i := from; i < len(css); i++ {
		switch css[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(css)
}
