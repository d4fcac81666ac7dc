package inline_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	tokens "golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/inline"
)

var (
	ruleText = regexp.MustCompile(`(@media x\{)?([^{}@<>]+)\{([^{}]*)\}`)
	sheet    = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
)

// shown returns which value each paragraph has of a property, in a medium or not, as a browser decides it.
func shown(t *rapid.T, doc string, media bool) []string {
	type weight struct {
		important bool
		place     int // 1: in the attribute
		specific  cascadia.Specificity
		order     int
	}
	less := func(a, b weight) bool {
		switch {
		case a.important != b.important:
			return b.important
		case a.place != b.place:
			return a.place < b.place
		case a.specific != b.specific:
			return a.specific.Less(b.specific)
		}
		return a.order <= b.order
	}
	root, err := tokens.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	css := ""
	if m := sheet.FindStringSubmatch(doc); m != nil {
		css = m[1]
	}
	var values []string
	for _, p := range cascadia.QueryAll(root, cascadia.MustCompile("p")) {
		value, won, n := "", weight{}, 0
		declare := func(text string, w weight) {
			for d := range strings.SplitSeq(text, ";") {
				n++
				_, v, ok := strings.Cut(d, ":")
				v, _, w.important = strings.Cut(v, "!important")
				if w.order = n; ok && (value == "" || less(won, w)) {
					value, won = strings.TrimSpace(v), w
				}
			}
		}
		for _, m := range ruleText.FindAllStringSubmatch(css, -1) {
			if m[1] != "" && !media {
				continue
			}
			for s := range strings.SplitSeq(m[2], ",") {
				sel, err := cascadia.Parse(strings.TrimSpace(s))
				if err != nil {
					t.Fatal(err, m[2])
				}
				if sel.Match(p) {
					declare(m[3], weight{specific: sel.Specificity()})
				}
			}
		}
		for _, a := range p.Attr {
			if a.Key == "style" {
				declare(a.Val, weight{place: 1})
			}
		}
		values = append(values, value)
	}
	return values
}

// The value that wins in the document is the one that wins in the outcome, in a medium and without.
func TestTheSameValuesWin(t *testing.T) {
	t.Parallel()
	selectors := rapid.SampledFrom([]string{"p", ".a", ".b", ".a.b", "p.c", "#i", "#i.a", "p, .c", ".a, .b"})
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		value := func() string {
			n++
			return fmt.Sprintf("color:v%d", n) + rapid.SampledFrom([]string{"", "", " !important"}).Draw(t, "importance")
		}
		var doc strings.Builder
		doc.WriteString("<style>")
		for range rapid.IntRange(1, 6).Draw(t, "rules") {
			rule := selectors.Draw(t, "selector") + "{" + value() + "}"
			if rapid.Bool().Draw(t, "media") {
				rule = "@media x{" + rule + "}"
			}
			doc.WriteString(rule)
		}
		doc.WriteString("</style>")
		for range rapid.IntRange(1, 3).Draw(t, "elements") {
			style := rapid.SampledFrom([]string{"", "", " style='%'"}).Draw(t, "style")
			if style != "" {
				style = strings.Replace(style, "%", value(), 1)
			}
			doc.WriteString("<p" + rapid.SampledFrom([]string{"", " class='a'", " class='a b'", " class='b c'", " id='i'", " id='i' class='a c'"}).Draw(t, "names") + style + "></p>")
		}
		got, err := inline.CSS(doc.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, media := range []bool{false, true} {
			if before, after := shown(t, doc.String(), media), shown(t, got, media); !slices.Equal(before, after) {
				t.Fatalf("media %v: %q, before %q\n%s\n%s", media, after, before, doc.String(), got)
			}
		}
	})
}
