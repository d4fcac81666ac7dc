package legible

import (
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// frame is an open element with what its text inherits.
type frame struct {
	parent *frame
	name   string
	depth  int
	ends   uint16 // the elements that a start tag may end, as endable has them
	look
}

// look is how a text is shown.
type look struct {
	front, back colour
	size        float64 // in pixels; 0: unknown, or too small to be read
	bold        bool
	hidden      bool
}

// maxDepth is how deep elements are told apart: those further inside have the look of the last one.
const maxDepth = 128

// branch is a condition or a loop of Liquid that is open.
type branch struct{ before *frame }

// reader reads HTML from its start to its end.
type reader struct {
	in       *markup.Scanner
	open     *frame
	link     colour // of a link that has no colour of its own
	branches []branch
	found    []Finding
	known    map[[2]colour]int // the index of the finding of a pair of colours
	seen     map[string]int    // how often a line was visible
}

// read returns the text whose colours are too much alike, on a page with a look of its own and a colour of links.
func read(source string, page look, link colour) []Finding {
	r := &reader{in: markup.New(source, markup.Syntax{}), link: link, known: map[[2]colour]int{}, seen: map[string]int{}}
	r.open = &frame{look: page}
	for t := range r.in.All() {
		switch t.Kind {
		case markup.Text:
			r.follow(t)
			if t.Name == "" {
				r.text(source[t.Start:t.End])
			}
		case markup.StartTag:
			r.start(t)
		case markup.EndTag:
			r.end(t.Name)
		}
	}
	return r.found
}

// follow lets each branch of a condition begin with the elements that are open before the condition.
func (r *reader) follow(t markup.Token) {
	for _, s := range r.in.Within(t.Start, t.End) {
		if s.Output {
			continue
		}
		switch markup.TagName(r.in.Source[s.Start:s.End]) {
		case "if", "unless", "case", "for":
			if len(r.branches) < maxDepth {
				r.branches = append(r.branches, branch{r.open})
			}
		case "elsif", "else", "when":
			if n := len(r.branches); n > 0 {
				r.open = r.branches[n-1].before
			}
		case "endif", "endunless", "endcase", "endfor":
			if n := len(r.branches); n > 0 {
				r.branches = r.branches[:n-1]
			}
		}
	}
}

// text looks at a piece of text.
func (r *reader) text(source string) {
	o := r.open
	if o.hidden || !visible(source) {
		return
	}
	line, _, _ := strings.Cut(strings.TrimSpace(source), "\n")
	line = strings.TrimSpace(line)
	nth := r.seen[line]
	r.seen[line]++
	if !o.front.known || !o.back.known || o.size == 0 {
		return
	}
	least := 4.5
	if o.size >= 24 || o.bold && o.size >= 18.66 {
		least = 3
	}
	ratio := contrast(o.front, o.back)
	if ratio >= least {
		return
	}
	pair := [2]colour{o.front, o.back}
	if i, seen := r.known[pair]; seen {
		r.found[i].More++
		return
	}
	if len(r.found) == maxFindings {
		return
	}
	r.known[pair] = len(r.found)
	r.found = append(r.found, Finding{
		Text: clip.Ellipsis(strings.Join(strings.Fields(markup.Outside(source, html.UnescapeString)), " "), maxText), Source: line, Nth: nth, Front: o.front.String(), Back: o.back.String(),
		Ratio: math.Floor(ratio*10) / 10, Least: least,
	})
}

// visible reports whether a text has a letter, a digit or an output of Liquid.
func visible(source string) bool {
	for _, s := range markup.Spans(source) {
		if s.Output {
			return true
		}
	}
	return strings.ContainsFunc(html.UnescapeString(markup.Mask(source)), func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

var (
	voids  = setOf("area base br col embed hr img input link meta source track wbr")
	blocks = setOf("address article aside blockquote center div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul")

	// endable are the elements that a start tag may end, and hiding those outside of which an element cannot end them.
	endable = map[string]uint16{"td": cell, "th": cell, "tr": 2, "tbody": 4, "thead": 8, "tfoot": 16, "li": item, "p": paragraph}
	hiding  = map[string]uint16{
		"table": cell | 2 | 4 | 8 | 16 | paragraph, "ul": item, "ol": item, "td": paragraph, "th": paragraph, "div": paragraph, "li": paragraph,
	}
)

const (
	cell      = 1
	item      = 32
	paragraph = 64
)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// start opens an element, and ends those that its start tag ends.
func (r *reader) start(t markup.Token) {
	own := endable[t.Name]
	switch {
	case own == paragraph || own == 0 && blocks[t.Name]:
		r.close(paragraph)
	case own == item || own == cell:
		r.close(own)
	case own != 0:
		r.close(cell)
		r.close(own)
	}
	if voids[t.Name] || r.open.depth == maxDepth {
		return
	}
	r.open = &frame{parent: r.open, name: t.Name, depth: r.open.depth + 1, ends: r.open.ends&^hiding[t.Name] | own, look: r.lookOf(t)}
}

// close ends the innermost of the open elements that are one of those.
func (r *reader) close(those uint16) {
	if r.open.ends&those == 0 {
		return
	}
	for f := r.open; f.parent != nil; f = f.parent {
		if endable[f.name]&those != 0 {
			r.open = f.parent
			return
		}
	}
}

// end ends an element with those inside of it; nothing if none of that name is open.
func (r *reader) end(name string) {
	for f := r.open; f.parent != nil; f = f.parent {
		if f.name == name {
			r.open = f.parent
			return
		}
	}
}

// lookOf returns the look of the text in an element.
func (r *reader) lookOf(t markup.Token) look {
	outer := r.open.look
	l := outer
	switch t.Name {
	case "b", "strong", "th", "h1", "h2", "h3", "h4", "h5", "h6":
		l.bold = true
	}
	if i := slices.Index([]string{"h1", "h2", "h3"}, t.Name); i >= 0 {
		l.size *= []float64{2, 1.5, 1.17}[i]
	}
	style, link, pictured := "", false, false
	for a := range r.in.Attributes(t) {
		value := r.in.Value(a)
		switch a.Name {
		case "bgcolor":
			l.back = over(value, l.back)
		case "background":
			pictured = true
		case "text":
			if t.Name == "body" {
				l.front = over(value, l.back)
			}
		case "link":
			if t.Name == "body" {
				r.link = over(value, l.back)
			}
		case "color":
			if t.Name == "font" {
				l.front = over(value, l.back)
			}
		case "href":
			link = t.Name == "a"
		case "hidden":
			l.hidden = true
		case "style":
			style = value
		}
	}
	if link {
		l.front = r.link
	}
	if len(r.in.Within(t.Start, t.End)) > 0 && !settled(r.in, t) {
		l.front, l.back = unknown, unknown
	}
	return l.styled(style, outer, pictured)
}

// settled reports whether Liquid in a start tag stands only in attributes that say nothing about the look.
func settled(in *markup.Scanner, t markup.Token) bool {
	n := len(in.Within(t.Start, t.End))
	for a := range in.Attributes(t) {
		switch a.Name {
		case "bgcolor", "background", "class", "id", "hidden", "color":
		default:
			n -= len(in.Within(a.Start, a.End))
		}
	}
	return n == 0
}

// styled returns a look with the declarations of a style attribute; pictured is whether it has a picture behind it.
func (l look) styled(style string, outer look, pictured bool) look {
	if slices.ContainsFunc(markup.Spans(style), func(s markup.Span) bool { return !s.Output }) {
		l.front, l.back = unknown, unknown // which declarations there are depends on the recipient
		return l
	}
	changed, flat, cut := false, false, false
	front := "" // what is partly transparent has the colour of what is behind it, which may follow
	for name, value := range declarations(style) {
		if strings.Contains(value, "{{") {
			value = "(liquid)"
		}
		switch name {
		case "color":
			front = value
		case "background-color":
			l.back = backOf(value, outer.back)
		case "background-image":
			pictured = isPicture(value) || value == "(liquid)"
		case "background":
			pictured = isPicture(value)
			l.back = ground(value, outer.back)
		case "font-size":
			if l.size = sizeOf(value, outer.size); l.size <= 2 {
				l.size = 0 // nobody can read it; what is inside may have a size of its own
			}
		case "font-weight":
			n, err := strconv.Atoi(value)
			l.bold = value == "bold" || value == "bolder" || err == nil && n >= 700
		case "font":
			l.size, l.bold = 0, false
			for part := range strings.FieldsSeq(value) {
				n, err := strconv.Atoi(part)
				l.bold = l.bold || part == "bold" || part == "bolder" || err == nil && n >= 700
				size, _, _ := strings.Cut(part, "/")
				if n := sizeOf(size, outer.size); n > 0 {
					l.size = n
					break
				}
			}
		case "display":
			l.hidden = l.hidden || value == "none"
		case "visibility":
			l.hidden = l.hidden || value == "hidden"
		case "opacity":
			if zero(value) {
				l.hidden = true
			} else if value != "1" {
				l.front = unknown
				front = ""
			}
		case "height":
			flat = zero(value)
		case "overflow":
			cut = value == "hidden"
		case "max-height":
			l.hidden = l.hidden || zero(value)
		case "filter", "mix-blend-mode", "background-clip", "-webkit-background-clip", "-webkit-text-fill-color":
			changed = true
		}
	}
	if pictured || changed {
		l.back = unknown
	}
	l.hidden = l.hidden || flat && cut
	switch front {
	case "", "currentcolor", "initial", "unset":
	case "inherit":
		l.front = outer.front
	default:
		if l.front = over(front, l.back); isTransparent(front) {
			l.front = unknown // as transparent is: it is not meant to be read
		}
	}
	return l
}

// backOf returns the background of a colour above another one.
func backOf(value string, below colour) colour {
	switch value {
	case "transparent", "none", "initial", "unset", "inherit":
		return below
	}
	return over(value, below)
}

func isPicture(value string) bool {
	return strings.Contains(value, "url(") || strings.Contains(value, "gradient(")
}

func isTransparent(value string) bool {
	_, alpha, ok := numbers(value)
	return ok && alpha == 0
}

// ground returns the background that the property of this name sets.
func ground(value string, below colour) colour {
	if c := backOf(value, below); c.known {
		return c
	}
	for part := range strings.FieldsSeq(value) { // with a position or the like
		if c := over(part, below); c.known {
			return c
		}
	}
	return unknown
}

func zero(value string) bool {
	number := strings.TrimRight(value, "%abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseFloat(number, 64)
	return err == nil && n == 0
}

// sizeOf returns the size of a font in pixels; 0 if it is not known.
func sizeOf(value string, outer float64) float64 {
	for _, unit := range []struct {
		name   string
		pixels float64
	}{{"px", 1}, {"pt", 4.0 / 3}, {"rem", 16}, {"em", outer}, {"%", outer / 100}} {
		if number, ok := strings.CutSuffix(value, unit.name); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				return 0
			}
			return n * unit.pixels
		}
	}
	return 0
}

// declarations returns the declarations of a style attribute in ascending precedence, in lower case.
func declarations(style string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		type declaration struct{ name, value string }
		var important []declaration
		masked := markup.Mask(style)
		for from := 0; from < len(style); {
			end := from + semicolon(masked[from:])
			name, _, ok := strings.Cut(masked[from:end], ":")
			if ok {
				value := strings.ToLower(strings.TrimSpace(style[from+len(name)+1 : end]))
				name = strings.ToLower(strings.TrimSpace(name))
				plain, ends := strings.CutSuffix(value, "important")
				if plain, marked := strings.CutSuffix(strings.TrimSpace(plain), "!"); ends && marked {
					important = append(important, declaration{name, strings.TrimSpace(plain)})
				} else if !yield(name, value) {
					return
				}
			}
			from = end + 1
		}
		for _, d := range important {
			if !yield(d.name, d.value) {
				return
			}
		}
	}
}

// semicolon returns where a declaration ends: at a semicolon outside of brackets and quotes, or at the end.
func semicolon(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';' && depth <= 0:
			return i
		}
	}
	return len(s)
}
