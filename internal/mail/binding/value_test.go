package binding_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

func TestValuesFitTheirType(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, rest string
		good, bad  []string // JSON
	}{
		{"text", `"type": "text"`,
			[]string{`""`, `"Hello"`, `"Hi {{ first_name | default: \"you\" }}"`, `"tab\there"`, `"<b>&"`, `"{{param:x}}"`},
			[]string{`"two\nlines"`, `"two\r"`, `"two\u2028lines"`, `"nul\u0000"`, `"bell\u0007"`, `5`, `true`, `[]`, `{}`, `"{{ a | nosuch }}"`, `"{% if a %}"`, `"{{ a | raw }}"`}},
		{"text with lengths", `"type": "text", "validation": {"min_length": 2, "max_length": 4}`,
			[]string{`"ab"`, `"äöüß"`, `"<>&\""`},
			[]string{`"a"`, `""`, `"abcde"`, `"{{ first_name }}"`}},
		{"text with a pattern", `"type": "text", "validation": {"pattern": "[A-Z]{2}|x"}`,
			[]string{`"AB"`, `"x"`}, []string{`"ABC"`, `"aAB"`, `""`, `"AB%s"`}},
		{"textarea", `"type": "textarea", "validation": {"max_length": 5}`,
			[]string{`"a\nb"`, `"a\r\nb"`}, []string{`"a\nbcdef"`, `7`, `"\u001b"`}},
		{"rich_text", `"type": "rich_text", "validation": {"max_length": 20}`,
			[]string{`"<p>Hi</p>"`, `""`}, []string{`"<p>Hi there, everyone</p>"`, `["<p>"]`}},
		{"html", `"type": "html", "validation": {"max_length": 20}`,
			[]string{`"<table>"`, `"{{ x | raw }}"`}, []string{`"<p>Hi there, everyone</p>"`, `null_`}},
		{"url", `"type": "url"`,
			[]string{`"https://x.org"`, `"HTTPS://x.org/a?b=c&d=e#f"`, `"mailto:ann@x.org"`, `"tel:+4930123"`, `"{{ unsubscribe_url }}"`,
				`"{{ base }}/path"`, `"https://x.org/{{ plan | url_encode }}?a={{ b }}"`, `"https://{{ host }}/"`, `"https://x.org:8080/"`,
				`"https://müller.example/straße"`, `"{% if a %}https://x.org{% else %}https://y.org{% endif %}"`},
			[]string{`""`, `"x.org"`, `"/path"`, `"//x.org/"`, `"https://"`, `"https:x.org"`, `"mailto:"`, `"javascript:alert(1)"`, `"JaVaScRiPt:alert(1)"`,
				`" javascript:alert(1)"`, `"java\nscript:alert(1)"`, `"java\tscript:alert(1)"`, `"java\u0000script:alert(1)"`, `"&#106;avascript:alert(1)"`,
				`"javascript&colon;alert(1)"`, `"data:text/html,hi"`, `"vbscript:x"`, `"file:///etc/passwd"`, `"https://x.org/a b"`, `"https://x.org/\"onclick"`,
				`"https://x.org\\@y.org"`, `"ftp://x.org/"`, `"java{{ a }}script:alert(1)"`, `"{{ a }}javascript:alert(1)"`, `"{% if a %}JavaScript:alert(1){% endif %}"`,
				`"{{ a }}java&#9;script:alert(1)"`, `"\u200bjavascript:alert(1)"`, `5`, `"{{ x"`}},
		{"url with schemes", `"type": "url", "validation": {"schemes": ["https", "sms"], "max_length": 20}`,
			[]string{`"https://x.org"`, `"sms:+123"`}, []string{`"http://x.org"`, `"https://x.org/abcdefgh"`}},
		{"image", `"type": "image"`,
			[]string{`"https://x.org/a.png"`, `"http://x.org/a.png"`, `"{{ account.logo_url }}"`},
			[]string{`"data:image/png;base64,AA=="`, `"mailto:a@x.org"`, `"a.png"`, `"cid:1"`}},
		{"email", `"type": "email"`,
			[]string{`"ann@example.org"`, `"Ann@Example.org"`}, []string{`"ann"`, `"Ann <ann@example.org>"`, `"a@x.org, b@x.org"`, `"{{ email }}"`, `""`}},
		{"color", `"type": "color"`,
			[]string{`"#fff"`, `"#1A2b3C"`}, []string{`"fff"`, `"#ffff"`, `"red"`, `"#12345g"`, `"#fff;x"`, `"#äa"`, `""`, `"#@@@"`}},
		{"number", `"type": "number"`,
			[]string{`0`, `-1.50`, `1e3`, `12345678901234567890`, `1.5E-3`}, []string{`"5"`, `1e400`, `1e999999999999999999999`, `1` + strings.Repeat("0", 40), `true`}},
		{"number with bounds", `"type": "number", "validation": {"min": -1.5, "max": 10, "integer": true}`,
			[]string{`-1`, `10`, `10.0`, `1e1`, `-0`}, []string{`-2`, `11`, `10.5`, `10.000000000000000000001`}},
		{"boolean", `"type": "boolean"`, []string{`true`, `false`}, []string{`"true"`, `1`, `"{{ a }}"`}},
		{"date", `"type": "date", "validation": {"min": "2026-01-01", "max": "2026-12-31"}`,
			[]string{`"2026-01-01"`, `"2026-02-28"`, `"2026-12-31"`}, []string{`"2026-02-29"`, `"2025-12-31"`, `"2027-01-01"`, `"2026-1-1"`, `"2026-01-01T00:00:00Z"`, `20260101`, `"{{ now }}"`}},
		{"datetime", `"type": "datetime", "validation": {"min": "2026-01-01T00:00:00Z"}`,
			[]string{`"2026-01-01T01:00:00+01:00"`, `"2026-06-30T12:00:00.123Z"`, `"2026-06-30t12:00:00z"`, `"2026-06-30T23:59:60Z"`},
			[]string{`"2026-06-30T12:00:60Z"`, `"2026-06-30 12:00:00Z"`, `"2026-06-30T12:00:00,5Z"`, `"2026-06-30T12:00:00+0200"`, `"2026-06-30T12:00:00+24:00"`, `"20260630T120000Z"`, `"2026-01-01T00:30:00+01:00"`, `"2026-06-30"`, `"2026-06-30T12:00:00"`, `"2026-06-31T12:00:00Z"`, `"2026-06-30T1:00:00Z"`, `"now"`}},
		{"select", `"type": "select", "validation": {"options": ["a", {"value": "b", "label": "Bee"}]}`,
			[]string{`"a"`, `"b"`}, []string{`"Bee"`, `"c"`, `""`, `1`, `["a"]`}},
		{"list", `"type": "list", "validation": {"min_items": 1, "max_items": 2}`,
			[]string{`["a"]`, `["a", "b\nc"]`}, []string{`[]`, `["a","b","c"]`, `"a"`, `[1]`, `["a", null]`, `["\u0000"]`, `["{% for %}"]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := onlyParameter(t, tt.rest)
			for _, v := range tt.good {
				b, issues := binding.Check(s, json.RawMessage(`{"parameters": {"x": `+v+`}}`), nil, "")
				if len(issues) > 0 {
					t.Errorf("%s is refused: %+v", v, issues)
				} else if b.Values["x"].V == nil {
					t.Errorf("%s is bound and gives no value", v)
				}
			}
			for _, v := range tt.bad {
				if !json.Valid([]byte(v)) {
					continue
				}
				_, issues := binding.Check(s, json.RawMessage(`{"parameters": {"x": `+v+`}}`), nil, "")
				if len(issues) != 1 || issues[0].Code != binding.InvalidType || !strings.HasPrefix(issues[0].Path, "parameters.x") {
					t.Errorf("%s gives %+v, want one issue invalid_type at parameters.x", v, issues)
				}
			}
		})
	}
}

func TestValuesAreKeptAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rest, in string
		want     any
	}{
		{`"type": "text"`, `" a {{b}} "`, " a {{b}} "},
		{`"type": "number"`, `1.50`, json.Number("1.50")},
		{`"type": "number"`, `-12`, json.Number("-12")},
		{`"type": "number"`, `1e3`, json.Number("1000")},
		{`"type": "number"`, `1.25e1`, json.Number("12.5")},
		{`"type": "number"`, `-125E-4`, json.Number("-0.0125")},
		{`"type": "number"`, `0e-5`, json.Number("0")},
		{`"type": "number"`, `-0e5`, json.Number("0")},
		{`"type": "boolean"`, `true`, true},
		{`"type": "email"`, `" ann@example.org "`, "ann@example.org"},
		{`"type": "email"`, `"Ann@Example.ORG"`, "Ann@Example.ORG"},
		{`"type": "list"`, `["b", "a"]`, []string{"b", "a"}},
		{`"type": "text", "default": "d"`, `null`, "d"},
		{`"type": "number", "default": 2e2`, `null`, json.Number("200")},
		{`"type": "list", "default": ["d"]`, `null`, []string{"d"}},
		{`"type": "boolean", "default": false`, `null`, false},
		{`"type": "text", "default": "d"`, `""`, ""},
		{`"type": "text", "sample": "s"`, `null`, nil},
	} {
		b, issues := binding.Check(onlyParameter(t, tt.rest), json.RawMessage(`{"parameters": {"x": `+tt.in+`}}`), nil, "")
		if got := b.Values["x"].V; len(issues) > 0 || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s as %s = %#v, %v; want %#v", tt.in, tt.rest, got, issues, tt.want)
		}
	}
}

func TestPatternsCostLittle(t *testing.T) {
	t.Parallel()
	// A pattern with many states, matched against many long texts.
	s := onlyParameter(t, `"type": "text", "validation": {"pattern": "(?:a?){60}(?:a|b|ab)*c"}`)
	text := strings.Repeat("ab", 500_000)
	_, issues := binding.Check(s, json.RawMessage(`{"parameters": {"x": "`+text+`"}}`), nil, "")
	if listed(issues) != "parameters.x invalid_type\n" {
		t.Errorf("Check gives %s", listed(issues))
	}
}

func TestFixesAreOneSentenceThatNamesThePlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rest, in, message, fix string }{
		{`"type": "number"`, `"5"`, "must be a number, not a string", "Set 'parameters.x' to a number"},
		{`"type": "text", "validation": {"max_length": 3}`, `"abcd"`, "has 4 characters; at most 3 are allowed", "Shorten 'parameters.x' to at most 3 characters"},
		{`"type": "select", "validation": {"options": ["100%s", "b"]}`, `"c"`, "must be one of the options", "Set 'parameters.x' to one of: 100%s, b"},
		{`"type": "number", "validation": {"max": 3}`, `4`, "must be at most 3", "Set 'parameters.x' to 3 or less"},
		{`"type": "date", "validation": {"min": "2026-01-01"}`, `"2025-01-01"`, "must be at least 2026-01-01", "Set 'parameters.x' to 2026-01-01 or more"},
		{`"type": "list"`, `["a", 5]`, "must be a string, not a number", "Set 'parameters.x[1]' to a string"},
		{`"type": "url", "required": true`, `null`, "is required and has no default", "Set 'parameters.x' to a URL such as https://example.com/page"},
	} {
		_, issues := binding.Check(onlyParameter(t, tt.rest), json.RawMessage(`{"parameters": {"x": `+tt.in+`}}`), nil, "")
		if len(issues) != 1 || issues[0].Message != tt.message || issues[0].Fix != tt.fix {
			t.Errorf("%s as %s gives %+v; want %q, %q", tt.in, tt.rest, issues, tt.message, tt.fix)
		}
	}
}
