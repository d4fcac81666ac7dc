package mjml

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/mark"
)

// Elements that are to be marked are first labelled, with an attribute that MJML does not have. Labels stay
// with their elements while a template is filled; when the document is compiled, they become classes.

// Label returns a document whose elements in mj-body have labels, or a fragment all of whose elements have.
// A source that is neither is returned unchanged.
func Label(m mark.Marker, source string, fragment bool) string {
	units := mark.UTF16{Text: source}
	return label(m, source, fragment, func(at int) int { return units.At(at) })
}

// LabelAs returns a fragment all of whose elements have the label of one position. A source that is not a
// fragment is returned unchanged.
func LabelAs(m mark.Marker, source string, position int) string {
	return label(m, source, true, func(int) int { return position })
}

// classless are the elements that are made without a css-class of their own, or differ by whether they have one.
var classless = []string{"mj-carousel-image", "mj-raw"}

func label(m mark.Marker, source string, fragment bool, position func(at int) int) string {
	var b strings.Builder
	last := 0
	i := &inspector{fragment: fragment}
	i.seen = func(t tag) {
		if slices.Contains(classless, t.name) || !fragment && t.name != "mj-body" && !i.inBody() {
			return
		}
		b.WriteString(source[last:t.end])
		b.WriteString(labelStart(m) + strconv.Itoa(position(t.at)) + `"`)
		last = t.end
	}
	if err := i.inspect(source); err != nil {
		return source
	}
	return b.String() + source[last:]
}

// labelStart is the beginning of a label.
func labelStart(m mark.Marker) string { return " " + m.Word() + `="` }

// CompileMarked compiles a labelled document: its HTML has marks. Exact means that the HTML without marks is
// that of the document without labels, which Compile then returns without compiling it again.
func (c *Compiler) CompileMarked(ctx context.Context, owner string, m mark.Marker, labelled string) (r Result, exact bool, err error) {
	classed, plain, err := classed(m, labelled)
	if err != nil {
		return Result{}, false, err
	}
	r, err = c.Compile(ctx, owner, classed)
	// Values and blocks may contain the word although the source does not: their text would go with the marks, or act on them.
	if err != nil || mark.Selected(plain) || strings.Contains(plain, m.Word()) {
		return r, false, err
	}
	c.cache.put(sha256.Sum256([]byte(plain)), Result{m.Remove(r.HTML), r.Warnings})
	return r, true, nil
}

// labelOf returns the index of the label among the attributes of a start tag, or -1. It is one only as Label writes it.
func labelOf(m mark.Marker, text string, t tag) int {
	return slices.IndexFunc(t.attributes, func(a attribute) bool {
		digits := text[a.start:a.end]
		return a.name == m.Word() && digits != "" && strings.Trim(digits, "0123456789") == "" &&
			strings.HasSuffix(text[:a.start], labelStart(m)) && text[a.end] == '"'
	})
}

// classed returns a labelled document with classes in place of the labels, and without labels.
func classed(m mark.Marker, labelled string) (marked, plain string, err error) {
	var h heritage
	var all []tag
	var parents []string // the mj-class around each
	i := &inspector{}
	i.seen = func(t tag) {
		h.note(i, t)
		all = append(all, t)
		parents = append(parents, h.around(i))
	}
	if err := i.inspect(labelled); err != nil {
		return "", "", err
	}
	var b, without strings.Builder
	last, copied := 0, 0
	for n, t := range all {
		label := labelOf(m, labelled, t)
		if label < 0 {
			continue
		}
		a := t.attributes[label]
		name := m.Class(labelled[a.start:a.end])
		without.WriteString(labelled[copied : a.start-len(labelStart(m))])
		copied = a.end + 1
		own := slices.IndexFunc(t.attributes, func(a attribute) bool { return a.name == "css-class" })
		b.WriteString(labelled[last:t.end])
		if own < 0 {
			class := h.of(i, t, parents[n])
			b.WriteString(" css-class=" + class.quote + strings.TrimLeft(class.text+" "+name, " ") + class.quote)
		}
		last = a.end + 1
		if own >= 0 {
			class := t.attributes[own]
			b.WriteString(labelled[last:class.end])
			if strings.TrimSpace(labelled[class.start:class.end]) != "" { // an empty one is not an absent one
				b.WriteString(" " + name)
			}
			last = class.end
		}
	}
	return b.String() + labelled[last:], without.String() + labelled[copied:], nil
}

// heritage is the css-class that mj-attributes give to elements.
type heritage struct {
	defaults map[string]class            // by the names of elements
	classes  map[string]class            // by the names of mj-class
	within   map[string]map[string]class // by the names of mj-class, those of the elements in one
	named    map[int]string              // the mj-class of elements, by their positions
	last     string                      // the name of the last mj-class in mj-attributes
}

// class is the value of a css-class, and its quotes.
type class struct{ text, quote string }

// note stores what a start tag says.
func (h *heritage) note(i *inspector, t tag) {
	values := map[string]class{}
	for _, a := range t.attributes {
		if a.name == "css-class" || a.name == "name" || a.name == "mj-class" {
			values[a.name] = class{i.source[a.start:a.end], i.source[a.end : a.end+1]}
		}
		if a.name == "mj-class" {
			if h.named == nil {
				h.named = map[int]string{}
			}
			h.named[t.at] = i.text[a.start:a.end]
		}
	}
	if len(i.open) < 3 || i.open[2].name != "mj-attributes" {
		return
	}
	css, given := values["css-class"]
	switch {
	case len(i.open) == 3 && t.name == "mj-class":
		h.last = values["name"].text
		if given {
			set(&h.classes, h.last, css)
		}
	case len(i.open) == 3 && given:
		set(&h.defaults, t.name, css)
	case len(i.open) == 4 && i.open[3].name == "mj-class" && given:
		inner := h.within[h.last]
		set(&inner, t.name, css)
		set(&h.within, h.last, inner)
	}
}

func set[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

// around returns the mj-class of the innermost element around the position that has one.
func (h *heritage) around(i *inspector) string {
	for _, o := range slices.Backward(i.open) {
		if name, ok := h.named[o.pos]; ok {
			return name
		}
	}
	return ""
}

// of returns the css-class of an element that has none of its own; parents is the mj-class around it.
func (h *heritage) of(i *inspector, t tag, parents string) class {
	found := class{quote: `"`}
	choose := func(c class, ok bool) {
		if ok {
			found = c
		}
	}
	c, ok := h.defaults["mj-all"]
	choose(c, ok)
	c, ok = h.defaults[t.name]
	choose(c, ok)
	joined := class{}
	for name := range strings.SplitSeq(h.named[t.at], " ") {
		if c, ok := h.classes[name]; ok {
			joined = class{strings.TrimLeft(joined.text+" "+c.text, " "), cmp.Or(joined.quote, c.quote)}
		}
	}
	choose(joined, joined.quote != "")
	for name := range strings.SplitSeq(parents, " ") {
		c, ok := h.within[name][t.name]
		choose(c, ok)
	}
	return found
}
