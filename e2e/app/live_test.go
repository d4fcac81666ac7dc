package app

import (
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// What somebody changes is shown on the pages that others have open, in browsers of their own: of email types and
// categories, senders, fields, stages, scoring, seed lists with their addresses and history, segments, members, API keys,
// the audit log and saved filters.
func TestChangesByOthersAreShownWithoutAReload(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		other := appPage{page.NewContext(""), page.program, page.account}
		other.SetScreen(1280, 900, "light")
		other.Goto(page.program.BaseURL + "/app/-/login")
		other.signIn(harness.Owner, harness.Password)

		made := func(path string, body map[string]any) string {
			t.Helper()
			return page.call(http.MethodPost, path, body)["id"].(string)
		}
		emailType, sender := page.firstID("/email-types"), page.firstID("/sending-identities")
		category := made("/email-categories", map[string]any{"name": "Reading"})
		field := made("/settings/custom-fields", map[string]any{"name": "Shoe size", "field_type": "number"})
		stage := made("/settings/stages", map[string]any{"name": "Curious", "category": "prospect"})
		seeds := made("/seed-lists", map[string]any{"name": "Placement"})
		segment := page.call(http.MethodPost, "/segments", map[string]any{"name": "Friends", "type": "static"})

		for _, c := range []struct {
			route        string
			method, path string
			body         map[string]any
			shows        string
		}{
			{"/sending/types", http.MethodPut, "/email-types/" + emailType, map[string]any{"display_name": "The gazette"}, "The gazette"},
			{"/sending/types", http.MethodPut, "/email-categories/" + category, map[string]any{"name": "Literature"}, "Literature"},
			{"/sending/senders", http.MethodPut, "/sending-identities/" + sender, map[string]any{"display_name": "Zoe Zimmer"}, "Zoe Zimmer"},
			{"/sending/senders/" + sender, http.MethodPut, "/sending-identities/" + sender, map[string]any{"display_name": "Yan Young"}, "Yan Young"},
			{"/settings/fields", http.MethodPut, "/settings/custom-fields/" + field, map[string]any{"name": "Glove size"}, "Glove size"},
			{"/settings/stages", http.MethodPut, "/settings/stages/" + stage, map[string]any{"name": "Enthusiast"}, "Enthusiast"},
			{"/settings/scoring", http.MethodPut, "/settings/scoring", map[string]any{"rules": []any{map[string]any{"trigger": "form_submitted", "points": 77}}}, "77 points"},
			{"/sending/seeds", http.MethodPut, "/seed-lists/" + seeds, map[string]any{"name": "Deliverability"}, "Deliverability"},
			{"/sending/seeds/" + seeds, http.MethodPut, "/seed-lists/" + seeds + "/seeds", map[string]any{"seeds": []any{map[string]any{"email": "watched@gmail.com"}}}, "watched@gmail.com"},
			{"/sending/seeds/" + seeds + "?tab=history", http.MethodPut, "/seed-lists/" + seeds + "/seeds", map[string]any{"seeds": []any{map[string]any{"email": "watched@gmail.com"}}}, "1 unchanged"},
			{"/segments/" + segment["segment_key"].(string), http.MethodPut, "/segments/" + segment["segment_key"].(string), map[string]any{"name": "Old friends"}, "Old friends"},
			{"/segments", http.MethodPost, "/contacts", map[string]any{"email": "late@example.org"}, "Everybody who can be mailed Built in 26 26"},
			{"", http.MethodPost, "/contacts", map[string]any{"email": "later@example.org"}, "Can be mailed 27"},
			{"/settings/members", http.MethodPost, "/users/invite", map[string]any{"email": "newcomer@example.org", "role": "viewer"}, "newcomer@example.org"},
			{"/settings/api-keys", http.MethodPost, "/auth/api-keys", map[string]any{"name": "Warehouse", "scopes": []any{"contacts:read"}}, "Warehouse"},
			{"/settings/audit", http.MethodPost, "/auth/api-keys", map[string]any{"name": "Bookkeeping", "scopes": []any{"contacts:read"}}, "Bookkeeping"},
			{"/contacts", http.MethodPost, "/saved-filters", map[string]any{"name": "Night owls", "search": "owl"}, "Night owls"},
		} {
			other.open(c.route)
			other.WaitFor(`document.querySelector('header').innerText.includes('Live')`)
			other.Main().ExpectNoText(c.shows)
			other.Evaluate(`window.sameDocument = true`)
			page.call(c.method, c.path, c.body)
			other.Main().ExpectText(c.shows)
			if other.EvaluateString(`String(window.sameDocument)`) != "true" {
				t.Errorf("%s was loaded again", c.route)
			}
		}
		other.expectNoProblems()
	})
}
