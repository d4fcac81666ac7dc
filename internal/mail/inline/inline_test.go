package inline_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tokens "golang.org/x/net/html"

	"github.com/packetboat/packetboat/internal/mail/inline"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

var update = flag.Bool("update", false, "write the golden files")

func TestCSS(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no style", "<p>a", "<p>a"},
		{"a type", "<style>p{color:red}</style><p>a", `<p style="color:red">a`},
		{"several selectors", "<style>p, b {color:red; margin : 0 }</style><p><b>a", `<p style="color:red;margin:0"><b style="color:red;margin:0">a`},
		{"a class, an id, an attribute", `<style>.a{top:1px}#b{top:2px}[width="3"]{left:0}a[href^=http]{top:4px}</style><p class="x a"><p id=b width=3><a href="https://x"></a>`,
			`<p style="top:1px" class="x a"><p style="left:0;top:2px" id=b width=3><a style="top:4px" href="https://x"></a>`},
		{"the cascade", `<style>#i{top:1px}.c{top:2px;left:2px}p{top:3px;left:3px;right:3px}</style><p class=c id=i>`, `<p style="right:3px;left:2px;top:1px" class=c id=i>`},
		{"later of the same weight", `<style>a[href]{top:1px}a.b{top:2px}</style><a class=b href=x>`, `<a style="top:2px" class=b href=x>`},
		{"fallbacks in one rule", `<style>p{width:100%;width:calc(1px)}</style><p>`, `<p style="width:100%;width:calc(1px)">`},
		{"the attribute wins", `<style>p{color:red;top:0}</style><p style="color:blue;">`, `<p style="top:0;color:blue">`},
		{"importance wins", `<style>p{color:red !important}</style><p style="color:blue">`, `<p style="color:blue;color:red">`},
		{"importance on both sides", `<style>p{color:red!IMPORTANT}</style><p style="color:blue !important">`, `<p style="color:blue !important">`},
		{"two attributes weigh more than a class", `<style>[id][lang]{top:1px}.a{top:2px}</style><p class=a id=i lang=en>`, `<p style="top:1px" class=a id=i lang=en>`},
		{"a pseudo-class weighs as much as a class", `<style>li:first-child{top:1px}li.a{top:2px}ul li{top:3px}</style><ul><li><li><li class=a></ul>`,
			`<ul><li style="top:1px"><li style="top:3px"><li style="top:2px" class=a></ul>`},
		{":not() weighs as much as what is in it", `<style>p:not(#x){top:1px}p.a.b{top:2px}b:not(i){left:1px}b{left:2px}</style><p class="a b"><b>`,
			`<p style="top:1px" class="a b"><b style="left:1px">`},
		{"marks in a value weigh nothing", `<style>[title="a.b#c"]{top:1px}p.a{top:2px}</style><p class=a title="a.b#c">`, `<p style="top:2px" class=a title="a.b#c">`},
		{"no number of classes weighs as much as an id", `<style>#i{top:1px}` + strings.Repeat(".a", 12) + `{top:2px}</style><p class=a id=i>`, `<p style="top:1px" class=a id=i>`},
		{"importance before specificity", `<style>p{top:1px!important;left:1px}#i{top:2px;left:2px}</style><p id=i>`, `<p style="left:2px;top:1px" id=i>`},
		{"specificity before order, across style elements", `<style>.a{top:1px}p{left:1px}</style><style>p{top:2px;left:2px}</style><p class=a>`, `<p style="left:2px;top:1px" class=a>`},
		{"a substring", `<style>[class*=tt]{top:0}</style><p class=button>`, `<p style="top:0" class=button>`},
		{"what no attribute can say", `<style>:root{top:0}p *{top:1px}a:not(:hover){top:2px}p:input{top:3px}p{top:4px}</style><p><a>`, `<style>:root{top:0}p *{top:1px}a:not(:hover){top:2px !important}p:input{top:3px}</style><p style="top:4px"><a>`},
		{"descendants and children", `<style>.a b{top:1px}.a>b{left:1px}i b{right:1px}</style><p class=a><b></b><i><b></b></i>`,
			`<p class=a><b style="top:1px;left:1px"></b><i><b style="right:1px;top:1px"></b></i>`},
		{"neighbours", `<style>p+p{top:1px}p~b{top:2px}p:first-child{left:0}</style><div><p></p><p></p><b></b></div>`, `<div><p style="left:0"></p><p style="top:1px"></p><b style="top:2px"></b></div>`},
		{"stripes", `<style>td:nth-child(even){top:0}td:last-child{left:0}</style><table><tr><td>a<td>b<td>c</table>`, `<table><tr><td>a<td style="top:0">b<td style="left:0">c</table>`},
		{"implied ends", `<style>li>b{top:0}p>p{left:0}</style><ul><li>a<li><b>b</b></ul><p>a<p>b`, `<style>p>p{left:0}</style><ul><li>a<li><b style="top:0">b</b></ul><p>a<p>b`},
		{":link", `<style>a:link{color:red}</style><a href=x>a</a><a name=y>`, `<a style="color:red" href=x>a</a><a name=y>`},
		{"quotes", `<style>p{font-family:"A B",C}b{content:"\"'"}</style><p><b><p style='top:0'><b style='left:0'>`,
			`<p style="font-family:'A B',C"><b style="content:&quot;\&quot;'&quot;"><p style='font-family:"A B",C;top:0'><b style='content:"\"&#39;";left:0'>`},
		{"URLs", `<style>p{background:url(data:image/png;base64,AA==) no-repeat;color:red}b{background:url("https://x/?a=1&b={2}")}</style><p><b>`,
			`<p style="background:url(data:image/png;base64,AA==) no-repeat;color:red"><b style="background:url('https://x/?a=1&amp;b={2}')">`},
		{"an attribute without quotes", `<style>p{top:0}</style><p style=color:red id=a><p style id=b>`, `<p style="top:0;color:red" id=a><p style="top:0" id=b>`},

		{"media queries", "<style>p{top:0}@media (max-width:600px){p{top:1px;left:0!important} b{c:d;}}</style><p>",
			"<style>@media (max-width:600px){p{top:1px !important;left:0!important} b{c:d !important;}}</style><p style=\"top:0\">"},
		{"a style element for one medium", `<style media="print">p{top:0}</style><style>p{left:0}</style><p>`, `<style media="print">p{top:0 !important}</style><p style="left:0">`},
		{"other at-rules", `<style>@import url(x.css);@font-face{font-family:X;src:url(x)}@keyframes a{from{top:0}to{top:1px}}p{top:0}</style><p>`,
			`<style>@import url(x.css);@font-face{font-family:X;src:url(x)}@keyframes a{from{top:0}to{top:1px}}</style><p style="top:0">`},
		{"pseudo-classes", `<style>a{top:0}a:hover{top:1px}a:visited{top:2px}a::before{content:"x"}</style><a>`,
			`<style>a:hover{top:1px !important}a:visited{top:2px}a::before{content:"x"}</style><a style="top:0">`},
		{"a selector that stays beside one that goes", `<style>a, a:hover {top:0}</style><a>`, `<style>a:hover {top:0 !important}</style><a style="top:0">`},
		{"what mail programs add", `<style>.ExternalClass{width:100%}#outlook a{padding:0}[data-ogsc] p{color:#fff}u + .body p{top:0}</style><p>`,
			`<style>.ExternalClass{width:100%}#outlook a{padding:0}[data-ogsc] p{color:#fff}u + .body p{top:0}</style><p>`},
		{"a reset", `<style>*{margin:0}p{margin:1px}</style><p>`, `<style>*{margin:0}</style><p style="margin:1px">`},
		{"what is no rule", `<style>p{top:0;b{left:0}} /* } */ i{top:0} } ;; u{*zoom:1;top:0}</style><p><i><u>`, `<style>p{top:0;b{left:0}} /* } */ } ;;</style><p><i style="top:0"><u style="top:0">`},
		{"never closed", `<style>p{top:0} b{left:0</style><p><b>`, `<style> b{left:0</style><p style="top:0"><b>`},
		{"hidden from old browsers", "<style><!--\np{top:0}\n--></style><p>", "<p style=\"top:0\">"},
		{"to be left alone", `<style data-embed>p{top:0}</style><style type="text/x">p{top:1px}</style><p>`, `<style data-embed>p{top:0}</style><style type="text/x">p{top:1px}</style><p>`},
		{"commas that part nothing", `<style>a[title="a,b"],b,:is(i,u){top:0}</style><a title="a,b"><b><i>`, `<style>:is(i,u) {top:0}</style><a style="top:0" title="a,b"><b style="top:0"><i>`},
		{"types behind a >", `<style>td>p{top:1px}div p{top:2px}p{top:3px}</style><div><table><tr><td><p>`, `<div><table><tr><td><p style="top:2px">`},
		{"elements without a tag", `<style>body{margin:0}tbody{top:0}td{left:0}</style><table><tr><td>`, `<style>body{margin:0}tbody{top:0}</style><table><tr><td style="left:0">`},
		{"elements that the parser moves", `<style>p{top:0}b{left:0}</style><table><p>a<tr><td><b><p>b</b></table><b><p>c</b>d`, `<table><p style="top:0">a<tr><td><b style="left:0"><p style="top:0">b</b></table><b style="left:0"><p style="top:0">c</b>d`},
		{"an attribute like that of our copy", `<style>p{top:0}</style><p pr-el-id=0 n=7><p n=0>`, `<p style="top:0" pr-el-id=0 n=7><p style="top:0" n=0>`},
		{"shorthands in the order of the cascade", `<style>.a{margin:2px}p{margin:0;margin-top:1px}</style><p class=a>`, `<p style="margin-top:1px;margin:2px" class=a>`},

		{"Liquid in text", `<style>p{top:0}</style><p>{{ a | default: "<p>" }}{% if a > b %}x{% endif %}`, `<p style="top:0">{{ a | default: "<p>" }}{% if a > b %}x{% endif %}`},
		{"Liquid between rows", `<style>td{top:0}</style><table>{% for r in rows %}<tr><td>{{ r }}</td></tr>{% else %}none{% endfor %}</table>`,
			`<table>{% for r in rows %}<tr><td style="top:0">{{ r }}</td></tr>{% else %}none{% endfor %}</table>`},
		{"Liquid in attributes", `<style>a{top:0}</style><a href="{{ x | default: "y>z" }}" title='{% if a %}"{% endif %}'>`, `<a style="top:0" href="{{ x | default: "y>z" }}" title='{% if a %}"{% endif %}'>`},
		{"Liquid in a style", `<style>p{top:0;color:red}</style><p style="color: {{ c | default: "a;b" }}"><p style="{% if a %}color:blue{% endif %}">`,
			`<p style="top:0;color: {{ c | default: "a;b" }}"><p style="top:0;color:red;{% if a %}color:blue{% endif %}">`},
		{"Liquid in a value", `<style>p{color:{{ account.color | default: "red" }};top:0}</style><p>`, `<p style="color:{{ account.color | default: "red" }};top:0">`},
		{"Liquid around rules", `<style>p{top:0}{% if a > b %}p{top:1px}{% endif %}</style><p>`, `<style>{% if a > b %}p{top:1px !important}{% endif %}</style><p style="top:0">`},
		{"Liquid within a rule", `<style>p{top:0;{% if a %}left:0{% endif %}}b{top:0}</style><p><b>`, `<style>p{top:0;{% if a %}left:0{% endif %}}</style><p><b style="top:0">`},
		{"Liquid in a selector", `<style>.{{ x }}{top:0}b{top:0}</style><b>`, `<style>.{{ x }}{top:0}</style><b style="top:0">`},
		{"Liquid decides the class", `<style>.a{top:0}b{top:1px}</style><b class="{{ x }}"></b><b class=a></b><i class="a {% if x %}b{% endif %}">`,
			`<style>.a{top:0}b{top:1px}</style><b class="{{ x }}"></b><b style="top:0" class=a></b><i class="a {% if x %}b{% endif %}">`},
		{"Liquid decides an ancestor's class", `<style>.a p{top:0}.b p{left:0}</style><i class="{% if x %}a{% endif %} b"><p>`, `<style>.a p{top:0}</style><i class="{% if x %}a{% endif %} b"><p style="left:0">`},
		{"Liquid decides the attributes", `<style>p{top:0}b{top:0}</style><p {% if a %}style="left:0"{% endif %}><b>`, `<style>p{top:0}</style><p {% if a %}style="left:0"{% endif %}><b style="top:0">`},
		{"Liquid and stripes", `<style>tr:nth-child(even){top:0}</style><table>{% for i in l %}<tr>{% endfor %}<tr></table>`, `<style>tr:nth-child(even){top:0}</style><table>{% for i in l %}<tr>{% endfor %}<tr></table>`},
		{"halves of Liquid", `<style>p{content:"}}"}b{content:"{{"}</style><p><b>`, `<style>p{content:"}}"}b{content:"{{"}</style><p><b>`},
		{"our own placeholders", `<style>td{color:{{param:ink}}}</style><table>{{#section rows}}<tr><td>{{item:name}}</td></tr>{{/section}}</table>`,
			`<table>{{#section rows}}<tr><td style="color:{{param:ink}}">{{item:name}}</td></tr>{{/section}}</table>`},

		{"the rest, byte for byte", "<!DOCTYPE html PUBLIC \"x\">\r\n<HTML><style>p{top:0}</style><P CLASS=a >&nbsp;&#8202;<bR/>\r\n<img alt=a\nsrc=b>",
			"<!DOCTYPE html PUBLIC \"x\">\r\n<HTML><P style=\"top:0\" CLASS=a >&nbsp;&#8202;<bR/>\r\n<img alt=a\nsrc=b>"},
		{"conditional comments", `<style>td{top:0}p{top:0}</style><!--[if mso]><table><tr><td style="left:0"><![endif]--><p>a<!--[if !mso]><!--><p>b<!--<![endif]-->`,
			`<style>td{top:0}</style><!--[if mso]><table><tr><td style="left:0"><![endif]--><p style="top:0">a<!--[if !mso]><!--><p style="top:0">b<!--<![endif]-->`},
		{"conditional comments and what they need", `<style>.a{top:0}</style><!--[if mso]><td class="a"><![endif]--><p class=a>`, `<style>.a{top:0}</style><!--[if mso]><td class="a"><![endif]--><p style="top:0" class=a>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := inline.CSS(tt.in)
			if err != nil || got != tt.want {
				t.Errorf("CSS(%s), %v\n got %s\nwant %s", tt.in, err, got, tt.want)
			}
		})
	}
}

// What wins in the document wins in the outcome: kept rules become important only where they won, and
// inlined declarations where they won against important ones.
func TestKeptRulesWinAsBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"media before its base", `<style>@media (max-width:600px){.c{width:100%}} .c{width:300px}</style><div class="c">`,
			`<style>@media (max-width:600px){.c{width:100%}}</style><div style="width:300px" class="c">`},
		{"an important base", `<style>.b{padding:9px!important} @media print{.b{padding:1px}}</style><p class=b>`, `<style> @media print{.b{padding:1px}}</style><p style="padding:9px" class=b>`},
		{"a base of an id", `<style>#k .b{padding:9px} @supports (display:grid){.b{padding:1px}}</style><i id=k><p class=b>`, `<style> @supports (display:grid){.b{padding:1px}}</style><i id=k><p style="padding:9px" class=b>`},
		{"an author's attribute", `<style>p{margin:0} @media print{p{color:red}}</style><p style="color:blue">`, `<style> @media print{p{color:red}}</style><p style="margin:0;color:blue">`},
		{"interaction before its base", `<style>a:hover{color:blue} .x a.y{color:lime}</style><p class=x><a class=y>`, `<style>a:hover{color:blue}</style><p class=x><a style="color:lime" class=y>`},
		{"important and not among kept ones", `<style>@media x{.t{color:blue!important}} @media y{.w .t{color:lime}} p{margin:0}</style><div class=w><p class=t>`,
			`<style>@media x{.t{color:blue!important}} @media y{.w .t{color:lime}}</style><div class=w><p style="margin:0" class=t>`},
		{"both win against a base", `<style>p{color:red;margin:0} @media x{.t{color:blue!important}} @media y{.w .t{color:lime}}</style><div class=w><p class=t>`,
			`<style>p{color:red} @media x{.t{color:blue!important}} @media y{.w .t{color:lime}}</style><div class=w><p style="margin:0" class=t>`},
		{"an important one against a weaker important one", `<style>@media x{p{color:blue!important}} .t.t{color:red!important}</style><p class=t>`,
			`<style>@media x{p{color:blue!important}}</style><p style="color:red !important" class=t>`},
		{"for one element only", `<style>p{color:red} .b.c{color:green} @media x{.b{color:blue}}</style><p class=b><p class="b c">`,
			`<style>@media x{.b{color:blue !important}}</style><p style="color:red" class=b><p style="color:green !important" class="b c">`},
		{"an author's attribute for one", `<style>p{color:red} @media x{p{color:blue}}</style><p><p style="color:lime;margin:0">`,
			`<style>@media x{p{color:blue !important}}</style><p style="color:red"><p style="color:lime !important;margin:0">`},
		{"a part of a shorthand", `<style>@media x{p{margin-left:0}} p{margin:2px}</style><p>`, `<style>@media x{p{margin-left:0}}</style><p style="margin:2px">`},
		{"a shorthand later", `<style>p{margin-left:2px} @media x{p{margin:0}}</style><p>`, `<style>@media x{p{margin:0 !important}}</style><p style="margin-left:2px">`},
		{"unrelated properties", `<style>@media x{p{border-collapse:separate;color:red}} p{border:0;color:blue}</style><p>`,
			`<style>@media x{p{border-collapse:separate !important;color:red}}</style><p style="border:0;color:blue">`},
		{"later media", `<style>p{color:red}@media x{p{color:blue}}@media y{p{color:lime}}</style><p>`, `<style>@media x{p{color:blue !important}}@media y{p{color:lime !important}}</style><p style="color:red">`},
		{"a hover of an important base", `<style>a{color:red!important}a:hover{color:blue}</style><a>`, `<style>a:hover{color:blue}</style><a style="color:red">`},
	} {
		got, err := inline.CSS(tt.in)
		squeeze := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "> ", ">"), "} ", "}") }
		if err != nil || squeeze(got) != squeeze(tt.want) {
			t.Errorf("%s: CSS(%s), %v\n got %s\nwant %s", tt.name, tt.in, err, got, tt.want)
		}
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.in.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := inline.CSS(string(src))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		golden := strings.TrimSuffix(file, ".in.html") + ".out.html"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the outcome differs from %s:\n%s", file, golden, got)
		}
	}
}

// Hostile documents are done with, or refused, after work in proportion.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("megabytes take long under the race detector")
	}
	t.Parallel()
	deep := strings.Repeat("<div>", 100_000)
	for _, tt := range []struct {
		name, in string
		refused  bool
	}{
		{"too large", strings.Repeat("x", 5<<20+1), true},
		{"nearly too large", "<style>p{top:0}</style>" + strings.Repeat("x", 5<<20-100), false},
		{"deep", "<style>b{top:0}</style>" + deep, true},
		{"deep selectors", "<style>" + strings.Repeat("div ", 100_000) + "{top:0}</style><div>", false},
		{"backtracking", "<style>x " + strings.Repeat("div ", 12) + "b{top:0}</style>" + strings.Repeat("<div>", 400) + strings.Repeat("<b></b>", 1000), false},
		{"neighbours", "<style>x " + strings.Repeat("~ i ", 8) + "~ b{top:0}</style>" + strings.Repeat("<i></i>", 10_000) + "<b>", false},
		{"neighbours in many rules", "<style>" + strings.Repeat("i ~ i ~ i ~ b{top:0}", 2_000) + "</style>" + strings.Repeat("<i></i>", 20_000) + "<b>", true},
		{"names that are looked for in comments", "<style>" + strings.Repeat(".a", 100_000) + "{top:0}</style><p><!--[if mso]>" + strings.Repeat("b", 4<<20) + "a<![endif]-->", true},
		{"names that are repeated", "<style>a" + strings.Repeat(":link", 100_000) + "{top:0}</style>" + strings.Repeat("<a href=x>", 10_000), true},
		{"many selectors", "<style>" + strings.Repeat("p{top:0}", 6_000) + "</style><p>", true},
		{"many rules for many elements", "<style>" + strings.Repeat("p{top:0}", 4_000) + "</style>" + strings.Repeat("<p>", 100_000), true},
		{"just enough rules for many elements", "<style>" + strings.Repeat(".a{top:0}", 30) + "</style>" + strings.Repeat("<p class=a>", 25_000), false},
		{"just enough selectors", "<style>" + strings.Repeat("b i{top:0}", 400) + "</style>" + strings.Repeat("<p>", 9_000), false},
		{"elements that never hold others", "<style>param, p{top:0}</style><object><param>" + strings.Repeat("<param><plaintext><p>", 10) + "x", false},
		{"many declarations", "<style>p{" + strings.Repeat("top:0;", 300_000) + "}p{" + strings.Repeat("top:1px;", 300_000) + "}</style><p>", false},
		{"a declaration for many elements", "<style>p{content:'" + strings.Repeat("x", 1<<20) + "'}</style>" + strings.Repeat("<p>", 100), true},
		{"many classes", "<style>.a{top:0}</style><p class='" + strings.Repeat("a b c ", 500_000) + "'>", false},
		{"many attributes with Liquid", "<style>p{top:0}</style><p " + strings.Repeat("a='{{ b }}' ", 300_000) + ">", false},
		{"classes that are looked through", "<style>" + strings.Repeat(".b{top:0}", 60) + "</style><p class='" + strings.Repeat("a c ", 1_200_000) + "'>", true},
		{"siblings that are counted", "<style>p:nth-child(2){top:0}</style>" + strings.Repeat("<p>", 20_000), true},
		{"backtracking in :not()", "<style>b:not(" + strings.Repeat("div ", 12) + "b){top:0}</style>" + strings.Repeat("<div>", 400) + "<b>", false},
		{"formatting that is never closed", "<style>p{top:0}</style>" + strings.Repeat("<b>", 400) + strings.Repeat("<p>x", 60_000), false},
		{"bodies", "<style>p{top:0}</style><body " + strings.Repeat("a ", 1_000_000) + ">" + strings.Repeat("<body a=b>", 240_000), false},
		{"braces", "<style>" + strings.Repeat("{", 1_000_000) + "</style>", false},
		{"rules in rules", "<style>" + strings.Repeat("p{", 1_000_000) + "</style>", false},
		{"brackets", "<style>" + strings.Repeat("p[", 1_000_000) + "</style>", false},
		{"quotes", "<style>" + strings.Repeat(`p{a:"`, 1_000_000) + "</style>", false},
		{"comments", "<style>" + strings.Repeat("/*", 1_000_000) + "</style>", false},
		{"media in media", "<style>" + strings.Repeat("@media x{", 200_000) + "</style>", false},
		{"ends without starts", "<style>b{top:0}</style>" + strings.Repeat("<div>", 400) + strings.Repeat("</b>", 500_000), false},
		{"open tags", "<style>p{top:0}</style>" + strings.Repeat("<p ", 1_000_000), false},
		{"no text", "<style>p{top:0}\xff\x00</style><p \xff>\xfe\x00", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := inline.CSS(tt.in)
			if tt.refused != errors.Is(err, inline.ErrLimit) || err != nil && !strings.Contains(err.Error(), "turn inline_css off") {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
		})
	}
}

// What is no tag and no style is never touched, Liquid least of all.
func FuzzCSS(f *testing.F) {
	for _, s := range []string{
		"<style>p{top:0}</style><p>a", "<style>p,b:hover{a:b!important}</style><p style=x:y><b style='{{ c }}'>",
		"<style>@media x{p{a:b}}{% if a %}b{c:d}{% endif %}</style><b>", "<style>.a>b+c~d[e=f]{g:\"h\"}</style><a class='{{ a }}'>",
		"<!--[if mso]><p><![endif]--><style>p{a:b;", "<table>{% for a in b %}<tr><td>{{ a | append: '<p>' }}", "<style><!-- p{a:url(x;y)} --></style><p/style=a>",
		"<style>p{a:b}</style><p style>", "<style>p{a:{{ b }}}</style><p {{ c }} d={% e %}>\xff\x00", "<style>p{a:b}</style><p\x00><p pr-el-id=1 n=2>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := inline.CSS(s)
		if err != nil {
			return
		}
		if before, after := rest(s), rest(got); before != after {
			t.Fatalf("CSS(%q) = %q\nleaves %q\nof     %q", s, got, after, before)
		}
	})
}

// rest returns a document without its style elements and attributes.
func rest(s string) string {
	var b strings.Builder
	z := tokens.NewTokenizer(strings.NewReader(markup.Mask(s)))
	style := false
	for pos := 0; ; {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return b.String()
		}
		raw := s[pos : pos+len(z.Raw())]
		pos += len(raw)
		within := style
		style = false
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken, tokens.EndTagToken:
			name, more := z.TagName()
			if string(name) == "style" {
				style = kind == tokens.StartTagToken
				continue
			}
			b.WriteString("<" + kind.String() + string(name))
			for more {
				var key, value []byte
				if key, value, more = z.TagAttr(); string(key) != "style" {
					b.WriteString(" " + string(key) + "=" + string(value))
				}
			}
			b.WriteString(">")
		default:
			if !within {
				b.WriteString(raw)
			}
		}
	}
}

func BenchmarkCSS(b *testing.B) {
	src, err := os.ReadFile("testdata/newsletter.in.html")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := inline.CSS(string(src)); err != nil {
			b.Fatal(err)
		}
	}
}
