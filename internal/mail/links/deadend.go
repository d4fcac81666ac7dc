package links

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// NoAddress is the reason of links without an address.
const NoAddress = "has no address"

// Deadends returns the links in HTML or MJML that are complete and lead nowhere all the same: those without an
// address, with one that stands for another, or with a mail address that is none, and those to a place that the
// mail does not have. The URL of a link without an address is its text. An address that is empty inside of a condition is none
// of them, since the condition may be that there is one.
func Deadends(src string) []Doubt {
	in := markup.New(src, markup.Syntax{})
	places, known := names(src)
	optional := Conditions(src)
	var found []Doubt
	for t := range in.All() {
		if t.Kind != markup.StartTag || !isLink(t.Name) || len(found) == maxDoubts {
			continue
		}
		given := false
		for a := range in.Attributes(t) {
			if a.Name != "href" {
				continue
			}
			given = true
			value := strings.Trim(attributeURL(src[a.Start:a.End]), " \f")
			if (value == "" || strings.HasSuffix(value, ":")) && optional(t.Start) {
				continue
			}
			if value == "" {
				found = append(found, Doubt{labelOf(in, t), NoAddress, a.Start})
			} else if reason := deadend(value, places, known); reason != "" {
				found = append(found, Doubt{clip.Bytes(value, maxLabel), reason, a.Start})
			}
		}
		if !given && t.Name == "mj-button" && !strings.Contains(src, "<mj-attributes") && len(in.Within(t.Start, t.End)) == 0 {
			found = append(found, Doubt{labelOf(in, t), NoAddress, t.Start})
		}
	}
	return found
}

// Conditions returns whether a position is inside of a condition of Liquid; positions have to be asked for in their order.
func Conditions(src string) func(at int) bool {
	spans := markup.Spans(src)
	depth := 0
	return func(at int) bool {
		for len(spans) > 0 && spans[0].Start < at {
			tag := src[spans[0].Start:spans[0].End]
			spans = spans[1:]
			if !strings.HasPrefix(tag, "{%") {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimLeft(tag[2:], "- \t\r\n"), " ")
			switch strings.TrimRight(name, "-%} \t\r\n") {
			case "if", "unless", "case":
				depth++
			case "endif", "endunless", "endcase":
				depth--
			}
		}
		return depth > 0
	}
}

// isLink reports whether an element with an href is one that readers press.
func isLink(element string) bool {
	switch element {
	case "a", "area", "mj-button", "mj-image", "mj-navbar-link", "mj-carousel-image":
		return true
	}
	return false
}

// deadend returns why a complete address leads nowhere, if it does.
func deadend(address string, places map[string]bool, known bool) string {
	if len(markup.Spans(address)) > 0 {
		return ""
	}
	scheme, _ := schemeIn(address)
	switch {
	case address == "#":
		return "leads nowhere"
	case address[0] == '#':
		if known && !places[address[1:]] && !places[unpercent(address[1:])] && !strings.EqualFold(address, "#top") {
			return "leads to a place that the mail does not have"
		}
	case scheme == "mailto":
		to, _, _ := strings.Cut(address[len("mailto:"):], "?")
		if _, err := mail.ParseAddressList(strings.ReplaceAll(unpercent(to), ";", ",")); err != nil && (to != "" || !strings.Contains(address, "?")) {
			return "has no mail address"
		}
	case scheme == "tel" || scheme == "sms":
		to, _, written := strings.Cut(address, "?")
		if !strings.ContainsAny(to, "0123456789") && !(written && scheme == "sms") {
			return "has no number"
		}
	case scheme == "http" || scheme == "https":
		if isExample(address) {
			return "is only an example"
		}
	}
	return ""
}

func unpercent(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// isExample reports whether a web address is one of the site that stands for all sites in texts (RFC 6761, section 6.5).
func isExample(address string) bool {
	_, rest, _ := strings.Cut(address, ":")
	host := strings.ToLower(strings.TrimLeft(rest, `/\`))
	if i := strings.IndexAny(host, `/\?#:`); i >= 0 {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".") == "example.com"
}

// bringing matches an output that may have elements: a placeholder of a template, or what is printed as it is.
var bringing = regexp.MustCompile(`^\{\{-?\s*(?:\W?\w+:|[^}]*\|\s*raw\b)`)

// names returns the places in a source that links can lead to, and whether these are all.
func names(src string) (places map[string]bool, known bool) {
	in := markup.New(src, markup.Syntax{})
	places, known = map[string]bool{}, true
	for t := range in.All() {
		for _, s := range in.Within(t.Start, t.End) {
			known = known && (t.Kind != markup.Text || !bringing.MatchString(src[s.Start:s.End]))
		}
		if t.Kind != markup.StartTag {
			continue
		}
		known = known && t.Name != "mj-html-attributes" && t.Name != "mj-include"
		for a := range in.Attributes(t) {
			if a.Name == "id" || a.Name == "name" && t.Name == "a" {
				value := in.Value(a)
				known = known && len(markup.Spans(value)) == 0
				places[value] = true
			}
		}
	}
	return places, known
}

// maxRead is how much of the source of an element, in bytes, is read for its text.
const maxRead = 2048

// labelOf returns the beginning of the text of an element, or its alternative text.
func labelOf(in *markup.Scanner, t markup.Token) string {
	const most = 60
	var words []string
	size := 0
	add := func(text string) {
		words = append(words, strings.Fields(text)...)
		size += len(text)
	}
	inside := clip.Bytes(in.Source[t.End:], maxRead)
	if last := strings.LastIndexByte(inside, '<'); t.End+len(inside) < len(in.Source) && last > strings.LastIndexByte(inside, '>') {
		inside = inside[:last]
	}
	if t.Empty {
		inside = ""
	}
	rest := markup.New(inside, markup.Syntax{})
	for inner, ok := rest.Next(); ok && size < most; inner, ok = rest.Next() {
		if inner.Kind == markup.EndTag && inner.Name == t.Name {
			break
		}
		switch inner.Kind {
		case markup.Text:
			add(inside[inner.Start:inner.End])
		case markup.StartTag:
			for a := range rest.Attributes(inner) {
				if a.Name == "alt" {
					add(rest.Value(a))
				}
			}
		}
	}
	if len(words) == 0 {
		for a := range in.Attributes(t) {
			if a.Name == "alt" || a.Name == "title" || a.Name == "src" && len(words) == 0 {
				words = strings.Fields(in.Value(a))
			}
		}
	}
	return clip.Bytes(strings.Join(words, " "), most)
}
