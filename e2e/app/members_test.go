package app

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// menuOf opens the menu of a member.
func (d desk) menuOf(name string) {
	d.T.Helper()
	find := fmt.Sprintf(`document.querySelector('button[aria-label="Actions for %s"]')`, name)
	d.await(find)
	d.Evaluate(find + `.click()`)
	d.await(`document.querySelector('[role=menu]')`)
}

// Members are invited, again if the link was lost, get another role, are disabled, enabled and removed. The last owner
// stays, and admins cannot change owners. A member changes the own name and password and ends other sessions.
func TestMembersAreKeptInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		member := func() map[string]any {
			t.Helper()
			for _, m := range d.ask(http.MethodGet, "/users", nil)["data"].([]any) {
				if m := m.(map[string]any); m["email"] == "mia@example.org" {
					return m
				}
			}
			return nil
		}
		becomes := func(field, want string) {
			t.Helper()
			if got := e2etest.Eventually(t, func() (any, bool) { m := member(); return m[field], m[field] == want }); got != want {
				t.Errorf("the member's %s is %v, want %s", field, got, want)
			}
		}
		d.Evaluate(`fetch('/api/auth/session').then(r => r.json()).then(s => { window.own = s.user.name })`)
		owner := d.EvaluateString(`window.own`)

		d.open("/settings/members")
		d.menuOf(owner)
		d.sees("The last owner stays: somebody must be able to do everything.")
		d.Press("Escape")
		d.pressText("Invite somebody")
		d.fill("Email", "mia@example.org")
		d.pressText("Invite")
		const code = `document.querySelector('[role=dialog] code')`
		d.await(code)
		lost := d.EvaluateString(code + `.textContent`)
		d.presses("Close")
		d.menuOf("mia")
		d.item("Make a new link")
		d.await(`document.querySelector('[role=dialog] input[type=email]')?.value === 'mia@example.org'`)
		d.presses("Invite")
		d.await(code)
		link := d.EvaluateString(code + `.textContent`)
		d.presses("Close")

		mia := desk{d.NewContext(""), d.p, d.r}
		mia.SetScreen(1280, 900, "light")
		mia.Goto(lost)
		mia.shows("This link is not valid any more")
		mia.Goto(link)
		mia.fill("Your name", "Mia")
		mia.fill("Password", harness.Password)
		mia.pressText("Accept")
		mia.await(`location.pathname === '/app/` + harness.Tenant + `' && ` + settled)

		// A wrong password stands at its field, and is not the end of the session.
		mia.Goto(d.p.BaseURL + "/app/-/me")
		mia.await(settled)
		mia.at("name", "Mia Rivers")
		mia.pressText("Save the name")
		mia.sees("All your workspaces show the new name.")
		mia.at("current_password", "not my password")
		mia.at("new_password", "seven violet tractors")
		mia.pressText("Change the password")
		mia.sees("This is not your password.")
		mia.await(`document.activeElement.dataset.path === 'current_password' && !document.querySelector('[role=dialog]')`)
		mia.checkAccess(readAxe(t), "a wrong password")
		mia.at("current_password", harness.Password)
		mia.at("new_password", "short")
		mia.pressText("Change the password")
		mia.await(`document.querySelector('[data-path=new_password]').getAttribute('aria-invalid') === 'true'`)
		mia.at("new_password", "seven violet tractors")
		mia.pressText("Change the password")
		mia.sees("Password changed. Other sessions have ended.")
		phone := desk{d.NewContext(""), d.p, d.r}
		phone.SetScreen(390, 844, "light")
		phone.Goto(d.p.BaseURL + "/app/-/login")
		phone.signIn("mia@example.org", "seven violet tractors")
		mia.Goto(d.p.BaseURL + "/app/-/me")
		mia.sees("this one")
		mia.pressText("End all others")
		mia.sees("One session has ended.")
		phone.Goto(d.p.BaseURL + "/app/" + harness.Tenant + "/contacts")
		phone.await(`location.pathname === '/app/-/login'`)

		// An admin may change members, but no owner.
		d.open("/settings/members")
		d.await(`document.body.innerText.includes('Mia Rivers')`)
		role := `document.querySelector('select[aria-label="Role: mia@example.org"]') ?? [...document.querySelectorAll('label')].filter(l => l.textContent.includes('Role: mia@example.org')).map(l => document.getElementById(l.htmlFor))[0]`
		d.Evaluate(`(() => { const s = ` + role + `; s.value = 'admin'; s.dispatchEvent(new Event('change', { bubbles: true })) })()`)
		becomes("role", "admin")
		mia.open("/settings/members")
		mia.menuOf(owner)
		mia.sees("Only owners of this workspace may change owners. Ask one of them.")
		mia.checkAccess(readAxe(t), "what an admin may not do")
		mia.Press("Escape")
		mia.pressText("Invite somebody")
		mia.await(`document.querySelector('[role=dialog]')`)
		if got := mia.EvaluateString(`document.querySelector('[role=dialog]').innerText.includes('Owner')`); got != "false" {
			t.Error("an admin is offered to invite owners")
		}

		d.menuOf("Mia Rivers")
		d.item("Disable")
		becomes("status", "disabled")
		mia.Goto(d.p.BaseURL + "/app/" + harness.Tenant + "/contacts")
		mia.shows("You are not a member of this workspace")
		d.await(`document.body.innerText.includes('Disabled')`)
		d.menuOf("Mia Rivers")
		d.item("Enable")
		becomes("status", "active")
		mia.open("/contacts")
		mia.shows("reader24@example.org")
		d.await(`!document.body.innerText.includes('Disabled')`)
		d.menuOf("Mia Rivers")
		d.item("Remove")
		d.confirm("Remove")
		d.await(`!document.body.innerText.includes('Mia Rivers')`)
		if m := member(); m != nil {
			t.Errorf("the removed member is %v", m)
		}
	})
}
