package liquid_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// TestWhatShopifysLiquidAnswers holds cases in which ours once differed.
func TestWhatShopifysLiquidAnswers(t *testing.T) {
	t.Parallel()
	vars := map[string]any{
		"words": []any{"x", "y", "cat"}, "numbers": []any{int64(1), int64(2), int64(3)}, "text": "foo", "empty_text": "", "five": int64(5), "list": []any{}, "yes": true,
		"objects": []any{map[string]any{"title": "foo"}, map[string]any{"title": nil}, map[string]any{"z": int64(42)}},
	}
	for source, want := range map[string]string{
		"{% for x in words, limit: 2 %}{{ x }}{% endfor %}":               "xy",
		"{% for x in words , limit:1 , offset:1 %}{{ x }}{% endfor %}":    "y",
		"{% for x in words limit: 2, offset: 1 %}{{ x }}{% endfor %}":     "ycat",
		"{% for x in words reversed, limit: 2 %}{{ x }}{% endfor %}":      "yx",
		"{% for x in (1..5), limit: 2 %}{{ x }}{% endfor %}":              "12",
		"{% for x in words, offset: continue %}{{ x }}{% endfor %}":       "xycat",
		"{{ words | reject: nosuch | join }}":                             "",
		"{{ words | where: nosuch | join }}":                              "",
		"{{ text | reject: nosuch }}":                                     "",
		"{{ objects | reject: nosuch | size }}":                           "3",
		"{{ objects | reject: 'title', nosuch | size }}":                  "2",
		"{{ numbers | has: 2 }}":                                          "true",
		"{{ words | has: 0 }}":                                            "true",
		"{{ words | has: 2 }}":                                            "true",
		"{{ words | has: 3 }}":                                            "false",
		"{{ words | has: -3 }}":                                           "true",
		"{{ words | has: -4 }}":                                           "false",
		"{{ objects | has: 42 }}":                                         "false",
		"{{ objects | has: 'z', 42 }}":                                    "true",
		"{% if blank <= 1 or blank >= 1 %}yes{% else %}no{% endif %}":     "no",
		"{% if 1 >= blank or 1 <= blank %}yes{% else %}no{% endif %}":     "no",
		"{% if empty <= 1 or empty >= 1 %}yes{% else %}no{% endif %}":     "no",
		"{% if 1 >= empty or 1 <= empty %}yes{% else %}no{% endif %}":     "no",
		"{% if text > blank or text < empty %}yes{% else %}no{% endif %}": "no",
		"{% if empty_text <= empty %}yes{% else %}no{% endif %}":          "no",
		"{% if yes > false %}yes{% else %}no{% endif %}":                  "no",
		"{% if list < 1 or words >= words %}yes{% else %}no{% endif %}":   "no",
		"{% if nosuch > 1 %}yes{% else %}no{% endif %}":                   "no",
	} {
		template, err := liquid.Parse(source, liquid.Options{})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := template.Append(t.Context(), nil, liquid.Values{Vars: vars}, nil); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v; want %q", source, got, err, want)
		}
	}
	for _, source := range []string{"{{ numbers | has: '2' }}", "{% if text > 18 %}{% endif %}", "{{ numbers | reject: 'c' }}"} {
		template, err := liquid.Parse(source, liquid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Append(t.Context(), nil, liquid.Values{Vars: vars}, nil); err == nil {
			t.Errorf("%s = %q, want an error", source, got)
		}
	}
}
