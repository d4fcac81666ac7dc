package legible

import (
	"regexp"
	"slices"
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
	// always matches a condition that every reader meets.
	always = regexp.MustCompile(`(?i)^\s*$|(?:^|,)\s*(?:(?:only\s+)?screen|all)\s*(?:,|$)`)
	// both matches a declaration of a mail with colours for readers who prefer dark ones.
	both = regexp.MustCompile(`(?i)(?:^|[;{\s])(?:supported-)?color-schemes?\s*:[^;}]*\bdark\b`)

	comment = regexp.MustCompile(`(?s)/\*.*?(?:\*/|$)`)
	rule    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	// every matches a selector that means elements of any name, and counting one that depends on siblings.
	every    = regexp.MustCompile(`(?i)\*|:root|:is\(|:where\(`)
	counting = regexp.MustCompile(`(?i):(?:nth|first|last|only)-|[+~]`)
	bracket  = regexp.MustCompile(`\[[^\]]*\]`)
)

// scheme is the HTML of a mail in light or dark colours, whose rules are for all readers.
type scheme struct {
	light, dark string // dark is empty if there are no rules for it
	ruled       bool   // light has rules
	adapts      bool   // where the mail sets no colour, the mail program shows dark ones
}

// schemes returns the HTML without rules for particular media, and with those for readers who prefer dark
// colours as if they were for all.
func schemes(html string) scheme {
	if !strings.Contains(strings.ToLower(html), "<style") {
		return scheme{light: html}
	}
	var s scheme
	var plain, all strings.Builder
	last := 0
	declared, css := false, true
	medium := ""
	var opened markup.Token
	in := markup.New(html, markup.Syntax{})
	for t := range in.All() {
		if t.Kind == markup.StartTag {
			switch t.Name {
			case "style":
				opened, css, medium = t, true, ""
				for a := range in.Attributes(t) {
					switch value := strings.ToLower(strings.TrimSpace(in.Value(a))); a.Name {
					case "type":
						css = value == "" || value == "text/css"
					case "media":
						medium = value
					}
				}
			case "meta":
				name, content := "", ""
				for a := range in.Attributes(t) {
					switch a.Name {
					case "name":
						name = strings.TrimSpace(in.Value(a))
					case "content":
						content = in.Value(a)
					}
				}
				s.adapts = s.adapts || both.MatchString(name+":"+content)
			case "html", "body":
				for a := range in.Attributes(t) {
					s.adapts = s.adapts || a.Name == "style" && both.MatchString(in.Value(a))
				}
			}
		}
		if t.Kind != markup.Text || t.Name != "style" || !css {
			continue
		}
		source := comment.ReplaceAllLiteralString(html[t.Start:t.End], " ")
		s.adapts = s.adapts || both.MatchString(source)
		rest, ofDark := withoutMedia(source)
		if preferring.MatchString(medium) {
			rest, ofDark = "", rest+ofDark
		} else if !always.MatchString(medium) {
			rest, ofDark = "", ""
		}
		s.ruled = s.ruled || strings.Contains(rest, "{")
		declared = declared || coloured.MatchString(ofDark)
		for _, b := range []*strings.Builder{&plain, &all} {
			b.WriteString(html[last:opened.Start] + "<style>" + rest) // without attributes that keep rules from being inlined
		}
		all.WriteString("\n" + ofDark)
		last = t.End
		opened.Start = last
	}
	plain.WriteString(html[last:])
	all.WriteString(html[last:])
	s.light = plain.String()
	if declared {
		s.dark = all.String()
	}
	return s
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
		switch condition := css[at[2]:at[3]]; {
		case preferring.MatchString(condition):
			ofDark.WriteString(css[at[1]:end] + "\n")
		case always.MatchString(condition):
			others.WriteString(css[at[1]:end] + "\n")
		}
		css = strings.TrimPrefix(css[end:], "}")
	}
}

// uncertain reports whether rules that cannot be inlined may set the colours of texts: those with Liquid, those
// for elements of any name, and, with Liquid around the elements, those that count them.
func uncertain(html string) bool {
	in := markup.New(html, markup.Syntax{})
	tagged := func(from, to int) bool {
		return slices.ContainsFunc(in.Within(from, to), func(s markup.Span) bool { return !s.Output })
	}
	counts := tagged(0, len(html))
	for t := range in.All() {
		if t.Kind != markup.Text || t.Name != "style" {
			continue
		}
		masked := in.Masked[t.Start:t.End]
		depends := tagged(t.Start, t.End)
		for _, at := range rule.FindAllStringSubmatchIndex(masked, -1) {
			if !coloured.MatchString(masked[at[4]:at[5]]) {
				continue
			}
			selector := bracket.ReplaceAllLiteralString(masked[at[2]:at[3]], "")
			if depends || len(in.Within(t.Start+at[2], t.Start+at[3])) > 0 || every.MatchString(selector) || counts && counting.MatchString(selector) {
				return true
			}
		}
	}
	return false
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
