package app

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
)

// What pages show before anybody signed in, in an account that has nothing yet, and of what could not be loaded, has no
// violations of WCAG 2.2 AA either, and does not move while it loads.
func TestPagesWithoutDataAreAccessible(t *testing.T) {
	t.Parallel()
	p := &harness.Program{Empty: true}
	page := openBrowser(t, p, "")
	var outside []string
	for _, route := range harness.Outside() {
		if !strings.Contains(route, "{") {
			outside = append(outside, route)
		}
	}
	page.visitRoutes(outside, func(route string) { page.Goto(p.BaseURL + route) })

	log, err := os.ReadFile(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	_, token, ok := strings.Cut(setupLink.FindString(string(log)), "setup_token=")
	if !ok {
		t.Fatal("no link to sign up in the log")
	}
	body := fmt.Sprintf(`{"setup_token": %q, "tenant_name": "Fresh Fields", "tenant_slug": %q, "name": "Fiona", "email": %q, "password": %q}`, token, harness.Tenant, harness.Owner, harness.Password)
	signUp := `fetch('/api/auth/signup', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ` + fmt.Sprintf("%q", body) + ` }).then(r => r.status)`
	var status int
	if page.EvaluateInto(signUp, &status); status != http.StatusCreated {
		t.Fatalf("signing up is answered with %d", status)
	}
	page.visitRoutes(harness.Fresh(), page.open)

	// Pages of which nothing is kept, without a connection.
	page.Must(page.Leave(page.Ctx, p.BaseURL))
	page.open("/settings")
	page.Must(page.Offline(page.Ctx, true))
	for _, link := range []string{"/jobs", "/settings/members", "/settings/audit", "/settings/webhooks"} {
		page.Evaluate(fmt.Sprintf(`document.querySelector('main a[href$="%s"]').click()`, link))
		page.WaitFor(fmt.Sprintf(`location.pathname.endsWith('%s') && document.querySelector('h1')?.textContent.trim()`, link))
		page.All().ExpectText("You are offline")
		page.expectAccessible("offline, " + link)
		page.Evaluate(`history.back()`)
		page.expectURL("/settings$")
	}
}
