package links

import (
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// maxLabel is the length, in bytes, at which a link's label is cut.
const maxLabel = 200

// maxNesting is how deep conditional comments in each other are read. They do not nest in HTML, so
// this only limits the work on hostile input.
const maxNesting = 2

// edit replaces src[start:end]: by the href of a link, or by nothing if link is -1.
type edit struct {
	start, end int
	link       int // index in scan.links
	quote      byte
}

// scan reads one HTML text and collects the changes.
type scan struct {
	in   *markup.Scanner
	base string // of <base href>

	links    []Link
	next     int            // the number of the next new link
	byURL    map[string]int // index in links
	edits    []edit
	problems []Problem

	open  int // the link whose label is being read, or -1
	label []byte
	alt   string
}

func newScan(src string, known []Link) *scan {
	s := &scan{in: markup.New(src, markup.Syntax{}), links: slices.Clone(known), byURL: make(map[string]int), open: -1}
	for i, l := range known {
		s.byURL[l.URL] = i
		s.next = max(s.next, l.Index+1)
	}
	return s
}

// document reads all tokens.
func (s *scan) document(in *markup.Scanner, depth int) {
	for t := range in.All() {
		switch t.Kind {
		case markup.Text:
			if s.open >= 0 && len(s.label) < 4*maxLabel {
				s.label = append(s.label, markup.Outside(in.Source[t.Start:t.End], html.UnescapeString)...)
			}
		case markup.StartTag:
			s.element(t)
		case markup.EndTag:
			if t.Name == "a" {
				s.closeLabel()
			}
		case markup.Comment:
			if inner, ok := in.Conditional(t); ok && depth < maxNesting {
				s.comment(inner, depth+1)
			}
		}
	}
	s.closeLabel()
}

// comment reads the inside of a conditional comment, which is HTML for Outlook.
func (s *scan) comment(in *markup.Scanner, depth int) {
	open, label, alt := s.open, s.label, s.alt
	s.open, s.label = -1, nil // its text does not belong to the label around it
	s.document(in, depth)
	s.open, s.label, s.alt = open, label, alt
}

// element handles one start tag.
func (s *scan) element(t markup.Token) {
	if t.Name == "a" || t.Name == "area" || strings.HasPrefix(t.Name, "v:") {
		s.linkElement(t)
		return
	}
	for a := range s.in.Attributes(t) {
		s.reportScript(a)
		switch {
		case t.Name == "base" && a.Name == "href" && s.base == "" && len(markup.Spans(s.value(a))) == 0 && CheckTarget(s.value(a)) == nil:
			s.base = s.value(a)
		case t.Name == "img" && a.Name == "alt" && s.open >= 0 && s.alt == "":
			s.alt = s.in.Value(a)
		}
	}
}

// linkElement handles the start tag of an element that may be a link.
func (s *scan) linkElement(t markup.Token) {
	var hrefs []markup.Attribute
	var off []edit
	title := ""
	for a := range s.in.Attributes(t) {
		switch a.Name {
		case "href":
			hrefs = append(hrefs, a)
		case "data-no-track":
			off = append(off, edit{start: a.Before, end: a.After, link: -1})
		case "alt", "title", "aria-label":
			if title == "" {
				title = s.in.Value(a)
			}
		}
	}
	if t.Name == "a" {
		s.closeLabel()
	}
	first := -1
	for _, a := range hrefs {
		link := s.href(a, len(off) == 0)
		if first < 0 {
			first = link
		}
	}
	s.edits = append(s.edits, off...)
	if len(off) == 0 && first >= 0 {
		s.open, s.label, s.alt = first, nil, title
		if t.Name != "a" {
			s.closeLabel()
		}
	}
}

// reportScript notes an attribute of an element that is not a link if it would run a script: the
// action of a form, a link of an SVG image.
func (s *scan) reportScript(a markup.Attribute) {
	if !isURLAttribute(a.Name) {
		return
	}
	url := s.value(a)
	literal := url
	if spans := markup.Spans(url); len(spans) > 0 {
		literal = url[:spans[0].Start]
	}
	if scheme, _ := schemeIn(literal); scheme == "javascript" || scheme == "vbscript" {
		s.problems = append(s.problems, Problem{clip.Bytes(url, maxLabel), "the scheme " + scheme + ": is not allowed"})
	}
}

// href checks one href, notes the edit, and returns the index of its link, or -1.
func (s *scan) href(a markup.Attribute, track bool) int {
	url := s.value(a)
	if url == "" {
		return -1
	}
	if s.base != "" {
		url = resolve(s.base, url)
	}
	ok, problem := decide(url)
	if problem != "" {
		s.problems = append(s.problems, Problem{clip.Bytes(url, maxLabel), problem})
	}
	if !ok || !track {
		return -1
	}
	url = asciiHost(url)
	at, known := s.byURL[url]
	if !known {
		at = len(s.links)
		s.links = append(s.links, Link{Index: s.next, URL: url, Dynamic: len(markup.Spans(url)) > 0})
		s.next++
		s.byURL[url] = at
	}
	s.edits = append(s.edits, edit{a.Start, a.End, at, a.Quote})
	return at
}

// value returns the decoded value of a, without the line breaks and tabs that
// browsers ignore in a URL.
func (s *scan) value(a markup.Attribute) string {
	return strings.Trim(attributeURL(s.in.Source[a.Start:a.End]), " \f")
}

// attributeURL decodes a value that is a URL, without what browsers ignore in it.
func attributeURL(value string) string {
	return markup.DecodeValue(value, func(piece string) string {
		return strings.Map(func(r rune) rune {
			if r == '\t' || r == '\r' || r == '\n' {
				return -1
			}
			return r
		}, piece)
	})
}

// closeLabel sets the label of the open link to the text read since, if it has none yet.
func (s *scan) closeLabel() {
	if s.open < 0 {
		return
	}
	l := &s.links[s.open]
	if l.Label == "" {
		l.Label = clip.Bytes(strings.Join(strings.Fields(strings.ToValidUTF8(string(s.label), "")), " "), maxLabel)
	}
	if l.Label == "" {
		l.Label = clip.Bytes(strings.Join(strings.Fields(strings.ToValidUTF8(s.alt, "")), " "), maxLabel)
	}
	s.open, s.label, s.alt = -1, nil, ""
}

// resolve prepends the origin and folder of base to a relative url. Dot segments stay, since clients
// remove them.
func resolve(base, url string) string {
	if _, ok := schemeOf(url); ok || url[0] == '#' || strings.HasPrefix(url, "{") {
		return url
	}
	base, _, _ = strings.Cut(base, "#")
	path, _, _ := strings.Cut(base, "?")
	host := strings.Index(path, "//") + 2
	root := len(path)
	if i := strings.IndexByte(path[host:], '/'); i >= 0 {
		root = host + i
	}
	switch {
	case strings.HasPrefix(url, "//"):
		return path[:host-2] + url
	case url[0] == '/':
		return path[:root] + url
	case url[0] == '?':
		return path + url
	case root == len(path):
		return path + "/" + url
	}
	return path[:strings.LastIndexByte(path, '/')+1] + url
}

// asciiHost returns an absolute url with its host in A-labels.
func asciiHost(url string) string {
	i := strings.Index(url, "//")
	if i < 0 {
		return url
	}
	i += 2
	end := len(url)
	if n := strings.IndexAny(url[i:], "/?#:{"); n >= 0 {
		end = i + n
	}
	host := url[i:end]
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return url
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return url
	}
	return url[:i] + ascii + url[end:]
}
