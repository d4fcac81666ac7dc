package inline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/vanng822/go-premailer/premailer"
	"golang.org/x/net/html"
)

// match finds the elements of each selector.
//
// It is done by go-premailer, on a likeness of the document: the elements without
// texts, with stand-ins for the names that selectors use. A stylesheet goes in
// whose rules set nothing but their own numbers, and the style attributes that
// come out tell who matched. The library is given no more because of what it does
// with the rest: it prints the whole document anew, which Liquid between the rows
// of a table does not survive; weighs classes before attributes and misses types
// behind a >; cuts selectors at every comma; drops rules that match nothing;
// makes everything important that it leaves in the style element, resets and
// @font-face, too; loses !important and, of fallbacks, all but the last.
func (p *page) match(selectors []*selector) error {
	if err := p.afford(selectors); err != nil {
		return err
	}
	l := &likeness{page: p, names: map[string]string{}, tests: map[test]string{}}
	var css strings.Builder
	for i, s := range selectors {
		css.WriteString(l.selector(s) + "{r" + strconv.Itoa(i) + ":1}\n")
	}
	root, nodes := l.tree(css.String())
	if err := transform(root); err != nil {
		return err
	}
	for at := 1; at < len(nodes); at++ {
		e := &p.elements[at]
		if isUnseen(e.name) {
			continue
		}
		for n := range numbers(nodes[at]) {
			if n < len(selectors) {
				selectors[n].matched = true
				if !e.doubtful {
					e.matched = append(e.matched, selectors[n])
				}
			}
		}
	}
	return nil
}

// transform lets go-premailer write the rules into a tree.
func transform(root *html.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: the inliner gave up on it (%v); simplify the style elements, or turn inline_css off", ErrLimit, r)
		}
	}()
	options := premailer.NewOptions(premailer.WithCssToAttributes(false))
	_, err = premailer.NewPremailer(goquery.NewDocumentFromNode(root), options).Transform()
	if err != nil {
		return fmt.Errorf("%w: %w; simplify the style elements, or turn inline_css off", ErrLimit, err)
	}
	return nil
}

// numbers gives the numbers of the rules that were written into a node.
func numbers(n *html.Node) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, a := range n.Attr {
			if a.Key != "style" {
				continue
			}
			for declaration := range strings.SplitSeq(a.Val, ";") {
				name, _, _ := strings.Cut(declaration, ":")
				number, err := strconv.Atoi(strings.TrimPrefix(name, "r"))
				if err == nil && number >= 0 && !yield(number) {
					return
				}
			}
		}
	}
}

// likeness is a document as go-premailer sees it.
type likeness struct {
	page  *page
	names map[string]string // what stands for a .class or #id
	tests map[test]string   // the class of the elements that pass
}

// selector writes a selector in stand-ins.
func (l *likeness) selector(s *selector) string {
	var b strings.Builder
	for _, q := range s.parts {
		switch q.joint {
		case 0:
		case ' ':
			b.WriteByte(' ')
		default:
			b.WriteString(" " + string(q.joint) + " ")
		}
		b.WriteString(q.name)
		if q.id != "" {
			b.WriteString("." + l.name("#"+q.id))
		}
		for _, c := range q.classes {
			b.WriteString("." + l.name("."+c))
		}
		for _, t := range q.tests {
			if l.tests[t] == "" {
				l.tests[t] = "t" + strconv.Itoa(len(l.tests))
			}
			b.WriteString("." + l.tests[t])
		}
	}
	return b.String()
}

func (l *likeness) name(of string) string {
	if l.names[of] == "" {
		l.names[of] = "n" + strconv.Itoa(len(l.names))
	}
	return l.names[of]
}

// tree returns the document's elements as nodes, by their numbers, and a style
// element with the rules.
func (l *likeness) tree(css string) (root *html.Node, nodes []*html.Node) {
	p := l.page
	root = &html.Node{Type: html.DocumentNode}
	nodes = make([]*html.Node, len(p.elements))
	nodes[0] = root
	for at := 1; at < len(p.elements); at++ {
		e := &p.elements[at]
		n := &html.Node{Type: html.ElementNode, Data: e.name}
		if isUnseen(e.name) {
			n.Data = "unseen" // go-premailer takes style elements away
		}
		if classes := l.classes(e); len(classes) > 0 {
			n.Attr = []html.Attribute{{Key: "class", Val: strings.Join(classes, " ")}}
		}
		nodes[at] = n
		nodes[e.parent].AppendChild(n)
	}
	style := &html.Node{Type: html.ElementNode, Data: "style"}
	style.AppendChild(&html.Node{Type: html.TextNode, Data: css})
	around := &html.Node{Type: html.ElementNode, Data: "unseen"}
	around.AppendChild(style)
	root.AppendChild(around)
	return root, nodes
}

// classes returns what stands for an element's id, classes and tests passed.
func (l *likeness) classes(e *element) []string {
	var classes []string
	if n := l.names["#"+e.id]; n != "" && e.id != "" {
		classes = append(classes, n)
	}
	for _, c := range e.classes {
		if n := l.names["."+c]; n != "" {
			classes = append(classes, n)
		}
	}
	for t, n := range l.tests {
		if l.page.passes(e, t) {
			classes = append(classes, n)
		}
	}
	return classes
}

// isUnseen reports whether an element is not part of what is shown.
func isUnseen(name string) bool {
	switch name {
	case "head", "title", "meta", "link", "style", "script", "base", "template", "noscript":
		return true
	}
	return false
}
