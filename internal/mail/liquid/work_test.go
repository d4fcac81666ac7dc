package liquid_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// meter counts how often a rendering looks up from its work, which it does after
// so much of it and not after so much time. After the last look allowed it is a
// context that was cancelled.
type meter struct {
	context.Context
	looks, allowed int
}

func (m *meter) Err() error {
	if m.looks++; m.allowed > 0 && m.looks > m.allowed {
		return context.Canceled
	}
	return nil
}

// quick is a budget that ends by work only.
func quick() *liquid.Budget { return liquid.NewBudget(liquid.Limits{Time: time.Hour}) }

// Whatever a template does is seen by the budget: the clock is looked at after
// each bit of it, so that the time limit holds for all of it.
func TestAllWorkIsSeen(t *testing.T) {
	t.Parallel()
	const n = 100_000
	env := liquid.Values{At: noon, Vars: map[string]any{
		"long": strings.Repeat(" ", 1<<20), "text": "abc", "map": map[string]any{"a": 1}, "list": make([]string, 500),
		"zone": "Europe/Berlin", "digits": strings.Repeat("7", 1<<20),
	}}
	for _, tt := range []struct {
		name, source string
		looks        int // at least
	}{
		{"conditions", "{% if text" + strings.Repeat(" and text", n) + "%}{% endif %}", n / 300},
		{"paths", "{{ text" + strings.Repeat(".first", n) + " }}", n / 300},
		{"choices", "{% case 1 %}{% when 1" + strings.Repeat(",1", n) + " %}{% endcase %}", n / 300},
		{"branches", "{% if nil %}" + strings.Repeat("{% elsif nil %}", n) + "{% endif %}", n / 300},
		{"outputs", strings.Repeat("{{ nothing }}", n), n / 300},
		{"filters", "{{ 1" + strings.Repeat("|abs", n) + "}}", n / 300},
		{"loops over nothing", strings.Repeat("{% for a in nothing %}{% endfor %}", n), n / 300},
		{"blanks", "{% for i in (1..100) %}{% if long == blank %}{% endif %}{% endfor %}", 100},
		{"equal texts", "{% for i in (1..100) %}{% if long == long %}{% endif %}{% endfor %}", 100},
		{"parts of texts", "{% for i in (1..100) %}{% if long contains 'x' %}{% endif %}{% endfor %}", 100},
		{"names of fields", "{% for i in (1..100) %}{{ map[long] }}{% endfor %}", 100},
		{"names of variables", "{% for i in (1..100) %}{{ [long] }}{% endfor %}", 100},
		{"names in objects", "{% for i in (1..100) %}{% if map contains long %}{% endif %}{% endfor %}", 100},
		{"lists that are copied", "{% for i in (1..100) %}{{ list.size }}{% endfor %}", 60},
		{"groups", "{% for i in (1..6) %}{% cycle long: 1 %}{% endfor %}", 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := liquid.Parse(tt.source, liquid.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := &meter{Context: t.Context()}
			if _, err := tmpl.Append(m, nil, env, quick()); err != nil {
				t.Fatal(err)
			}
			if m.looks < tt.looks {
				t.Errorf("it looked up %d times, want %d", m.looks, tt.looks)
			}
			if tt.looks < 50 {
				return
			}
			m = &meter{Context: t.Context(), allowed: tt.looks / 2}
			if out, err := tmpl.Append(m, []byte("x"), env, quick()); !errors.Is(err, context.Canceled) || string(out) != "x" {
				t.Errorf("cancelled on the way: %.20q, %v", out, err)
			}
		})
	}
}

// What would cost much for one value costs little: the rest is not read.
func TestLongNumbersAndDatesAreNotRead(t *testing.T) {
	t.Parallel()
	env := liquid.Values{At: noon, Vars: map[string]any{"digits": strings.Repeat("7", 1<<20), "blanks": strings.Repeat(" ", 1<<20) + "7", "zone": strings.Repeat("x", 1<<20)}}
	for source, want := range map[string]string{
		"{{ blanks | plus: 1 }}":                                            "1",
		"{{ blanks | date: '%Y' | size }}":                                  "1048577",
		"{% if digits > 1 %}{% endif %}":                                    "-",
		"{{ now | time_zone: zone }}":                                       "-",
		"{{ 1 | money: zone }}":                                             "-",
		"{{ 'abc' | slice: blanks }}":                                       "-",
		"{% for i in (1..9999) %}{{ i | plus: digits | size }}{% endfor %}": "",
	} {
		tmpl, err := liquid.Parse(source, liquid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := tmpl.Append(t.Context(), nil, env, quick())
		if want == "-" && err == nil || want != "-" && err != nil || want != "" && want != "-" && string(out) != want {
			t.Errorf("%s prints %.40q, %v; want %q", source, out, err, want)
		}
	}
}

// Every hostile template ends by what it does, however long a second is.
func TestHostileTemplatesEndByWork(t *testing.T) {
	t.Parallel()
	more := []string{
		"{% for i in (1..100) %}{% for j in (1..100) %}{% for k in (1..2) %}{% endfor %}{% endfor %}{% endfor %}",
		"{% for i in (1..9999) %}{% assign z = 'Europe/Berlin' %}{{ now | time_zone: z | size }}{% endfor %}",
		"{% assign s = 'x' %}{% for i in (1..9999) %}{% assign s = s | append: s | prepend: s %}{% endfor %}",
		"{% assign s = 'aaaa' %}{% for i in (1..9999) %}{% assign s = s | replace: 'a', 'aa' %}{% endfor %}",
		"{% assign s = 'aaaa' %}{% for i in (1..9999) %}{% assign s = s | replace: '', s %}{% endfor %}",
		"{% assign s = '&<' %}{% for i in (1..9999) %}{% assign s = s | escape | url_encode | append: s %}{% endfor %}",
		"{% assign s = 'x' %}{% for i in (1..9999) %}{% assign s = s | base64_encode | append: s %}{% endfor %}",
		"{% assign a = (1..100000) | join: ',' | split: ',' %}{% for i in (1..9999) %}{% assign a = a | sort | reverse | uniq | concat: a %}{% endfor %}",
		"{% assign a = (1..60000) | join: ' ' | split: ' ' %}{% for i in (1..9999) %}{% assign b = a | sort_natural | map: 'x' | compact %}{% endfor %}",
		"{% for i in (1..9999) %}{% capture c %}{% capture d %}{{ long }}{% endcapture %}{{ d }}{{ d }}{% endcapture %}{{ c }}{% endfor %}",
		"{% for i in (1..9999) %}{% assign f = '%' | append: '64' | append: 'c' %}{% assign g = f | append: f | append: f | append: f %}{{ now | date: g }}{{ now | date: long }}{% endfor %}",
		"{% for i in (1..9999) %}{% assign x = long | truncatewords: 1 | truncate: 1 | size %}{% endfor %}",
		"{% for i in (1..9999) %}{% assign x = long | strip_html | squish | newline_to_br | sha256 %}{% endfor %}",
		"{% for i in (1..10000) %}{% increment a %}{% decrement b %}{% cycle 1, 2, 3 %}{% endfor %}{% for i in (1..2) %}{% endfor %}",
		"{% for i in (1..5000) %}{% for j in (1..5000) offset: 2000 %}{% endfor %}{% endfor %}",
		strings.Repeat("{% for i in (1..9) %}", 90) + "x" + strings.Repeat("{% endfor %}", 90),
		strings.Repeat("{% capture a %}", 90) + "{{ long }}" + strings.Repeat("{% endcapture %}{{ a }}{{ a }}{{ a }}", 90),
	}
	for _, source := range append(more, hostile...) {
		tmpl, err := liquid.Parse(source, liquid.Options{Mode: liquid.HTML})
		if err != nil {
			t.Errorf("Parse(%.60q): %v", source, err)
			continue
		}
		if out, err := tmpl.Append(t.Context(), nil, hostileEnv(), quick()); !errors.Is(err, liquid.ErrLimit) || len(out) > 0 {
			t.Errorf("%.80q: %d bytes, error = %v; want %v", source, len(out), err, liquid.ErrLimit)
		}
	}
}

// Templates of a megabyte are read once from the front to the back, or this would not
// end.
func TestLargeTemplatesParse(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes long under the race detector")
	}
	t.Parallel()
	const size = 1 << 20
	for _, tt := range []struct {
		piece string
		bad   bool
	}{
		{"x", false}, {"{{ a.b | default: 'c' }}", false}, {"{% if a %}b{% endif %}", false}, {"{% assign a = 'b' %}", false},
		{"{{{ a }}}", false}, {"{% raw %}{{{% endraw %}", false}, {"{% comment %}{% raw %}{% endcomment %}", false},
		{"{{ now | time_zone: 'Europe/Berlin' }}", false}, {"{%- cycle 'a', 'b' -%}  ", false}, {"\xff{{ '\xff' }}\x00", false},
		{"{", true}, {"{% ", true}, {"{% if a %}", true}, {"{% comment %}", true}, {"{{ a[", true}, {"{% for a in b %}{% else %}", true},
	} {
		_, err := liquid.Parse(strings.Repeat(tt.piece, size/len(tt.piece)), liquid.Options{Mode: liquid.HTML})
		if _, bad := errors.AsType[*liquid.ParseError](err); bad != tt.bad || err != nil && !bad {
			t.Errorf("%q: %v", tt.piece, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%q: the message is %d bytes long", tt.piece, len(err.Error()))
		}
	}
	for _, source := range []string{
		"{{ a" + strings.Repeat(" | append: 'x'", size/14) + " }}", "{% if a" + strings.Repeat(" and a", size/6) + " %}{% endif %}",
		"{% case a %}{% when 1" + strings.Repeat(", 1", size/3) + " %}{% endcase %}", "{{ a" + strings.Repeat(".b", size/2) + " }}",
		"{{ '" + strings.Repeat("x", size) + "' }}", "{% if a %}" + strings.Repeat("{% elsif a %}", size/13) + "{% endif %}",
	} {
		if _, err := liquid.Parse(source, liquid.Options{}); err != nil {
			t.Errorf("%.40q: %v", source, err)
		}
	}
}

// Broken UTF-8 is carried through or replaced, never a reason to fail.
func TestBrokenUTF8(t *testing.T) {
	t.Parallel()
	env := liquid.Values{At: noon, Vars: map[string]any{"s": "a\xff\xfeb", "l": []any{"\xff", "b"}, "m": map[string]any{"\xff": "\xff"}}}
	for _, source := range []string{
		"\xff{{ s }}", "{{ s | upcase | downcase | capitalize }}", "{{ s | size }}{{ s.first }}{{ s.last }}", "{{ s | slice: 1, 2 }}", "{{ s | split: '' | reverse | join: '\xff' }}",
		"{{ s | truncate: 2 }}{{ s | truncatewords: 1 }}", "{{ s | url_encode | url_decode }}", "{{ s | base64_encode | base64_decode }}", "{{ s | escape | escape_once | strip_html }}",
		"{{ l | sort_natural | join }}{{ l | map: '\xff' }}", "{{ m }}{% for p in m %}{{ p }}{% endfor %}", "{% if s contains '\xff' %}{% endif %}{{ s | replace: '\xff', '\xfe' }}",
		"{{ now | date: '\xff%Y' }}{{ '\xff' | date: '%Y' }}", "{% capture x %}{{ s }}{% endcapture %}{{ x }}", "{% cycle s: s %}", "{{ s | plus: 1 }}{{ s | sha256 }}",
	} {
		for _, mode := range []liquid.Mode{liquid.Text, liquid.HTML} {
			tmpl, err := liquid.Parse(source, liquid.Options{Mode: mode})
			if err != nil {
				t.Errorf("Parse(%q): %v", source, err)
				continue
			}
			if out, err := tmpl.Append(t.Context(), nil, env, nil); err != nil || len(out) == 0 && utf8.ValidString(source) && strings.HasPrefix(source, "{{ s") {
				t.Errorf("%q: %q, %v", source, out, err)
			}
		}
	}
	if _, err := liquid.Parse("{{ \xff }}", liquid.Options{}); err == nil {
		t.Error("a name of broken UTF-8 parses")
	}
}

// One template serves many recipients at once, and one budget many letters, one
// after the other, without mixing them up.
func TestManyRecipientsAtOnce(t *testing.T) {
	t.Parallel()
	tmpl, err := liquid.Parse(`{% assign x = name | append: "!" %}{% for i in (1..3) %}{% cycle 'a', 'b' %}{% increment n %}{% endfor %}{{ x }}{% capture c %}{{ name }}{% endcapture %}{{ c }}{{ ref }}{{ made }}{{ ref | default: "-" | upcase }}`, liquid.Options{Mode: liquid.HTML})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			budget := liquid.NewBudget(liquid.Limits{})
			var out []byte
			for i := range 200 {
				name := fmt.Sprintf("<%d-%d>", g, i)
				budget.Reset(liquid.Limits{})
				env := liquid.Values{At: noon, Vars: map[string]any{"name": name, "ref": &name, "made": filterResult(name)}}
				var err error
				if out, err = tmpl.Append(t.Context(), out[:0], env, budget); err != nil {
					t.Error(err)
					return
				}
				safe := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(name)
				if want := "a0b1a2" + safe + "!" + safe + safe + safe + strings.ToUpper(safe[:0]) + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(strings.ToUpper(name)); string(out) != want {
					t.Errorf("it prints %s, want %s", out, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// filterResult is a text that appends itself.
type filterResult string

func (m filterResult) AppendTo(dst []byte) []byte { return append(dst, m...) }
