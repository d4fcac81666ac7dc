package mjml

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// startTag reads the start tag of an element at the position at, and the content if that is HTML.
func (i *inspector) startTag(at int) error {
	if c := i.peek(); !markup.IsLetter(c) && c != '_' && c != ':' {
		return i.fail(at, "a < begins no element here: write &lt; for the character")
	}
	name := i.until("/>")
	end := i.pos
	if !isName(name) {
		return i.fail(at, "%q is no name of an element", shorten(i.source[i.pos-len(name):i.pos]))
	}
	if i.elements++; i.elements > maxElements {
		return i.fail(at, "MJML may have %d elements, this has more", maxElements)
	}
	attributes, closed, err := i.attributes(name, at)
	if err != nil {
		return err
	}
	if err := i.checkPosition(name, at); err != nil {
		return err
	}
	if i.seen != nil {
		i.seen(tag{name, at, end, attributes})
	}
	kind := known[name]
	if kind == unknown {
		if len(i.unknown) < maxUnknown {
			e := Element{name, i.at(at), 0}
			if len(i.unknown) < maxColumns {
				e.Column = i.column(at)
			}
			i.unknown = append(i.unknown, e)
		}
		if isVoid(name) {
			return nil
		}
	}
	shown := !slices.Contains(frames, name) && name != "mj-raw" || has(attributes, "background-url")
	switch {
	case closed:
		i.head.noteElement(i, name, at, true)
	case kind == htmlContent:
		content, err := i.content(name, at)
		if err != nil {
			return err
		}
		i.head.noteElement(i, name, at, false)
		shown = shown || !isEmpty(content)
	case len(i.open) == maxDepth:
		return i.fail(at, "elements stand more than %d deep in one another", maxDepth)
	default:
		i.head.noteElement(i, name, at, false)
		i.open = append(i.open, opened{name, at})
	}
	i.shows = i.shows || shown && i.inBody()
	return nil
}

// inBody reports whether the position is inside mj-body.
func (i *inspector) inBody() bool { return len(i.open) > 1 && i.open[1].name == "mj-body" }

// checkPosition checks that an element is allowed at its position, and stores it.
func (i *inspector) checkPosition(name string, at int) error {
	switch {
	case i.fragment:
		if name == "mjml" || name == "mj-body" || slices.Contains(inHead, name) {
			return i.fail(at, "<%s> is no part of a fragment, which stands inside mj-body", name)
		}
		if len(i.open) == 0 {
			i.top = append(i.top, Element{name, i.at(at), 0})
		}
	case len(i.open) == 0 && i.rooted:
		return i.fail(at, "<%s> stands outside <mjml>", name)
	case len(i.open) == 0 && name != "mjml":
		return i.fail(at, "the root is <%s>, and has to be <mjml>", name)
	case len(i.open) == 0:
		i.rooted = true
	case name == "mjml":
		return i.fail(at, "<mjml> stands inside <%s>", i.innermost())
	case slices.Contains(inHead, name) && i.inBody():
		return i.fail(at, "<%s> stands in mj-body, and belongs in mj-head", name)
	case len(i.open) == 1 && name == "mj-body":
		if i.bodies++; i.bodies == 2 {
			i.warn(i.at(at), name, "only the first mj-body is compiled")
		}
	}
	return nil
}

// attributes reads the attributes of a start tag and moves past its >. closed means that a / precedes
// the >.
func (i *inspector) attributes(tag string, at int) (all []attribute, closed bool, err error) {
	for {
		space := i.blanks()
		switch c := i.peek(); {
		case c == 0:
			return nil, false, i.fail(at, "<%s> is not closed by >", tag)
		case c == '>':
			i.pos++
			return all, false, nil
		case strings.HasPrefix(i.rest(), "/>"):
			i.pos += len("/>")
			return all, true, nil
		case c == '/':
			return nil, false, i.fail(i.pos, "a / stands inside <%s>", tag)
		case c == '<':
			return nil, false, i.fail(at, "<%s> is not closed by >", tag)
		case c == paint:
			return nil, false, i.fail(i.pos, "%s stands between the attributes of <%s>: Liquid has to be inside quotes", shorten(i.liquidAt(i.pos)), tag)
		case !space:
			return nil, false, i.fail(i.pos, "a space is missing between the attributes of <%s>", tag)
		}
		a, err := i.attribute(tag)
		if err != nil {
			return nil, false, err
		}
		if has(all, a.name) {
			return nil, false, i.fail(i.pos, "<%s> has two attributes %s", tag, a.name)
		}
		if len(all) == maxAttributes {
			return nil, false, i.fail(i.pos, "<%s> has more than %d attributes", tag, maxAttributes)
		}
		all = append(all, a)
	}
}

// attribute is an attribute of a start tag, and its value without quotes as offsets in the source.
type attribute struct {
	name       string
	start, end int
}

// has reports whether one of the attributes has a name.
func has(all []attribute, name string) bool {
	return slices.ContainsFunc(all, func(a attribute) bool { return a.name == name })
}

// attribute reads one attribute.
func (i *inspector) attribute(tag string) (attribute, error) {
	at := i.pos
	name := i.until("=/>")
	if !isName(name) {
		return attribute{}, i.fail(at, "%q is no name of an attribute of <%s>", shorten(i.source[at:i.pos]), tag)
	}
	i.blanks()
	if i.peek() != '=' {
		return attribute{}, i.fail(at, "the attribute %s of <%s> has no value", shorten(name), tag)
	}
	i.pos++
	i.blanks()
	quote := i.peek()
	if quote != '"' && quote != '\'' {
		return attribute{}, i.fail(at, "the value of the attribute %s of <%s> is not quoted", shorten(name), tag)
	}
	i.pos++
	start := i.pos
	if !i.skip(string(quote)) {
		return attribute{}, i.fail(at, "the value of the attribute %s of <%s> has no closing quote", shorten(name), tag)
	}
	if n := strings.IndexByte(i.text[start:i.pos], '<'); n >= 0 {
		return attribute{}, i.fail(start+n, "a < stands in the attribute %s of <%s>: write &lt;, or close the quotes", shorten(name), tag)
	}
	return attribute{name, start, i.pos - 1}, nil
}

// liquidAt returns the Liquid that begins at a position.
func (i *inspector) liquidAt(pos int) string {
	end := pos
	for end < len(i.text) && i.text[end] == paint {
		end++
	}
	return i.source[pos:end]
}

// endTag reads the end tag at the position at.
func (i *inspector) endTag(at int) error {
	name := i.until("/>")
	i.blanks()
	if !isName(name) || i.peek() != '>' {
		return i.fail(at, "%q is no end tag", shorten(i.source[at:i.pos]))
	}
	i.pos++
	if isVoid(name) {
		return nil
	}
	if len(i.open) == 0 {
		return i.fail(at, "</%s> ends nothing", name)
	}
	top := i.open[len(i.open)-1]
	if top.name != name {
		if slices.ContainsFunc(i.open, func(o opened) bool { return o.name == name }) {
			return i.fail(top.pos, "<%s> is not closed: </%s> of line %d ends what is around it", top.name, name, i.at(at))
		}
		return i.fail(at, "</%s> ends nothing: <%s> of line %d is open here", name, top.name, i.at(top.pos))
	}
	i.open = i.open[:len(i.open)-1]
	return nil
}

// content moves past the end tag of an element with HTML, whose start tag is at the position at, and
// returns the HTML.
func (i *inspector) content(name string, at int) (string, error) {
	c := contentScanner{scanner: i.scanner, name: name, count: map[string]int{}}
	for _, o := range i.open {
		c.outside = append(c.outside, o.name)
	}
	c.inside = func(inner string, pos int) {
		if known[inner] != unknown {
			i.warn(i.at(pos), inner, "it stands in "+name+", whose content is HTML: it is not compiled")
		}
	}
	c.comment = i.noteComment
	return c.end(at)
}
