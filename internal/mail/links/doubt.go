package links

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// Doubt is an address of a link or a picture that may be sent, but leads nowhere for a recipient.
type Doubt struct {
	URL    string
	Reason string // a clause for the author
	At     int    // its offset in the source
}

// maxDoubts is the maximum number of doubts about one source.
const maxDoubts = 100

// Doubts returns the addresses in HTML or MJML that lead nowhere: relative ones without a base, those
// without a scheme or with a mistyped one, and those of the author's own computer or network.
func Doubts(src string) []Doubt {
	in := markup.New(src, markup.Syntax{})
	based := false
	var found []Doubt
	for t := range tags(in, 0) {
		for a := range in.Attributes(t) {
			value := strings.Trim(attributeURL(src[a.Start:a.End]), " \f")
			switch {
			case t.Name == "base" && a.Name == "href" || t.Name == "mj-navbar" && a.Name == "base-url":
				based = based || value != ""
			case opens(t.Name, a.Name):
				if reason := doubt(value, based); reason != "" && len(found) < maxDoubts {
					found = append(found, Doubt{clip.Bytes(value, maxLabel), reason, a.Start})
				}
			}
		}
	}
	return found
}

// opens reports whether an attribute is the address of a link or of a picture.
func opens(element, attribute string) bool {
	switch attribute {
	case "href":
		return element != "link" && element != "mj-font" && element != "mj-social-element" // whose address may be a part of one
	case "src":
		return element != "script"
	case "background", "background-url", "poster":
		return true
	}
	return false
}

// doubt returns why an address leads nowhere, if it does. Only what stands before Liquid is known.
func doubt(address string, based bool) string {
	literal, whole := address, true
	if spans := markup.Spans(address); len(spans) > 0 {
		literal, whole = address[:spans[0].Start], false
	}
	if literal == "" || literal[0] == '#' || literal[0] == '?' && !whole {
		return ""
	}
	scheme, known := schemeIn(literal)
	lower := strings.ToLower(literal)
	switch {
	case scheme == "file" || len(scheme) == 1 && known:
		return "is a file of one computer"
	case scheme == "http" || scheme == "https":
		return doubtHost(literal, whole)
	case scheme != "" && strings.HasPrefix(literal[len(scheme):], "://") && nearly(scheme, "http", "https"):
		return "begins with " + scheme + "://, not with https://"
	case scheme != "" && strings.Contains(scheme, "."):
		return "has no scheme: begin it with https://" // example.com:8080/x
	case scheme == "localhost":
		return "leads to the reader's own computer"
	case scheme != "":
		return ""
	case strings.HasPrefix("http://", lower) || strings.HasPrefix("https://", lower):
		if whole {
			return "has no scheme: begin it with https://"
		}
		return ""
	case based:
		return ""
	case strings.HasPrefix(literal, "/"), strings.HasPrefix(literal, "."), strings.HasPrefix(literal, "?"):
		return "is relative, and a mail has no page that it is relative to: begin it with https://"
	}
	return "has no scheme: begin it with https://"
}

// doubtHost returns why a reader cannot reach the host of a web address, if so.
func doubtHost(literal string, whole bool) string {
	_, rest, _ := strings.Cut(literal, ":")
	rest = strings.TrimLeft(rest, `/\`)
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		if end = len(rest); !whole {
			return "" // Liquid may follow
		}
	}
	u := url.URL{Host: rest[:end]}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return "leads to a computer or a network of your own"
		}
		return ""
	}
	own := []string{".localhost", ".local", ".localdomain", ".internal", ".lan", ".home.arpa"}
	if host != "" && (!strings.Contains(host, ".") || slices.ContainsFunc(own, func(suffix string) bool { return strings.HasSuffix(host, suffix) })) {
		return "leads to a computer or a network of your own"
	}
	return ""
}

// nearly reports whether a scheme is one of the names with up to two letters too many, too few or wrong, and
// no other one that is in use.
func nearly(scheme string, names ...string) bool {
	if slices.Contains([]string{"ftp", "ftps", "sftp", "http", "https"}, scheme) {
		return false
	}
	return slices.ContainsFunc(names, func(name string) bool { return distance(scheme, name) <= 2 })
}

// distance returns how many letters have to be inserted, deleted or replaced.
func distance(a, b string) int {
	if len(a) > 2*len(b) {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
