// Package textpart makes the plain text part of a mail from its HTML, if the author wrote none.
//
// It reads the HTML as a stream of tokens without building a tree, so that the time is proportional to the
// size, whatever the depth. Liquid is copied byte for byte: the text is rendered for each recipient like
// the HTML.
package textpart

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// FromHTML returns the plain text of src: links as "text (url)", list marks, alternative texts of images,
// a table's rows as lines with bars between the cells, headings underlined, blank lines between blocks,
// lines of at most 76 columns where words allow it. Styles, scripts and hidden elements are left out. For
// a mail of pictures without words the result is the title or the URLs of the pictures, so that it is not
// empty.
//
// Liquid is kept: outputs where they are visible, tags everywhere between elements, also in comments and
// hidden elements, so that each block is closed.
func FromHTML(src string) string {
	r := nodeReaders.Get().(*nodeReader)
	defer r.release()
	t := &textMaker{src: src, nodes: r.read(markup.New(src, markup.Syntax{}))}
	return t.text()
}

// text writes all nodes.
func (t *textMaker) text() string {
	for i := 0; i < len(t.nodes); i++ {
		t.at = i
		i = t.node(i)
	}
	t.at = len(t.nodes)
	t.endLink()
	if text := t.w.String(); text != "" {
		t.shown = true
		return text
	}
	return t.imageText()
}

// node is one token of the HTML.
type node struct {
	markup.Token
	hidden   bool
	pictured bool // it has a picture in its background
	layout   bool // a table marked as presentation only
	match    int  // of a start tag: the index of its end tag, or 0
}

// textMaker writes nodes as lines.
type textMaker struct {
	src    string
	nodes  []node
	at     int // the index of the current node
	w      lineWriter
	link   link
	tables []table // the open tables

	rendered bool                // nothing is Liquid
	address  func(string) string // of a rendered address, for the text
	links    []string            // the addresses that a reader can follow
	shown    bool                // something is visible
}

// table is an open table.
type table struct {
	layout bool // its cells are written as consecutive blocks
	data   bool // it has headings
	blocks bool // the current row contains blocks
	cells  int  // of the current row, so far
	words  int  // written before the current cell
}

// nodeReader reads the tokens of one HTML after the other, and reuses its memory.
type nodeReader struct {
	nodes []node
	open  map[string][]int // the start tags without an end tag so far, by name
}

var nodeReaders = sync.Pool{New: func() any { return &nodeReader{open: map[string][]int{}} }}

// The memory that a nodeReader keeps for the next HTML.
const (
	maxSpareNodes = 10_000
	maxSpareNames = 100
)

// release makes the memory of the nodes available again.
func (r *nodeReader) release() {
	if cap(r.nodes) > maxSpareNodes || len(r.open) > maxSpareNames {
		return
	}
	clear(r.nodes) // they refer to the HTML
	r.nodes = r.nodes[:0]
	for name, stack := range r.open {
		r.open[name] = stack[:0]
	}
	nodeReaders.Put(r)
}

// read reads the tokens and finds the end tag of each start tag.
func (r *nodeReader) read(in *markup.Scanner) []node {
	r.nodes = readNodes(in, r.nodes, r.open)
	return r.nodes
}

func readNodes(in *markup.Scanner, nodes []node, open map[string][]int) []node {
	for t := range in.All() {
		n := node{Token: t}
		switch t.Kind {
		case markup.StartTag:
			var few [4]string
			seen := few[:0] // the first of each name counts
			for a := range in.Attributes(t) {
				n.pictured = n.pictured || a.Name == "background" && a.End > a.Start
				if affectsVisibility(a.Name) && !slices.Contains(seen, a.Name) {
					seen = append(seen, a.Name)
					value := markup.UnescapeValue(in.Masked[a.Start:a.End])
					n.hidden = n.hidden || hidesElement(a.Name, value)
					n.pictured = n.pictured || a.Name == "style" && strings.Contains(strings.ToLower(value), "url(")
					n.layout = n.layout || a.Name == "role" && (value == "presentation" || value == "none")
				}
			}
			if !t.Empty && !isVoid(t.Name) {
				open[t.Name] = append(open[t.Name], len(nodes))
			}
		case markup.EndTag:
			if stack := open[t.Name]; len(stack) > 0 {
				nodes[stack[len(stack)-1]].match = len(nodes)
				open[t.Name] = stack[:len(stack)-1]
			}
		case markup.Unclosed:
			return nodes
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// affectsVisibility reports whether an attribute affects whether its element is shown.
func affectsVisibility(name string) bool {
	switch name {
	case "hidden", "aria-hidden", "style", "role":
		return true
	}
	return false
}

// hidesElement reports whether an attribute hides its element.
func hidesElement(key, value string) bool {
	switch key {
	case "hidden":
		return true
	case "aria-hidden":
		return strings.EqualFold(value, "true")
	case "style":
		return hiddenStyle(value)
	}
	return false
}

// hiddenStyle reports whether a style hides an element. Elements hidden only from Outlook (mso-hide) are
// not hidden.
func hiddenStyle(style string) bool {
	flat, clipped := false, false
	for declaration := range strings.SplitSeq(strings.ToLower(style), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(value, "!")
		switch strings.TrimSpace(property) + ":" + strings.TrimSpace(value) {
		case "display:none", "visibility:hidden", "visibility:collapse", "opacity:0":
			return true
		case "max-height:0", "max-height:0px", "height:0", "height:0px", "max-width:0", "max-width:0px":
			flat = true
		case "overflow:hidden":
			clipped = true
		}
	}
	return flat && clipped
}

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// isTextless reports whether the content of an element does not belong into plain text.
func isTextless(name string) bool {
	switch name {
	case "head", "style", "script", "title", "noscript", "iframe", "noembed", "noframes", "template",
		"object", "svg", "math", "video", "audio", "canvas", "select":
		return true
	}
	return false
}

// margin returns the number of line ends between an element and its neighbours.
func margin(name string) int {
	switch name {
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "dl", "figure", "table", "hr":
		return 2
	case "div", "section", "article", "header", "footer", "main", "nav", "aside", "center", "form", "address",
		"fieldset", "body", "html", "dt", "dd", "figcaption", "caption", "thead", "tbody", "tfoot", "tr":
		return 1
	}
	return 0
}

// node writes the i-th node and returns the index of the last one that it has processed.
func (t *textMaker) node(i int) int {
	n := t.nodes[i]
	piece := t.src[n.Start:n.End]
	switch n.Kind {
	case markup.Text:
		t.w.html(piece)
		t.noteAddresses(piece)
	case markup.Comment:
		t.w.tagsOf(piece)
	case markup.StartTag:
		if n.hidden || isTextless(n.Name) {
			last := n.match
			if last == 0 && isTextless(n.Name) && i+1 < len(t.nodes) && t.nodes[i+1].Kind == markup.Text && t.nodes[i+1].Name == n.Name {
				last = i + 1
			}
			if !n.hidden && isPicture(n.Name) {
				t.picture()
			}
			if last > 0 {
				t.w.tagsOf(t.src[n.End:t.nodes[last].End])
				return last
			}
			if isVoid(n.Name) {
				return i
			}
		}
		t.start(n, piece)
	case markup.EndTag:
		t.end(n)
	}
	return i
}

func (t *textMaker) start(n node, piece string) {
	if n.pictured {
		t.shown = true
	}
	if m := margin(n.Name); m > 0 {
		if len(t.tables) > 0 && n.Name != "tr" && n.Name != "tbody" && n.Name != "thead" && n.Name != "tfoot" {
			t.tables[len(t.tables)-1].blocks = true
		}
		t.w.breakLine(m)
	}
	switch n.Name {
	case "br":
		t.w.lineBreak()
	case "hr":
		t.w.word("---")
		t.w.breakLine(2)
	case "img":
		t.image(piece)
	case "input", "button", "textarea", "meter", "progress":
		t.picture()
	case "area":
		t.note(t.attribute(piece, "href"))
	case "wbr":
		t.w.allowBreak()
	case "q":
		t.w.text("\"")
	case "a":
		t.startLink(piece)
	case "ul", "ol":
		t.w.openList(n.Name == "ol", number(t.attribute(piece, "start"), 1))
	case "li":
		t.w.item(number(t.attribute(piece, "value"), 0))
	case "h1", "h2":
		t.w.startHeading()
	case "table":
		t.tables = append(t.tables, table{layout: n.layout})
	case "tr":
		if len(t.tables) > 0 {
			row := &t.tables[len(t.tables)-1]
			row.blocks, row.cells = false, 0
		}
	case "td", "th":
		t.cell(n.Name == "th")
	case "dd":
		t.w.indent++
	case "blockquote":
		t.w.quotes++
	case "pre":
		t.w.pre++
	}
}

// cell starts a cell. In a table with headings an empty cell keeps its place.
func (t *textMaker) cell(heading bool) {
	if len(t.tables) == 0 {
		t.w.cell()
		return
	}
	row := &t.tables[len(t.tables)-1]
	row.data = row.data || heading
	if row.layout {
		t.w.breakLine(1)
	} else {
		t.w.cell()
	}
	if row.data && !row.layout && row.cells > 1 && row.words == t.w.words && t.w.lineOpen {
		t.w.word("-")
		t.w.cell()
	}
	row.cells++
	row.words = t.w.words
}

func (t *textMaker) end(n node) {
	m := margin(n.Name)
	switch n.Name {
	case "a":
		t.endLink()
	case "ul", "ol":
		t.w.closeList()
	case "li":
		t.w.breakLine(1)
	case "q":
		t.w.text("\"")
	case "h1":
		t.w.endHeading("=")
	case "h2":
		t.w.endHeading("-")
	case "tr":
		if k := len(t.tables); k > 0 && t.tables[k-1].blocks {
			m = 2 // a row of a layout, not of data
		}
	case "table":
		t.tables = t.tables[:max(len(t.tables)-1, 0)]
	case "pre":
		t.w.endWord()
		t.w.pre = max(t.w.pre-1, 0)
	}
	if m > 0 {
		t.w.breakLine(m)
	}
	switch n.Name {
	case "blockquote":
		t.w.quotes = max(t.w.quotes-1, 0)
	case "dd":
		t.w.indent = max(t.w.indent-1, 0)
	}
}

// number parses an attribute as a whole number.
func number(text string, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 9999 {
		return otherwise
	}
	return n
}

// maxPictures is the maximum number of pictures listed for a mail without words.
const maxPictures = 20

// imageText returns the text for HTML without words: its title or, if it has none, the URLs of its
// pictures.
func (t *textMaker) imageText() string {
	var found []string
	for i, n := range t.nodes {
		if n.Kind != markup.StartTag || n.Name != "img" || n.hidden || len(found) == maxPictures {
			continue
		}
		src := strings.TrimSpace(t.attribute(t.src[n.Start:n.End], "src"))
		if target, ok := t.printable(src); ok && !slices.Contains(found, target) {
			found = append(found, target)
		}
		t.nodes[i].hidden = true
	}
	if len(found) == 0 {
		return ""
	}
	t.w = lineWriter{rendered: t.rendered}
	for i, n := range t.nodes {
		if n.Kind == markup.StartTag && !n.Empty && n.Name == "title" && i+1 < len(t.nodes) && t.nodes[i+1].Kind == markup.Text {
			t.w.html(t.src[t.nodes[i+1].Start:t.nodes[i+1].End])
			break
		}
	}
	if text := t.w.String(); text != "" {
		return text
	}
	t.w = lineWriter{rendered: t.rendered}
	for _, src := range found {
		t.w.word(src)
		t.w.breakLine(1)
	}
	return t.w.String()
}
