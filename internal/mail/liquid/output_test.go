package liquid_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// counting is an Env that counts how often it is asked.
type counting struct {
	liquid.Values
	asked map[string]int
}

func (c counting) Lookup(name string) (any, bool) {
	c.asked[name]++
	return c.Values.Lookup(name)
}

func TestAnOutputThatIsRepeatedIsMadeOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, source, want string
		asked              int // for x
	}{
		{"alike", "{{ x }}{{ x }}{{x}}", "&lt;x&gt;&lt;x&gt;&lt;x&gt;", 1},
		{"filtered", "{{ x | upcase }}, {{ x | upcase }}", "&lt;X&gt;, &lt;X&gt;", 1},
		{"different", "{{ x }}{{ x | upcase }}", "&lt;x&gt;&lt;X&gt;", 2},
		{"nothing", "{{ none }}{{ none }}", "", 0},
		{"in branches", "{% if no %}{{ x }}{% endif %}{{ x }}{% unless no %}{{ x }}{% endunless %}", "&lt;x&gt;&lt;x&gt;", 1},
		{"in a loop", "{{ x }}{% for i in (1..3) %}{{ x }}{% endfor %}", "&lt;x&gt;&lt;x&gt;&lt;x&gt;&lt;x&gt;", 1},
		{"of a loop", "{% for i in (1..3) %}{{ i }}{{ i }}{{ forloop.index }}{{ forloop.index }}{% endfor %}", "111122223333", 0},
		{"assigned", "{{ x }}{% assign x = 1 %}{{ x }}", "&lt;x&gt;1", 1},
		{"part of what is assigned", "{{ list[n] }}{% assign n = 1 %}{{ list[n] }}", "b", 0},
		{"argument that is assigned", "{{ x | append: n }}{% assign n = 1 %}{{ x | append: n }}", "&lt;x&gt;&lt;x&gt;1", 2},
		{"named by what is assigned", "{% assign n = 'x' %}{{ [n] }}{% assign n = 'y' %}{{ [n] }}", "&lt;x&gt;y", 1},
		{"captured", "{{ x }}{% capture x %}kept{% endcapture %}{{ x }}", "&lt;x&gt;kept", 1},
		{"inside a capture", "{{ x }}{% capture k %}{{ x }}{% endcapture %}{{ x }}{{ k }}", "&lt;x&gt;&lt;x&gt;&lt;x&gt;", 2},
		{"counted", "{% increment c %}{{ c }}{% increment c %}{{ c }}", "0112", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			template, err := liquid.Parse(tt.source, liquid.Options{Mode: liquid.HTML})
			if err != nil {
				t.Fatal(err)
			}
			env := counting{liquid.Values{Vars: map[string]any{"x": "<x>", "y": "y", "list": []string{"a", "b"}}}, map[string]int{}}
			out, err := template.Append(t.Context(), []byte("before"), env, nil)
			if err != nil || string(out) != "before"+tt.want {
				t.Errorf("it prints %q, %v; want %q", out, err, tt.want)
			}
			if env.asked["x"] != tt.asked {
				t.Errorf("x was asked for %d times, want %d", env.asked["x"], tt.asked)
			}
		})
	}
}

// A template prints the same whether outputs are written alike or each in its own
// way.
func TestHowOutputsAreWrittenDoesNotMatter(t *testing.T) {
	t.Parallel()
	atom := rapid.SampledFrom([]string{
		"{{ a }}", "{{ b }}", "{{ a | upcase }}", "{{ list[b] }}", "{{ list | join: a }}", "{{ i }}", "{{ forloop.index }}", "{{ k }}", "{{ c }}", " text ",
		"{% assign a = b %}", "{% assign b = 1 %}", "{% assign b = i %}", "{% for i in list %}", "{% for a in (1..2) %}", "{% capture k %}", "{% if b %}", "{% increment c %}", "{% end %}",
	})
	opening, closing := regexp.MustCompile(`^\{% (for|if|capture) `), regexp.MustCompile(` \}\}`)
	rapid.Check(t, func(t *rapid.T) {
		var source strings.Builder
		var open []string
		for _, a := range rapid.SliceOfN(atom, 1, 30).Draw(t, "atoms") {
			if name := opening.FindStringSubmatch(a); name != nil {
				open = append(open, name[1])
			}
			if a == "{% end %}" {
				if len(open) == 0 {
					continue
				}
				a = "{% end" + open[len(open)-1] + " %}"
				open = open[:len(open)-1]
			}
			source.WriteString(a)
		}
		for i := len(open) - 1; i >= 0; i-- {
			source.WriteString("{% end" + open[i] + " %}")
		}
		n := 0
		apart := closing.ReplaceAllStringFunc(source.String(), func(string) string {
			n++
			return strings.Repeat(" ", n) + "| default: nil, allow_false: true }}"
		})
		var printed [2]string
		for i, s := range []string{source.String(), apart} {
			template, err := liquid.Parse(s, liquid.Options{Mode: liquid.HTML})
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			out, err := template.Append(t.Context(), nil, liquid.Values{Vars: map[string]any{"a": "<a>", "b": 0, "list": []string{"x", "y"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			printed[i] = string(out)
		}
		if printed[0] != printed[1] {
			t.Errorf("%q prints %q, and with each output written in its own way %q", source.String(), printed[0], printed[1])
		}
	})
}
