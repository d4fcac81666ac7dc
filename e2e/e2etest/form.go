package e2etest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/packetboat/packetboat/e2e/harness"
)

// FormSite starts a website of the tenant that shows a form. Its content security policy allows nothing but
// what docs/forms.md asks for.
func FormSite(t *testing.T, p *harness.Program, snippet *string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/join" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src "+p.BaseURL+"; connect-src "+p.BaseURL+"; form-action "+p.BaseURL)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Join</title><h1>Join us</h1>%s`, *snippet)
	}))
	t.Cleanup(s.Close)
	return s
}

// ConfirmLink matches the link in a mail that confirms a subscription.
var ConfirmLink = regexp.MustCompile(`https?://[^\s"]+/_q/d/[\w-]+`)
