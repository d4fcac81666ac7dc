// Package links rewrites the links of finished HTML and inserts what we add to a mail (preheader,
// pixel, footer).
//
// Mail HTML must not be parsed and rendered again: that loses conditional comments, VML and templated
// attributes, which mail programs depend on. So the tokenizer only finds the positions of hrefs, and
// every other byte is copied. The HTML may contain Liquid, which is kept; the work is done once per
// content, not per recipient.
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
	Dynamic bool   // the URL contains Liquid, so it differs between recipients
}

// Options determine how Rewrite numbers links and what it writes for them.
type Options struct {
	// Known are links that are numbered already, from other variants of the same content. A URL
	// among them keeps its number.
	Known []Link
	// Href returns the new value of an href; it may contain Liquid and is escaped by Rewrite. It is
	// called for each occurrence, after all links and labels were read. If it is nil, hrefs do not
	// change.
	Href func(Link) string
}

// Problem is a link that must not be sent.
type Problem struct {
	URL    string
	Reason string // a clause for the author
}

// Error is the problems of one HTML text.
type Error struct{ Problems []Problem }

// Error returns the texts of all problems.
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
// It does not change other schemes, fragments, relative URLs (unless base gives them an origin), URLs
// under /_q/, the Liquid variables that become such URLs, and elements with the attribute
// data-no-track, which is removed.
//
// The error, of type *Error, lists links that must not be sent; these are unchanged, and the other
// results are complete in spite of the error.
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

// Check returns an *Error with every link of src that must not be sent, or nil.
func Check(src string) error {
	s := newScan(src, nil)
	s.document(s.in, 0)
	if len(s.problems) > 0 {
		return &Error{s.problems}
	}
	return nil
}

// writeValue writes an attribute value in the author's quotes, or in double quotes if there were
// none.
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

// decide returns whether an authored href is tracked, or the problem that it is.
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

// schemeOf returns the lower-case scheme of url (RFC 3986 section 3.1). Like browsers, it ignores
// leading spaces and control characters.
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

// isOwnVariable reports whether a piece of Liquid prints one of the URLs that are made for each
// recipient.
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
