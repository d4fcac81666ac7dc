package content

import (
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/legible"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// What readers meet in a mail: pictures that say nothing to those who do not see them, text that can hardly be
// read, links that lead nowhere, and the end that Gmail cuts off.

// MaxShown is the size of HTML, in bytes, above which Gmail cuts a mail.
const MaxShown = 102_000

// Clipped is what is said about a larger one.
const Clipped = "it has more than 102 KB, after which Gmail cuts a mail"

// encountered returns the troubles that readers of the text meet.
func (t Text) encountered() []Trouble {
	html := t.HTML
	if t.Form == HTML {
		html = t.Source
	}
	var list []Trouble
	if leastSize(html) > MaxShown {
		list = append(list, Trouble{Code: CodeClipped, Message: Clipped})
	}
	check := legible.Check
	if t.Part {
		check = legible.CheckPart
	}
	for _, d := range links.Deadends(t.Source) {
		if t.Part && d.Reason != links.NoAddress && strings.HasPrefix(d.URL, "#") && d.URL != "#" {
			continue // the rest may have the place
		}
		message := fmt.Sprintf("the address %q %s", d.URL, d.Reason)
		switch {
		case d.Reason == links.NoAddress && d.URL == "":
			message = "a link without a text has no address"
		case d.Reason == links.NoAddress:
			message = fmt.Sprintf("the link %q has no address", d.URL)
		}
		list = append(list, t.at(d.At, CodeLink, message))
	}
	for _, p := range pictures(t.Source) {
		list = append(list, t.at(p.at, CodePicture, fmt.Sprintf("the picture %q has no alternative text", p.url)))
	}
	for _, f := range check(html) {
		list = append(list, t.at(placeOf(t.Source, f), CodeContrast, f.String()))
	}
	return list
}

// leastSize returns how large HTML is at least when its Liquid is rendered: without what conditions and loops may leave out.
func leastSize(html string) int {
	size, depth, last := 0, 0, 0
	for _, s := range markup.Spans(html) {
		if depth == 0 {
			size += s.Start - last
		}
		last = s.End
		if s.Output {
			continue
		}
		switch markup.TagName(html[s.Start:s.End]) {
		case "if", "unless", "case", "for", "tablerow", "capture":
			depth++
		case "endif", "endunless", "endcase", "endfor", "endtablerow", "endcapture":
			depth = max(0, depth-1)
		}
	}
	if depth == 0 {
		size += len(html) - last
	}
	return size
}

// at returns a trouble at an offset in the source, -1 if that is not known.
func (t Text) at(offset int, code, message string) Trouble {
	if offset < 0 {
		return Trouble{Code: code, Message: message}
	}
	return Trouble{Code: code, Line: strings.Count(t.Source[:offset], "\n") + 1, Message: message, At: 1 + max(0, strings.LastIndexByte(t.Source[:offset+1], '<'))}
}

// picture is a picture without an alternative text.
type picture struct {
	at  int
	url string
}

// maxPictures is the maximum number of pictures that are reported for a text.
const maxPictures = 100

// pictures returns the pictures in HTML or MJML that are neither described nor said to be decoration, without
// those that nobody sees.
func pictures(source string) []picture {
	if !strings.Contains(source, "<") {
		return nil
	}
	in := markup.New(source, markup.Syntax{})
	described := defaults(source)
	var found []picture
	for t := range in.All() {
		if t.Kind != markup.StartTag || len(found) == maxPictures {
			continue
		}
		if t.Name != "img" && t.Name != "mj-image" && t.Name != "mj-carousel-image" {
			continue
		}
		values := map[string]string{}
		for a := range in.Attributes(t) {
			if _, twice := values[a.Name]; !twice {
				values[a.Name] = strings.TrimSpace(in.Value(a))
			}
		}
		_, alt := values["alt"]
		switch {
		case alt, values["src"] == "", values["aria-label"] != "", values["aria-hidden"] == "true",
			values["role"] == "presentation", values["role"] == "none",
			tiny(values["width"]), tiny(values["height"]), hides(values["style"]),
			tagged(in, t), t.Name != "img" && described(t.Name, values["mj-class"]):
			continue
		}
		found = append(found, picture{t.Start, clip.Bytes(values["src"], 200)})
	}
	return found
}

// tagged reports whether Liquid decides which attributes a tag has.
func tagged(in *markup.Scanner, t markup.Token) bool {
	n := len(in.Within(t.Start, t.End))
	for a := range in.Attributes(t) {
		n -= len(in.Within(a.Start, a.End))
	}
	return n != 0
}

// tiny reports whether a length is that of a picture that only counts who loads it.
func tiny(length string) bool {
	length = strings.TrimSuffix(length, "px")
	return length == "0" || length == "1"
}

// hides reports whether a style hides a picture, or makes it as small as one that counts.
func hides(style string) bool {
	style = strings.ReplaceAll(strings.ToLower(style), " ", "") + ";"
	for _, hidden := range []string{"display:none;", ";width:1px;", ";height:1px;", ";width:0;", ";height:0;"} {
		if strings.Contains(";"+style, hidden) {
			return true
		}
	}
	return false
}

// defaults returns a function that reports whether mj-attributes give an element of MJML an alternative text.
func defaults(source string) func(element, classes string) bool {
	begin := strings.Index(source, "<mj-attributes")
	if begin < 0 {
		return func(string, string) bool { return false }
	}
	part := source[begin:]
	if end := strings.Index(part, "</mj-attributes"); end >= 0 {
		part = part[:end]
	}
	given := map[string]bool{}
	class := ""
	in := markup.New(part, markup.Syntax{XML: true})
	for t := range in.All() {
		if t.Kind == markup.EndTag && t.Name == "mj-class" {
			class = ""
		}
		if t.Kind != markup.StartTag {
			continue
		}
		name, alt := "", false
		for a := range in.Attributes(t) {
			switch a.Name {
			case "alt":
				alt = true
			case "name":
				name = in.Value(a)
			}
		}
		switch {
		case t.Name == "mj-class":
			given["."+name] = given["."+name] || alt
			if class = name; t.Empty {
				class = ""
			}
		case class != "":
			given["."+class+" "+t.Name] = alt
		default:
			given[t.Name] = given[t.Name] || alt
		}
	}
	return func(element, classes string) bool {
		if given["mj-all"] || given[element] {
			return true
		}
		for name := range strings.FieldsSeq(classes) {
			if given["."+name] || given["."+name+" "+element] {
				return true
			}
		}
		return false
	}
}

// maxLooks limits how often a text is looked for.
const maxLooks = 1000

// placeOf returns where the text of a finding stands in the source, -1 if it is not known.
func placeOf(source string, f legible.Finding) int {
	from := max(0, strings.Index(source, "<mj-body"))
	first, nth := -1, 0
	for range maxLooks {
		n := strings.Index(source[from:], f.Source)
		if n < 0 || f.Source == "" {
			break
		}
		at := from + n
		if before := strings.TrimRight(source[:at], " \t\r\n"); before == "" || before[len(before)-1] == '>' || before[len(before)-1] == '}' {
			if first = at; nth == f.Nth {
				break
			}
			nth++
		}
		from = at + len(f.Source)
	}
	return first
}
