package markup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// piece is a token as a test shows it.
type piece struct {
	Kind       markup.Kind
	Name, Text string
}

func pieces(s *markup.Scanner) []piece {
	var list []piece
	for {
		t, ok := s.Next()
		if !ok {
			return list
		}
		list = append(list, piece{t.Kind, t.Name, s.Source[t.Start:t.End]})
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	xml := markup.Syntax{XML: true, Raw: map[string]bool{"mj-style": true}}
	for _, tt := range []struct {
		name, src string
		syntax    markup.Syntax
		want      []piece
	}{
		{"nothing", "", markup.Syntax{}, nil},
		{"tags and text", "a<P class=b>c</P\n>", markup.Syntax{}, []piece{{markup.Text, "", "a"}, {markup.StartTag, "p", "<P class=b>"}, {markup.Text, "", "c"}, {markup.EndTag, "p", "</P\n>"}}},
		{"angle brackets that begin nothing", "1 < 2 << 3 </", markup.Syntax{}, []piece{{markup.Text, "", "1 < 2 << 3 "}, {markup.Text, "", "</"}}},
		{"comments", "<!-- a > b --><!--><!-- --!><? c ></ d><!e>", markup.Syntax{}, []piece{{markup.Comment, "", "<!-- a > b -->"}, {markup.Comment, "", "<!-->"}, {markup.Comment, "", "<!-- --!>"},
			{markup.Comment, "", "<? c >"}, {markup.Comment, "", "</ d>"}, {markup.Comment, "", "<!e>"}}},
		{"a declaration", "<!DOCTYPE html><!-- ", markup.Syntax{}, []piece{{markup.Declaration, "", "<!DOCTYPE html>"}, {markup.Comment, "", "<!-- "}}},
		{"elements of text", "<style>a > b </style ><TITLE><b></title><script><!-- <script></script> --></script>", markup.Syntax{}, []piece{{markup.StartTag, "style", "<style>"}, {markup.Text, "style", "a > b "}, {markup.EndTag, "style", "</style >"},
			{markup.StartTag, "title", "<TITLE>"}, {markup.Text, "title", "<b>"}, {markup.EndTag, "title", "</title>"},
			{markup.StartTag, "script", "<script>"}, {markup.Text, "script", "<!-- <script></script> -->"}, {markup.EndTag, "script", "</script>"}}},
		{"Liquid", `{{ a | append: "<b>" }}<p {% if a > b %}c{% endif %} d="{{ ">" }}">{% comment %}<i>{% endcomment %}`, markup.Syntax{}, []piece{{markup.Text, "", `{{ a | append: "<b>" }}`},
			{markup.StartTag, "p", `<p {% if a > b %}c{% endif %} d="{{ ">" }}">`}, {markup.Text, "", "{% comment %}<i>{% endcomment %}"}}},
		{"Liquid behind an angle bracket", "<{{ a }} b>", markup.Syntax{}, []piece{{markup.Text, "", "<{{ a }} b>"}}},
		{"Liquid that names a tag", "<{{ a }} b>", markup.Syntax{Names: true}, []piece{{markup.StartTag, "xxxxxxx", "<{{ a }} b>"}}},
		{"Liquid in the name of a tag", "<{% if a %}{% if b %}c d><{% if e %} f></{{ g }}>", markup.Syntax{Names: true}, []piece{{markup.StartTag, "xxxxxxxxxx", "<{% if a %}{% if b %}c d>"}, {markup.Text, "", "<{% if e %} f>"}, {markup.EndTag, "xxxxxxx", "</{{ g }}>"}}},
		{"never closed", "<p>a<b c='>", markup.Syntax{}, []piece{{markup.StartTag, "p", "<p>"}, {markup.Text, "", "a"}, {markup.Unclosed, "b", "<b c='>"}}},
		{"CDATA in HTML", "<![CDATA[ > ]]>", markup.Syntax{}, []piece{{markup.Comment, "", "<![CDATA[ >"}, {markup.Text, "", " ]]>"}}},
		{"CDATA in MJML", "<![CDATA[ > ]]>a", xml, []piece{{markup.CData, "", "<![CDATA[ > ]]>"}, {markup.Text, "", "a"}}},
		{"empty elements in MJML", "<mj-style /><a><mj-style><a></mj-style>", xml, []piece{{markup.StartTag, "mj-style", "<mj-style />"}, {markup.StartTag, "a", "<a>"},
			{markup.StartTag, "mj-style", "<mj-style>"}, {markup.Text, "mj-style", "<a>"}, {markup.EndTag, "mj-style", "</mj-style>"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, pieces(markup.New(tt.src, tt.syntax))); diff != "" {
				t.Errorf("tokens of %s (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tag, want string }{
		{`<p>`, ""},
		{`<p a B=c d = 'e f' g="">`, `a b[c] d'e f' g""`},
		{`<p/a=b//c/>`, `a[b//c/]`},
		{`<p/a/b="c"/>`, `a b"c"`},
		{`<p =a=b "c>`, `=a[b] "c`},
		{`<p a="b"c='d'>`, `a"b" c'd'`},
		{`<p a={{ b }}c d="{% if e %}f{% endif %}">`, `a[{{ b }}c] d"{% if e %}f{% endif %}"`},
		{`<p {% if a %}b=c{% endif %}d>`, `b[c{% endif %}d]`},
		{`<p a={% if b %} "c" {% endif %} d>`, `a[{% if b %}] "c" d`},
		{`<p a{% if b %}=c>`, `a =c`},
		{`</p a=b>`, `a[b]`},
		{`<p a="b`, `a"b"`},
	} {
		s := markup.New(tt.tag, markup.Syntax{})
		token, _ := s.Next()
		var got []string
		for a := range s.Attributes(token) {
			name := a.Name
			if value := s.Source[a.Start:a.End]; a.Quote != 0 {
				name += string(a.Quote) + value + string(a.Quote)
			} else if a.Valued {
				name += "[" + value + "]"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("attributes of %s: %s, want %s", tt.tag, strings.Join(got, " "), tt.want)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	tag := `<img ALT='{{ a | default: "&amp;" }} &amp; b' alt="c" src=x>`
	if got, want := markup.Lookup(tag, "alt"), `{{ a | default: "&amp;" }} & b`; got != want {
		t.Errorf("Lookup = %q; want %q", got, want)
	}
	if got := markup.Lookup(tag, "href"); got != "" {
		t.Errorf("missing Lookup = %q", got)
	}
}

func TestConditionalComments(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`<!--[if mso]><p><![endif]-->`:           `<p><![endif]-->`,
		`<!-- [IF gte mso 9]>a<![endif]-->`:      `a<![endif]-->`,
		`<!--[if !mso]><!--><p><!--<![endif]-->`: `<!-->`,
		`<!-- a ]>b -->`:                         "",
		`<!--[if mso --> ]>`:                     "",
		`<!--]>`:                                 "",
		`<![if mso]>`:                            "",
	} {
		s := markup.New(src, markup.Syntax{})
		token, _ := s.Next()
		var got []string
		if inner, ok := s.Conditional(token); ok {
			for _, p := range pieces(inner) {
				got = append(got, p.Text)
			}
		}
		if strings.Join(got, "") != want {
			t.Errorf("%s holds %q, want %q", src, got, want)
		}
	}
}

// FuzzScanner holds tokens against those of golang.org/x/net/html where there is
// no Liquid, and against the source where there is.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"a<p b='c' d=e f>g</p>", "<!-- a --!><!doctype b><? c ></ d><!-->", "<style><b></style ><script><!--<script></script>--></script>", "<plaintext></plaintext>", "<textarea></textarea x>",
		"<p a=/><p a=b/><br/><br / ><p =a=b/c =d>", "{{ a }}<p {% if b %}c='{{ d }}'{% endif %}>", "{% raw %}{{ a }}{% endraw %}{{{ b }}}", "{% comment %}{% raw %}{% endcomment %}", "<{{ a }}><a b={% c %}'d' e>",
		"<!--[if mso]><a b='c'><!--[if d]>e<![endif]-->", "<a b=\"{{ c", "<![CDATA[ a ]]>", "<p\x00 a\xff=\u00a0>", "<mj-style /></mj-style>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, syntax := range []markup.Syntax{{}, {Names: true}, {XML: true, Raw: map[string]bool{"mj-style": true}}} {
			checkTokens(t, markup.New(src, syntax), 0, len(src))
		}
		plain := markup.Mask(src)
		if len(plain) != len(src) {
			t.Errorf("Mask(%q) has another length: %q", src, plain)
		}
		if got, want := named(pieces(markup.Rendered(plain))), browser(plain); !strings.Contains(strings.ToLower(src), "<script") && !slices.Equal(got, want) {
			t.Errorf("tokens of %q:\n got %q\nwant %q", plain, got, want)
		}
	})
}

// checkTokens fails where tokens do not cover the source from start to end, or
// their attributes lie outside of them.
func checkTokens(t *testing.T, s *markup.Scanner, start, end int) {
	t.Helper()
	at := start
	for {
		token, ok := s.Next()
		if !ok {
			break
		}
		if token.Start != at || token.End <= at || token.End > end {
			t.Fatalf("the token %+v follows on %d in %q", token, at, s.Source)
		}
		at = token.End
		switch token.Kind {
		case markup.StartTag, markup.EndTag, markup.Unclosed:
			last := token.Start
			for a := range s.Attributes(token) {
				if a.Before < last || a.Start < a.Before || a.End < a.Start || a.After < a.End || a.After > token.End {
					t.Fatalf("the attribute %+v of %+v in %q", a, token, s.Source)
				}
				last = a.After
			}
		case markup.Comment:
			if inner, ok := s.Conditional(token); ok {
				first := *inner
				if from, ok := first.Next(); ok {
					checkTokens(t, inner, from.Start, token.End)
				}
			}
		}
	}
	if at != end {
		t.Fatalf("tokens end at %d of %q", at, s.Source)
	}
}

// named returns tokens with their names, as browser does.
func named(list []piece) []string {
	var out []string
	for _, p := range list {
		switch p.Kind {
		case markup.Text:
			p.Name = ""
		case markup.Unclosed:
			continue // which a browser drops
		}
		out = append(out, strings.Join([]string{map[markup.Kind]string{markup.StartTag: "start", markup.EndTag: "end", markup.Comment: "comment", markup.Declaration: "declaration"}[p.Kind], p.Name, p.Text}, "|"))
	}
	return out
}

// browser returns the tokens that golang.org/x/net/html finds.
func browser(src string) []string {
	var out []string
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out
		}
		raw := string(z.Raw())
		what := map[html.TokenType]string{html.StartTagToken: "start", html.SelfClosingTagToken: "start", html.EndTagToken: "end", html.CommentToken: "comment", html.DoctypeToken: "declaration"}[kind]
		name, _ := z.TagName()
		out = append(out, what+"|"+strings.ReplaceAll(string(name), "\ufffd", "\x00")+"|"+raw)
	}
}
