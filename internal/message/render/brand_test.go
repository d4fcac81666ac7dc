package render_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/field"
)

// In an account with a custom field brand, the name alone is the contact's value, and nothing if it has none.
func TestABrandAloneIsTheCustomField(t *testing.T) {
	t.Parallel()
	const source = `{{ brand | default: "none" }}{% if brand %} given{% endif %} {{ brand.colors.primary }}`
	for _, tt := range []struct {
		name   string
		fields field.Catalog
		value  any
		want   string
	}{
		{"a value", field.Catalog{"brand": {}}, "Acme <3", "Acme &lt;3 given #12507b"},
		{"a truth", field.Catalog{"brand": {}}, false, "none #12507b"},
		{"no value", field.Catalog{"brand": {}}, nil, "none #12507b"},
		{"a default", field.Catalog{"brand": {Default: "Boat"}}, nil, "Boat given #12507b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := sample(t)
			l.Sender.Fields, l.Contact.CustomFields = tt.fields, map[string]any{"brand": tt.value}
			l.Content = compile(t, content.Content{Source: content.Source{Subject: "s", HTML: source}})
			if got := string(renderMail(t, l).HTML); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			missing, err := (&render.Renderer{Keys: keys(t), BaseURL: &url.URL{Scheme: "https", Host: "app.example.com"}}).Writer().Missing(t.Context(), l)
			if err != nil || slices.Equal(missing, []string{"brand"}) != (tt.name == "no value") {
				t.Errorf("it lacks %q, %v", missing, err)
			}
		})
	}
}

func TestAFooterIsLiquidWithoutItself(t *testing.T) {
	t.Parallel()
	l := sample(t)
	l.Content = compile(t, content.Content{Source: content.Source{Subject: "s", HTML: "{{ brand.footer }}|{{ brand.footer }}"}})
	for text, want := range map[string]string{
		"": "|", "From {{ account.name }} to {{ first_name }}{{ brand.footer }}": "From Acme &amp; Co to Ann &lt;3|From Acme &amp; Co to Ann &lt;3", "{% if %}": "|",
	} {
		l.Sender.Footer = (&tenant.Brand{Footer: text}).FooterTemplate()
		if got := string(renderMail(t, l).HTML); got != want {
			t.Errorf("%q prints %q, want %q", text, got, want)
		}
	}
}
