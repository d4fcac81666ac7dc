package binding

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// schemesOf returns the schemes that a URL of this parameter may have.
func schemesOf(p *Parameter) []string {
	switch {
	case p.Type == Image:
		return []string{"http", "https"}
	case len(p.Validation.Schemes) > 0:
		return p.Validation.Schemes
	}
	return []string{"http", "https", "mailto", "tel"}
}

// harmfulScheme reports whether a link of this scheme runs a program, reads the
// reader's files, or carries a document of its own.
func harmfulScheme(s string) bool {
	switch s {
	case "javascript", "vbscript", "livescript", "mocha", "data", "file", "blob", "filesystem", "view-source", "about", "jar", "res", "ms-its", "mhtml", "mk":
		return true
	}
	return false
}

// urlFlaw says why s cannot be where a link leads; "" when it can. Liquid may
// stand anywhere in it. Where it comes first the scheme is not known until a
// recipient is: then only what is sure to be harmful is refused.
func urlFlaw(s string, schemes []string) string {
	if s == "" {
		return "must be a URL, not an empty string"
	}
	literal, runs := splitLiquid(s)
	for _, run := range runs {
		if strings.ContainsFunc(run, notInURL) {
			return "must not hold white space, quotes, angle brackets or backslashes; write them percent-encoded"
		}
		if len(runs) > 1 && harmfulStart(run) {
			return "must not hold a URL that runs a program"
		}
	}
	if runs[0] == "" {
		return "" // it begins with Liquid
	}
	scheme, rest, found := strings.Cut(runs[0], ":")
	scheme = strings.ToLower(scheme)
	if !found || !slices.Contains(schemes, scheme) {
		return "must begin with " + joinSchemes(schemes)
	}
	if rest == "" && len(runs) == 1 {
		return "must not end after " + scheme + ":"
	}
	if scheme == "http" || scheme == "https" {
		if u, err := url.Parse(literal); err != nil || u.Hostname() == "" {
			return "must be a URL with a host"
		}
	}
	return ""
}

// splitLiquid returns s with a 1 for each piece of Liquid, and the runs of text
// between them: one more than there are pieces.
func splitLiquid(s string) (literal string, runs []string) {
	if !hasLiquid(s) {
		return s, []string{s}
	}
	last := 0
	for _, span := range markup.Spans(s) {
		runs = append(runs, s[last:span.Start])
		last = span.End
	}
	runs = append(runs, s[last:])
	return strings.Join(runs, "1"), runs
}

// notInURL reports whether no URL may hold r as it is: browsers drop some of
// these, and so read another URL than we do.
func notInURL(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"<>\`, r) || unicode.Is(unicode.Cf, r)
}

// harmfulStart reports whether a run of text begins a harmful URL, however it is
// dressed up.
func harmfulStart(run string) bool {
	const longest = 200 // of what can be a scheme and its disguise
	head := run[:min(len(run), longest)]
	scheme, _, found := strings.Cut(strings.ToLower(html.UnescapeString(head)), ":")
	return found && harmfulScheme(strings.Map(func(r rune) rune {
		if notInURL(r) {
			return -1
		}
		return r
	}, scheme))
}

// joinSchemes names schemes for a person.
func joinSchemes(schemes []string) string {
	names := make([]string, 0, len(schemes))
	for _, s := range schemes {
		names = append(names, s+":")
	}
	return strings.Join(names, " or ")
}
