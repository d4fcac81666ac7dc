package app

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// openMemberMenu opens the menu of a member.
func (page appPage) openMemberMenu(name string) {
	page.T.Helper()
	find := fmt.Sprintf(`document.querySelector('button[aria-label="Actions for %s"]')`, name)
	page.ClickElement(find)
	page.WaitFor(`document.querySelector('[role=menu]')`)
}

// Members are invited, again if the link was lost, get another role, are disabled, enabled and removed. The last owner
// stays, and admins cannot change owners. A member changes the own name and password and ends other sessions.
func TestMembersAreManagedInTheApplication(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		member := func() map[string]any {
			t.Helper()
			for _, m := range page.call(http.MethodGet, "/users", nil)["data"].([]any) {
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
		page.Evaluate(`fetch('/api/auth/session').then(r => r.json()).then(s => { window.own = s.user.name })`)
		owner := page.EvaluateString(`window.own`)

		page.open("/settings/members")
		page.openMemberMenu(owner)
		page.Dialog().ExpectText("The last owner cannot be removed: somebody must be able to do everything.")
		page.Press("Escape")
		page.Click("Invite member")
		page.Fill("Email", "mia@example.org")
		page.Click("Invite")
		const code = `document.querySelector('[role=dialog] code')`
		page.WaitFor(code)
		lost := page.EvaluateString(code + `.textContent`)
		page.Dialog().Click("Close")
		page.openMemberMenu("mia@example.org")
		page.ChooseMenuItem("Create new link")
		page.WaitFor(`document.querySelector('[role=dialog] input[type=email]')?.value === 'mia@example.org'`)
		page.Dialog().Click("Invite")
		page.WaitFor(code)
		link := page.EvaluateString(code + `.textContent`)
		page.Dialog().Click("Close")

		mia := appPage{page.NewContext(""), page.program, page.account}
		mia.SetScreen(1280, 900, "light")
		mia.Goto(lost)
		mia.Main().ExpectText("This link is no longer valid")
		mia.Goto(link)
		mia.Fill("Your name", "Mia")
		mia.Fill("Password", harness.Password)
		mia.Click("Accept")
		mia.expectURL("^/app/" + harness.Tenant + "$")

		// A wrong password stands at its field, and is not the end of the session.
		mia.Goto(page.program.BaseURL + "/app/-/me")
		mia.WaitFor(settled)
		mia.fillField("name", "Mia Rivers")
		mia.Click("Save name")
		mia.Messages().ExpectText("All your workspaces show the new name.")
		mia.fillField("current_password", "not my password")
		mia.fillField("new_password", "seven violet tractors")
		mia.Click("Change password")
		mia.In("region", "Password").ExpectText("This is not your current password.")
		mia.WaitFor(`document.activeElement.dataset.path === 'current_password' && !document.querySelector('[role=dialog]')`)
		mia.expectAccessible("a wrong password")
		mia.fillField("current_password", harness.Password)
		mia.fillField("new_password", "short")
		mia.Click("Change password")
		mia.WaitFor(`document.querySelector('[data-path=new_password]').getAttribute('aria-invalid') === 'true'`)
		mia.fillField("new_password", "seven violet tractors")
		mia.Click("Change password")
		mia.Messages().ExpectText("Password changed. Other sessions have ended.")
		phone := appPage{page.NewContext(""), page.program, page.account}
		phone.SetScreen(390, 844, "light")
		phone.Goto(page.program.BaseURL + "/app/-/login")
		phone.signIn("mia@example.org", "seven violet tractors")
		mia.Goto(page.program.BaseURL + "/app/-/me")
		mia.In("region", "Active sessions").ExpectText("this session")
		mia.Click("End all others")
		mia.Messages().ExpectText("One session has ended.")
		phone.Goto(page.program.BaseURL + "/app/" + harness.Tenant + "/contacts")
		phone.WaitFor(`location.pathname === '/app/-/login'`)

		// An admin may change members, but no owner.
		page.open("/settings/members")
		page.Main().ExpectText("Mia Rivers")
		role := `document.querySelector('select[aria-label="Role: mia@example.org"]') ?? [...document.querySelectorAll('label')].filter(l => l.textContent.includes('Role: mia@example.org')).map(l => document.getElementById(l.htmlFor))[0]`
		page.Evaluate(`(() => { const s = ` + role + `; s.value = 'admin'; s.dispatchEvent(new Event('change', { bubbles: true })) })()`)
		becomes("role", "admin")
		mia.open("/settings/members")
		mia.openMemberMenu(owner)
		mia.Dialog().ExpectText("Only owners of this workspace can change owners. Ask one of them.")
		mia.expectAccessible("what an admin may not do")
		mia.Press("Escape")
		mia.Click("Invite member")
		mia.WaitFor(`document.querySelector('[role=dialog]')`)
		if got := mia.EvaluateString(`document.querySelector('[role=dialog]').innerText.includes('Owner')`); got != "false" {
			t.Error("an admin is offered to invite owners")
		}

		page.openMemberMenu("Mia Rivers")
		page.ChooseMenuItem("Disable")
		becomes("status", "disabled")
		mia.Goto(page.program.BaseURL + "/app/" + harness.Tenant + "/contacts")
		mia.Main().ExpectText("You are not a member of this workspace")
		page.Row("Mia Rivers").ExpectText("Disabled")
		page.openMemberMenu("Mia Rivers")
		page.ChooseMenuItem("Enable")
		becomes("status", "active")
		mia.open("/contacts")
		mia.Main().ExpectText("reader24@example.org")
		page.Row("Mia Rivers").ExpectNoText("Disabled")
		page.openMemberMenu("Mia Rivers")
		page.ChooseMenuItem("Remove")
		page.Dialog().Click("Remove")
		page.All().ExpectNoText("Mia Rivers")
		if m := member(); m != nil {
			t.Errorf("the removed member is %v", m)
		}
	})
}
