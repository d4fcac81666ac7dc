package inline

import (
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
)

// selector is one of a rule's selectors.
type selector struct {
	rule       *rule
	start, end int // its text
	parts      []part
	text       string // for premailer, which counts only types behind white space
	counts     bool   // it counts siblings or looks at them

	matched bool // premailer found elements for it
	stays   bool // somebody may need it who has no attribute
}

// part is a compound selector and how it is joined to the one before it.
type part struct {
	joint byte // ' ', '>', '+' or '~'
	text  string
	match cascadia.Matcher
}

// matchNone stands for parts that are no selector: premailer passes over them.
var matchNone = cascadia.Selector(func(*node) bool { return false })

// maxParts bounds how many parts a selector has that premailer is asked about.
const maxParts = 16

// partText is what premailer is asked about. Its reader of CSS gives up at what
// is not well-formed, it takes every comma for the end of a selector, and it is
// not to be led to the inventions of its selector engine, which are slow.
var partText = func() *regexp.Regexp {
	const name = `-?[A-Za-z_\x{80}-\x{10FFFF}][-\w\x{80}-\x{10FFFF}]*`
	const value = `(?:` + name + `|"[^"\\\n,{};<]*"|'[^'\\\n,{};<]*')`
	const compound = `(?:` + name + `)?(?:[.#]` + name +
		`|\[\s*` + name + `\s*(?:[~|^$*]?=\s*` + value + `(?:\s+[iI])?\s*)?\]` +
		`|:not\([-\w.#=\[\]:]*\)|:nth-[-a-z]+\([-+\w\s]*\)|::?[-A-Za-z]+)*`
	return regexp.MustCompile(`^(?:\s*([>+~])\s*|\s*)(` + compound + `)`)
}()

// readSelectors reads the list that a rule starts with.
func (r *rule) readSelectors(m string) {
	in := &reader{m: m, pos: r.start, end: r.prelude}
	for {
		s := &selector{rule: r, start: in.pos}
		stop := in.until(",{}")
		for s.start < in.pos && isSpace(m[s.start]) {
			s.start++
		}
		s.end = s.start + len(trimRight(m[s.start:in.pos]))
		s.read(m[s.start:s.end])
		r.selectors = append(r.selectors, s)
		if stop == 0 {
			return
		}
		in.pos++
	}
}

// read takes a selector apart, or leaves it without parts.
func (s *selector) read(text string) {
	var parts []part
	var words []string
	for len(text) > 0 {
		found := partText.FindStringSubmatch(text)
		if found == nil || found[2] == "" || len(parts) == maxParts || strings.Contains(found[2], ":empty") {
			return
		}
		// Premailer leaves :link over, though it can be answered.
		q := part{joint: ' ', text: strings.Replace(found[2], ":link", "[href]", 1), match: matchNone}
		if found[1] != "" {
			if len(parts) == 0 {
				return
			}
			q.joint = found[1][0]
			words = append(words, found[1])
		}
		if sel, err := cascadia.Parse(q.text); err == nil {
			q.match = sel
		}
		s.counts = s.counts || q.joint == '+' || q.joint == '~' || q.counts()
		parts = append(parts, q)
		words = append(words, q.text)
		text = text[len(found[0]):]
	}
	s.parts, s.text = parts, strings.Join(words, " ")
}

// counts reports whether a part asks for the number of an element.
func (q *part) counts() bool {
	return strings.Contains(q.text, "-child") || strings.Contains(q.text, "-of-type")
}

// last returns the part that the element itself must match.
func (s *selector) last() *part { return &s.parts[len(s.parts)-1] }

// movable reports whether premailer is asked about a selector.
func (p *page) movable(s *selector) bool {
	return len(s.parts) > 0 && len(s.rule.values) > 0 && !s.rule.conditional && !(s.counts && p.branches)
}

// needed reports whether elements that are not touched may need a selector: all
// the names in its last part stand in them.
func (p *page) needed(s *selector) bool {
	text, _, _ := strings.Cut(s.last().text, ":")
	for i, name := range names.FindAllString(text, -1) {
		if i == 0 && strings.HasPrefix(text, name) {
			name = "<" + name // of an element
		} else if p.anyClass {
			continue
		}
		if !strings.Contains(p.loose.String(), strings.ToLower(name)) {
			return false
		}
	}
	return p.loose.Len() > 0
}

// names are those of an element, of classes and the like.
var names = regexp.MustCompile(`[-\w\x{80}-\x{10FFFF}]+`)
