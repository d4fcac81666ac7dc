package binding

import (
	"fmt"
	"strings"
	"testing"

	tokens "golang.org/x/net/html"
	"pgregory.net/rapid"
)

// outline returns the tokens of HTML, without their text.
func outline(html string) string {
	var b strings.Builder
	z := tokens.NewTokenizer(strings.NewReader(html))
	for {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return b.String()
		}
		t := z.Token()
		if kind != tokens.TextToken && t.Data != "br" {
			fmt.Fprintf(&b, "%v%d ", kind, len(t.Attr))
		}
	}
}

// Places agree with the way browsers parse HTML: a text in place of a placeholder that
// would have a meaning wherever it is not escaped correctly changes no
// token, at any position in broken HTML.
func TestPlacesAreKnown(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"{{x}}", "{{x}}", "<p>", "<p ", "</p>", "</p", "<", ">", "/", "/>", "=", `"`, "'", " ", "a", "b=c", `title="`, "title='", "title=",
		"={{x}}>", "= {{x}} ", "<!--", "-->", "--!>", "-", "--", "<!", "<!doctype html>", "<?", "</", "</ ", "<style>", "</style>", "</style ", "<STYLE a>", "<title>", "</title>",
		"<textarea>", "</textarea>", "<script>", "</script>", "<br/>", "<style/>", "\n", "!", "[", "<![CDATA[", "]]>", "<a<b>", "<svg>", "<1", "&",
	})
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(piece, 1, 12).Draw(rt, "template")
		body := strings.Join(pieces, "")
		d := mustParse(t, Bodies{HTML: body}, Schema{Parameters: []Parameter{{Name: "x"}}})
		of := func(t Type, x string) string {
			return d.Expand(Bound{Values: map[string]Value{"x": {t, x}}}).HTML
		}
		want := of(Text, "v")
		for _, typ := range []Type{Text, Textarea, RichText} {
			for _, x := range []string{`v'"><q a=b c>-->]]></style></title></textarea></script>v`, "v --> v\n--!>v", "v/v=v`v"} {
				if typ == RichText {
					x = strings.NewReplacer("<q a=b c>", "&lt;q a=b c&gt;", "</", "&lt;/").Replace(x)
				}
				if got := of(typ, x); outline(got) != outline(want) {
					rt.Fatalf("%s: %q has the tokens %s\n%q has %s", typ, got, outline(got), want, outline(want))
				}
			}
		}
	})
}

func TestValuesInLiquid(t *testing.T) {
	d := mustParse(t, Bodies{
		HTML: `{{#section rows}}{{item:text | size}}<p a="{{item:text | size}}" b='{{item:text | size}}'>{{/section}}`,
		Text: "{{#section rows}}{% if {{item:number}} == {{item:boolean}} or {{item:list}} == {{item:rich_text}} or {{item:date}} == {{item:_index}} %}{% endif %}{{/section}}",
	}, everything())
	row := texts("text", `a"b'c%}}}`, "rich_text", "<p>x</p>")
	row["boolean"], row["list"] = Value{Boolean, false}, Value{List, []string{"a", "b"}}
	got := d.Expand(Bound{Rows: map[string][]map[string]Value{"rows": {row}}})
	html := `{{ 'a"b’c% } }}' | size }}<p a="{{ 'a"b’c% } }}' | size }}" b='{{ "a”b'c% } }}" | size }}'>`
	html = strings.ReplaceAll(html, "% } }}'", "% }} }'")
	html = strings.ReplaceAll(html, `% } }}"`, `% }} }"`)
	if got.HTML != html {
		t.Errorf("html = %q, want %q", got.HTML, html)
	}
	if want := `{% if nil == false or "a, b" == "x" or nil == 1 %}{% endif %}`; got.Text != want {
		t.Errorf("text = %q, want %q", got.Text, want)
	}
}
