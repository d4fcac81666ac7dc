package mjml

import (
	"regexp"
	"strings"
)

var (
	comment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	preview = regexp.MustCompile(`(?s)<mj-preview(?:\s[^>]*)?(?:/>|>.*?</mj-preview\s*>)`)
	head    = regexp.MustCompile(`<mj-head(?:\s[^>]*)?>`)
	root    = regexp.MustCompile(`<mjml(?:\s[^>]*)?>`)
)

// WithPreview returns a document whose mj-preview is the HTML given, in place of
// the one it has, if any.
func WithPreview(source, html string) string {
	seen := comment.ReplaceAllStringFunc(source, func(c string) string { return strings.Repeat(" ", len(c)) })
	element := "<mj-preview>" + html + "</mj-preview>"
	put := func(from, to int, text string) string { return source[:from] + text + source[to:] }
	if at := preview.FindStringIndex(seen); at != nil {
		return put(at[0], at[1], element)
	}
	if at := head.FindStringIndex(seen); at != nil && !strings.HasSuffix(seen[at[0]:at[1]], "/>") {
		return put(at[1], at[1], element)
	} else if at != nil {
		return put(at[0], at[1], "<mj-head>"+element+"</mj-head>")
	}
	if at := root.FindStringIndex(seen); at != nil {
		return put(at[1], at[1], "<mj-head>"+element+"</mj-head>")
	}
	return source
}
