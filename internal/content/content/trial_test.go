package content_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/people/field"
)

func TestReviewReportsWhatFails(t *testing.T) {
	t.Parallel()
	fields := field.Catalog{"seats": {Type: field.Number}, "plan": {Type: field.Enum, EnumValues: []string{"gold"}}, "since": {Type: field.Date}, "level": {Type: field.Number, Default: "none"}}
	for source, want := range map[string]string{
		"Hi {{ first_name }}": "",
		`{% if seats > 5 %}{{ plan | upcase }}{% endif %}{{ since | date: "%Y" }}{{ tags | join }}`:                                "",
		"{{ contact.custom_fields.plan }} {{ account.name }} {{ broadcast.name }} {{ email }} {{ email.subject }} {{ param.max }}": "",
		"{{ unsubscribe_url }} {{ now | date: '%Y' }} {{ nosuch }}":                                                                "",
		"{% if param.max > 1 %}x{% endif %}":                                                                                       "",
		"a\nb {% if first_name > 18 %}x{% endif %}":                                                                                "line 2: a text and a number cannot be compared by >",
		"{% if contact.first_name < 1 %}x{% endif %}":                                                                              "line 1: a text and a number cannot be compared by <",
		"{% if plan >= 1 %}x{% endif %}":                                                                                           "line 1: a text and a number cannot be compared by >=",
		"{{ 10 | divided_by: seats }} {{ prospect_score | modulo: 0 }}":                                                            "line 1: divided by 0",
		"{{ 10 | divided_by: nosuch }}":                                                                                            "line 1: divided by 0",
		"{% if first_name %}{% else %}{{ 1 | divided_by: 0 }}{% endif %}":                                                          "line 1: divided by 0",
		"{% if level > 1 %}x{% endif %}":                                                                                           "line 1: a text and a number cannot be compared by >",
		"{% for i in (1..99999) %}{% endfor %}":                                                                                    "line 0: it takes more than a recipient's mail may: loop turns, output or time",
		"{% if %}":                                                                                                                 "",
	} {
		found, err := content.Review(t.Context(), []content.Text{{Field: "f", Source: source}}, content.Known{Fields: fields, Params: []byte(`{"max": 3}`), Paths: []string{"nosuch"}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(found) > 0 {
			got = sprintTrouble(found[0])
		}
		if got != want || len(found) > 1 || len(found) == 1 && (found[0].Field != "f" || found[0].Code != "LIQUID_MAY_FAIL") {
			t.Errorf("%s: %+v, want %q", source, found, want)
		}
	}
}

func TestReviewReportsDatesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"a\n{{ '31-31-2022' | date: '%Y' }}": 2, "{{ plan | date: '%Y' }}": 1, "{{ 'soon' | time_zone: 'UTC' }}": 1,
		"{{ '13-10-2022' | date: '%Y' }} {{ nope | date: '%Y' }} {{ '' | date: '%Y' }} {{ created_at | date: '%Y' }} {{ since | date: '%d' }}": 0,
	} {
		known := content.Known{Fields: field.Catalog{"plan": {Type: field.Enum, EnumValues: []string{"gold"}}, "since": {Type: field.Date}}}
		got := found(t, content.CodeDate, content.Text{Field: "f", Source: source}, known)
		if want == 0 && len(got) > 0 || want > 0 && (len(got) != 1 || got[0].Line != want) {
			t.Errorf("%s: %v, want line %d", source, got, want)
		}
	}
}

func sprintTrouble(t content.Trouble) string { return fmt.Sprintf("line %d: %s", t.Line, t.Message) }

func TestReviewReportsWhatMayBeEmpty(t *testing.T) {
	t.Parallel()
	const all, none = "it is empty for a contact with every field set: such recipients get no mail", "it is empty for a contact with no field set: such recipients get no mail"
	for _, tt := range []struct {
		form   content.Form
		source string
		want   []string
	}{
		{content.Plain, "Hello {{ first_name }}", nil},
		{content.Plain, `{% if first_name == "Vip" %}Hello{% endif %}`, []string{all, none}},
		{content.Plain, "{{ company }}", []string{none}},
		{content.Plain, "{% unless company %}Hello{% endunless %}", []string{all}},
		{content.Plain, `{{ company | default: "Hello" }}`, nil},
		{content.HTML, "<p>{{ company }}</p>", []string{none}},
		{content.HTML, "<p>{{ company }}</p><img src='https://example.org/x.png'>", nil},
		{content.HTML, `<div style="display:none">x</div>{% if nope %}x{% endif %}`, []string{all, none}},
	} {
		found, err := content.Review(t.Context(), []content.Text{{Field: "f", Source: tt.source, Form: tt.form, Required: true}}, content.Known{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, trouble := range found {
			if trouble.Code == content.CodeMayFail {
				got = append(got, trouble.Message)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.source, got, tt.want)
		}
	}
}
