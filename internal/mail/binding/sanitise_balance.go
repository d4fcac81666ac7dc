package binding

import (
	"slices"
	"strings"

	tokens "golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// balancer writes tokens of HTML so that every element is closed where it was opened: in the same
// element, and in the same branch of Liquid. It drops tokens for which that is impossible. So rich
// text never closes, or leaves open, an element of the surrounding template.
type balancer struct {
	mask *mask
	out  strings.Builder
	open []string // elements, and blocks of Liquid
}

const (
	liquidBlock   = "{%" // among the open elements, a block of Liquid
	droppedPrefix = "~"  // prefix of elements that were dropped, whose end tags are dropped, too
	maxElements   = 100  // nested; deeper elements are dropped
)

// balance returns sanitised HTML with its elements closed, without unsafe styles and addresses.
func (m *mask) balance(text string) string {
	b := &balancer{mask: m}
	z := tokens.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case tokens.ErrorToken:
			b.closeTo(0)
			return b.out.String()
		case tokens.TextToken:
			b.text(string(z.Raw()))
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			b.startTag(z.Token())
		case tokens.EndTagToken:
			name, _ := z.TagName()
			b.endTag(string(name))
		}
	}
}

// text writes text, whose Liquid may begin, branch and end blocks.
func (b *balancer) text(text string) {
	for {
		start, end, piece, ok := b.mask.next(text)
		if !ok {
			break
		}
		b.literal(text[:start])
		tag := ""
		if strings.HasPrefix(piece, liquidBlock) {
			tag = markup.FirstWord(markup.Code(piece))
		}
		around := -1
		switch tag {
		case "else", "elsif", "when", "endif", "endunless", "endcase", "endfor":
			around = lastIndex(b.open, liquidBlock)
			b.closeTo(around + 1)
		}
		b.out.WriteString(text[start:end])
		switch tag {
		case "if", "unless", "case", "for":
			b.open = append(b.open, liquidBlock)
		case "endif", "endunless", "endcase", "endfor":
			if around >= 0 {
				b.open = b.open[:around]
			}
		}
		text = text[end:]
	}
	b.literal(text)
}

func (b *balancer) literal(text string) {
	b.out.WriteString(encoded(tokens.UnescapeString(text)))
}

// encoded escapes a decoded text for HTML and XML, as text or in double quotes.
func encoded(text string) string { return entities.Replace(clean(newlines.Replace(text))) }

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// closeTo closes all but the first n elements.
func (b *balancer) closeTo(n int) {
	for len(b.open) > n {
		if name := b.open[len(b.open)-1]; name != liquidBlock && !strings.HasPrefix(name, droppedPrefix) {
			b.out.WriteString("</" + name + ">")
		}
		b.open = b.open[:len(b.open)-1]
	}
}

func (b *balancer) startTag(t tokens.Token) {
	name := t.Data
	if !b.prepare(name) || len(b.open) >= maxElements {
		return
	}
	attributes := b.attributes(t.Attr)
	switch name {
	case "img":
		if attributes == "" {
			return
		}
		fallthrough
	case "br", "hr":
		b.out.WriteString("<" + name + attributes + "/>")
		return
	case "a", "span":
		if attributes == "" {
			b.open = append(b.open, droppedPrefix+name)
			return
		}
	}
	b.out.WriteString("<" + name + attributes + ">")
	b.open = append(b.open, name)
}

// attributes returns the safe attributes, formatted for a tag.
func (b *balancer) attributes(list []tokens.Attribute) string {
	var out strings.Builder
	for _, a := range list {
		value, ok := a.Val, true
		switch a.Key {
		case "style":
			value = safeStyle(value, b.mask.word)
			ok = value != ""
		case "href", "src":
			ok = b.safeAddress(value)
		}
		if ok {
			out.WriteString(" " + a.Key + `="` + encoded(value) + `"`)
		}
	}
	return out.String()
}

// prepare closes the elements that a start tag ends, as a browser does, and reports whether the
// element is allowed there.
func (b *balancer) prepare(name string) bool {
	switch name {
	case "li":
		return b.closeUntil([]string{"ul", "ol"}, "td", "th", "table")
	case "td", "th":
		return b.closeUntil([]string{"tr"}, "table")
	case "tr":
		return b.closeUntil([]string{"table", "thead", "tbody"})
	case "thead", "tbody":
		return b.closeUntil([]string{"table"})
	}
	switch innermost(b.open) {
	case "ul", "ol", "table", "thead", "tbody", "tr":
		return false // a browser would move it
	}
	switch name {
	case "p", "div", "ul", "ol", "h1", "h2", "h3", "h4", "blockquote", "pre", "table", "hr":
		b.closeIfOpen("p")
	case "a":
		b.closeIfOpen("a")
	}
	if isHeading(name) && len(b.open) > 0 && isHeading(b.open[len(b.open)-1]) {
		b.closeTo(len(b.open) - 1)
	}
	return true
}

func isHeading(name string) bool { return len(name) == 2 && name[0] == 'h' && name != "hr" }

// closeUntil closes elements until one of names is the innermost.
func (b *balancer) closeUntil(names []string, barriers ...string) bool {
	for i := len(b.open) - 1; i >= 0; i-- {
		switch open := b.open[i]; {
		case slices.Contains(names, open):
			b.closeTo(i + 1)
			return true
		case open == liquidBlock:
			// A branch may contain a row, if rows are allowed where it is.
			return i == len(b.open)-1 && i > 0 && slices.Contains(names, innermost(b.open[:i]))
		case slices.Contains(barriers, open):
			return false
		}
	}
	return false
}

// innermost returns the last element of open, ignoring blocks of Liquid.
func innermost(open []string) string {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] != liquidBlock && !strings.HasPrefix(open[i], droppedPrefix) {
			return open[i]
		}
	}
	return ""
}

// closeIfOpen closes the element of that name, if one is open.
func (b *balancer) closeIfOpen(name string) {
	if i := b.indexOpen(name); i >= 0 {
		b.closeTo(i)
	}
}

func (b *balancer) endTag(name string) {
	if i := b.indexOpen(name); i >= 0 {
		b.closeTo(i)
	}
}

// indexOpen returns the index of the innermost element of that name that an end tag would close here,
// or -1.
func (b *balancer) indexOpen(name string) int {
	for i := len(b.open) - 1; i >= 0; i-- {
		switch open := strings.TrimPrefix(b.open[i], droppedPrefix); {
		case open == name:
			return i
		case open == liquidBlock:
			return -1
		case open == "td" || open == "th" || open == "table":
			if !isTablePart(name) {
				return -1
			}
		}
	}
	return -1
}

func isTablePart(name string) bool {
	switch name {
	case "table", "thead", "tbody", "tr", "td", "th":
		return true
	}
	return false
}

func lastIndex(list []string, want string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == want {
			return i
		}
	}
	return -1
}

// safeAddress reports whether a link may have this address: one with an allowed scheme, a fragment,
// or Liquid.
func (b *balancer) safeAddress(address string) bool {
	if start, end, _, ok := b.mask.next(address); ok && start == 0 {
		scheme, _, colon := strings.Cut(address[end:], ":")
		return !colon || strings.ContainsAny(scheme, "/?#")
	}
	if strings.HasPrefix(address, "#") {
		return true
	}
	scheme, _, ok := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto", "tel":
		return ok
	}
	return false
}

// The properties allowed in rich text: the appearance of text, and the sizes and edges of boxes,
// but not their position.
var styles = map[string]bool{
	"background": true, "background-color": true, "border": true, "border-bottom": true,
	"border-collapse": true, "border-color": true, "border-left": true, "border-radius": true,
	"border-right": true, "border-spacing": true, "border-style": true, "border-top": true,
	"border-width": true, "color": true, "direction": true, "display": true, "float": true,
	"font": true, "font-family": true, "font-size": true, "font-style": true, "font-variant": true,
	"font-weight": true, "height": true, "letter-spacing": true, "line-height": true,
	"list-style-type": true, "margin": true, "margin-bottom": true, "margin-left": true,
	"margin-right": true, "margin-top": true, "max-height": true, "max-width": true,
	"min-height": true, "min-width": true, "overflow-wrap": true, "padding": true,
	"padding-bottom": true, "padding-left": true, "padding-right": true, "padding-top": true,
	"text-align": true, "text-decoration": true, "text-indent": true, "text-transform": true,
	"vertical-align": true, "white-space": true, "width": true, "word-break": true, "word-spacing": true,
}

// safeStyle returns the allowed declarations of a style. Declarations with Liquid are not, since
// their result is unknown.
func safeStyle(style, word string) string {
	var kept []string
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if styles[name] && safeStyleValue(value) && (word == "" || !strings.Contains(value, word)) {
			kept = append(kept, name+": "+value)
		}
	}
	return strings.Join(kept, "; ")
}

const maxStyleValue = 200

// safeStyleValue accepts numbers, words, colours, names of fonts and the functions for colours.
func safeStyleValue(value string) bool {
	if value == "" || len(value) > maxStyleValue || strings.Count(value, "'")%2 == 1 || strings.Count(value, `"`)%2 == 1 {
		return false
	}
	for i := range len(value) {
		if c := value[i]; !markup.IsWord(c) && !strings.ContainsRune(` #%.,-+!'"()/`, rune(c)) {
			return false
		}
	}
	for rest := strings.ToLower(value); ; {
		before, after, ok := strings.Cut(rest, "(")
		if !ok {
			return strings.Count(value, "(") == strings.Count(value, ")")
		}
		switch before[len(strings.TrimRight(before, "abcdefghijklmnopqrstuvwxyz-")):] {
		case "rgb", "rgba", "hsl", "hsla", "calc":
		default:
			return false
		}
		rest = after
	}
}
