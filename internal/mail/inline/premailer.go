package inline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/vanng822/go-premailer/premailer"
	"golang.org/x/net/html"
)

type node = html.Node

// tree is the copy of the document that premailer works on.
type tree struct {
	root       *node
	elements   []element // the first stands for the document, the second for html
	attributes int       // how many there are
	classes    int       // the size of the class attributes, in bytes
	values     int       // the size of all attributes, in bytes
	loose      int       // the size of what stands beside it, in bytes
	crowd      int       // the squares of the numbers of siblings, added up
}

// element is an element of the copy and its place.
type element struct {
	node             *node
	tag              int // its number; -1: it has no tag
	parent, previous int // 0: none
}

// formatting are the elements that the parser opens again and again where they
// are not closed. They get other names as long as it works.
var formatting = []string{"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}

const aliased = "unformatted-"

func alias(name string) string {
	if slices.Contains(formatting, name) {
		return aliased + name
	}
	return name
}

// parse makes the tree of the tags.
func (p *page) parse() (*tree, error) {
	root, err := html.Parse(strings.NewReader(p.copied.String()))
	if err != nil { // the only one there is
		return nil, fmt.Errorf("%w: elements are nested deeper than 500; close what is open, or turn inline_css off", ErrLimit)
	}
	t := &tree{root: root, elements: []element{{node: root, tag: -1}}, loose: p.loose.Len()}
	t.walk(0)
	return t, nil
}

// walk notes the elements below the one at the place given.
func (t *tree) walk(parent int) {
	previous, n := 0, 0
	for c := t.elements[parent].node.FirstChild; c != nil; c = c.NextSibling {
		if n++; c.Type != html.ElementNode {
			continue
		}
		e := element{node: c, tag: -1, parent: parent, previous: previous}
		if len(c.Attr) > 0 && c.Attr[0].Key == number {
			e.tag, _ = strconv.Atoi(c.Attr[0].Val)
			c.Attr = c.Attr[1:]
		}
		// Premailer numbers elements with an attribute, and trusts it.
		c.Attr = slices.DeleteFunc(c.Attr, func(a html.Attribute) bool { return a.Key == "style" || a.Key == "pr-el-id" })
		if name, found := strings.CutPrefix(c.Data, aliased); found && alias(name) == c.Data {
			c.Data = name
		}
		if c.Data == "style" {
			c.Attr = []html.Attribute{{Key: "data-premailer", Val: "ignore"}}
		}
		t.attributes += len(c.Attr)
		for _, a := range c.Attr {
			t.values += 1 + len(a.Val)
			if a.Key == "class" {
				t.classes += len(a.Val)
			}
		}
		previous = len(t.elements)
		t.elements = append(t.elements, e)
		t.walk(previous)
	}
	t.crowd += n * n
}

// price estimates what premailer does for a selector, for it cannot be stopped:
// the elements it looks at, again and again as it goes back to other ancestors,
// and the declarations it writes. Above limit, the result is only that.
func (t *tree) price(s *selector, limit int) int {
	heavy := 1 + len(s.rule.values)
	sum := 300 * heavy // for reading the rule
	var tries []int    // of the parts so far, by element
	for _, q := range s.parts {
		sum += len(t.elements) + t.loose/8
		sum += strings.Count(q.text, ".")*t.classes + strings.Count(q.text, "[")*t.values
		sum += strings.Count(q.text, "#") * t.attributes
		if q.counts() {
			sum += t.crowd
		}
		if sum > limit {
			return sum
		}
		tries = t.tries(&q, tries, limit+1)
	}
	for i, n := range tries {
		sum = min(sum+n, limit+1)
		if n > 0 && s.last().match.Match(t.elements[i].node) {
			sum = min(sum+20*heavy, limit+1)
		}
	}
	return sum
}

// tries returns how often a part and those before it are compared, if each
// element is asked once for the part. Before is that of the part before it.
func (t *tree) tries(q *part, before []int, limit int) []int {
	out, others := make([]int, len(t.elements)), make([]int, len(t.elements))
	for i := 1; i < len(out); i++ {
		e := &t.elements[i]
		from := e.parent
		if q.joint == '+' || q.joint == '~' {
			from = e.previous
		}
		if out[i] = 1; before == nil {
			continue
		}
		others[i] = before[from]
		if q.joint == ' ' || q.joint == '~' {
			others[i] = min(others[i]+others[from], limit)
		}
		if q.match.Match(e.node) {
			out[i] = min(1+others[i], limit)
		}
	}
	return out
}

// transform lets premailer loose and returns what it says of the style of each
// tag. It notes what became of the selectors, too.
func (t *tree) transform(selectors []*selector) (styles map[int][]value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: premailer gave up on it (%v); simplify the style elements, or turn inline_css off", ErrLimit, r)
		}
	}()
	text, values := stylesheet(selectors)
	style := &html.Node{Type: html.ElementNode, Data: "style"}
	style.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	t.elements[1].node.AppendChild(style)
	o := premailer.NewOptions(premailer.WithCssToAttributes(false), premailer.WithKeepBangImportant(true))
	if _, err := premailer.NewPremailer(goquery.NewDocumentFromNode(t.root), o).Transform(); err != nil {
		return nil, fmt.Errorf("%w: %w; simplify the style elements, or turn inline_css off", ErrLimit, err)
	}
	styles = map[int][]value{}
	for _, e := range t.elements {
		for _, a := range e.node.Attr {
			if a.Key != "style" {
				continue
			}
			for d := range strings.SplitSeq(a.Val, ";") {
				name, v, _ := strings.Cut(d, ":")
				if name[0] == 's' {
					s := selectors[atoi(name[1:])]
					s.matched = true
					s.stays = s.stays || e.tag < 0
				} else if e.tag >= 0 {
					v, _, _ = strings.Cut(v, " ")
					styles[e.tag] = append(styles[e.tag], values[atoi(v[1:])])
				}
			}
		}
	}
	return styles, nil
}

// stylesheet writes one rule for each selector, with names for values:
// s1:x says which selector it is, p-color:v3 is a declaration.
func stylesheet(selectors []*selector) (string, []value) {
	var values []value
	bodies := map[*rule]string{}
	var b strings.Builder
	for i, s := range selectors {
		body, known := bodies[s.rule]
		if !known {
			var b strings.Builder
			for _, v := range s.rule.values {
				fmt.Fprintf(&b, ";p-%s:v%d", v.property, len(values))
				if v.important {
					b.WriteString(" !important")
				}
				values = append(values, v)
			}
			body = b.String()
			bodies[s.rule] = body
		}
		fmt.Fprintf(&b, "%s{s%d:x%s}\n", s.text, i, body)
	}
	return b.String(), values
}

// atoi reads a number of our own making.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}
