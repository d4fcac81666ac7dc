package inline

import (
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// selector is one of a rule's selectors.
type selector struct {
	rule           *rule
	start, end     int // its text
	parts          []part
	specificity    cascadia.Specificity
	countsSiblings bool // it counts or tests siblings

	matched        bool // it matches elements
	neededByOthers bool // elements without an inlined style may need it
}

// part is a compound selector and the combinator before it.
type part struct {
	combinator     byte // ' ', '>', '+' or '~'
	text           string
	match          cascadia.Sel
	countsSiblings bool // it counts or tests siblings

	classes, attributes, ids int // their numbers
}

// maxCost is the maximum cost of comparing a part with an element.
func (q *part) maxCost(e *element) int {
	price := 1 + len(q.text)/8 + q.classes*e.class + q.attributes*e.values + q.ids*e.attributes
	if q.countsSiblings {
		price += e.siblings
	}
	return price
}

// maxParts is the maximum number of parts of a selector whose rule is moved.
const maxParts = 16

// partText matches parts whose rules may be moved: those whose result cannot change after the document
// was written. That excludes * and :root (resets), pseudo-elements, interaction, :empty (Liquid may fill
// the element) and cascadia's extensions of CSS, which are slow.
var partText = func() *regexp.Regexp {
	const name = `-?[A-Za-z_\x{80}-\x{10FFFF}][-\w\x{80}-\x{10FFFF}]*`
	const value = `(?:` + name + `|"[^"\\\n{}<]*"|'[^'\\\n{}<]*')`
	const attribute = `\[\s*` + name + `\s*(?:[~|^$*]?=\s*` + value + `(?:\s+[iI])?\s*)?\]`
	const pseudo = `:(?i:link|(?:first|last|only)-(?:child|of-type)|nth-(?:last-)?(?:child|of-type)\([-+\w\s]*\))`
	const simple = `[.#]` + name + `|` + attribute + `|` + pseudo
	const compound = `(?:` + name + `)?(?:` + simple + `|:(?i:not)\((?:` + name + `)?(?:` + simple + `)*\))*`
	return regexp.MustCompile(`^(?:\s*([>+~])\s*|\s*)(` + compound + `)`)
}()

// readSelectors reads the selectors of a rule.
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

// read splits a selector into parts, or leaves it without parts if it cannot be moved. Its specificity is
// the sum of those of its parts (Selectors Level 4, section 17).
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
		q.countsSiblings = strings.Contains(q.text, "-child") || strings.Contains(q.text, "-of-type")
		q.classes, q.attributes, q.ids = strings.Count(q.text, "."), strings.Count(q.text, "["), strings.Count(q.text, "#")
		s.countsSiblings = s.countsSiblings || q.countsSiblings || q.combinator == '+' || q.combinator == '~'
		s.specificity = s.specificity.Add(q.match.Specificity())
		parts = append(parts, q)
		text = text[len(found[0]):]
	}
	s.parts = parts
}

// last returns the part that must match the element itself.
func (s *selector) last() *part { return &s.parts[len(s.parts)-1] }

// isMovable reports whether a selector's rule can be written into attributes.
func (p *page) isMovable(s *selector) bool {
	return len(s.parts) > 0 && len(s.rule.values) > 0 && !s.rule.conditional && !(s.countsSiblings && p.branches)
}

// isNeeded reports whether elements that are not changed may need a selector: they contain all names of
// its last part. The cost is taken from the budget.
func (p *page) isNeeded(s *selector, budget *int) bool {
	text, _, _ := strings.Cut(s.last().text, ":")
	for i, name := range names.FindAllString(text, -1) {
		if i == 0 && strings.HasPrefix(text, name) {
			name = "<" + name // of an element
		} else if p.anyClass {
			continue
		}
		if *budget -= p.unchangedTags.Len() / 64; *budget < 0 || !strings.Contains(p.unchangedTags.String(), strings.ToLower(name)) {
			return false
		}
	}
	return p.unchangedTags.Len() > 0
}

// names matches the names of elements, classes and the like.
var names = regexp.MustCompile(`[-\w\x{80}-\x{10FFFF}]+`)
