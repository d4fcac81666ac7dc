// Package textpart makes the plain text part of a mail out of its HTML, for
// authors who wrote none.
//
// It reads the HTML as a stream of tokens and never builds a tree, so that
// neither depth nor size costs more than time in proportion. Liquid is carried
// over byte for byte: the text is rendered for each recipient like the HTML.
package textpart

import (
	"slices"
	"strings"

	tokens "golang.org/x/net/html"

	"packetboat/internal/mail/links"
)

// FromHTML returns a plain text that says what src says: links as "text
// (url)", list marks, alternative texts of images, a table's rows as lines,
// blank lines between blocks, lines of at most 76 characters where words allow
// it. Styles, scripts and hidden elements are left out.
//
// Liquid survives as it stands: outputs where they can be seen, tags
// everywhere between elements, also in comments and hidden elements, so that
// what one opens another still closes.
func FromHTML(src string) string {
	t := &textMaker{src: src, nodes: readNodes(src)}
	for i := 0; i < len(t.nodes); i++ {
		i = t.node(i)
	}
	t.endLink()
	return t.w.String()
}

// node is one token of the HTML.
type node struct {
	kind       tokens.TokenType
	name       string
	start, end int
	hidden     bool
	match      int // of a start tag: the position of its end tag, or 0
}

// textMaker turns nodes into lines.
type textMaker struct {
	src   string
	nodes []node
	w     lineWriter
	link  struct {
		open bool
		href string
	}
	rows []bool // for each open table: whether its row holds blocks
}

// readNodes splits src into tokens and finds the end tag of each start tag.
func readNodes(src string) []node {
	var nodes []node
	open := make(map[string][]int)
	z := tokens.NewTokenizer(strings.NewReader(links.Mask(src)))
	for pos := 0; ; {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return nodes
		}
		n := node{kind: kind, start: pos, end: pos + len(z.Raw())}
		pos = n.end
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			name, more := z.TagName()
			n.name = string(name)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				n.hidden = n.hidden || hides(string(key), string(value))
			}
			if kind == tokens.StartTagToken && !isVoid(n.name) {
				open[n.name] = append(open[n.name], len(nodes))
			}
		case tokens.EndTagToken:
			name, _ := z.TagName()
			n.name = string(name)
			if stack := open[n.name]; len(stack) > 0 {
				nodes[stack[len(stack)-1]].match = len(nodes)
				open[n.name] = stack[:len(stack)-1]
			}
		}
		nodes = append(nodes, n)
	}
}

// hides reports whether an attribute keeps its element from being seen.
func hides(key, value string) bool {
	if key != "style" {
		return key == "hidden"
	}
	style := strings.ToLower(value)
	if strings.ContainsAny(style, " \t\r\n\f") {
		style = strings.Join(strings.Fields(style), "")
	}
	return strings.Contains(style, "display:none") || strings.Contains(style, "mso-hide:all") ||
		strings.Contains(style, "visibility:hidden")
}

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// holdsNoText reports whether what an element holds is not for readers of text.
func holdsNoText(name string) bool {
	switch name {
	case "head", "style", "script", "title", "noscript", "iframe", "noembed", "noframes", "template",
		"object", "svg", "math", "video", "audio", "canvas", "select":
		return true
	}
	return false
}

// isRaw reports whether the tokenizer reads an element's inside as one text.
func isRaw(name string) bool {
	switch name {
	case "style", "script", "title", "noscript", "iframe", "noembed", "noframes":
		return true
	}
	return false
}

// margin returns how many line ends set an element off from what is around it.
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

// node writes the i-th node and returns the last one that is done with.
func (t *textMaker) node(i int) int {
	n := t.nodes[i]
	piece := t.src[n.start:n.end]
	switch n.kind {
	case tokens.TextToken:
		t.w.html(piece)
	case tokens.CommentToken:
		t.w.tagsOf(piece)
	case tokens.StartTagToken, tokens.SelfClosingTagToken:
		if n.hidden || holdsNoText(n.name) {
			last := n.match
			if last == 0 && isRaw(n.name) {
				last = min(i+1, len(t.nodes)-1)
			}
			if last > 0 {
				t.w.tagsOf(t.src[n.end:t.nodes[last].end])
				return last
			}
			if isVoid(n.name) {
				return i
			}
		}
		t.start(n, piece)
	case tokens.EndTagToken:
		t.end(n)
	}
	return i
}

func (t *textMaker) start(n node, piece string) {
	if m := margin(n.name); m > 0 {
		if len(t.rows) > 0 && n.name != "tr" && n.name != "tbody" {
			t.rows[len(t.rows)-1] = true
		}
		t.w.breakLine(m)
	}
	switch n.name {
	case "br":
		t.w.lineBreak()
	case "hr":
		t.w.word("---")
		t.w.breakLine(2)
	case "img":
		t.w.text(links.Attribute(piece, "alt"))
	case "a":
		t.endLink()
		t.link.open, t.link.href = true, strings.TrimSpace(links.Attribute(piece, "href"))
		t.w.seen = t.w.seen[:0]
	case "ul", "ol":
		t.w.openList(n.name == "ol")
	case "li":
		t.w.item()
	case "table":
		t.rows = append(t.rows, false)
	case "tr":
		if len(t.rows) > 0 {
			t.rows[len(t.rows)-1] = false
		}
	case "td", "th":
		t.w.cell()
	case "blockquote":
		t.w.quotes++
	case "pre":
		t.w.pre++
	}
}

func (t *textMaker) end(n node) {
	m := margin(n.name)
	switch n.name {
	case "a":
		t.endLink()
	case "ul", "ol":
		t.w.closeList()
	case "li":
		t.w.breakLine(1)
	case "tr":
		if len(t.rows) > 0 && t.rows[len(t.rows)-1] {
			m = 2 // a row of a layout, not of data
		}
	case "table":
		t.rows = t.rows[:max(len(t.rows)-1, 0)]
	case "pre":
		t.w.endWord()
		t.w.pre = max(t.w.pre-1, 0)
	}
	if m > 0 {
		t.w.breakLine(m)
	}
	if n.name == "blockquote" {
		t.w.quotes = max(t.w.quotes-1, 0)
	}
}

// endLink writes where the open link leads, unless its text says so.
func (t *textMaker) endLink() {
	if !t.link.open {
		return
	}
	t.link.open = false
	target, ok := printable(t.link.href)
	said := strings.TrimSpace(string(t.w.seen))
	switch {
	case !ok || said == target || bare(said) == bare(target):
	case said == "":
		t.w.space()
		t.w.word(target)
	default:
		t.w.space()
		t.w.word("(" + target + ")")
	}
}

// printable returns what a reader of text can do with href, if anything.
func printable(href string) (string, bool) {
	href = strings.Join(strings.FieldsFunc(href, func(r rune) bool { return r < ' ' }), "")
	scheme, rest, _ := strings.Cut(href, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return href, rest != ""
	case "mailto", "tel", "sms":
		rest, _, _ = strings.Cut(rest, "?")
		return rest, rest != ""
	}
	return href, strings.HasPrefix(href, "{")
}

// bare returns a URL as people write it.
func bare(url string) string {
	url = strings.ToLower(url)
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	return strings.TrimSuffix(strings.TrimPrefix(url, "www."), "/")
}

// isComment reports whether a Liquid tag is a comment block.
func isComment(tag string) bool { return liquidName(tag) == "comment" }

// liquidName returns the first word of a Liquid tag.
func liquidName(tag string) string {
	fields := strings.Fields(strings.Trim(tag, "{}%-"))
	if len(fields) == 0 {
		return ""
	}
	name := fields[0]
	if i := strings.IndexAny(name, "-%"); i >= 0 {
		name = name[:i]
	}
	return name
}

// isLoop reports whether a Liquid tag opens (+1) or closes (-1) a loop.
func isLoop(tag string) int {
	name := liquidName(tag)
	switch {
	case slices.Contains([]string{"for", "tablerow"}, name):
		return 1
	case slices.Contains([]string{"endfor", "endtablerow"}, name):
		return -1
	}
	return 0
}
