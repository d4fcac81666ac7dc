package inline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tree is the elements of a document, as arranged by the HTML parser, in document order: an element comes
// after its parent and its earlier siblings.
type tree struct {
	elements []element // the first is the document
	budget   int       // comparisons that are left; negative if it was exceeded
	found    []int32   // the result for the last selector
}

// element is an element and its position in the tree.
type element struct {
	node             *html.Node
	tag              int // its number; -1: none, the parser added it
	parent, previous int // 0: none
	siblings         int // number of child nodes of its parent
	attributes       int // number of attributes
	class            int // size of its class attribute, in bytes
	values           int // size of all its attributes, in bytes

	rules []int32 // the selectors that match it, by their order in the cascade
}

// formatting are the elements that the parser repeats in each following block if they are not closed.
// They get other names while it parses.
var formatting = []string{"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}

const aliased = "unformatted-"

func alias(name string) string {
	if slices.Contains(formatting, name) {
		return aliased + name
	}
	return name
}

// parse builds the tree of the tags.
func (p *page) parse() (*tree, error) {
	root, err := html.Parse(strings.NewReader(p.parserCopy.String()))
	if err != nil { // the parser's limit of depth, its only error
		return nil, fmt.Errorf("%w: elements are nested deeper than 500; close what is open, or turn inline_css off", ErrLimit)
	}
	t := &tree{elements: []element{{node: root, tag: -1}}}
	t.walk(0)
	t.budget = maxWork - 100*len(t.elements) // for the parser
	return t, nil
}

// walk adds the elements below the one with index parent.
func (t *tree) walk(parent int) {
	previous, siblings := 0, 0
	first := len(t.elements)
	for c := t.elements[parent].node.FirstChild; c != nil; c = c.NextSibling {
		if siblings++; c.Type != html.ElementNode {
			continue
		}
		e := element{node: c, tag: -1, parent: parent, previous: previous}
		if len(c.Attr) > 0 && c.Attr[0].Key == number {
			e.tag, _ = strconv.Atoi(c.Attr[0].Val)
			c.Attr = c.Attr[1:]
		}
		// Inlining changes the style attributes, so selectors are not matched against them.
		c.Attr = slices.DeleteFunc(c.Attr, func(a html.Attribute) bool { return a.Key == "style" })
		if name, found := strings.CutPrefix(c.Data, aliased); found && alias(name) == c.Data {
			c.Data, c.DataAtom = name, atom.Lookup([]byte(name))
		}
		e.attributes = len(c.Attr)
		for _, a := range c.Attr {
			e.values += 1 + len(a.Val)
			if a.Key == "class" {
				e.class = len(a.Val)
			}
		}
		previous = len(t.elements)
		t.elements = append(t.elements, e)
		t.walk(previous)
	}
	for i := previous; i >= first && i > 0; i = t.elements[i].previous {
		t.elements[i].siblings = siblings
	}
}
