package app

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// signIn signs in on the page for that.
func (page appPage) signIn(email, password string) {
	page.T.Helper()
	page.WaitFor(`document.activeElement.name === 'email'`)
	page.Type(email)
	page.Press("Tab")
	page.Type(password)
	page.Press("Enter")
	page.WaitFor(`!location.pathname.startsWith('/app/-/') && ` + settled)
}

// expectStepsLeft waits until the checklist has n rows to do.
func (page appPage) expectStepsLeft(n int) {
	page.T.Helper()
	page.WaitFor(fmt.Sprintf(`[...document.querySelectorAll('section')].filter(s => s.querySelector('h2')?.textContent === 'Before your email can go out').flatMap(s => [...s.querySelectorAll('svg[aria-label="To do"]')]).length === %d`, n))
}

var setupLink = regexp.MustCompile(`/signup\?setup_token=[A-Za-z0-9_-]+`)

// The first user signs up by the link of the log, and follows the checklist to a first mail in the built-in
// mailbox: on a wide screen and on a phone.
func TestTheFirstUserSetsUpAnAccount(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		p := &harness.Program{Empty: true}
		page := openBrowser(t, p, address)
		if strings.HasPrefix(address, "postgres") {
			page.SetScreen(390, 844, "dark")
		}
		log, err := os.ReadFile(p.Log)
		if err != nil {
			t.Fatal(err)
		}
		link := p.BaseURL + setupLink.FindString(string(log))
		page.Goto(p.BaseURL + "/signup")
		page.Main().ExpectText("the program logs a new link at each start")
		page.Goto(link)
		page.Click("Create workspace") // with nothing filled in
		page.WaitFor(`document.activeElement.dataset.path === 'tenant_name' && document.activeElement.getAttribute('aria-invalid')`)
		page.Fill("Workspace name", "Käthe's Books")
		page.WaitFor(`document.querySelector('[data-path=tenant_slug]').value === 'kathe-s-books'`)
		page.Fill("Workspace address", harness.Tenant)
		page.Fill("Your name", "Käthe")
		page.Fill("Your email address", "nobody")
		page.Fill("Password", harness.Password)
		page.Click("Create workspace")
		page.WaitFor(`document.activeElement.dataset.path === 'email' && document.activeElement.getAttribute('aria-invalid')`)
		page.Fill("Your email address", harness.Owner)
		page.Click("Create workspace")
		page.expectURL("^/app/" + harness.Tenant + "$")
		page.expectStepsLeft(6)
		page.Click("Your details")
		page.Fill("Street or PO box", "Harbour Road 1")
		page.Fill("City", "Kiel")
		page.SelectOption("Country", "Germany")
		page.Dialog().Click("Save")
		page.expectStepsLeft(5)
		page.Dialog().Click("Next: Sending server")
		page.Dialog().Click("Use the built-in mailbox")
		page.expectStepsLeft(4)
		page.Dialog().Click("Next: Your domain")
		page.Fill("Domain", "books.example")
		page.Dialog().Click("Add domain")
		page.In("dialog", "Your domain").ExpectText("Signature (DKIM)")
		page.expectAccessible("the records of a domain")
		page.Dialog().Click("Mark as verified")
		page.expectStepsLeft(3)
		page.Dialog().Click("Next: Sender")
		page.Fill("Name that recipients see", "Käthe of the Books")
		page.In("dialog", "Sender").ExpectText("<news@books.example>")
		page.Dialog().Click("Save")
		page.expectStepsLeft(2)
		page.Dialog().Click("Next: Contacts")
		page.Dialog().Click("Add contact")
		page.Fill("Email", "ada@example.org")
		page.Dialog().Click("Add contact")
		page.expectStepsLeft(1)
		page.Dialog().Click("Next: Test email")
		page.Dialog().Click("Send")
		page.In("dialog", "Test email").ExpectText("The server accepted it.")
		page.Dialog().Click("Open in mailbox")
		page.expectURL("/mailbox/")
		page.Main().ExpectText("news@books.example")
		page.open("/")
		page.Main().ExpectText("What next?")
		page.Goto(link)
		page.Main().ExpectText("Sign-up is off")
	})
}

// An editor is invited, accepts by the link, and sees what they may not do and who may. A user with a session
// accepts with one button, and links that are used up or too old say what to do.
func TestAnEditorIsInvitedAndAccepts(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		page := openApp(t, address)
		page.open("/settings/members")
		page.Click("Invite member")
		page.Fill("Email", "ed@example.org")
		page.Click("Invite")
		page.WaitFor(`document.querySelector('[role=dialog] code')`)
		link := page.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
		page.Goto(link)
		page.Main().ExpectText("You are signed in as " + harness.Owner)
		page.Click("Sign out")
		page.WaitFor(`document.querySelector('input[name=new-password]') && !document.body.innerText.includes('You are signed in')`)
		page.Main().ExpectText("You have been invited to acme as Editor.")
		page.expectAccessible("the invitation")
		page.Fill("Your name", "Ed Itor")
		page.Fill("Password", "short")
		page.Main().ExpectText("5 more characters needed.")
		page.Click("Accept")
		page.Main().ExpectText("must have at least 10 characters")
		page.Fill("Password", "purple otter skates home")
		page.Main().ExpectText("Strong.")
		page.Click("Accept")
		page.expectURL("^/app/" + harness.Tenant + "$")
		page.open("/settings/members")
		page.Main().ExpectText("Ed Itor")
		if got, want := page.DisabledReason("Invite member"), "Only admins and owners of this workspace can do this. Ask one of them."; got != want {
			t.Errorf("an editor is told %q, want %q", got, want)
		}
		page.open("/contacts")
		page.Click("Add contact")
		page.Fill("Email", "new@example.org")
		page.Dialog().Click("Add contact")
		page.expectURL("/contacts/")
		page.Goto(link)
		page.Main().ExpectText("This link is no longer valid")
		page.Main().ExpectText("Ask the person who invited you")

		// The operator confirms the editor's address by a link, which ends their session.
		if _, err := page.program.Run(page.Ctx, "tenant", "create", "--slug", "second", "--name", "Second Ltd"); err != nil {
			t.Fatal(err)
		}
		out, err := page.program.Run(page.Ctx, "user", "create", "--tenant", "second", "--role", "owner", "--name", "Ed", "--email", "ed@example.org")
		if err != nil {
			t.Fatal(err)
		}
		page.Goto(page.program.BaseURL + strings.TrimSpace(out[strings.Index(out, "/reset-password"):]))
		page.Fill("New password", "seven violet tractors")
		page.Click("Save password")
		page.Click("Sign in")
		page.signIn("ed@example.org", "seven violet tractors")

		// An invitation of a proven address needs one button where it is signed in. An expired one names who can help.
		invited := func(email string) string {
			page.Evaluate(`fetch('/t/second/api/users/invite', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: '` + email + `', role: 'viewer' }) }).then(r => r.json()).then(a => { window.invitation = a.accept_url })`)
			return page.EvaluateString(`window.invitation`)
		}
		link, late := invited(harness.Owner), invited("late@example.org")
		page.Evaluate(`fetch('/api/auth/logout', { method: 'POST' }).then(r => { if (!r.ok) throw r.status })`)
		page.Goto(page.program.BaseURL + "/app/-/login")
		page.signIn(harness.Owner, harness.Password)
		page.Goto(link)
		page.Click("Accept as " + harness.Owner)
		page.expectURL("^/app/second$")
		if _, err := e2etest.Database(t, page.program).Exec(page.Ctx, `UPDATE one_time_token SET expires_at = 1`); err != nil {
			t.Fatal(err)
		}
		page.Goto(late)
		page.Main().ExpectText("An invitation to Second Ltd is valid for seven days. Ed Itor can send you a new one.")

		// The operator's link signs somebody else in, once they say so. It works once, and its token leaves the address bar.
		if out, err = page.program.Run(page.Ctx, "user", "login-link", "--email", "ed@example.org"); err != nil {
			t.Fatal(err)
		}
		link = page.program.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):])
		page.Goto(link)
		page.Main().ExpectText("This link signs you in as")
		if got := page.EvaluateString(`location.hash`); got != "" {
			t.Errorf("the address keeps the token: %q", got)
		}
		page.Click("Sign in as ed@example.org")
		page.WaitFor(`!location.pathname.startsWith('/app/-/') && ` + settled)
		page.Evaluate(`fetch('/api/auth/session').then(r => r.json()).then(s => { window.email = s.user.email })`)
		if got := page.EvaluateString(`window.email`); got != "ed@example.org" {
			t.Errorf("the link signs in %q", got)
		}
		page.Goto(link)
		page.Main().ExpectText("packetboat user login-link")
	})
}
