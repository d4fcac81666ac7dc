// Package links rewrites the links of finished HTML and puts what we add to a
// mail (preheader, pixel, footer) in its place.
//
// Mail HTML must not be parsed and rendered again: that loses conditional
// comments, VML and templated attributes, which mail programs depend on. So
// the tokenizer only finds where the hrefs are, and every other byte is copied
// as it stands. The HTML may hold Liquid, which is kept; the work is done once
// per content, never per recipient.
package links

import (
	"html"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Link is one distinct URL of a content.
type Link struct {
	Index   int    // its number, stable for the life of the content
	URL     string // as authored: entities decoded, Liquid kept, without UTM parameters
	Label   string // the text of the first link that has any, else the alt text of its image
	Dynamic bool   // the URL holds Liquid, so it differs between recipients
}

// Options say how Rewrite numbers links and what it writes for them.
type Options struct {
	// Known are the links already numbered, by other variants of the same
	// content. A URL that is among them keeps its number.
	Known []Link
	// Href returns the new value of an href; it may hold Liquid and needs no
	// escaping. It is called once for each occurrence, when all links and
	// labels are known. Without it hrefs stay as they are.
	Href func(Link) string
}

// Problem is a link that must not be sent.
type Problem struct {
	URL    string
	Reason string // a clause for the author
}

// Error holds the problems of one HTML text.
type Error struct{ Problems []Problem }

// Error names every problem.
func (e *Error) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = "link " + p.URL + ": " + p.Reason
	}
	return strings.Join(parts, "; ")
}

// Rewrite replaces the hrefs of a, area and VML elements that lead to http or
// https, also inside the conditional comments that only Outlook reads, and
// returns the new HTML with the known and the new links.
//
// Left alone are other schemes, fragments, relative URLs (unless base gives
// them an origin), URLs under /_q/, the Liquid variables that become such
// URLs, and elements with the attribute data-no-track, which is removed.
//
// The error, of type *Error, names links that must not be sent; they are left
// as they are, and what is returned beside the error is complete.
func Rewrite(src string, opts Options) (out string, found []Link, err error) {
	s := newScan(src, opts.Known)
	s.document(s.in, 0)
	if len(s.problems) > 0 {
		err = &Error{s.problems}
	}
	var b strings.Builder
	b.Grow(len(src) + len(src)/8)
	last := 0
	for _, e := range s.edits {
		if e.link < 0 {
			b.WriteString(src[last:e.start])
			last = e.end
			continue
		}
		if opts.Href == nil {
			continue
		}
		b.WriteString(src[last:e.start])
		writeValue(&b, opts.Href(s.links[e.link]), e.quote)
		last = e.end
	}
	b.WriteString(src[last:])
	return b.String(), s.links, err
}

// Check returns an *Error that names every link of src that must not be sent,
// or nil.
func Check(src string) error {
	s := newScan(src, nil)
	s.document(s.in, 0)
	if len(s.problems) > 0 {
		return &Error{s.problems}
	}
	return nil
}

// writeValue writes an attribute value in the quotes that the author used;
// where there were none, it brings its own.
func writeValue(b *strings.Builder, value string, quote byte) {
	value = markup.Outside(value, escapeAttribute)
	if quote == 0 {
		b.WriteByte('"')
		b.WriteString(value)
		b.WriteByte('"')
		return
	}
	b.WriteString(value)
}

func escapeAttribute(s string) string { return html.EscapeString(s) }

// decide says what becomes of an authored href: a link, a problem, or neither.
func decide(url string) (track bool, problem string) {
	spans := markup.Spans(url)
	prefix := url
	if len(spans) > 0 {
		prefix = url[:spans[0].Start]
	}
	scheme, hasScheme := schemeOf(prefix)
	switch {
	case hasScheme && slices.Contains([]string{"javascript", "vbscript", "data"}, scheme):
		return false, "the scheme " + scheme + ": is not allowed"
	case hasScheme && scheme != "http" && scheme != "https":
		return false, ""
	case len(spans) == 0 && !hasScheme:
		return false, ""
	case len(spans) == 0:
		if err := CheckTarget(url); err != nil {
			return false, err.Error()
		}
		return !isOwn(url), ""
	case hasScheme:
		return !isOwn(prefix), ""
	}
	if p := strings.ToLower(prefix); !strings.HasPrefix("http://", p) && !strings.HasPrefix("https://", p) {
		return false, "" // relative, or a fragment
	}
	return spans[0].Start != 0 || !isOwnVariable(url[:spans[0].End]), ""
}

// schemeOf returns the lower-case scheme of url (RFC 3986 section 3.1), read
// as browsers do: after leading spaces and controls.
func schemeOf(url string) (string, bool) {
	url = strings.TrimLeftFunc(url, func(r rune) bool { return r <= ' ' })
	for i := range len(url) {
		c := url[i]
		switch {
		case c == ':':
			return strings.ToLower(url[:i]), i > 0
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return "", false
		}
	}
	return "", false
}

// isOwn reports whether the path of an absolute URL is one of our public routes.
func isOwn(url string) bool {
	_, rest, _ := strings.Cut(url, "//")
	i := strings.IndexAny(rest, "/?#")
	return i >= 0 && strings.HasPrefix(rest[i:], "/_q/")
}

// isOwnVariable reports whether a Liquid piece prints one of the URLs that we
// make for each recipient.
func isOwnVariable(piece string) bool {
	if !strings.HasPrefix(piece, "{{") {
		return false
	}
	switch markup.FirstWord(markup.Code(piece)) {
	case "unsubscribe_url", "preferences_url", "view_in_browser_url", "subscribe_confirm_url":
		return true
	}
	return false
}
