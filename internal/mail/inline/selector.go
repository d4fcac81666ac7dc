package inline

import (
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// selector is one of a rule's selectors.
type selector struct {
	rule        *rule
	start, end  int // its text
	parts       []part
	specificity cascadia.Specificity
	counts      bool // it counts siblings or looks at them

	matched bool // there are elements for it
	stays   bool // elements without a style attribute of ours may need it
}

// part is a compound selector and how it is combined with the one before it.
type part struct {
	combinator byte // ' ', '>', '+' or '~'
	text       string
	match      cascadia.Sel
	counts     bool // it asks for the number of an element

	classes, attributes, ids int // how many it names
}

// price is what it costs at most to compare a part with an element.
func (q *part) price(e *element) int {
	price := 1 + len(q.text)/8 + q.classes*e.class + q.attributes*e.values + q.ids*e.attributes
	if q.counts {
		price += e.siblings
	}
	return price
}

// maxParts bounds how many parts a selector has that is moved.
const maxParts = 16

// partText is what is moved: selectors whose meaning does not change after the
// document was written. That leaves out * and :root (resets), pseudo-elements,
// what a reader does, :empty (Liquid may fill the element) and what cascadia
// adds to CSS, which is slow.
var partText = func() *regexp.Regexp {
	const name = `-?[A-Za-z_\x{80}-\x{10FFFF}][-\w\x{80}-\x{10FFFF}]*`
	const value = `(?:` + name + `|"[^"\\\n{}<]*"|'[^'\\\n{}<]*')`
	const attribute = `\[\s*` + name + `\s*(?:[~|^$*]?=\s*` + value + `(?:\s+[iI])?\s*)?\]`
	const pseudo = `:(?i:link|(?:first|last|only)-(?:child|of-type)|nth-(?:last-)?(?:child|of-type)\([-+\w\s]*\))`
	const simple = `[.#]` + name + `|` + attribute + `|` + pseudo
	const compound = `(?:` + name + `)?(?:` + simple + `|:(?i:not)\((?:` + name + `)?(?:` + simple + `)*\))*`
	return regexp.MustCompile(`^(?:\s*([>+~])\s*|\s*)(` + compound + `)`)
}()

// readSelectors reads the list that a rule starts with.
func (r *rule) readSelectors(m string) {
	in := &reader{m: m, pos: r.start, end: r.prelude}
	for {
		s := &selector{rule: r, start: in.pos}
		stop := in.until(",{}")
		for s.start < in.pos && markup.IsSpace(m[s.start]) {
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

// read takes a selector apart, or leaves it without parts. Its specificity is
// the sum of that of its parts (Selectors Level 4, section 17).
func (s *selector) read(text string) {
	var parts []part
	for len(text) > 0 {
		found := partText.FindStringSubmatch(text)
		if found == nil || found[2] == "" || len(parts) == maxParts {
			return
		}
		q := part{combinator: ' ', text: found[2]}
		if found[1] != "" {
			if len(parts) == 0 {
				return
			}
			q.combinator = found[1][0]
		}
		var err error
		if q.match, err = cascadia.Parse(q.text); err != nil {
			return
		}
		q.counts = strings.Contains(q.text, "-child") || strings.Contains(q.text, "-of-type")
		q.classes, q.attributes, q.ids = strings.Count(q.text, "."), strings.Count(q.text, "["), strings.Count(q.text, "#")
		s.counts = s.counts || q.counts || q.combinator == '+' || q.combinator == '~'
		s.specificity = s.specificity.Add(q.match.Specificity())
		parts = append(parts, q)
		text = text[len(found[0]):]
	}
	s.parts = parts
}

// last returns the part that the element itself must match.
func (s *selector) last() *part { return &s.parts[len(s.parts)-1] }

// movable reports whether a selector's rule can be written into attributes.
func (p *page) movable(s *selector) bool {
	return len(s.parts) > 0 && len(s.rule.values) > 0 && !s.rule.conditional && !(s.counts && p.branches)
}

// needed reports whether elements that are not touched may need a selector: all
// the names in its last part stand in them. What it costs is taken from the budget.
func (p *page) needed(s *selector, budget *int) bool {
	text, _, _ := strings.Cut(s.last().text, ":")
	for i, name := range names.FindAllString(text, -1) {
		if i == 0 && strings.HasPrefix(text, name) {
			name = "<" + name // of an element
		} else if p.anyClass {
			continue
		}
		if *budget -= p.loose.Len() / 64; *budget < 0 || !strings.Contains(p.loose.String(), strings.ToLower(name)) {
			return false
		}
	}
	return p.loose.Len() > 0
}

// names are those of an element, of classes and the like.
var names = regexp.MustCompile(`[-\w\x{80}-\x{10FFFF}]+`)
