package app

import (
	"net/http"
	"strings"
	"testing"
)

// Texts of strangers, such as names of contacts and events, are shown as they are: nothing in them runs, and no
// page becomes wider than the screen.
func TestHostileTextsAreShownAsText(t *testing.T) {
	t.Parallel()
	page := openApp(t, "")
	hostile := `</script><img src=x onerror="window.ran=1">` + "\u202e\u2067{{7*7}}${7*7}" + strings.Repeat("W", 110)
	noLiquid := strings.ReplaceAll(hostile, "{{7*7}}", "")
	create := func(path string, body map[string]any) string {
		t.Helper()
		made, err := page.account.Owner.Must(page.Ctx, http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := made["id"].(string)
		return id
	}
	contact := create("/contacts", map[string]any{"email": strings.Repeat("w", 60) + "@" + strings.Repeat("w", 60) + ".example.org", "first_name": hostile, "last_name": hostile, "company": hostile, "tags": []any{strings.Repeat("w", 50)}})
	if _, err := page.account.Key.Must(page.Ctx, http.MethodPost, "/events", map[string]any{"contact_id": contact, "event_name": "order_placed", "properties": map[string]any{"note": hostile + strings.Repeat(" wide", 300)}}); err != nil {
		t.Fatal(err)
	}
	segment := create("/segments", map[string]any{"name": hostile, "definition": map[string]any{"logic": "and", "conditions": []any{map[string]any{"type": "field", "field": "company", "operator": "eq", "value": hostile}}}})
	template := create("/templates", map[string]any{"name": hostile, "format": "html", "subject": noLiquid, "content_html": "<h1>" + strings.Repeat("W", 10_000) + `</h1><script>parent.ran=1</script><img src=x onerror="parent.ran=1">`})
	broadcast := create("/broadcasts", map[string]any{"name": hostile, "email_type_key": "newsletter", "include_segment_keys": []any{page.account.List}, "content": map[string]any{"subject": noLiquid, "body_html": "<p>" + noLiquid + "</p>"}})
	for _, width := range []int{1280, 390} {
		page.SetScreen(width, 900, "light")
		for _, route := range []string{
			"/contacts", "/contacts/" + contact, "/contacts/" + contact + "?tab=profile", "/segments", "/segments/" + segment, "/templates", "/templates/" + template,
			"/broadcasts", "/broadcasts/" + broadcast + "/edit", "/contacts?q=%3Cimg%20src%3Dx%20onerror%3Dran%3D1%3E" + strings.Repeat("w", 80), "/settings/audit",
		} {
			page.open(route)
			if ran := page.EvaluateString(`String(window.ran)`); ran != "undefined" {
				t.Errorf("%d px: %s ran a script of a text", width, route)
			}
			if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
				t.Errorf("%d px: %s is wider than the screen", width, route)
			}
		}
	}
	page.expectNoProblems()
}
