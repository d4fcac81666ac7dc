package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// The limits of single values, independent of their schema. No mail is larger than
// the first.
const (
	maxText   = 1 << 20 // characters
	maxURL    = 4096    // characters
	maxItems  = 1000    // of a list
	maxDigits = 40      // characters of a number in plain decimals
)

// maxMatching is the maximum cost of patterns in one check, in characters read
// times the size of the pattern.
const maxMatching = 50_000_000

// decode decodes one JSON value and keeps the text of numbers.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

// encode encodes v without escaping markup.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// kind returns the JSON type of v.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any, []string:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// jsonType returns the JSON type for a type.
func (t Type) jsonType() string {
	switch t {
	case Number:
		return "a number"
	case Boolean:
		return "true or false"
	case List:
		return "an array of strings"
	}
	return "a string"
}

// describeValues describes the values of a type for an author.
func (t Type) describeValues() string {
	switch t {
	case Text:
		return "a text of one line"
	case RichText, RawHTML:
		return "a string of HTML"
	case URL:
		return "a URL such as https://example.com/page"
	case Image:
		return "the URL of an image such as https://example.com/image.png"
	case Email:
		return "an email address such as ann@example.org"
	case Color:
		return "a color such as #1a2b3c"
	case Date:
		return "a day such as 2030-01-31"
	case DateTime:
		return "a time such as 2030-01-31T09:00:00Z"
	case Select:
		return "one of its options"
	}
	return t.jsonType()
}

// value checks the value of a parameter and returns it in the form of Bound. A problem
// becomes an issue at that location.
func (c *checker) value(at location, p *Parameter, bound any) (any, bool) {
	switch v := bound.(type) {
	case string:
		switch {
		case p.Type == Number || p.Type == Boolean || p.Type == List:
		case !c.text(at, p, v):
			return nil, false
		case p.Type == Email:
			return strings.TrimSpace(v), true
		default:
			return bound, true // not v, whose conversion to any would allocate
		}
	case json.Number:
		if p.Type == Number {
			return c.number(at, p, v)
		}
	case bool:
		if p.Type == Boolean {
			return bound, true
		}
	case []any:
		if p.Type == List {
			return c.list(at, p, v)
		}
	}
	c.invalid(at, "must be "+p.Type.jsonType()+", not "+kind(bound), "Set %s to "+p.Type.describeValues())
	return nil, false
}

// text checks a string against a type whose values are strings.
func (c *checker) text(at location, p *Parameter, s string) bool {
	if i := strings.IndexFunc(s, isControl); i >= 0 {
		return c.invalid(at, "must not hold the control character "+strconv.QuoteRune(rune(s[i])), "Remove the control characters from %s")
	}
	switch p.Type {
	case Email:
		if _, err := address.Parse(s); err != nil {
			return c.invalid(at, "must be an email address: "+clip.Ellipsis(err.Error(), maxQuoted), "Set %s to "+p.Type.describeValues())
		}
		return true
	case Color:
		return isColor(s) || c.invalid(at, "must be a color as #rgb or #rrggbb", "Set %s to "+p.Type.describeValues())
	case Date:
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return c.invalid(at, "must be a day that exists, as YYYY-MM-DD", "Set %s to "+p.Type.describeValues())
		}
		return c.checkRange(at, p, s)
	case DateTime:
		if _, ok := asTime(s); !ok {
			return c.invalid(at, "must be a time as RFC 3339 has it, with an offset or Z", "Set %s to "+p.Type.describeValues())
		}
		return c.checkRange(at, p, s)
	case Select:
		return slices.ContainsFunc(p.Validation.Options, func(o Option) bool { return o.Value == s }) ||
			c.invalid(at, "must be one of the options", "Set %s to one of: "+options(p))
	}
	if !c.length(at, p, s) {
		return false
	}
	switch p.Type {
	case Text:
		if strings.ContainsFunc(s, isBreak) {
			return c.invalid(at, "must not hold line breaks", "Remove the line breaks from %s")
		}
	case URL, Image:
		if wrong := urlFlaw(s, schemesOf(p)); wrong != "" {
			return c.invalid(at, wrong, "Set %s to "+p.Type.describeValues())
		}
	}
	if wrong := checkLiquid(p.Type, s); wrong != "" {
		return c.invalid(at, wrong, "Correct the Liquid or the markup in %s")
	}
	if pattern := p.Validation.Pattern; pattern != nil && !c.matches(*pattern, s) {
		return c.invalid(at, "must match the pattern "+*pattern, "Set %s to a text that matches the pattern "+*pattern)
	}
	return true
}

// length checks the length of a text, in characters of its source.
func (c *checker) length(at location, p *Parameter, s string) bool {
	least, most := 0, maxText
	if p.Type == URL || p.Type == Image {
		most = maxURL
	}
	if p.Validation.MinLength != nil {
		least = *p.Validation.MinLength
	}
	if p.Validation.MaxLength != nil {
		most = min(most, *p.Validation.MaxLength)
	}
	if len(s) <= most && least == 0 {
		return true
	}
	n := utf8.RuneCountInString(s)
	switch {
	case n > most:
		return c.invalid(at, "has "+countOf(n, "character")+"; at most "+strconv.Itoa(most)+" are allowed", "Shorten %s to at most "+countOf(most, "character"))
	case n < least:
		return c.invalid(at, "has "+countOf(n, "character")+"; at least "+strconv.Itoa(least)+" must be there", "Lengthen %s to at least "+countOf(least, "character"))
	}
	return true
}

// matches reports whether all of s matches, within maxMatching.
func (c *checker) matches(pattern, s string) bool {
	m, ok := c.patterns[pattern]
	if !ok {
		m = newMatcher(pattern)
		if c.patterns == nil {
			c.patterns = map[string]matcher{}
		}
		c.patterns[pattern] = m
	}
	if m.re == nil {
		return false
	}
	c.matching += m.size * (len(s) + 1)
	return c.matching <= maxMatching && m.re.MatchString(s)
}

// number checks a number against its limits. Its text is kept, except for an
// exponent, which is expanded.
func (c *checker) number(at location, p *Parameter, n json.Number) (any, bool) {
	s, ok := plainNumber(string(n))
	if !ok {
		return nil, c.invalid(at, "must be a number of at most "+strconv.Itoa(maxDigits)+" digits", "Set %s to a shorter number")
	}
	if p.Validation.Integer != nil && *p.Validation.Integer && !isWhole(s) {
		return nil, c.invalid(at, "must be a whole number", "Set %s to a whole number")
	}
	return json.Number(s), c.checkRange(at, p, s)
}

// checkRange checks a number, a date or a time against minimum and maximum.
func (c *checker) checkRange(at location, p *Parameter, s string) bool {
	least, most := p.Validation.Min, p.Validation.Max
	if !HasValue(least) && !HasValue(most) {
		return true
	}
	raw := json.RawMessage(s)
	if p.Type != Number {
		raw = json.RawMessage(`"` + s + `"`) // consists of digits, colons and the like
	}
	switch {
	case HasValue(least) && compareBounds(p.Type, raw, least) < 0:
		return c.invalid(at, "must be at least "+limitText(least), "Set %s to "+limitText(least)+" or more")
	case HasValue(most) && compareBounds(p.Type, raw, most) > 0:
		return c.invalid(at, "must be at most "+limitText(most), "Set %s to "+limitText(most)+" or less")
	}
	return true
}

// limitText returns the text of a limit.
func limitText(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

// HasValue reports whether an optional JSON value is present and not null.
func HasValue(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// list checks an array against its type; each invalid element is an issue
// by itself.
func (c *checker) list(at location, p *Parameter, v []any) (any, bool) {
	least, most := 0, maxItems
	if p.Validation.MinItems != nil {
		least = *p.Validation.MinItems
	}
	if p.Validation.MaxItems != nil {
		most = *p.Validation.MaxItems
	}
	switch n := countOf(len(v), "element"); {
	case len(v) > most:
		return nil, c.invalid(at, "has "+n+"; at most "+strconv.Itoa(most)+" are allowed", "Shorten %s to at most "+countOf(most, "element"))
	case len(v) < least:
		return nil, c.invalid(at, "has "+n+"; at least "+strconv.Itoa(least)+" must be there", "Give %s at least "+countOf(least, "element"))
	}
	element := &Parameter{Type: Textarea}
	out := make([]string, 0, len(v))
	for i, e := range v {
		at.element = i + 1
		s, isText := e.(string)
		if !isText {
			c.invalid(at, "must be a string, not "+kind(e), "Set %s to a string")
			continue
		}
		if c.text(at, element, s) {
			out = append(out, s)
		}
	}
	return out, len(out) == len(v)
}

// options lists the choices.
func options(p *Parameter) string {
	names := make([]string, 0, len(p.Validation.Options))
	for _, o := range p.Validation.Options {
		names = append(names, clip.Ellipsis(o.Value, maxQuoted))
	}
	return listNames(names)
}

func isColor(s string) bool {
	if len(s) != 4 && len(s) != 7 || s[0] != '#' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i] | 0x20; (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isControl reports whether r is a control character that XML
// does not allow: all of ASCII's except tab and line breaks.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
}

// isBreak reports whether r ends a line.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// hasControls reports whether s contains a control character or a line break.
func hasControls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return isControl(r) || isBreak(r) })
}
