package mjml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// The limits of a source.
const (
	maxSource     = 1 << 20 // bytes
	maxDepth      = 64      // elements in each other
	maxElements   = 4000    // of MJML; the content of mj-text and the like is not counted
	maxAttributes = 100     // of one element
	maxUnknown    = 1000    // unknown elements in an error
	maxColumns    = 100     // of them with a column
	maxWarnings   = 200
)

// Check checks that a source is well-formed MJML of known elements; it does not compile.
// Placeholders that are replaced before compilation ({{slot:hero}}, {{#section rows}}, ...) may be
// wherever text may. The error is an *Error or an *UnknownError.
func Check(source string) ([]Warning, error) {
	i, err := inspect(source, false)
	if err != nil {
		return nil, err
	}
	return i.warnings, nil
}

// inspector checks a source.
type inspector struct {
	*scanner
	fragment bool // children of some element, not a document
	open     []opened
	rooted   bool // there was a root element
	head     head
	bodies   int
	elements int
	shows    bool      // the body contains something visible
	top      []Element // of a fragment, the outermost elements
	warnings []Warning
	unknown  []Element

	conditions []markup.Span // the texts of conditional comments
	seen       func(tag)     // called for each start tag of MJML; may be nil
}

// tag is a start tag: its position, that behind its name, and its attributes.
type tag struct {
	name       string
	at, end    int
	attributes []attribute
}

// opened is an element without its end tag so far.
type opened struct {
	name string
	pos  int
}

func inspect(source string, fragment bool) (*inspector, error) {
	i := &inspector{fragment: fragment}
	return i, i.inspect(source)
}

func (i *inspector) inspect(source string) error {
	if err := checkText(source); err != nil {
		return err
	}
	i.scanner = newScanner(source)
	if err := i.document(); err != nil {
		return err
	}
	switch {
	case i.unknown != nil:
		return &UnknownError{i.unknown}
	case i.fragment:
		return nil
	case !i.rooted:
		return &Error{1, 1, "there is no <mjml> element"}
	case i.bodies == 0:
		return &Error{1, 1, "<mjml> has no <mj-body>"}
	}
	return nil
}

// checkText returns an error for a source that is too long or not text.
func checkText(source string) error {
	if len(source) > maxSource {
		return &Error{0, 0, fmt.Sprintf("MJML may have %d bytes, this has %d", maxSource, len(source))}
	}
	line := 1
	for i, r := range source {
		switch {
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r':
			return &Error{line, 0, fmt.Sprintf("the control character U+%04X is not allowed", r)}
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(source[i:]); size == 1 {
				return &Error{line, 0, "this is not UTF-8"}
			}
		}
	}
	return nil
}

func (i *inspector) warn(line int, tag, message string) {
	if len(i.warnings) < maxWarnings {
		i.warnings = append(i.warnings, Warning{line, tag, message})
	}
}

// document reads everything outside HTML.
func (i *inspector) document() error {
	for {
		start := i.pos
		n := strings.IndexByte(i.rest(), '<')
		if n < 0 {
			n = len(i.rest())
		}
		i.pos += n
		if err := i.checkDropped(start, i.pos); err != nil {
			return err
		}
		if i.pos == len(i.text) {
			break
		}
		if err := i.construct(i.pos, i.rest()[1:]); err != nil {
			return err
		}
	}
	if len(i.open) > 0 {
		last := i.open[len(i.open)-1]
		return i.fail(last.pos, "<%s> is not closed", last.name)
	}
	return nil
}

// construct reads the construct that starts with the < at the position at; rest follows it.
func (i *inspector) construct(at int, rest string) error {
	switch {
	case strings.HasPrefix(rest, "!--"):
		i.pos += len("<!")
		if !i.skip("-->") {
			return i.fail(at, "a comment is not closed by -->")
		}
		i.noteComment(at)
	case strings.HasPrefix(rest, "![CDATA["):
		if !i.skip("]]>") {
			return i.fail(at, "a CDATA section is not closed by ]]>")
		}
		return i.checkDropped(at+len("<![CDATA["), i.pos-len("]]>"))
	case strings.HasPrefix(rest, "!"):
		return i.fail(at, "MJML has no <!DOCTYPE> and no other declarations: remove it")
	case strings.HasPrefix(rest, "?"):
		if !i.skip(">") {
			return i.fail(at, "a processing instruction is not closed by ?>")
		}
		if !strings.HasPrefix(rest, "?xml") || i.rooted {
			i.warn(i.at(at), "", "processing instructions are dropped")
		}
	case strings.HasPrefix(rest, "/"):
		i.pos += len("</")
		return i.endTag(at)
	default:
		i.pos++
		return i.startTag(at)
	}
	return nil
}

// inComment matches the start tag of an element of MJML.
var inComment = regexp.MustCompile(`<(mj-[a-z-]+)[\s/>]`)

// noteComment stores the text of a conditional comment that begins at a position and ends at the scanner's,
// and warns of elements in it.
func (i *inspector) noteComment(at int) {
	start, end := at+len("<!--"), i.pos-len("-->")
	if start > end || !isCondition(i.text[start:end]) {
		return
	}
	i.conditions = append(i.conditions, markup.Span{Start: start, End: end})
	if m := inComment.FindStringSubmatchIndex(i.text[start:end]); m != nil {
		if name := i.text[start+m[2] : start+m[3]]; known[name] != unknown {
			i.warn(i.at(start+m[0]), name, "it stands in a conditional comment, where nothing is compiled: put the marks of the comment into mj-raw of their own, as <!--[if mso]><!--> and <!--<![endif]-->")
		}
	}
}

// isCondition reports whether the text of a comment is a mark of a conditional comment, or a whole one.
func isCondition(text string) bool {
	text = strings.TrimLeftFunc(text, isSpace)
	return len(text) > len("[if") && strings.EqualFold(text[:len("[if")], "[if") || strings.HasPrefix(text, "<![endif]")
}

// innermost returns the name of the innermost open element, or "".
func (i *inspector) innermost() string {
	if len(i.open) == 0 {
		return ""
	}
	return i.open[len(i.open)-1].name
}

// checkDropped checks the text from start to end, which the compiler drops.
func (i *inspector) checkDropped(start, end int) error {
	if isEmpty(i.text[start:end]) {
		return nil
	}
	parent := i.innermost()
	if slices.Contains(textOf, parent) || parent != "" && known[parent] == unknown {
		return nil
	}
	text, warned := i.source[start:end], false
	plain := func(from, to int) error {
		if isEmpty(text[from:to]) {
			return nil
		}
		from += len(text[from:to]) - len(strings.TrimLeftFunc(text[from:to], isSpace))
		if parent == "" && !i.fragment {
			return i.fail(start+from, "there is text outside <mjml>")
		}
		if !warned {
			i.warn(i.at(start+from), parent, "text between elements is dropped: put it into mj-text or mj-raw")
			warned = true
		}
		return nil
	}
	last := 0
	for _, l := range spans(text) {
		if err := plain(last, l.Start); err != nil {
			return err
		}
		last = l.End
		if !warned && !isPlaceholder(text[l.Start:l.End]) {
			i.warn(i.at(start+l.Start), parent, fmt.Sprintf("%s stands between elements, where Liquid is dropped: put it into mj-raw, or into mj-text", shorten(text[l.Start:l.End])))
			warned = true
		}
	}
	return plain(last, len(text))
}

// isPlaceholder reports whether a piece of Liquid is replaced before compilation or is a comment.
func isPlaceholder(liquid string) bool {
	inner := markup.Code(liquid)
	if strings.HasPrefix(liquid, "{%") {
		return markup.TagName(liquid) == "comment" || strings.HasPrefix(inner, "#")
	}
	for _, mark := range []string{"#", "/", "slot:", "item:", "param:"} {
		if strings.HasPrefix(inner, mark) {
			return true
		}
	}
	return false
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func isEmpty(text string) bool { return strings.TrimLeftFunc(text, isSpace) == "" }

// shorten truncates a long text for a message.
func shorten(text string) string { return clip.Ellipsis(strings.Join(strings.Fields(text), " "), 60) }
