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
const writes = `[...document.querySelectorAll('main button:not([aria-disabled=true]):not(:disabled), main a')].map(` + nameOf + `).filter(n => /^(New (?!in )|Add (?!an emoji)|Create|Import|Invite|Delete|Archive|Restore|Save|Send|Publish|Duplicate|Edit|Rename|Remove|Schedule|Pause|Resume|Activate|Check now|Rotate|Empty|Upload|Use)\b/.test(n)).join('; ')`

// Somebody with two workspaces switches by keyboard, and sees nothing of the first in the second. What they write
// while the browser is offline is saved when it is online again. A viewer's tour of the second, on a phone in the
// dark, offers nothing that changes records, and nothing moves.
func TestASecondWorkspaceIsVisitedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		foreign := d.id("/contacts?limit=1")
		for _, command := range [][]string{
			{"tenant", "create", "--slug", "second", "--name", "Second Ltd"},
			{"user", "create", "--tenant", "second", "--role", "owner", "--name", "Owner", "--email", harness.Owner},
			{"user", "create", "--tenant", "second", "--role", "viewer", "--name", "Vi", "--email", "vi@example.org"},
		} {
			if _, err := d.p.Run(d.Ctx, command...); err != nil {
				t.Fatal(err)
			}
		}
		made := d.fillSecond()

		d.open("/segments/" + d.r.List)
		d.sees("Everyone")
		d.hit("Workspace " + harness.Tenant)
		d.item("Second Ltd")
		d.await(`location.pathname === '/app/second/segments' && ` + settled)
		d.sees("Friends")
		d.Goto(d.p.BaseURL + "/app")
		d.await(`location.pathname.startsWith('/app/second') && ` + settled)
		d.Goto(d.p.BaseURL + "/app/-/me")
		d.pressText("Workspaces") // leads to all of them
		d.sees("Choose a workspace")
		d.SetScreen(390, 844, "light")
		d.open("/segments")
		d.pressText("More")
		d.pressText("Another workspace")
		d.sees("Choose a workspace")
		d.SetScreen(1280, 900, "light")
		in := func(route string) {
			t.Helper()
			d.Goto(d.p.BaseURL + "/app/second" + route)
			d.await(settled)
		}
		for _, route := range []string{"/segments", "/contacts", "/broadcasts", "/templates", "/sending", "/settings/members", "/contacts/" + foreign, "/segments/" + d.r.List} {
			in(route)
			for _, text := range []string{"Everyone", "reader1", "Reader1", "news@example.com"} {
				if d.EvaluateString(fmt.Sprintf(`document.querySelector('main').innerText.includes(%q)`, text)) == "true" {
					t.Errorf("%s of the second workspace shows %s of the first", route, text)
				}
			}
		}
		d.sees("not")

		in("/broadcasts/" + made["broadcast"] + "/edit")
		d.Must(d.Offline(d.Ctx, true))
		d.fill("Name", "Written offline")
		d.sees("You are offline")
		d.Must(d.Offline(d.Ctx, false))
		written := e2etest.Eventually(t, func() (string, bool) {
			a, err := d.r.Owner.Raw(d.Ctx, http.MethodGet, "/t/second/api/broadcasts/"+made["broadcast"], nil)
			name, _ := a.Map()["name"].(string)
			return name, err == nil && name == "Written offline"
		})
		if written != "Written offline" {
			t.Errorf("the draft's name is %q", written)
		}
		d.sees("Saved")

		out, err := d.p.Run(d.Ctx, "user", "login-link", "--email", "vi@example.org")
		if err != nil {
			t.Fatal(err)
		}
		axe := readAxe(t)
		d.SetScreen(390, 844, "dark")
		d.Goto(d.p.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):]))
		d.pressText("Sign in as vi@example.org")
		d.await(`location.pathname === '/app/second' && ` + settled)
		for _, route := range []string{
			"", "/contacts", "/contacts/" + made["contact"], "/segments", "/segments/friends", "/suppressions", "/forms", "/templates", "/templates/" + made["template"], "/blocks", "/library",
			"/broadcasts", "/broadcasts/" + made["broadcast"], "/sequences", "/automations", "/sending", "/sending/senders", "/sending/types", "/sending/seeds",
			"/settings/account", "/settings/members", "/settings/fields", "/settings/stages", "/settings/scoring", "/settings/webhooks", "/settings/website", "/jobs",
		} {
			in(route)
			d.checkAccess(axe, "a viewer's "+route)
			if offered := d.EvaluateString(writes); offered != "" {
				t.Errorf("%s offers a viewer: %s", route, offered)
			}
			if moving := d.EvaluateString(`document.getAnimations().filter(a => a.playState === 'running').length`); moving != "0" {
				t.Errorf("on %s %s things move, though the reader wants none", route, moving)
			}
			if wide := d.EvaluateString(`document.documentElement.scrollWidth > innerWidth`); wide == "true" {
				t.Errorf("%s is wider than the screen", route)
			}
		}
		in("/broadcasts/" + made["broadcast"] + "/edit") // its sections open, though nothing in them can be changed
		d.Evaluate(`[...document.querySelectorAll('section h2 button[aria-expanded=false]')].forEach(b => b.click())`)
		d.await(`document.querySelectorAll('section h2 button[aria-expanded=true]').length === 5`)
		d.await(codeEditor + `?.ariaReadOnly === 'true' && !document.querySelector('[aria-label="Remove Friends"]')?.checkVisibility()`)
	})
}

// fillSecond makes records in the second workspace, and returns their ids.
func (d desk) fillSecond() map[string]string {
	d.T.Helper()
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
		a, err := d.r.Owner.Raw(d.Ctx, http.MethodPost, "/t/second/api"+x.path, x.body)
		if err != nil || a.Status >= 300 {
			d.T.Fatalf("%s: %d %s, %v", x.path, a.Status, a.Body, err)
		}
		made[x.name], _ = a.Map()["id"].(string)
	}
	return made
}
