package starter_test

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// checkPage checks the structure, the accessibility (WCAG 2.2) and the required links of a rendered
// page, in light and dark colours.
func checkPage(t *testing.T, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page, "{{") || strings.Contains(page, "{%") {
		t.Error("Liquid is left in the page")
	}
	headings, hrefs, metas, styles := map[string]int{}, map[string]int{}, map[string]string{}, ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "html":
			if attr(n, "lang") != "en" || attr(n, "dir") != "ltr" {
				t.Errorf("<html> has lang=%q dir=%q", attr(n, "lang"), attr(n, "dir"))
			}
		case "title":
			if strings.TrimSpace(words(n)) == "" {
				t.Error("the page has no title")
			}
		case "meta":
			metas[attr(n, "name")] = attr(n, "content")
		case "style":
			styles += words(n) + "\n"
		case "link", "script":
			t.Errorf("the page loads or runs <%s>", n.Data)
		case "h1", "h2", "h3":
			headings[n.Data]++
			if n.Data == "h3" && headings["h2"] == 0 || n.Data == "h2" && headings["h1"] == 0 {
				t.Errorf("<%s> %q comes before any heading of the level above", n.Data, words(n))
			}
			if strings.TrimSpace(words(n)) == "" {
				t.Errorf("an <%s> is empty", n.Data)
			}
		case "img":
			if !has(n, "alt") {
				t.Errorf("an image has no alt: %s", attr(n, "src"))
			}
			if attr(n, "src") == "" {
				t.Error("an image has no src")
			}
		case "a":
			href := attr(n, "href")
			hrefs[href]++
			if href == "" || href == "#" {
				t.Errorf("the link %q has no address", words(n))
			}
			if vague := strings.ToLower(strings.TrimSpace(words(n))); vague == "" && !hasImage(n) || slices.Contains([]string{"here", "click here", "more", "read more", "link"}, vague) {
				t.Errorf("the link to %s has the vague text %q", href, vague)
			}
		case "table":
			if attr(n, "role") != "presentation" && !hasHeaderCells(n) {
				t.Errorf("a table is neither for layout nor has header cells: %.80q", words(n))
			}
		}
	}
	if headings["h1"] != 1 {
		t.Errorf("the page has %d headings <h1>; want 1", headings["h1"])
	}
	for _, want := range []string{"https://mail.example.com/u", "https://mail.example.com/p", "https://mail.example.com/v"} {
		if hrefs[want] == 0 {
			t.Errorf("no link to %s", want)
		}
	}
	for _, name := range []string{"color-scheme", "supported-color-schemes"} {
		if metas[name] != "light dark" {
			t.Errorf("the meta %s is %q", name, metas[name])
		}
	}
	if !strings.Contains(styles, "[data-ogsc]") {
		t.Error("no style for the mail programs that mark darkened elements ([data-ogsc])")
	}
	for scheme, rules := range map[string][]rule{"light": rulesOf(styles, false), "dark": rulesOf(styles, true)} {
		styleChecker{t, scheme, rules}.walk(root, style{color: "#000000", background: "#ffffff", size: 16})
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// words returns the text in a node.
func words(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(words(c))
	}
	return b.String()
}

// hasImage reports whether a node contains an image with a text.
func hasImage(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.Data == "img" && attr(c, "alt") != "" {
			return true
		}
	}
	return false
}

func hasHeaderCells(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.Data == "th" && attr(c, "scope") != "" {
			return true
		}
	}
	return false
}

// style is the inherited style of a text.
type style struct {
	color, background string
	size              float64
}

// styleChecker checks the styles of a page in one color scheme.
type styleChecker struct {
	t      *testing.T
	scheme string
	rules  []rule
}

func (l styleChecker) walk(n *html.Node, s style) {
	switch n.Type {
	case html.TextNode:
		if text := strings.TrimSpace(n.Data); text != "" {
			l.text(text, s)
		}
		return
	case html.ElementNode:
		if n.Data == "head" {
			return
		}
		if declared := l.declared(n); declared["display"] == "none" {
			return
		} else {
			s = s.with(declared)
		}
	}
	for c := range n.ChildNodes() {
		l.walk(c, s)
	}
}

func (l styleChecker) text(text string, s style) {
	const least, small = 4.5, 14 // WCAG 2.2, 1.4.3; pixels
	if c := contrast(s.color, s.background); c < least {
		l.t.Errorf("%s: %.60q is %s on %s, a contrast of %.2f; want %v", l.scheme, text, s.color, s.background, c, least)
	}
	if s.size < small {
		l.t.Errorf("%s: %.60q is %v pixels high; want %d", l.scheme, text, s.size, small)
	}
}

// declared returns the declarations for an element: attributes override sheets, and !important
// overrides both.
func (l styleChecker) declared(n *html.Node) map[string]string {
	d := map[string]string{}
	if c := attr(n, "bgcolor"); c != "" {
		d["background-color"] = c
	}
	apply := func(important bool) {
		for _, r := range l.rules {
			if r.important == important && r.matches(n) {
				d[r.property] = r.value
			}
		}
	}
	apply(false)
	maps.Copy(d, declarations(attr(n, "style")))
	apply(true)
	return d
}

func (s style) with(declared map[string]string) style {
	if c, ok := color(declared["color"]); ok {
		s.color = c
	}
	for _, p := range []string{"background", "background-color"} {
		if c, ok := color(declared[p]); ok {
			s.background = c
		}
	}
	if size, ok := strings.CutSuffix(declared["font-size"], "px"); ok {
		if f, err := strconv.ParseFloat(size, 64); err == nil {
			s.size = f
		}
	}
	return s
}

func declarations(text string) map[string]string {
	d := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(part, ":"); ok {
			d[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return d
}

var hex = regexp.MustCompile(`^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b`)

// color returns a colour in six digits.
func color(value string) (string, bool) {
	c := hex.FindString(value)
	if len(c) == 4 {
		c = "#" + strings.Repeat(c[1:2], 2) + strings.Repeat(c[2:3], 2) + strings.Repeat(c[3:4], 2)
	}
	return c, c != ""
}

// contrast is the ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG 2.2.
func luminance(c string) float64 {
	channel := func(digits string) float64 {
		n, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			return math.NaN()
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c[1:3]) + 0.7152*channel(c[3:5]) + 0.0722*channel(c[5:7])
}

func TestContrast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#ffffff", "#ffffff", 1}} {
		if got := contrast(tt.a, tt.b); math.Abs(got-tt.want) > 0.005 {
			t.Errorf("contrast(%s, %s) = %.3f; want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
