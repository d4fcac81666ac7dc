package binding

import "strings"

// form is what a body is written in.
type form uint8

const (
	plainForm form = iota // text/plain
	subjectForm
	htmlForm
	mjmlForm
)

func (f form) marked() bool { return f == htmlForm || f == mjmlForm }

// place is where in HTML or MJML a placeholder stands, as far as it matters to
// what may be written there.
type place uint8

const (
	inMarkup  place = iota // between tags: elements may stand here
	inDouble               // in the double quotes of an attribute
	inSingle               // in single ones
	inTag                  // in a tag, but in no quotes
	inBare                 // there, and the whole value of an attribute
	inText                 // where tags are not read: a title, CDATA
	inStyle                // in a style sheet
	inComment              // which may be HTML all the same, to Outlook
)

// state is how far a tracker has come.
type state uint8

const (
	atText      state = iota
	atOpen            // after <
	atOpenEnd         // after </
	atName            // in the name of a tag
	atGap             // in a tag, before the name of an attribute
	atAttribute       // in that name
	atAfter           // behind that name
	atEquals          // after the = of an attribute
	atDouble          // in a value in double quotes
	atSingle          // in a value in single quotes
	atUnquoted        // in a value without quotes
	atBang            // after <!
	atComment         // in a comment
	atCDATA           // in a CDATA section
	atBogus           // in a doctype, or in what a browser takes for a comment
	atRaw             // in an element whose content is text
)

// tracker follows the tags of a body through its text, a piece at a time. It
// reads as browsers do, in one pass, and keeps only what place and parent need.
type tracker struct {
	form  form
	state state
	name  []byte // of the tag being read; in atBang what follows it
	end   bool   // the tag is an end tag
	last  byte   // the byte before
	prior byte   // and the one before that
	third byte   // and the one before that
	raw   string // the element whose end is looked for in atRaw
	match int    // how much of its end tag was found; in a comment how long that is
	open  []string
}

// The elements whose content is text, not markup.
var textElements = map[string]bool{
	"style": true, "script": true, "title": true, "textarea": true, "xmp": true,
	"iframe": true, "noembed": true, "noframes": true,
	"mj-style": true, "mj-title": true, "mj-preview": true,
}

const (
	maxName = 32  // longer names are cut: they are nobody's we know
	maxOpen = 100 // deeper elements of MJML are not told apart
)

// place says where the tracker is; next is what follows the placeholder there.
func (t *tracker) place(next string) place {
	switch t.state {
	case atEquals:
		if next == "" || next[0] == '>' || isBlank(next[0]) {
			return inBare
		}
	case atText:
		return inMarkup
	case atDouble:
		return inDouble
	case atSingle:
		return inSingle
	case atRaw:
		if t.raw == "style" || t.raw == "mj-style" {
			return inStyle
		}
		return inText
	case atCDATA:
		return inText
	case atComment, atBogus, atBang:
		return inComment
	}
	return inTag
}

// parent returns the MJML element around the place.
func (t *tracker) parent() string {
	if len(t.open) == 0 {
		return ""
	}
	return t.open[len(t.open)-1]
}

// value passes over something that is written in place of a placeholder or by
// an output: whatever it is, it closes nothing and opens nothing.
func (t *tracker) value() {
	switch t.state {
	case atOpen, atOpenEnd:
		t.state = atName
	case atGap, atAfter:
		t.state = atAttribute
	case atEquals:
		t.state = atUnquoted
	case atBang:
		t.state = atBogus
	}
	t.third, t.prior, t.last = 0, 0, 0
	if t.match += 3; t.state == atRaw {
		t.match = 0
	}
}

// read passes over literal text.
func (t *tracker) read(text string) {
	if !t.form.marked() {
		return
	}
	for i := 0; i < len(text); i++ {
		if skip := t.skipText(text[i:]); skip > 0 {
			i += skip
			t.prior, t.last = 0, text[i-1]
			if i == len(text) {
				return
			}
		}
		t.step(text[i])
		t.third, t.prior, t.last = t.prior, t.last, text[i]
	}
}

// skipText returns how much of text has no meaning where the tracker is.
func (t *tracker) skipText(text string) int {
	var n int
	switch t.state {
	case atText:
		n = strings.IndexByte(text, '<')
	case atDouble:
		n = strings.IndexByte(text, '"')
	case atSingle:
		n = strings.IndexByte(text, '\'')
	default:
		return 0
	}
	if n < 0 {
		return len(text)
	}
	return n
}

func (t *tracker) step(c byte) {
	switch t.state {
	case atText:
		if c == '<' {
			t.state = atOpen
		}
	case atOpen:
		switch {
		case isLetter(c):
			t.state, t.end, t.name = atName, false, append(t.name[:0], c|0x20)
		case c == '/':
			t.state = atOpenEnd
		case c == '!':
			t.state, t.name = atBang, t.name[:0]
		case c == '?':
			t.state = atBogus
		case c != '<':
			t.state = atText
		}
	case atOpenEnd:
		switch {
		case isLetter(c):
			t.state, t.end, t.name = atName, true, append(t.name[:0], c|0x20)
		case c == '>':
			t.state = atText
		default:
			t.state = atBogus
		}
	case atBang:
		t.markupDeclaration(c)
	case atComment:
		if c == '>' && t.commentEnds() {
			t.state = atText
		}
		t.match++
	case atCDATA:
		if c == '>' && t.last == ']' && t.prior == ']' {
			t.state = atText
		}
	case atBogus:
		if c == '>' {
			t.state = atText
		}
	case atRaw:
		t.rawStep(c)
	default:
		t.tagStep(c)
	}
}

// markupDeclaration tells comments, CDATA sections and the rest apart.
func (t *tracker) markupDeclaration(c byte) {
	t.name = append(t.name, c)
	switch got := string(t.name); {
	case got == "--":
		t.state, t.match = atComment, 0
	case got == "[CDATA[" && t.form == mjmlForm:
		t.state = atCDATA
	case got == "-", t.form == mjmlForm && strings.HasPrefix("[CDATA[", got):
	case c == '>':
		t.state = atText
	default:
		t.state = atBogus
	}
}

// commentEnds reports whether a > after what was read ends the comment: after two
// hyphens, perhaps with a mark behind them, or at its very beginning.
func (t *tracker) commentEnds() bool {
	if t.match < 2 {
		return t.match == 0 || t.last == '-'
	}
	return t.prior == '-' && (t.last == '-' || t.last == '!' && t.match > 2 && t.third == '-')
}

func (t *tracker) tagStep(c byte) {
	switch t.state {
	case atName:
		switch {
		case c == '>':
			t.tag()
		case isBlank(c) || c == '/':
			t.state = atGap
		case len(t.name) < maxName:
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			t.name = append(t.name, c)
		}
	case atGap:
		switch {
		case c == '>':
			t.tag()
		case c != '/' && !isBlank(c):
			t.state = atAttribute // a name may begin with =
		}
	case atAttribute, atAfter:
		switch {
		case c == '>':
			t.tag()
		case c == '=':
			t.state = atEquals
		case c == '/':
			t.state = atGap
		case isBlank(c):
			t.state = atAfter
		default:
			t.state = atAttribute
		}
	case atEquals:
		switch {
		case c == '"':
			t.state = atDouble
		case c == '\'':
			t.state = atSingle
		case c == '>':
			t.tag()
		case !isBlank(c):
			t.state = atUnquoted
		}
	case atDouble:
		if c == '"' {
			t.state = atGap
		}
	case atSingle:
		if c == '\'' {
			t.state = atGap
		}
	case atUnquoted:
		switch {
		case c == '>':
			t.tag()
		case isBlank(c):
			t.state = atGap
		}
	}
}

// tag ends a tag.
func (t *tracker) tag() {
	t.state = atText
	name := string(t.name)
	closed := t.form == mjmlForm && t.last == '/'
	if textElements[name] && !t.end && !closed {
		t.state, t.raw, t.match = atRaw, name, 0
		return
	}
	if t.form != mjmlForm || closed || !strings.HasPrefix(name, "mj") {
		return
	}
	if !t.end {
		if len(t.open) < maxOpen {
			t.open = append(t.open, name)
		}
		return
	}
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i] == name {
			t.open = t.open[:i]
			return
		}
	}
}

// rawStep looks for the end of an element whose content is text.
func (t *tracker) rawStep(c byte) {
	switch want := "</" + t.raw; {
	case t.match == len(want) && (c == '>' || c == '/' || isBlank(c)):
		t.name, t.end = append(t.name[:0], t.raw...), true
		t.state = atGap
		if c == '>' {
			t.tag()
		}
	case t.match < len(want) && (c == want[t.match] || isLetter(c) && c|0x20 == want[t.match]):
		t.match++
	case c == '<':
		t.match = 1
	default:
		t.match = 0
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
