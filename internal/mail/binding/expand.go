package binding

import "strconv"

// MaxExpanded is the maximum size of the bodies, together, that Expand returns.
const MaxExpanded = 10 << 20

// Expand writes the values of b into the bodies in one pass, without parsing values for
// placeholders. Each value is escaped for its type and position, and no Liquid arises where two
// texts are joined.
//
// If the bodies would be larger than MaxExpanded, they are empty; Fill returns an error then.
func (d *Document) Expand(b Bound) Bodies {
	bodies, err := d.Fill(b)
	if err != nil {
		return Bodies{}
	}
	return bodies
}

// Fill is Expand with an error: ErrBinding if the bodies would be larger than MaxExpanded.
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

// frame is what names refer to: in a template, or in the block in a slot.
type frame struct {
	bound  Bound
	slot   string
	params *values
	rows   map[string][]*row
	inner  map[string]*frame // of the blocks in slots
	text   map[textKey]string
}

// textKey identifies the text of a slot's block.
type textKey struct {
	slot string
	at   where
}

func newFrame(b Bound, slot string) *frame {
	return &frame{
		bound: b, slot: slot, params: &values{of: b.Values, slot: slot},
		rows: map[string][]*row{}, inner: map[string]*frame{}, text: map[textKey]string{},
	}
}

// section returns the rows of a section.
func (s *frame) section(name string) []*row {
	rows, ok := s.rows[name]
	if !ok {
		bound := s.bound.Rows[name]
		rows = make([]*row, len(bound))
		for i := range bound {
			rows[i] = &row{values: values{of: bound[i], slot: s.slot}, index: i, count: len(bound)}
		}
		s.rows[name] = rows
	}
	return rows
}

// block returns the frame of the block in a slot.
func (s *frame) block(slot string, filling Filling) *frame {
	inner, ok := s.inner[slot]
	if !ok {
		inner = newFrame(filling.Bound, slot)
		s.inner[slot] = inner
	}
	return inner
}

// row is one row of a section.
type row struct {
	values
	index int // from 0
	count int
}

func (r *row) text(name string, at where) string {
	switch name {
	case rowIndex:
		return strconv.Itoa(r.index + 1)
	case rowFirst:
		return strconv.FormatBool(r.index == 0)
	case rowLast:
		return strconv.FormatBool(r.index == r.count-1)
	}
	return r.values.text(name, at)
}

// values are values by name. Each is prepared and escaped only once.
type values struct {
	of    map[string]Value
	slot  string
	ready map[string]Value
	done  map[valueKey]string
}

type valueKey struct {
	name string
	at   where
}

// text returns a value escaped for a position.
func (s *values) text(name string, at where) string {
	v := s.of[name]
	if v.V == nil && !at.code {
		return ""
	}
	key := valueKey{name, at}
	text, ok := s.done[key]
	if ok {
		return text
	}
	if at.code {
		text = literal(v, at.place)
	} else {
		r, ok := s.ready[name]
		if !ok {
			r = prepared(v, s.slot)
			if s.ready == nil {
				s.ready, s.done = map[string]Value{}, map[valueKey]string{}
			}
			s.ready[name] = r
		}
		text = escaped(r, at)
	}
	if s.done == nil {
		s.done = map[valueKey]string{}
	}
	s.done[key] = text
	return text
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
			x.write(out, at.filled(s.params.text(p.name, at)))
		case fieldPart:
			x.write(out, at.filled(r.text(p.name, at)))
		case sectionPart:
			for _, r := range s.section(p.name) {
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

// filled returns the text for an empty value: without it, an attribute without quotes would get the
// next attribute as its value.
func (w where) filled(text string) string {
	if text == "" && w.place == inBare && !w.code {
		return `""`
	}
	return text
}
