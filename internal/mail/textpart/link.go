package textpart

import (
	"html"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// link is the current link.
type link struct {
	open    bool
	href    string
	picture bool // it holds one
}

// startLink opens a link.
func (t *textMaker) startLink(tag string) {
	t.endLink()
	t.link = link{open: true, href: strings.TrimSpace(t.attribute(tag, "href"))}
	t.w.seen = t.w.seen[:0]
}

// endLink writes the URL of the open link, unless its text is the URL. A link without text, such as an
// icon, is left out if the next one has the same URL.
func (t *textMaker) endLink() {
	if !t.link.open {
		return
	}
	t.link.open = false
	target, ok := t.printable(t.link.href)
	said := strings.TrimSpace(string(t.w.seen))
	if said != "" || t.link.picture {
		t.note(t.link.href)
	}
	switch {
	case !ok || said == target || displayURL(said) == displayURL(target):
	case said == "" && t.sameLinkFollows():
	case said == "":
		t.w.space()
		t.w.word(target)
		t.w.space()
	default:
		t.w.space()
		t.w.word("(" + target + ")")
	}
}

// lookAhead is how many tokens are searched for the next link.
const lookAhead = 60

// sameLinkFollows reports whether the next content is a link to the same URL.
func (t *textMaker) sameLinkFollows() bool {
	for _, n := range t.nodes[min(t.at+1, len(t.nodes)):min(t.at+lookAhead, len(t.nodes))] {
		switch n.Kind {
		case markup.Text:
			if strings.TrimSpace(t.src[n.Start:n.End]) != "" {
				return false
			}
		case markup.StartTag:
			if n.Name == "a" {
				return strings.TrimSpace(t.attribute(t.src[n.Start:n.End], "href")) == t.link.href
			}
		}
	}
	return false
}

// note stores an address that a reader can follow.
func (t *textMaker) note(address string) {
	if t.rendered && address != "" {
		t.links = append(t.links, address)
	}
}

// noteAddresses stores the addresses that are written out in a visible text, which mail programs make
// links of.
func (t *textMaker) noteAddresses(piece string) {
	if !t.rendered || !strings.Contains(piece, "://") {
		return
	}
	for word := range strings.FieldsSeq(html.UnescapeString(piece)) {
		if strings.Contains(word, "://") {
			t.note(word)
		}
	}
}

// printable returns the form of an address that is useful in plain text, if any.
func (t *textMaker) printable(href string) (string, bool) {
	if t.address != nil {
		href = t.address(href)
	}
	if t.rendered && strings.HasPrefix(href, "{") {
		return "", false
	}
	return printable(href)
}

// printable returns the form of href that is useful in plain text, if any.
func printable(href string) (string, bool) {
	href = strings.Join(strings.FieldsFunc(href, func(r rune) bool { return r < ' ' }), "")
	scheme, rest, _ := strings.Cut(href, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return href, rest != ""
	case "mailto", "tel", "sms":
		rest, _, _ = strings.Cut(rest, "?")
		return rest, rest != ""
	}
	return href, strings.HasPrefix(href, "{")
}

// displayURL returns a URL in the form in which users write it.
func displayURL(url string) string {
	url = strings.ToLower(url)
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	return strings.TrimSuffix(strings.TrimPrefix(url, "www."), "/")
}
