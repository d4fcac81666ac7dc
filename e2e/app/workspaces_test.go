package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// writes is what the page lets somebody do that changes records, by the names of its buttons and links.
const writes = `[...document.querySelectorAll('main button:not([aria-disabled=true]):not(:disabled), main a')].map($.name).filter(n => /^(New (?!in )|Add (?!an emoji)|Create|Import|Invite|Delete|Archive|Restore|Save|Send|Publish|Duplicate|Edit|Rename|Remove|Schedule|Pause|Resume|Activate|Check now|Rotate|Empty|Upload|Use)\b/.test(n)).join('; ')`

// Somebody with two workspaces switches by keyboard, and sees nothing of the first in the second. What they write
// while the browser is offline is saved when it is online again. A viewer's tour of the second, on a phone in the
// dark, offers nothing that changes records, and nothing moves.
func TestWorkspacesOfOneUserShowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		foreign := page.firstID("/contacts?limit=1")
		for _, command := range [][]string{
			{"tenant", "create", "--slug", "second", "--name", "Second Ltd"},
			{"user", "create", "--tenant", "second", "--role", "owner", "--name", "Owner", "--email", harness.Owner},
			{"user", "create", "--tenant", "second", "--role", "viewer", "--name", "Vi", "--email", "vi@example.org"},
		} {
			if _, err := page.program.Run(page.Ctx, command...); err != nil {
				t.Fatal(err)
			}
		}
		made := page.createSecondRecords()

		page.open("/segments/" + page.account.List)
		page.Main().ExpectText("Everyone")
		page.PressEnterOn("Workspace " + harness.Tenant)
		page.ChooseMenuItem("Second Ltd")
		page.expectURL("^/app/second/segments$")
		page.Main().ExpectText("Friends")
		page.Goto(page.program.BaseURL + "/app")
		page.WaitFor(`location.pathname.startsWith('/app/second') && ` + settled)
		page.Goto(page.program.BaseURL + "/app/-/me")
		page.Click("Workspaces") // leads to all of them
		page.Main().ExpectText("Choose a workspace")
		page.SetScreen(390, 844, "light")
		page.open("/segments")
		page.Click("More")
		page.Click("Switch workspace")
		page.Main().ExpectText("Choose a workspace")
		page.SetScreen(1280, 900, "light")
		in := func(route string) {
			t.Helper()
			page.Goto(page.program.BaseURL + "/app/second" + route)
			page.WaitFor(settled)
		}
		for _, route := range []string{"/segments", "/contacts", "/broadcasts", "/templates", "/sending", "/settings/members", "/contacts/" + foreign, "/segments/" + page.account.List} {
			in(route)
			for _, text := range []string{"Everyone", "reader1", "Reader1", "news@example.com"} {
				if page.EvaluateString(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, text)) == "true" {
					t.Errorf("%s of the second workspace shows %s of the first", route, text)
				}
			}
		}
		page.Main().ExpectText("This no longer exists")

		in("/broadcasts/" + made["broadcast"] + "/edit")
		page.Must(page.Offline(page.Ctx, true))
		page.Fill("Internal name", "Written offline")
		page.All().ExpectText("You are offline")
		page.Must(page.Offline(page.Ctx, false))
		written := e2etest.Eventually(t, func() (string, bool) {
			a, err := page.account.Owner.Raw(page.Ctx, http.MethodGet, "/t/second/api/broadcasts/"+made["broadcast"], nil)
			name, _ := a.Map()["name"].(string)
			return name, err == nil && name == "Written offline"
		})
		if written != "Written offline" {
			t.Errorf("the draft's name is %q", written)
		}
		page.Main().ExpectText("Saved")

		out, err := page.program.Run(page.Ctx, "user", "login-link", "--email", "vi@example.org")
		if err != nil {
			t.Fatal(err)
		}
		page.SetScreen(390, 844, "dark")
		page.Goto(page.program.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):]))
		page.Click("Sign in as vi@example.org")
		page.expectURL("^/app/second$")
		for _, route := range []string{
			"", "/contacts", "/contacts/" + made["contact"], "/segments", "/segments/friends", "/suppressions", "/forms", "/templates", "/templates/" + made["template"], "/blocks", "/library",
			"/broadcasts", "/broadcasts/" + made["broadcast"], "/sequences", "/automations", "/sending", "/sending/senders", "/sending/types", "/sending/seeds",
			"/settings/account", "/settings/members", "/settings/fields", "/settings/stages", "/settings/scoring", "/settings/webhooks", "/settings/website", "/jobs",
		} {
			in(route)
			page.expectAccessible("a viewer's " + route)
			if offered := page.EvaluateString(writes); offered != "" {
				t.Errorf("%s offers a viewer: %s", route, offered)
			}
			if moving := page.EvaluateString(`document.getAnimations().filter(a => a.playState === 'running').length`); moving != "0" {
				t.Errorf("on %s %s things move, though the reader wants none", route, moving)
			}
			if wide := page.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
				t.Errorf("%s is wider than the screen", route)
			}
		}
		in("/broadcasts/" + made["broadcast"] + "/edit") // its sections open, though nothing in them can be changed
		page.Evaluate(`[...document.querySelectorAll('section h2 button[aria-expanded=false]')].forEach(b => b.click())`)
		page.WaitFor(`document.querySelectorAll('section h2 button[aria-expanded=true]').length === 5`)
		page.WaitFor(`$.code()?.ariaReadOnly === 'true' && !document.querySelector('[aria-label="Remove Friends"]')?.checkVisibility()`)
	})
}

// createSecondRecords makes records in the second workspace, and returns their ids.
func (page appPage) createSecondRecords() map[string]string {
	page.T.Helper()
	made := map[string]string{}
	for _, x := range []struct {
		name, path string
		body       map[string]any
	}{
		{"segment", "/segments", map[string]any{"name": "Friends", "type": "static"}},
		{"contact", "/contacts", map[string]any{"email": "fay@example.org", "first_name": "Fay"}},
		{"template", "/templates", map[string]any{"name": "Plain", "format": "html", "content_html": "<h1>Hello</h1>"}},
		{"broadcast", "/broadcasts", map[string]any{"name": "News", "email_type_key": "newsletter", "include_segment_keys": []any{"friends"}, "content": map[string]any{"subject": "Hello", "body_html": "<p>Hello</p>"}}},
	} {
		a, err := page.account.Owner.Raw(page.Ctx, http.MethodPost, "/t/second/api"+x.path, x.body)
		if err != nil || a.Status >= 300 {
			page.T.Fatalf("%s: %d %s, %v", x.path, a.Status, a.Body, err)
		}
		made[x.name], _ = a.Map()["id"].(string)
	}
	return made
}
