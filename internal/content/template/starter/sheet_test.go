package starter_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// rule is one declaration of a style sheet, for one selector.
type rule struct {
	steps           []step // the last one is the element itself
	property, value string
	important       bool
}

// step is one compound of a selector.
type step struct {
	tag     string
	classes []string
	child   bool // must be a child of the element of the step before
}

// rulesOf parses the rules that apply on a wide screen, in order of specificity. Rules with pseudo
// classes and attributes are ignored; the pages do not need them.
func rulesOf(sheet string, dark bool) []rule {
	var rules []rule
	for sheet != "" {
		head, rest, ok := strings.Cut(sheet, "{")
		if !ok {
			break
		}
		if head = strings.TrimSpace(head); !strings.HasPrefix(head, "@") {
			body, after, _ := strings.Cut(rest, "}")
			rules = append(rules, declared(head, body)...)
			sheet = after
			continue
		}
		end := closing(rest)
		if dark && head == "@media (prefers-color-scheme: dark)" {
			rules = append(rules, rulesOf(rest[:end], dark)...)
		}
		sheet = rest[min(end+1, len(rest)):]
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		x, y := a.weight(), b.weight()
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	return rules
}

// closing returns the end of the block in which text begins.
func closing(text string) int {
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

func declared(selectors, body string) []rule {
	var rules []rule
	for selector := range strings.SplitSeq(selectors, ",") {
		steps, ok := stepsOf(selector)
		if !ok {
			continue
		}
		for property, value := range declarations(body) {
			value, important := strings.CutSuffix(value, "!important")
			rules = append(rules, rule{steps, property, strings.TrimSpace(value), important})
		}
	}
	return rules
}

var compound = regexp.MustCompile(`^(\w+)?((?:\.[\w-]+)*)$`)

func stepsOf(selector string) ([]step, bool) {
	var steps []step
	child := false
	for word := range strings.FieldsSeq(selector) {
		if word == ">" {
			child = true
			continue
		}
		m := compound.FindStringSubmatch(word)
		if m == nil {
			return nil, false
		}
		s := step{tag: m[1], child: child}
		if m[2] != "" {
			s.classes = strings.Split(m[2][1:], ".")
		}
		steps, child = append(steps, s), false
	}
	return steps, len(steps) > 0
}

// weight is the specificity: classes, then tags.
func (r rule) weight() (w [2]int) {
	for _, s := range r.steps {
		w[0] += len(s.classes)
		if s.tag != "" {
			w[1]++
		}
	}
	return w
}

func (r rule) matches(n *html.Node) bool { return matches(r.steps, n) }

// matches reports whether a selector matches an element.
func matches(steps []step, n *html.Node) bool {
	last := steps[len(steps)-1]
	if !last.is(n) {
		return false
	}
	above := steps[:len(steps)-1]
	if len(above) == 0 {
		return true
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if matches(above, p) {
			return true
		}
		if last.child {
			return false
		}
	}
	return false
}

func (s step) is(n *html.Node) bool {
	if n.Type != html.ElementNode || s.tag != "" && s.tag != n.Data {
		return false
	}
	have := strings.Fields(attr(n, "class"))
	return !slices.ContainsFunc(s.classes, func(c string) bool { return !slices.Contains(have, c) })
}

func TestRules(t *testing.T) {
	t.Parallel()
	root, err := html.Parse(strings.NewReader(`<div class="a b"><p>One</p><table><tr><td>Two</td></tr></table></div>`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		selector, tag string
		want          bool
	}{
		{".a p", "p", true}, {".a > p", "p", true}, {".a > td", "td", false}, {".a td", "td", true}, {"p", "td", false},
		{".a.b > table > tbody > tr > td", "td", true}, {".c p", "p", false}, {"div.b", "div", true},
	} {
		steps, ok := stepsOf(tt.selector)
		if !ok {
			t.Fatalf("%q is not parsed", tt.selector)
		}
		for n := range root.Descendants() {
			if n.Data == tt.tag && matches(steps, n) != tt.want {
				t.Errorf("%q matches <%s>: %t; want %t", tt.selector, tt.tag, !tt.want, tt.want)
			}
		}
	}
}
