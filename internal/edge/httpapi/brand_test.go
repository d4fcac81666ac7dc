package httpapi_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/asset"
)

func TestTheBrandOfAnAccount(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		logo := func(account id.Tenant) string {
			t.Helper()
			content, image, err := asset.Read(strings.NewReader("GIF89a\x01\x01\x01\x01\x01\x01\x01;"))
			if err != nil {
				t.Fatal(err)
			}
			a, err := asset.Add(t.Context(), s.db, account, "logo.gif", content, image, s.now)
			if err != nil {
				t.Fatal(err)
			}
			return a.ID.String()
		}
		other, err := tenant.BySlug(t.Context(), s.db, "other")
		if err != nil {
			t.Fatal(err)
		}
		mine, theirs := logo(s.acme), logo(other.ID)
		before := s.must(200, "viewer", "GET /settings/brand", "")
		if !strings.Contains(before.text, `"secondary":null`) || !strings.Contains(before.text, `"logo_url":null`) || before.body["width"] != 600.0 {
			t.Errorf("a new account has %s", before.text)
		}
		changed := s.must(200, "admin", "PUT /settings/brand",
			`{"colors": {"primary": "#ABC", "secondary": "#123456"}, "fonts": {"body": "arial,sans-serif"}, "button": {"radius": 0}, "logo_asset_id": "`+mine+`", "footer": "From {{ account.name }} to {{ first_name }}"}`)
		for _, want := range []string{`"primary":"#aabbcc"`, `"secondary":"#123456"`, `"body":"Arial, sans-serif"`, `"heading":"Georgia, Times New Roman, serif"`, `"radius":0`, mine + ".gif"} {
			if !strings.Contains(changed.text, want) {
				t.Errorf("no %s in %s", want, changed.text)
			}
		}
		if other := s.must(200, "viewer", "GET /t/other/api/settings/brand", ""); !strings.Contains(other.text, "#12507b") || strings.Contains(other.text, mine) {
			t.Errorf("another account has %s", other.text)
		}
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "first_name": "Ann"}`).str("id")
		shown := s.must(200, "viewer", "POST /preview", `{"contact_id": "`+ann+`", "source": {"content": {"subject": "{{ brand.colors.secondary }}", "body_html": "<p style=\"color:{{ brand.colors.primary }}\">{{ brand.footer }} {{ brand.width }} {{ brand.button.color }} {{ brand.colors.pink }}</p><img src=\"{{ brand.logo_url }}\">"}}}`)
		for _, want := range []string{`color:#aabbcc`, " to Ann 600 #aabbcc", "/_q/a/", mine + ".gif", `"subject":"#123456"`, "brand.colors.pink"} {
			if !strings.Contains(shown.text, want) {
				t.Errorf("no %s in %s", want, shown.text)
			}
		}
		if strings.Contains(shown.text, "nothing is called brand.footer") {
			t.Errorf("a known name is not known: %s", shown.text)
		}
		s.mustRefuse("editor", "DELETE /assets/"+mine, "", 409, "IN_USE")
		s.mustRefuse("editor", "PUT /settings/brand", `{}`, 403, "FORBIDDEN")
		s.mustRefuse("key", "GET /settings/brand", "", 403, "API_KEY_FORBIDDEN")
		r := s.mustRefuse("admin", "PUT /settings/brand",
			`{"colors": {"primary": "red", "text": "#12"}, "fonts": {"heading": "Wingdings"}, "width": 5, "footer": "{% if %}", "logo_asset_id": "`+theirs+`"}`, 400, "INVALID_INPUT")
		if got := r.problems(); got != "colors.primary colors.text fonts.heading width footer logo_asset_id" {
			t.Errorf("problems of %s: %s", got, r.text)
		}
		s.mustRefuse("admin", "PUT /settings/brand", `{"logo_asset_id": "x"}`, 400, "INVALID_INPUT")
		s.mustRefuse("admin", "PUT /settings/brand", `{"colors": "red"}`, 400, "INVALID_INPUT")
		cleared := s.must(200, "admin", "PUT /settings/brand", `{"colors": null, "fonts": null, "button": null, "logo_asset_id": null, "width": null, "footer": null}`)
		if cleared.text != before.text {
			t.Errorf("after null for all: %s, want %s", cleared.text, before.text)
		}
		s.must(204, "editor", "DELETE /assets/"+mine, "")
	})
}
