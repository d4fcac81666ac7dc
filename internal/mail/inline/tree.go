package inline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tree is the elements of a document, as the HTML parser arranges them, in
// document order: an element comes after its parent and its earlier siblings.
type tree struct {
	elements []element // the first stands for the document
	budget   int       // comparisons that may still be made; below 0: one too many was asked for
	found    []int32   // of the selector looked for last
}

// element is an element and its place.
type element struct {
	node             *html.Node
	tag              int // its number; -1: it has no tag
	parent, previous int // 0: none
	siblings         int // how many nodes its parent holds
	attributes       int // how many it has
	class            int // the size of its class attribute, in bytes
	values           int // the size of all its attributes, in bytes

	rules []int32 // the selectors that match it, by their order in the cascade
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
	t := &tree{elements: []element{{node: root, tag: -1}}}
	t.walk(0)
	t.budget = maxWork - 100*len(t.elements) // for the parser
	return t, nil
}

// walk notes the elements below the one at the place given.
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
		// What is inlined changes the style attributes, so no selector sees them.
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
