package liquid_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// endless is an Object that leads back to itself.
type endless struct{}

func (e endless) Field(string) any { return e }
func (endless) Names() []string    { return []string{"again"} }

var hostile = []string{
	"{% for i in (1..10001) %}{% endfor %}",
	"{% for i in (1..9223372036854775807) %}x{% endfor %}",
	"{% for i in (1..200) %}{% for j in (1..200) %}{% endfor %}{% endfor %}",
	"{{ (1..9000000000000000000) | join }}",
	"{{ (-9223372036854775808..9223372036854775807) | reverse | first }}",
	"{{ (1..9000000) | sum }}",
	"{% assign s = 'xxxxxxxxxx' %}{% for i in (1..99) %}{% assign s = s | append: s %}{% endfor %}",
	"{% assign s = 'xxxxxxxxxx' %}{% for i in (1..99) %}{% assign s = s | replace: 'x', s %}{% endfor %}",
	"{% assign s = 'xxxxxxxxxx' %}{% for i in (1..99) %}{% capture s %}{{ s }}{{ s }}{% endcapture %}{% endfor %}",
	"{% assign s = 'xxxxxxxxxx' %}{% for i in (1..99) %}{% assign s = s | split: '' | join: s %}{% endfor %}",
	"{% assign a = 'a,b' | split: ',' %}{% for i in (1..99) %}{% assign a = a | concat: a %}{% endfor %}",
	"{% assign a = 'a,b' | split: ',' %}{% for i in (1..99) %}{% assign a = a | concat: a | sort | uniq | reverse | concat: a %}{% assign b = a | join %}{% assign a = b | split: '' %}{% endfor %}",
	"{% assign f = '%64Y' %}{% for i in (1..99) %}{% assign f = f | append: f %}{{ now | date: f }}{% endfor %}",
	"{% for i in (1..9999) %}{{ long }}{% endfor %}",
	"{% for i in (1..9999) %}{% assign x = long | upcase | downcase | strip_html | escape_once | url_encode %}{% endfor %}",
	"{% for i in (1..9999) %}{% cycle long: 1, 2 %}{% if long contains long %}{{ long.size }}{% endif %}{% endfor %}",
	"{{ endless }}",
	"{% if endless == endless %}{% endif %}",
	"{{ loop }}",
	"{{ loop | join }}",
}

func hostileEnv() liquid.Values {
	self := []any{nil}
	self[0] = self
	return liquid.Values{At: noon, Vars: map[string]any{
		"long":    strings.Repeat("<a&b>", 20_000),
		"endless": endless{},
		"loop":    self,
	}}
}

// TestHostileTemplatesMeetTheirLimits counts work, not time: it ends by the limits
// of what is done, also on a machine on which no time passes.
func TestHostileTemplatesMeetTheirLimits(t *testing.T) {
	t.Parallel()
	for _, source := range hostile {
		for _, mode := range []liquid.Mode{liquid.Text, liquid.HTML} {
			tmpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
			if err != nil {
				t.Errorf("Parse(%q): %v", source, err)
				continue
			}
			b := liquid.NewBudget(liquid.Limits{Time: time.Hour})
			out, err := tmpl.Append(t.Context(), nil, hostileEnv(), b)
			if !errors.Is(err, liquid.ErrLimit) || len(out) > 0 {
				t.Errorf("%q: %d bytes, error = %v; want %v", source, len(out), err, liquid.ErrLimit)
			}
			const most = 64 << 20 // units; what a template may do in its 200 ms
			if done := liquid.WorkDone(b); done > most {
				t.Errorf("%q does %d units of work, want at most %d", source, done, most)
			}
		}
	}
}

func TestTimeIsLimited(t *testing.T) {
	t.Parallel()
	tmpl, err := liquid.Parse(strings.Repeat("{{ a }}", 10_000), liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := liquid.NewBudget(liquid.Limits{Time: time.Nanosecond})
	if _, err := tmpl.Append(t.Context(), nil, hostileEnv(), b); !errors.Is(err, liquid.ErrLimit) {
		t.Errorf("error = %v, want %v", err, liquid.ErrLimit)
	}
}

func TestDeepTemplatesDoNotParse(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for _, source := range []string{
		strings.Repeat("{% if a %}", n) + strings.Repeat("{% endif %}", n),
		strings.Repeat("{% for a in b %}", n),
		strings.Repeat("{% capture a %}", n),
		"{{ " + strings.Repeat("a[", n) + strings.Repeat("]", n) + " }}",
		"{{ " + strings.Repeat("[", n) + " }}",
		"{{ " + strings.Repeat("(", n) + " }}",
		strings.Repeat("{", n),
		strings.Repeat("{% comment %}", n),
		"{% comment %}" + strings.Repeat("{% raw %}", n),
	} {
		_, err := liquid.Parse(source, liquid.Options{})
		if _, ok := errors.AsType[*liquid.ParseError](err); !ok {
			t.Errorf("Parse(%.30q…) error = %v, want a ParseError", source, err)
		}
	}
}

func TestNestingWithinTheBoundWorks(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("{% if vip %}", 99) + "x" + strings.Repeat("{% endif %}", 99)
	check(t, liquid.Text, []example{{source, "x"}})
}

func TestPartsOfAMessageShareABudget(t *testing.T) {
	t.Parallel()
	tmpl, err := liquid.Parse("{% for i in (1..60) %}x{% endfor %}", liquid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []liquid.Limits{{Steps: 100}, {Output: 100}} {
		b := liquid.NewBudget(l)
		if _, err := tmpl.Append(t.Context(), nil, hostileEnv(), b); err != nil {
			t.Errorf("%+v: first part: %v", l, err)
		}
		if _, err := tmpl.Append(t.Context(), nil, hostileEnv(), b); !errors.Is(err, liquid.ErrLimit) {
			t.Errorf("%+v: second part: error = %v, want %v", l, err, liquid.ErrLimit)
		}
	}
}

// pieces are whole parts of templates, and blocks go around others.
var (
	pieces = []string{
		"text ", "<b>&\"'", "{{ x }}", "{{ s | upcase }}", "{{ s | append: s }}", "{{ l | join: s }}",
		"{{ l | compact | sort | first }}", "{{ n | times: n }}", "{{ n | divided_by: z }}", "{{ s | escape }}",
		"{{ s | split: '' | reverse | join }}", "{{ o }}", "{{ d | date: '%A' }}", "{{ r | raw }}", "{{ v }}{{ forloop.index }}",
		"{% assign s = s | append: 'x' %}", "{% assign s = s | replace: 'x', s %}", "{% cycle 'a', s %}", "{% increment n %}",
		"{%- raw -%} {{ {% endraw %}", "{% comment %} {{ {% endcomment %}", "{{{ x }}}", "{% break %}", "{% continue %}",
	}
	blocks = [][2]string{
		{"{% if n > 1 %}", "{% else %}x{% endif %}"}, {"{% unless z -%}", "{% elsif s contains 'b' %}y{%- endunless %}"},
		{"{% for v in l %}", "{% endfor %}"}, {"{% for v in (1..n) reversed %}", "{% else %}z{% endfor %}"},
		{"{% capture s %}", "{% endcapture %}{{ s }}"}, {"{% case n %}{% when 3, 4 %}", "{% endcase %}"},
	}
)

// drawTemplate makes a template that parses.
func drawTemplate(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 5).Draw(t, "parts") {
		if depth == 0 || rapid.Bool().Draw(t, "plain") {
			b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
			continue
		}
		block := rapid.SampledFrom(blocks).Draw(t, "block")
		b.WriteString(block[0] + drawTemplate(t, depth-1) + block[1])
	}
	return b.String()
}

func TestOutputStaysWithinTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := drawTemplate(t, 3)
		limit := rapid.IntRange(1, 400).Draw(t, "limit")
		mode := rapid.SampledFrom([]liquid.Mode{liquid.Text, liquid.HTML}).Draw(t, "mode")
		tmpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
		if err != nil {
			t.Fatalf("Parse(%q): %v", source, err)
		}
		b := liquid.NewBudget(liquid.Limits{Output: limit, Work: 1 << 16, Time: time.Minute})
		total := 0
		for range 3 {
			out, err := tmpl.Append(t.Context(), []byte("before"), propertyEnv, b)
			if total += len(out) - len("before"); err != nil {
				break
			}
		}
		if total > limit {
			t.Fatalf("%q printed %d bytes, more than %d", source, total, limit)
		}
	})
}

var propertyEnv = liquid.Values{At: noon, Vars: map[string]any{
	"s": "a<b>", "l": []any{"b", "a", liquid.Raw("<i>"), nil}, "n": int64(3), "z": 0,
	"o": map[string]any{"k": []any{1, "v"}}, "d": "2026-03-14", "r": liquid.Raw("<u>"), "x": true,
}}

func FuzzTemplate(f *testing.F) {
	for _, source := range hostile {
		f.Add(source)
	}
	for _, piece := range pieces {
		f.Add(piece)
		for _, block := range blocks {
			f.Add(block[0] + piece + block[1])
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, mode := range []liquid.Mode{liquid.Text, liquid.HTML} {
			tmpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
			if err != nil {
				if _, ok := errors.AsType[*liquid.ParseError](err); !ok {
					t.Fatalf("Parse(%q) error = %v, want a ParseError", source, err)
				}
				return
			}
			const limit = 1 << 12
			out, err := tmpl.Append(t.Context(), nil, propertyEnv, liquid.NewBudget(liquid.Limits{Output: limit, Steps: 200, Work: 1 << 18}))
			if len(out) > limit {
				t.Fatalf("%q printed %d bytes, more than %d", source, len(out), limit)
			}
			if text, ok := tmpl.Constant(); ok && err == nil && text != string(out) {
				t.Fatalf("%q printed %q, but is the constant %q", source, out, text)
			}
		}
	})
}
