package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
)

func TestALetterReadsWhatItsTemplatesName(t *testing.T) {
	t.Parallel()
	whole := func(r *contact.FieldSet) { r.AddAll() }
	of := func(names ...string) func(*contact.FieldSet) {
		return func(r *contact.FieldSet) {
			for _, n := range names {
				r.Add(n)
			}
		}
	}
	for _, tt := range []struct {
		source string
		want   func(*contact.FieldSet)
	}{
		{"nothing", of()},
		{"{{ unsubscribe_url }}{{ packetboat_pixel }}{{ packetboat_link_0 }}{{ account.name }}{{ broadcast.id }}{{ email }}{{ email.subject }}{{ param.x }}{{ now }}", of()},
		{"{{ first_name | default: city }}", of("first_name", "city")},
		{"{{ contact.first_name }}{{ contact['city'] }}{% if contact.company.size > 3 %}{% endif %}", of("first_name", "city", "company")},
		{"{% for tag in tags limit: seats %}{{ tag }}{% endfor %}", of("tags", "custom_fields")},
		{"{{ contact.custom_fields.plan }}", of("custom_fields")},
		{"{% for pair in contact.custom_fields %}{{ pair[0] }}{% endfor %}", of("custom_fields")},
		{"{{ plan }}", of("custom_fields")},
		{"{{ contact.prospect_score }}", whole},
		{"{{ last_email_opened_at | date: '%Y' }}", whole},
		{"{% assign name = 'city' %}{{ contact[name] }}", whole},
		{"{% assign name = 'city' %}{{ [name] }}", whole},
		{"{% assign c = contact %}{{ c.city }}", whole},
	} {
		var want contact.FieldSet
		tt.want(&want)
		for name, c := range map[string]content.Content{
			"subject":   {Source: content.Source{Subject: tt.source}},
			"preheader": {Source: content.Source{Preheader: tt.source}},
			"from name": {Source: content.Source{FromName: tt.source}},
			"HTML":      {Source: content.Source{HTML: tt.source}},
			"text":      {Source: content.Source{Text: tt.source}},
			"link":      {Links: []links.Link{{URL: "https://example.org/" + tt.source, Dynamic: true}}},
		} {
			got := render.Reads(compile(t, c))
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(contact.FieldSet{})); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, tt.source, diff)
			}
		}
	}
}
