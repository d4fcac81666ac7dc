package inline

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	tokens "golang.org/x/net/html"

	"packetboat/internal/mail/links"
)

// page is a document: its elements, its style elements, and what is to change.
type page struct {
	src, masked string
	spans       []links.Span

	elements []element          // the first stands for the document
	byName   map[string][]int32 // by tag, .class and #id
	sheets   []sheet
	changes  []change

	depth    int            // how deep elements are within each other
	breadth  int            // how many are beside each other
	deepest  map[string]int // how many of a name are within each other
	openKeys map[string]int

	open      []int32         // the elements around the place being read
	elsewhere map[string]bool // tags, .classes and #ids of what cannot be inlined
	anyClass  bool            // something has a class that nobody knows yet
}

// element is a start tag and its place in the tree.
type element struct {
	name          string
	start, end    int   // of the tag
	parent        int32 // 0: none
	nth, children int32 // its number among its siblings, from 1; how many it has
	attributes    []attribute
	classes       []string // sorted
	id            string
	doubtful      bool // Liquid decides about its attributes
	matched       []*selector
}

// attribute is where an attribute stands in the document.
type attribute struct {
	name       string
	start, end int // its value
	quote      byte
	hasValue   bool
	maybe      bool // whether it is there is for Liquid to say
}

// sheet is what a style element holds.
type sheet struct {
	open, close int  // all of the element
	start, end  int  // what stands between its tags
	narrow      bool // for some media only
}

// read finds the elements of the document.
func (p *page) read() error {
	p.byName, p.elsewhere = map[string][]int32{}, map[string]bool{}
	p.elements, p.open = []element{{}}, []int32{0}
	p.deepest, p.openKeys = map[string]int{}, map[string]int{}
	z := tokens.NewTokenizer(strings.NewReader(p.masked))
	style := false // the last token opened a style element
	for pos := 0; ; {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return nil
		}
		start := pos
		pos += len(z.Raw())
		opened := style
		style = false
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			name, _ := z.TagName()
			if err := p.startTag(string(name), start, pos); err != nil {
				return err
			}
			style = string(name) == "style" && kind == tokens.StartTagToken
		case tokens.TextToken:
			if opened {
				p.addSheet(start, pos)
			}
		case tokens.EndTagToken:
			name, _ := z.TagName()
			if n := len(p.sheets); n > 0 && p.sheets[n-1].end == start {
				p.sheets[n-1].close = pos
			}
			p.endTag(string(name))
		case tokens.CommentToken:
			p.comment(start, pos)
		}
	}
}

// addSheet notes the text of the style element that was opened last, unless it
// says that it is to be left alone.
func (p *page) addSheet(start, end int) {
	e := &p.elements[len(p.elements)-1]
	s := sheet{open: e.start, start: start, end: end, close: end}
	for _, a := range e.attributes {
		value := strings.ToLower(strings.TrimSpace(p.masked[a.start:a.end]))
		switch a.name {
		case "media":
			s.narrow = value != "" && value != "all"
		case "type":
			if value != "" && value != "text/css" {
				return
			}
		case "data-embed", "data-premailer", "amp-custom", "amp4email-boilerplate":
			return
		}
	}
	p.sheets = append(p.sheets, s)
}

// startTag notes an element.
func (p *page) startTag(name string, start, end int) error {
	p.closeImplied(name)
	at := int32(len(p.elements))
	e := element{name: name, start: start, end: end, parent: p.open[len(p.open)-1]}
	parent := &p.elements[e.parent]
	parent.children++
	e.nth = parent.children
	p.breadth = max(p.breadth, int(e.nth))
	p.readAttributes(&e)
	p.elements = append(p.elements, e)
	for _, key := range e.keys() {
		p.deepest[key] = max(p.deepest[key], p.openKeys[key]+1)
		p.byName[key] = append(p.byName[key], at)
		if e.doubtful {
			p.elsewhere[key] = true
		}
	}
	if isVoid(name) {
		return nil
	}
	if len(p.open) > maxDepth {
		return fmt.Errorf("%w: elements are nested deeper than %d; close what is open, or turn inline_css off", ErrLimit, maxDepth)
	}
	p.open = append(p.open, at)
	p.depth = max(p.depth, len(p.open))
	for _, key := range e.keys() {
		p.openKeys[key]++
	}
	return nil
}

// closeTo closes the open elements but the first n.
func (p *page) closeTo(n int) {
	for _, at := range p.open[n:] {
		for _, key := range p.elements[at].keys() {
			p.openKeys[key]--
		}
	}
	p.open = p.open[:n]
}

// keys returns the names by which selectors find an element.
func (e *element) keys() []string {
	keys := []string{e.name}
	for _, c := range e.classes {
		keys = append(keys, "."+c)
	}
	if e.id != "" {
		keys = append(keys, "#"+e.id)
	}
	return keys
}

// closeImplied closes the elements that the start of another one ends.
func (p *page) closeImplied(name string) {
	ends, within := impliedEnds(name)
	for i := len(p.open) - 1; i > 0 && len(ends) > 0; i-- {
		open := p.elements[p.open[i]].name
		if slices.Contains(ends, open) {
			p.closeTo(i)
		} else if slices.Contains(within, open) {
			return
		}
	}
}

// impliedEnds returns which open elements a start tag ends, as far as up to one
// of those within which they may stand.
func impliedEnds(name string) (ends, within []string) {
	switch name {
	case "li":
		return []string{"li"}, []string{"ul", "ol", "table", "td", "th"}
	case "dt", "dd":
		return []string{"dt", "dd"}, []string{"dl", "table", "td", "th"}
	case "td", "th":
		return []string{"td", "th"}, []string{"tr", "table"}
	case "tr":
		return []string{"tr"}, []string{"table"}
	case "thead", "tbody", "tfoot":
		return []string{"thead", "tbody", "tfoot"}, []string{"table"}
	case "body":
		return []string{"head"}, []string{"html"}
	case "a":
		return []string{"a"}, []string{"table", "td", "th"}
	case "option":
		return []string{"option"}, []string{"select"}
	case "p", "div", "ul", "ol", "dl", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "hr",
		"center", "section", "article", "header", "footer", "main", "nav", "aside", "address", "form", "figure":
		return []string{"p"}, []string{"table", "td", "th", "li", "div", "center", "blockquote", "section", "article", "body"}
	}
	return nil, nil
}

// endTag closes an element of that name, and what is open in it. An end tag
// inside a table's cell closes nothing outside of the cell.
func (p *page) endTag(name string) {
	for i := len(p.open) - 1; i > 0; i-- {
		switch open := p.elements[p.open[i]].name; {
		case open == name:
			p.closeTo(i)
			return
		case open == "table",
			(open == "td" || open == "th") && name != "tr" && name != "table" && name != "tbody" && name != "thead" && name != "tfoot":
			return
		}
	}
}

// comment notes the elements that only Outlook sees: what they need must stay.
func (p *page) comment(start, end int) {
	inner := p.masked[start:end]
	if !strings.Contains(inner, "[if ") && !strings.Contains(inner, "[if(") {
		return
	}
	z := tokens.NewTokenizer(strings.NewReader(strings.TrimPrefix(inner, "<!--")))
	pos := start + len("<!--")
	for {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return
		}
		from := pos
		pos += len(z.Raw())
		if kind != tokens.StartTagToken && kind != tokens.SelfClosingTagToken {
			continue
		}
		name, _ := z.TagName()
		e := element{name: string(name), start: from, end: min(pos, end)}
		p.readAttributes(&e)
		for _, key := range e.keys() {
			p.elsewhere[key] = true
		}
	}
}

// readAttributes finds the attributes of an element's start tag.
func (p *page) readAttributes(e *element) {
	m := p.masked
	i, end := e.start+1, e.end
	if m[end-1] == '>' {
		end--
	}
	for i < end && !isSpace(m[i]) && m[i] != '/' {
		i++
	}
	for {
		for i < end && (isSpace(m[i]) || m[i] == '/') {
			i++
		}
		if i >= end {
			break
		}
		var a attribute
		a, i = p.attributeAt(i, end)
		e.attributes = append(e.attributes, a)
	}
	p.doubt(e)
	for _, a := range e.attributes {
		switch {
		case a.maybe:
		case a.name == "class" && len(e.classes) == 0:
			e.classes = p.certain(a)
		case a.name == "id" && e.id == "" && len(p.spansIn(a.start, a.end)) == 0:
			e.id = strings.TrimSpace(unescape(m[a.start:a.end]))
		}
	}
}

// attributeAt reads the attribute at i and returns where it ends.
func (p *page) attributeAt(i, end int) (attribute, int) {
	m := p.masked
	from := i
	for i < end && !isSpace(m[i]) && m[i] != '/' && (m[i] != '=' || i == from) {
		i++
	}
	a := attribute{name: strings.ToLower(m[from:i]), start: i, end: i}
	j := i
	for j < end && isSpace(m[j]) {
		j++
	}
	if j >= end || m[j] != '=' {
		return a, i
	}
	a.hasValue = true
	for i = j + 1; i < end && isSpace(m[i]); i++ {
	}
	if i < end && (m[i] == '"' || m[i] == '\'') {
		a.quote, a.start, a.end = m[i], i+1, end
		if n := strings.IndexByte(m[i+1:end], a.quote); n >= 0 {
			a.end = i + 1 + n
		}
		return a, min(a.end+1, end)
	}
	a.start = i
	for i < end && !isSpace(m[i]) {
		i++
	}
	a.end = i
	return a, i
}

// doubt decides whether Liquid decides which attributes an element has, or which
// class.
func (p *page) doubt(e *element) {
	spans := p.spansIn(e.start, e.end)
	if len(spans) == 0 {
		return
	}
	attributes := e.attributes
	for _, s := range spans {
		for len(attributes) > 0 && attributes[0].end < s.End {
			attributes = attributes[1:]
		}
		if len(attributes) == 0 || s.Start < attributes[0].start || attributes[0].name == "class" || attributes[0].name == "id" {
			e.doubtful, p.anyClass = true, true
			break
		}
	}
	around := newBranches(spans, p.src)
	for i := range e.attributes {
		a := &e.attributes[i]
		a.maybe = around.inside(a.start)
	}
}

// certain returns the classes of an attribute that it has whatever Liquid says.
func (p *page) certain(a attribute) []string {
	value := p.masked[a.start:a.end]
	if spans := p.spansIn(a.start, a.end); len(spans) > 0 {
		within := newBranches(spans, p.src)
		b := []byte(value)
		for i := range b {
			if within.inside(a.start + i) {
				b[i] = ' '
			}
		}
		value = string(b)
	}
	classes := strings.Fields(unescape(value))
	slices.Sort(classes)
	return slices.Compact(classes)
}

// spansIn returns the Liquid that begins in src[start:end].
func (p *page) spansIn(start, end int) []links.Span {
	from, _ := slices.BinarySearchFunc(p.spans, start, func(s links.Span, at int) int { return cmp.Compare(s.Start, at) })
	to := from
	for to < len(p.spans) && p.spans[to].Start < end {
		to++
	}
	return p.spans[from:to]
}

// unescape decodes the entities of an attribute's value, where it has any.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}
