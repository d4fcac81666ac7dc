package mark

import (
	"strings"
	"testing"
)

func TestMarksInHTML(t *testing.T) {
	for source, want := range map[string]string{
		`<p>a <b>b</b></p>`:                                                   `<p class="pb-mark-0">a <b>b</b></p>`,
		`é😀<A href=x CLASS='y {{ "'>" }}'>a</A>`:                              `é😀<A href=x CLASS='y {{ "'>" }} pb-mark-3'>a</A>`,
		`<div>a<div>b</div></div><img/>`:                                      `<div>a<div class="pb-mark-6">b</div></div><img class="pb-mark-24"/>`,
		`<p class=x>a</p><p class="">b</p><p {{ c }}>c</p><{{ p }}>d`:         `<p class=x>a</p><p class="">b</p><p {{ c }}>c</p><{{ p }}>d`,
		`<!-- <p>a</p> --><style><p>a</p></style><p>{% if "</p>" %}`:          `<!-- <p>a</p> --><style><p>a</p></style><p>{% if "</p>" %}`,
		`<!--[if mso]><td><a href=x>a</a></td><![endif]-->`:                   `<!--[if mso]><td><a href=x>a</a></td><![endif]-->`,
		`<!--[if !mso]><!--><a>a</a><!--<![endif]-->`:                         `<!--[if !mso]><!--><a class="pb-mark-19">a</a><!--<![endif]-->`,
		`<title><a>a</a></title><script>"<img>"</script><img>`:                `<title><a>a</a></title><script>"<img>"</script><img class="pb-mark-47">`,
		`<img alt="<a>" title='<p>a</p>'>`:                                    `<img class="pb-mark-0" alt="<a>" title='<p>a</p>'>`,
		`{% if a %}<p>a</p>{% else %}<p>b</p>{% endif %}`:                     `{% if a %}<p class="pb-mark-10">a</p>{% else %}<p class="pb-mark-28">b</p>{% endif %}`,
		`{% for a in b %}<img src="{{ a }}">{% endfor %}`:                     `{% for a in b %}<img class="pb-mark-16" src="{{ a }}">{% endfor %}`,
		`{% capture a %}<a {{ b }}>a</a>{% endcapture %}{{ "<img>" }}`:        `{% capture a %}<a {{ b }}>a</a>{% endcapture %}{{ "<img>" }}`,
		`{% comment %}<p>a</p>{% endcomment %}{% raw %}<p>{{</p>{% endraw %}`: `{% comment %}<p>a</p>{% endcomment %}{% raw %}<p class="pb-mark-46">{{</p>{% endraw %}`,
	} {
		m := New(source)
		if got := m.Show(m.HTML(source)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
	}
}

func TestWhatIsNoMarkStays(t *testing.T) {
	m := New("")
	for _, html := range []string{`<p class="pb-mark-5 x">pb-mark-5</p>`, m.Word(), ``} {
		if got := m.Remove(html); got != html {
			t.Errorf("%s became %s", html, got)
		}
	}
}

func TestSelectorsOfMarksAreFound(t *testing.T) {
	for _, css := range []string{
		`p[class]`, `[ CLASS = "a" ]`, `[*|class="a"]`, `[|class]`, `[svg|class~=a]`, `[/* ] = " */class$=a]`, `[\63lass]`, `[cl\61 ss]`, ":not([\n\tclass])",
	} {
		if !Selected(css + " { color: red }") {
			t.Errorf("%s is not found", css)
		}
	}
	for _, css := range []string{``, `.a, #class`, `[href="class"]`, `[title|=class]`, `<!--[if mso]><td class="a"><![endif]-->`, `[<span class="x">5</span>]`} {
		if Selected(css) {
			t.Errorf("%s selects no mark", css)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, source := range []string{
		`<p a='{{ "'" }}'>x</p><td class="a">b</td><A>`, `<!--[if mso]><a>a</a><![endif]--><img/>`, `<title><a>a</a></title><p>a<p>b</p>`,
		`{% if a %}<p {{ b }}>a</p>{% endif %}<h1 class='{% if c %}d{% endif %}'>{{ "</h1>" }}</h1>`, `{% raw %}<p>{{</p>{% endraw %}<li>é😀</li>`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m := New(source)
		marked := m.HTML(source)
		if got := m.Remove(marked); got != source {
			t.Fatalf("%q became %q and %q", source, marked, got)
		}
		if strings.Contains(m.Show(marked), m.Word()) {
			t.Fatal("a mark is not shown")
		}
	})
}
