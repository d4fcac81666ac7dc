package liquid_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// noon is the time of rendering in all tests, in a zone that is not UTC.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("CET", 3600))

// contact is a Drop that cannot be walked.
type contact map[string]any

func (c contact) Field(name string) any { return c[name] }

type status string

var vars = map[string]any{
	"first_name":      "Ann",
	"unsafe":          `<b title="x">Ann & 'Bob'</b>`,
	"safe":            liquid.Raw("<i>fine</i>"),
	"none":            nil,
	"age":             42,
	"small":           uint8(7),
	"score":           12.5,
	"vip":             true,
	"state":           status("subscribed"),
	"tags":            []string{"garden", "sports"},
	"signed_up":       time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC),
	"birthday":        "1990-05-17",
	"unsubscribe_url": "https://mail.example.org/_q/u/t?a=1&b=2",
	"contact": contact{
		"first_name":    "Ann",
		"custom_fields": map[string]any{"plan": "pro", "seats": int64(3)},
	},
	"pointers": []any{new("a"), new(2), &noon, (*time.Time)(nil), (*string)(nil), (*url.URL)(nil), &url.URL{Path: "/x"}},
	"labels":   map[string]string{"a": "b"},
	"items": []any{
		map[string]any{"name": "Tea", "price": 3.5},
		map[string]any{"name": "Cup", "price": int64(12)},
	},
}

func render(t testing.TB, mode liquid.Mode, source string) (string, error) {
	t.Helper()
	tmpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
	if err != nil {
		return "", err
	}
	out, err := tmpl.Append(t.Context(), nil, liquid.Values{Vars: vars, At: noon}, nil)
	return string(out), err
}

type example struct{ source, want string }

func check(t *testing.T, mode liquid.Mode, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.source, func(t *testing.T) {
			got, err := render(t, mode, e.source)
			if err != nil || got != e.want {
				t.Errorf("%q gave %q, %v; want %q", e.source, got, err, e.want)
			}
		})
	}
}

func TestMergeFields(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"Hi {{ first_name }}!", "Hi Ann!"},
		{"Hi {{first_name}}!", "Hi Ann!"},
		{"Hi {{nobody}}!", "Hi !"},
		{"Hi {{ none }}!", "Hi !"},
		{`Hi {{ nobody | default: "there" }}!`, "Hi there!"},
		{`{{ contact.first_name }} {{ contact.custom_fields.plan }}`, "Ann pro"},
		{`{{ contact["custom_fields"]['seats'] | plus: 1 }}`, "4"},
		{"{{ contact.nobody.at.all }}", ""},
		{"{{ contact }}", ""},
		{"{{ age }} {{ small }} {{ score }} {{ vip }} {{ state }}", "42 7 12.5 true subscribed"},
		{"{{ tags }} {{ tags.size }} {{ tags | join: ', ' }}", "gardensports 2 garden, sports"},
		{"{{ items[0].name }}{{ items.last.name }}{{ items[-1].price }}", "TeaCup12"},
		{"{{ unsafe }}", `<b title="x">Ann & 'Bob'</b>`},
		{"{{ contact.custom_fields }}", `{"plan":"pro","seats":3}`},
		{"{{ now | date: '%H' }}", "12"},
		{"{{ pointers | join: '|' }}", "a|2|2026-03-14 12:00:00 +0100||||/x"},
		{"{{ labels.a }}{{ labels }}", `b{"a":"b"}`},
		{"{{}}{{ }}", ""},
		{"", ""},
	})
}

func TestOtherPlaceholdersAreText(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"{{{ first_name }}}", "{{{ first_name }}}"},
		{"{{{first_name}}} {{ first_name }}", "{{{first_name}}} Ann"},
		{"{{{{first_name}}}}", "{{{{first_name}}}}"},
		{"*|FNAME|* %FIRST% [name] ${x}", "*|FNAME|* %FIRST% [name] ${x}"},
		{"a{b:c}{", "a{b:c}{"},
		{"}} %} }", "}} %} }"},
		{"{{{ first_name }} x", "{Ann x"},
	})
}

func TestTagsBrokenAcrossLines(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"{{\n  first_name\r\n}}", "Ann"},
		{"{%\nif\nvip\n%}yes{%\r\n\tendif\n%}", "yes"},
		{"{{ nobody\n | default:\n \"there\"\n}}", "there"},
		{"{{\u00a0first_name\u00a0}}", "Ann"},
		{"{%- for x in\n tags\n limit:\n1 -%}\n{{ x }}\n{%- endfor\n-%}\n", "garden"},
	})
}

func TestWhitespaceControl(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"a \n {{- 1 -}} \n b", "a1b"},
		{"a {%- if vip -%} b {%- endif -%} c", "abc"},
		{"a {{- 1 }} b", "a1 b"},
		{"a {%- comment %} x {% endcomment -%} b", "ab"},
		{"a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
		{"a {{-}} b", "a b"},
	})
}

func TestTags(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{"{% if age > 40 and first_name contains 'n' %}a{% else %}b{% endif %}", "a"},
		{"{% if nobody or vip == true %}a{% endif %}", "a"},
		{"{% if true or false and false %}a{% endif %}", "a"},
		{"{% if contact.custom_fields contains 'plan' %}a{% endif %}", "a"},
		{"{% if nobody == blank and tags != empty %}a{% endif %}", "a"},
		{"{% if ' ' == blank %}a{% endif %}{% if ' ' == empty %}b{% endif %}", "a"},
		{"{% if none < 1 %}a{% elsif 1 <> 2 %}b{% endif %}", "b"},
		{"{% if signed_up < '2026-03-01' and signed_up > '2026-01-01' %}a{% endif %}", "a"},
		{"{% unless vip %}a{% else %}b{% endunless %}", "b"},
		{"{% case state %}{% when 'a', 'subscribed' %}x{% else %}y{% endcase %}", "x"},
		{"{% for i in items %}{{ forloop.index }}/{{ forloop.length }} {{ i.name }};{% endfor %}", "1/2 Tea;2/2 Cup;"},
		{"{% for i in (1..9) limit: 3 offset: 2 reversed %}{{ i }}{% endfor %}", "543"},
		{"{% for i in nobody %}{{ i }}{% else %}none{% endfor %}", "none"},
		{"{% for i in (1..9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}", "13"},
		{"{% for p in contact.custom_fields %}{{ p[0] }}={{ p[1] }} {% endfor %}", "plan=pro seats=3 "},
		{"{% assign n = age | plus: 1 %}{{ n }}", "43"},
		{"{% assign first_name = 'Bo' %}{{ first_name }}", "Bo"},
		{"{% capture x %}{{ first_name }}!{% endcapture %}{{ x | upcase }}", "ANN!"},
		{"{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}{% cycle 'a', 'b' %}", "aba"},
		{"{% increment n %}{% increment n %}{% decrement m %}{{ n }}", "01-12"},
		{"{% comment %}{% if %}{{ {% endcomment %}x", "x"},
		{"{% raw %}{{ x }}{% if %}{% endraw %}", "{{ x }}{% if %}"},
		{"a{% break %}b", "a"},
	})
}

func TestParseErrorsNamePlaceAndMistake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source  string
		line    int
		message string
	}{
		{"a\n{% include 'x' %}", 2, `unknown tag "include"`},
		{"{% render 'x' %}", 1, `unknown tag "render"`},
		{"{% tablerow i in x %}{% endtablerow %}", 1, `unknown tag "tablerow"`},
		{"{% liquid\n echo 1 %}", 1, `unknown tag "liquid"`},
		{"{% echo 1 %}", 1, `unknown tag "echo"`},
		{"{% # note %}", 1, `unknown tag "#"`},
		{"{% %}", 1, "the tag is empty"},
		{"\n\n{{ x | shout }}", 3, `unknown filter "shout"`},
		{"{{ x | append }}", 1, `the filter "append" takes 1 argument, not 0`},
		{"{{ x | truncate: 1, 2, 3 }}", 1, `the filter "truncate" takes 0 to 2 arguments, not 3`},
		{"{{ x | upcase: size: 1 }}", 1, `the filter "upcase" has no option "size"`},
		{"{{ x | money: 'euro' }}", 1, `money takes a currency such as "EUR"`},
		{"{{ x | time_zone: 'Mars/Base' }}", 1, `unknown time zone "Mars/Base"`},
		{"a\n{{ x", 2, "{{ is not closed by }}"},
		{"{% if x", 1, "{% is not closed by %}"},
		{"a\n{% if x %}\nb", 2, "if is not closed by endif"},
		{"{% for x in y %}\n{% endif %}", 2, "endif does not belong to for, which began on line 1"},
		{"a\n{% endif %}", 2, "endif has no tag that it belongs to"},
		{"{% raw %}", 1, "raw is not closed by endraw"},
		{"{% comment %}", 1, "comment is not closed by endcomment"},
		{"{% if x = 1 %}{% endif %}", 1, `if: unexpected "="`},
		{"{% if %}{% endif %}", 1, "if: expected a value, found the end of the tag"},
		{"{{ x y }}", 1, `unexpected "y"`},
		{"{{ 'x }}", 1, "expected a value, found a text without its closing quote"},
		{"{{ x | default: &quot;y&quot; }}", 1, `expected a value, found "&"`},
		{"{% for x of y %}{% endfor %}", 1, `for: expected "in", found "of"`},
		{"{% for x in y cols: 2 %}{% endfor %}", 1, `for: unknown option "cols"`},
		{"{% assign = 2 %}", 1, `assign: expected a name, found "="`},
	} {
		_, err := liquid.Parse(tt.source, liquid.Options{})
		e, ok := errors.AsType[*liquid.ParseError](err)
		if !ok || e.Line != tt.line || e.Message != tt.message {
			t.Errorf("Parse(%q) error = %v, want line %d: %s", tt.source, err, tt.line, tt.message)
		}
	}
}

func TestParseErrorsNameTheColumn(t *testing.T) {
	t.Parallel()
	for source, column := range map[string]int{
		"{{ x | shout }}":                1,
		"a\näöü {% nope %}":              5,
		"  {% if x %}\nb":                3,
		"é{{ x":                          2,
		"a\n {% raw %}\nb":               2,
		"a {% comment %}\n\n b":          3,
		"{% for x in y %}\n {% endif %}": 2,
	} {
		_, err := liquid.Parse(source, liquid.Options{})
		if e, ok := errors.AsType[*liquid.ParseError](err); !ok || e.Column != column {
			t.Errorf("Parse(%q) error = %+v, want column %d", source, e, column)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		want   []string
	}{
		{"no tags", nil},
		{"{{ first_name }}{{ contact.custom_fields.plan }}{{ first_name | upcase }}", []string{"contact.custom_fields.plan", "first_name"}},
		{"{{ contact['first_name'] }}{{ ['a b'].c }}", []string{"a b.c", "contact.first_name"}},
		{"{{ x | append: y | default: z.a }}", []string{"x", "y", "z.a"}},
		{"{% for t in contact.tags limit: n %}{{ t.name }}{{ forloop.index }}{% endfor %}{{ t }}", []string{"contact.tags", "n", "t"}},
		{"{{ a[i].b }}", []string{"a", "i"}},
		{"{% if a == b and c contains 'd' %}{% elsif e %}{% endif %}", []string{"a", "b", "c", "e"}},
		{"{% assign a = b %}{{ a }}{% capture c %}{{ a }}{{ d }}{% endcapture %}{{ c }}", []string{"b", "d"}},
		{"{% if x %}{% assign a = 1 %}{{ a.b }}{% endif %}{{ a }}", []string{"a", "x"}},
		{"{% case a %}{% when b or c %}{{ d }}{% endcase %}{% cycle e: f, 'g' %}", []string{"a", "b", "c", "d", "e", "f"}},
		{"{{ (a..b) }}{% raw %}{{ c }}{% endraw %}{{{d}}}{% comment %}{{ e }}{% endcomment %}", []string{"a", "b"}},
		{"{{ x | default: 1, allow_false: y }}{{ true }}{{ empty }}", []string{"x", "y"}},
	} {
		tmpl, err := liquid.Parse(tt.source, liquid.Options{})
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.source, err)
			continue
		}
		if got := tmpl.Variables(); !slices.Equal(got, tt.want) {
			t.Errorf("Parse(%q).Variables() = %q, want %q", tt.source, got, tt.want)
		}
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, text string
		constant     bool
	}{
		{"", "", true},
		{"Hello {{{x}}}", "Hello {{{x}}}", true},
		{"a{% raw %}{{ x }}{% endraw %}b", "a{{ x }}b", true},
		{"a{% comment %}x{% endcomment %}b", "ab", true},
		{"Hello {{ x }}", "", false},
		{"{{ x }}", "", false},
	} {
		tmpl, err := liquid.Parse(tt.source, liquid.Options{})
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.source, err)
			continue
		}
		if text, ok := tmpl.Constant(); text != tt.text || ok != tt.constant {
			t.Errorf("Parse(%q).Constant() = %q, %v; want %q, %v", tt.source, text, ok, tt.text, tt.constant)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	env := liquid.Values{Vars: vars, At: noon}
	good, err := liquid.Parse("Hi {{ first_name }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := good.Append(t.Context(), []byte("> "), env, nil); string(got) != "> Hi Ann" || err != nil {
		t.Errorf("Append = %q, %v; want %q", got, err, "> Hi Ann")
	}
	bad, err := liquid.Parse("Hi\n{{ 1 | divided_by: none }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := bad.Append(t.Context(), []byte("> "), env, nil)
	e, ok := errors.AsType[*liquid.RenderError](err)
	if !ok || e.Line != 2 || e.Message != "divided by 0" || string(got) != "> " {
		t.Errorf("Append = %q, %v; want the text as it was and a division by 0 on line 2", got, err)
	}
}

func TestDataThatMakesNoSenseFails(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"{{ age | divided_by: 0 }}",
		"{% if first_name > 1 %}{% endif %}",
		"{{ '?' | base64_decode }}",
		"{{ tags | concat: 1 }}",
		"{{ age | money: first_name }}",
		"{{ now | time_zone: first_name }}",
		"{% for i in tags limit: 'x' %}{% endfor %}",
		"{{ items | map: 'name' | concat: tags | concat: items | sort }}",
		"{{ '9.9' | slice: 1.5 }}",
	} {
		_, err := render(t, liquid.Text, source)
		if _, ok := errors.AsType[*liquid.RenderError](err); !ok {
			t.Errorf("%q: error = %v, want a RenderError", source, err)
		}
	}
}

func TestCancelledContextEndsRendering(t *testing.T) {
	t.Parallel()
	tmpl, err := liquid.Parse("{{ first_name }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tmpl.Append(ctx, nil, liquid.Values{Vars: vars, At: noon}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Append error = %v, want %v", err, context.Canceled)
	}
}

func TestTemplateIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	tmpl, err := liquid.Parse("{% for i in (1..3) %}{% cycle 'a', 'b' %}{% increment n %}{{ i | times: 2 }}{% endfor %}{% assign x = first_name %}{{ x }}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				out, err := tmpl.Append(t.Context(), nil, liquid.Values{Vars: vars, At: noon}, nil)
				if want := "a02b14a26Ann"; err != nil || string(out) != want {
					t.Errorf("Append = %q, %v; want %q", out, err, want)
				}
			}
		})
	}
	all.Wait()
}
