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

// shows waits until the page shows a text.
func (d desk) shows(text string) {
	d.T.Helper()
	if err := d.Until(d.Ctx, fmt.Sprintf(`document.body.innerText.replace(/\s+/g, ' ').includes(%q)`, text)); err != nil {
		d.T.Fatalf("the page never shows %q: %v; it shows\n%s", text, err, d.EvaluateString(`document.body.innerText`))
	}
}

// why is the reason that the page gives for a button that cannot be pressed.
func (d desk) why(button string) string {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('button[aria-disabled=true]')].find(b => b.textContent.trim() === %q)`, button)
	d.WaitFor(find)
	return d.EvaluateString(`document.getElementById(` + find + `.getAttribute('aria-describedby')).textContent`)
}

// signIn signs in on the page for that.
func (d desk) signIn(email, password string) {
	d.T.Helper()
	d.WaitFor(`document.activeElement && document.activeElement.name === 'email'`)
	d.Type(email)
	d.Press("Tab")
	d.Type(password)
	d.Press("Enter")
	d.WaitFor(`!location.pathname.startsWith('/app/-/') && ` + settled)
}

// presses presses the button or link of the open drawer with a text.
func (d desk) presses(text string) {
	d.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[role=dialog] button, [role=dialog] a')].find(b => b.textContent.trim() === %q && b.getAttribute('aria-disabled') !== 'true')`, text)
	d.WaitFor(find)
	d.Evaluate(find + `.click()`)
}

// left waits until the checklist has n rows to do.
func (d desk) left(n int) {
	d.T.Helper()
	d.WaitFor(fmt.Sprintf(`[...document.querySelectorAll('section')].filter(s => s.querySelector('h2')?.textContent === 'Before your mail can go out').flatMap(s => [...s.querySelectorAll('svg[aria-label="To do"]')]).length === %d`, n))
}

var setupLink = regexp.MustCompile(`/signup\?setup_token=[A-Za-z0-9_-]+`)

// The first user signs up by the link of the log, and follows the checklist to a first mail in the built-in
// mailbox: on a wide screen and on a phone.
func TestTheFirstUserSetsUpAnAccount(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		p := &harness.Program{Empty: true}
		d := openBrowser(t, p, address)
		if strings.HasPrefix(address, "postgres") {
			d.SetScreen(390, 844, "dark")
		}
		log, err := os.ReadFile(p.Log)
		if err != nil {
			t.Fatal(err)
		}
		link := p.BaseURL + setupLink.FindString(string(log))
		d.Goto(p.BaseURL + "/signup")
		d.shows("the program logs a new link at each start")
		d.Goto(link)
		d.fill("Name of the workspace", "Käthe's Books")
		d.WaitFor(`document.querySelector('[data-path=tenant_slug]').value === 'kathe-s-books'`)
		d.fill("Address of the workspace", harness.Tenant)
		d.fill("Your name", "Käthe")
		d.fill("Your email address", "nobody")
		d.fill("Password", harness.Password)
		d.pressText("Make the workspace")
		d.WaitFor(`document.activeElement.dataset.path === 'email' && document.activeElement.getAttribute('aria-invalid')`)
		d.fill("Your email address", harness.Owner)
		d.pressText("Make the workspace")
		d.WaitFor(`location.pathname === '/app/` + harness.Tenant + `' && ` + settled)
		d.left(6)
		d.pressText("Who you are")
		d.fill("Street or box", "Harbour Road 1")
		d.fill("City", "Kiel")
		d.fill("Country", "DE")
		d.presses("Save")
		d.left(5)
		d.presses("Next: How mail leaves")
		d.presses("Use the built-in mailbox")
		d.left(4)
		d.presses("Next: Your domain")
		d.fill("Domain", "books.example")
		d.presses("Add the domain")
		d.shows("Signature (DKIM)")
		d.checkAccess(readAxe(t), "the records of a domain")
		d.presses("Count it as verified")
		d.left(3)
		d.presses("Next: Who writes")
		d.fill("Name that readers see", "Käthe of the Books")
		d.shows("<news@books.example>")
		d.presses("Save")
		d.left(2)
		d.presses("Next: To whom")
		d.presses("Add a contact")
		d.fill("Email", "ada@example.org")
		d.presses("Add")
		d.left(1)
		d.presses("Next: A first mail")
		d.presses("Send")
		d.shows("The server took it.")
		d.presses("Open it in the mailbox")
		d.WaitFor(`location.pathname.includes('/mailbox/') && ` + settled)
		d.shows("news@books.example")
		d.open("/")
		d.shows("What next?")
		d.Goto(link)
		d.shows("Signing up is off")
	})
}

// An editor is invited, accepts by the link, and sees what they may not do and who may. A user with a session
// accepts with one button, and links that are used up or too old say what to do.
func TestAnEditorIsInvitedAndAccepts(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		d := openApp(t, address)
		d.open("/settings/members")
		d.pressText("Invite somebody")
		d.fill("Email", "ed@example.org")
		d.pressText("Invite")
		d.WaitFor(`document.querySelector('[role=dialog] code')`)
		link := d.EvaluateString(`document.querySelector('[role=dialog] code').textContent`)
		d.Goto(link)
		d.shows("You are signed in as " + harness.Owner)
		d.pressText("Sign out")
		d.WaitFor(`document.querySelector('input[name=new-password]') && !document.body.innerText.includes('You are signed in')`)
		d.shows("You are invited to work in acme, as Editor.")
		d.checkAccess(readAxe(t), "the invitation")
		d.fill("Your name", "Ed Itor")
		d.fill("Password", "short")
		d.shows("5 more characters are needed.")
		d.pressText("Accept")
		d.shows("must have at least 10 characters")
		d.fill("Password", "purple otter skates home")
		d.shows("Strong.")
		d.pressText("Accept")
		d.WaitFor(`location.pathname === '/app/` + harness.Tenant + `' && ` + settled)
		d.open("/settings/members")
		d.shows("Ed Itor")
		if got, want := d.why("Invite somebody"), "Only admins and owners of this workspace may do this. Ask one of them."; got != want {
			t.Errorf("an editor is told %q, want %q", got, want)
		}
		d.open("/contacts")
		d.pressText("Add a contact")
		d.fill("Email", "new@example.org")
		d.pressText("Add")
		d.WaitFor(`location.pathname.includes('/contacts/')`)
		d.Goto(link)
		d.shows("This link is not valid any more")
		d.shows("Ask the person who invited you")

		// The operator confirms the editor's address by a link, which ends their session.
		if _, err := d.p.Run(d.Ctx, "tenant", "create", "--slug", "second", "--name", "Second Ltd"); err != nil {
			t.Fatal(err)
		}
		out, err := d.p.Run(d.Ctx, "user", "create", "--tenant", "second", "--role", "owner", "--name", "Ed", "--email", "ed@example.org")
		if err != nil {
			t.Fatal(err)
		}
		d.Goto(d.p.BaseURL + strings.TrimSpace(out[strings.Index(out, "/reset-password"):]))
		d.fill("New password", "seven violet tractors")
		d.pressText("Save the password")
		d.pressText("Sign in")
		d.signIn("ed@example.org", "seven violet tractors")

		// An invitation of a proven address needs one button where it is signed in. An expired one names who can help.
		invited := func(email string) string {
			d.Evaluate(`fetch('/t/second/api/users/invite', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: '` + email + `', role: 'viewer' }) }).then(r => r.json()).then(a => { window.invitation = a.accept_url })`)
			return d.EvaluateString(`window.invitation`)
		}
		link, late := invited(harness.Owner), invited("late@example.org")
		d.Evaluate(`fetch('/api/auth/logout', { method: 'POST' }).then(r => { if (!r.ok) throw r.status })`)
		d.Goto(d.p.BaseURL + "/app/-/login")
		d.signIn(harness.Owner, harness.Password)
		d.Goto(link)
		d.pressText("Accept as " + harness.Owner)
		d.WaitFor(`location.pathname === '/app/second' && ` + settled)
		if _, err := e2etest.Database(t, d.p).Exec(d.Ctx, `UPDATE one_time_token SET expires_at = 1`); err != nil {
			t.Fatal(err)
		}
		d.Goto(late)
		d.shows("An invitation to Second Ltd is valid for seven days. Ed Itor can send you a new one.")

		// The operator's link signs somebody else in, once they say so. It works once, and its token leaves the address bar.
		if out, err = d.p.Run(d.Ctx, "user", "login-link", "--email", "ed@example.org"); err != nil {
			t.Fatal(err)
		}
		link = d.p.BaseURL + strings.TrimSpace(out[strings.Index(out, "/app/-/login-link#"):])
		d.Goto(link)
		d.shows("This link signs you in as")
		if got := d.EvaluateString(`location.hash`); got != "" {
			t.Errorf("the address keeps the token: %q", got)
		}
		d.pressText("Sign in as ed@example.org")
		d.WaitFor(`!location.pathname.startsWith('/app/-/') && ` + settled)
		d.Evaluate(`fetch('/api/auth/session').then(r => r.json()).then(s => { window.email = s.user.email })`)
		if got := d.EvaluateString(`window.email`); got != "ed@example.org" {
			t.Errorf("the link signs in %q", got)
		}
		d.Goto(link)
		d.shows("packetboat user login-link")
	})
}
