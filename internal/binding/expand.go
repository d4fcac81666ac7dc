package binding

import (
	"encoding/json"
	"strconv"
	"strings"

	"packetboat/internal/mail/textpart"
)

// MaxExpanded bounds the bodies, together, that a document makes of a binding.
const MaxExpanded = 10 << 20

// Expand writes the values of b into the bodies, in one pass: what a value holds
// is never read for placeholders. Each value is escaped as its type and its place
// ask, and where two texts meet no Liquid comes about that neither held.
//
// Bodies that would be larger than MaxExpanded come back empty; Fill says so.
func (d *Document) Expand(b Bound) Bodies {
	bodies, err := d.Fill(b)
	if err != nil {
		return Bodies{}
	}
	return bodies
}

// Fill is Expand for those who want to know why there are no bodies: the error is
// ErrBinding when they would be larger than MaxExpanded.
func (d *Document) Fill(b Bound) (Bodies, error) {
	x := &expander{left: MaxExpanded, blocks: map[blockKey][]part{}}
	top := newFrame(b, "")
	var made [len(d.bodies)]string
	for f := range form(len(d.bodies)) {
		var out joiner
		x.parts(&out, d.bodies[f], f, top, nil)
		made[f] = out.String()
	}
	if x.left < 0 {
		return Bodies{}, ErrBinding.With(Issues{[]Issue{{
			Code:    InvalidType,
			Message: "the bodies would be larger than 10 MB once filled in",
			Fix:     "Shorten the values, or use fewer rows",
		}}}).Sayf("the bodies would be larger than 10 MB once filled in")
	}
	return Bodies{Subject: made[subjectForm], HTML: made[htmlForm], MJML: made[mjmlForm], Text: made[plainForm]}, nil
}

// expander writes the bodies of one document.
type expander struct {
	left   int // bytes and parts that may still be written
	blocks map[blockKey][]part
}

type blockKey struct {
	slot string
	form form
}

// frame is the values that names stand for: of a template, or of the block in a
// slot. What was escaped once is kept.
type frame struct {
	bound Bound
	slot  string
	done  map[doneKey]string
}

type doneKey struct {
	name string
	at   where
}

func newFrame(b Bound, slot string) *frame {
	return &frame{bound: b, slot: slot, done: map[doneKey]string{}}
}

// row is one row of a section.
type row struct {
	values map[string]Value
	index  int // from 0
	count  int
	done   map[doneKey]string
}

func (x *expander) write(out *joiner, text string) {
	if x.left -= len(text) + 1; x.left >= 0 {
		out.write(text)
	}
}

func (x *expander) parts(out *joiner, parts []part, f form, s *frame, r *row) {
	for i := range parts {
		if x.left < 0 {
			return
		}
		p := &parts[i]
		at := where{f, p.place, p.code}
		switch p.kind {
		case literalPart:
			x.write(out, p.text)
		case paramPart:
			x.write(out, value(s.bound.Values, s.done, p.name, at, s.slot))
		case fieldPart:
			x.write(out, r.field(p.name, at, s.slot))
		case sectionPart:
			rows := s.bound.Rows[p.name]
			for n, values := range rows {
				r := &row{values: values, index: n, count: len(rows), done: map[doneKey]string{}}
				x.parts(out, p.body, f, s, r)
				if x.left--; x.left < 0 {
					return
				}
			}
		case slotPart:
			x.slot(out, p, f, s)
		}
	}
}

// value returns a value as it is written at that place.
func value(values map[string]Value, done map[doneKey]string, name string, at where, slot string) string {
	v := values[name]
	if v.V == nil && !at.code {
		return ""
	}
	key := doneKey{name, at}
	text, ok := done[key]
	if !ok {
		text = escaped(v, at, slot)
		done[key] = text
	}
	return text
}

func (r *row) field(name string, at where, slot string) string {
	switch name {
	case rowIndex:
		return strconv.Itoa(r.index + 1)
	case rowFirst:
		return strconv.FormatBool(r.index == 0)
	case rowLast:
		return strconv.FormatBool(r.index == r.count-1)
	}
	return value(r.values, r.done, name, at, slot)
}

// slot writes the block in a slot. Where no elements can stand, its text is
// written instead.
func (x *expander) slot(out *joiner, p *part, f form, s *frame) {
	filling := s.bound.Slots[p.name]
	at := where{f, p.place, p.code}
	key := doneKey{p.name, at}
	switch {
	case filling.Block == nil && filling.Notice == "":
	case filling.Block == nil && f.marked() && p.place == inMarkup:
		x.write(out, notice(filling.Notice, f, p.parent))
	case filling.Block == nil:
		x.write(out, escapedText(Text, filling.Notice, at, ""))
	case f.marked() && p.place == inMarkup:
		inner := newFrame(filling.Bound, p.name)
		before, after := wrapping(filling.Block.Bodies.MJML, f, p.parent)
		x.write(out, before)
		x.parts(out, x.block(filling.Block, p.name, f), f, inner, nil)
		x.write(out, after)
	default:
		text, ok := s.done[key]
		if !ok {
			text = x.blockText(filling, p.name, f, at)
			s.done[key] = text
		}
		x.write(out, text)
	}
}

// block returns the parts of a block's body.
func (x *expander) block(b *Block, slot string, f form) []part {
	key := blockKey{slot, f}
	parts, ok := x.blocks[key]
	if !ok {
		schema := b.Schema
		schema.Slots = nil // a block has none
		r := reader{src: b.Bodies.of(f), form: f, names: newNames(schema), slot: slot, track: tracker{form: f}}
		parts = r.read()
		x.blocks[key] = parts
	}
	return parts
}

// blockText returns a block as text: its own, else what its HTML says.
func (x *expander) blockText(filling Filling, slot string, f form, at where) string {
	inner := newFrame(filling.Bound, slot)
	bodies := filling.Block.Bodies
	var out joiner
	if f == plainForm && bodies.Text != "" {
		x.parts(&out, x.block(filling.Block, slot, plainForm), plainForm, inner, nil)
		return out.String()
	}
	from := htmlForm
	if bodies.HTML == "" {
		from = mjmlForm
	}
	x.parts(&out, x.block(filling.Block, slot, from), from, inner, nil)
	if x.left < 0 {
		return ""
	}
	if f != plainForm {
		return escapedText(Text, stripped(out.String(), false), at, "")
	}
	text := strings.TrimSpace(textpart.FromHTML(out.String()))
	if checkLiquid(RawHTML, text) != "" { // a tag of Liquid went with broken HTML
		return stripped(out.String(), true)
	}
	return text
}

// notice is what a preview shows where a slot is empty: a dashed box.
func notice(text string, f form, parent string) string {
	text = escapedText(Text, text, where{form: f}, "")
	if f == htmlForm || !takesMJML(parent) {
		return `<div style="border:2px dashed #8c8c8c;padding:16px;text-align:center;font-family:sans-serif;color:#595959">` + text + `</div>`
	}
	before, after := around("mj-text", parent)
	return before + `<mj-text align="center" color="#595959" padding="16px"><div style="border:2px dashed #8c8c8c;padding:16px">` + text + `</div></mj-text>` + after
}

// takesMJML reports whether an MJML element has MJML in it, and not HTML.
func takesMJML(parent string) bool {
	switch parent {
	case "", "mjml", "mj-body", "mj-wrapper", "mj-section", "mj-group", "mj-column", "mj-hero":
		return true
	}
	return false
}

// wrapping returns what goes around a block's MJML so that it may stand in that
// element: a block of mj-text alone needs a column and a section in mj-body.
func wrapping(source string, f form, parent string) (before, after string) {
	if f != mjmlForm {
		return "", ""
	}
	return around(firstElement(source), parent)
}

func around(element, parent string) (before, after string) {
	switch element {
	case "mj-text", "mj-button", "mj-image", "mj-divider", "mj-spacer", "mj-table", "mj-social",
		"mj-navbar", "mj-accordion", "mj-carousel":
	case "mj-column", "mj-group":
		if parent == "mj-body" || parent == "mj-wrapper" {
			return "<mj-section>", "</mj-section>"
		}
		return "", ""
	default:
		return "", ""
	}
	switch parent {
	case "mj-body", "mj-wrapper":
		return "<mj-section><mj-column>", "</mj-column></mj-section>"
	case "mj-section", "mj-group":
		return "<mj-column>", "</mj-column>"
	}
	return "", ""
}

// firstElement returns the name of the first element of a source.
func firstElement(source string) string {
	for {
		_, rest, ok := strings.Cut(source, "<")
		if !ok {
			return ""
		}
		if comment, ok := strings.CutPrefix(rest, "!--"); ok {
			if _, source, ok = strings.Cut(comment, "-->"); !ok {
				return ""
			}
			continue
		}
		n := 0
		for n < len(rest) && (isWord(rest[n]) || rest[n] == '-') {
			n++
		}
		if n > 0 {
			return rest[:n]
		}
		source = rest
	}
}

// Params returns what param means to the Liquid of the bodies that Expand makes:
// each parameter by its name, and for each slot with a block, by the slot's name
// after an underscore, the parameters of that. (Expand has the block's Liquid say
// param._hero.title for param.title; no parameter's name begins like that.)
//
// A parameter that has no value is nil, so that {% if param.x %} does not hold. A
// number is an int64 or a float64, a boolean a bool, a list a []any; everything
// else is the text as it was given, rich text sanitised, and is escaped when
// Liquid prints it. All of it survives being stored as JSON, provided that numbers
// are read back as json.Number.
func (d *Document) Params(b Bound) map[string]any {
	params := constants(b)
	for name, filling := range b.Slots {
		if filling.Block != nil {
			params["_"+name] = constants(filling.Bound)
		}
	}
	return params
}

func constants(b Bound) map[string]any {
	m := make(map[string]any, len(b.Values))
	for name, v := range b.Values {
		m[name] = constant(v)
	}
	return m
}

func constant(v Value) any {
	switch x := v.V.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
		return nil
	case []string:
		list := make([]any, len(x))
		for i, item := range x {
			list[i] = item
		}
		return list
	case string:
		if v.Type == RichText {
			return sanitised(x)
		}
		return x
	case bool:
		return x
	}
	return nil
}
