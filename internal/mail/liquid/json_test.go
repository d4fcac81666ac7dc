package liquid_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// renderJSON renders a template with values.
func renderJSON(t interface {
	Helper()
	Fatal(...any)
}, source string, mode liquid.Mode, vars map[string]any) string {
	t.Helper()
	template, err := liquid.Parse(source, liquid.Options{Mode: mode})
	if err != nil {
		t.Fatal(source, err)
	}
	out, err := template.Append(context.Background(), nil, liquid.Values{Vars: vars, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, nil)
	if err != nil {
		t.Fatal(source, err)
	}
	return string(out)
}

func TestValuesInJSON(t *testing.T) {
	t.Parallel()
	vars := map[string]any{
		"name": `Jo "JJ"`, "evil": `x","admin":"1`, "lines": "a\nb\t\\", "tag": "</script>", "n": 12, "f": 1.5, "yes": true, "none": nil,
		"list": []any{"a", 1, nil}, "object": map[string]any{"b": "c\"", "a": []any{true}}, "when": time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
	}
	for source, want := range map[string]string{
		`{"name":"{{ name }}"}`:                           `{"name":"Jo \"JJ\""}`,
		`{"name":"{{ evil }}"}`:                           `{"name":"x\",\"admin\":\"1"}`,
		`{"a":"Hi {{ lines }}!"}`:                         `{"a":"Hi a\nb\t\\!"}`,
		`{"a":{{ name }}}`:                                `{"a":"Jo \"JJ\""}`,
		`{"a":{{ n }},"b":{{ f }},"c":{{ yes }}}`:         `{"a":12,"b":1.5,"c":true}`,
		`{"a":{{ none }},"b":"{{ none }}"}`:               `{"a":null,"b":""}`,
		`{"a":{{ list | json }}}`:                         `{"a":["a",1,null]}`,
		`{"a":{{ object | json }}}`:                       `{"a":{"a":[true],"b":"c\""}}`,
		`{"a":{{ name | json }},"b":"{{ name | json }}"}`: `{"a":"Jo \"JJ\"","b":"\"Jo \\\"JJ\\\"\""}`,
		`{"a":{{ when | json }}}`:                         `{"a":"2026-03-01T10:00:00Z"}`,
		`{"a":"\"{{ name }}"}`:                            `{"a":"\"Jo \"JJ\""}`,
		`[{% for x in list %}{{ x | json }}{% unless forloop.last %},{% endunless %}{% endfor %}]`: `["a",1,null]`,
		`{"a":"{% if yes %}{{ name }}{% endif %}"}`:                                                `{"a":"Jo \"JJ\""}`,
	} {
		got := renderJSON(t, source, liquid.JSON, vars)
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	for source, want := range map[string]string{
		`<p title="{{ name | json }}">{{ tag | json }}</p>`:                     `<p title="&quot;Jo \&quot;JJ\&quot;&quot;">&quot;\u003c/script\u003e&quot;</p>`,
		`<script>var a = {{ tag | json }};</script>`:                            `<script>var a = "\u003c/script\u003e";</script>`,
		`<script type="application/ld+json">{"a":{{ object | json }}}</script>`: `<script type="application/ld+json">{"a":{"a":[true],"b":"c\""}}</script>`,
	} {
		if got := renderJSON(t, source, liquid.HTML, vars); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	if got := renderJSON(t, `{{ name | json }}`, liquid.Text, vars); got != `"Jo \"JJ\""` {
		t.Errorf("in a text: %s", got)
	}
}

// Whatever a value is, JSON with it stays the same JSON.
func TestAnyTextArrivesInJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var got map[string]string
		out := renderJSON(t, `{"a":"{{ x }}","b":{{ x }},"c":{{ x | json }}}`, liquid.JSON, map[string]any{"x": text})
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 3 || got["a"] != text || got["b"] != text || got["c"] != text {
			t.Fatalf("%q became %s: %v", text, out, err)
		}
	})
}
