package public_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/browser"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	forms "github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// widget stands in for the script of Turnstile: a button that solves the captcha, each time with another
// token. A reset makes the visitor solve it again.
const widget = `(() => {
	let n = 0;
	window.turnstile = {
		ready(f) { f(); },
		render(place, options) {
			const button = document.createElement('button'), answer = document.createElement('input');
			button.type = 'button';
			button.id = 'human';
			button.textContent = 'I am human';
			answer.type = 'hidden';
			answer.name = 'cf-turnstile-response';
			button.onclick = () => { answer.value = options.sitekey + '-' + ++n; };
			place.append(button, answer);
			return 'w1';
		},
		reset(id) { document.querySelector('[name=cf-turnstile-response]').value = ''; },
	};
})()`

// siteverify stands in for the server that verifies tokens. Each is valid once, except the first.
type siteverify struct {
	mu  sync.Mutex
	got []string
}

func (s *siteverify) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := r.PostFormValue("response")
	s.got = append(s.got, r.PostFormValue("secret")+" "+token)
	fmt.Fprintf(w, `{"success": %t}`, token == "site-2")
}

func (s *siteverify) tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// TestACaptchaIsSolvedInARealBrowser submits a form before its captcha is solved, with a token that the
// provider refuses, and with a valid one, under a strict content security policy.
func TestACaptchaIsSolvedInARealBrowser(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	scripts := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "challenges.cloudflare.com" || r.URL.Path != "/turnstile/v0/api.js" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, widget)
	}))
	defer scripts.Close()
	verifier := &siteverify{}
	provider := httptest.NewServer(verifier)
	defer provider.Close()

	db, box := dbtest.One(t), broadcasttest.Box(t)
	acme := broadcasttest.New(t, db, "acme")
	account, err := tenant.ByID(ctx, db, acme.Tenant)
	ok(err)
	account.Settings.DefaultLane, account.Settings.DefaultIdentity = acme.Lane.ID, acme.Identity.ID
	ok(tenant.SaveSettings(ctx, db, acme.Tenant, account.Name, account.Settings, broadcasttest.Now))
	form, err := forms.Create(ctx, db, box, acme.Tenant, forms.Change{
		Name: new("Newsletter"), DoubleOptIn: new(false),
		Captcha: &forms.CaptchaChange{Provider: new(forms.Turnstile), SiteKey: new("site"), SecretKey: new("very-secret")},
		Fields:  &[]forms.Field{{Type: forms.ContactField, Binding: "email", Label: "Email", Required: true}},
	}, broadcasttest.Now)
	ok(err)
	form, err = forms.Publish(ctx, db, acme.Tenant, form.ID, broadcasttest.Now)
	ok(err)
	began := time.Now()
	mux := http.NewServeMux()
	(&public.Forms{
		DB: db, Keys: track.NewKeys(box), Limits: ratelimit.New(db), Log: slog.New(slog.DiscardHandler),
		Now:      func() time.Time { return broadcasttest.Now.Add(time.Since(began)) }, // the script waits before it submits
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") },
		Intake:   &forms.Intake{DB: db, Tokens: forms.NewTokens(box), Captcha: forms.NewCaptcha(box, map[string]string{forms.Turnstile: provider.URL}, true)},
	}).Routes(mux)
	embed, err := forms.EmbedCode(ctx, db, form, "http")
	ok(err)
	mux.HandleFunc("GET /join", func(w http.ResponseWriter, r *http.Request) {
		own := "http://" + r.Host
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src "+own+" https://challenges.cloudflare.com; connect-src "+own+"; form-action "+own)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>Join</title>`+strings.ReplaceAll(embed.HTML+embed.ScriptTag, "http://"+embed.TrackingDomain, own))
	})
	site := httptest.NewServer(mux)
	defer site.Close()

	b := browser.Start(ctx, t, "--host-resolver-rules=MAP challenges.cloudflare.com "+scripts.Listener.Addr().String(), "--ignore-certificate-errors")
	page, err := b.Open(ctx, "")
	ok(err)
	ok(page.Visit(ctx, site.URL+"/join"))
	ok(page.Until(ctx, `document.querySelector('.packetboat-captcha #human')`))
	submit := func(state string) {
		t.Helper()
		ok(page.Eval(ctx, `document.querySelector('form [type=submit]').click()`, nil))
		ok(page.Until(ctx, `document.querySelector('form').dataset.packetboatState === '`+state+`'`))
	}
	ok(page.Eval(ctx, `document.querySelector('[name=email]').value = 'ann@example.org'`, nil))
	submit("error")
	for range 2 {
		ok(page.Eval(ctx, `document.querySelector('#human').click()`, nil))
		ok(page.Eval(ctx, `document.querySelector('form').dataset.packetboatState = ''`, nil))
		if len(verifier.tokens()) == 0 {
			submit("error")
		} else {
			submit("accepted")
		}
	}
	var said string
	ok(page.Eval(ctx, `document.querySelector('.packetboat-status').textContent`, &said))
	if said != form.SuccessMessage {
		t.Errorf("the form says %q", said)
	}
	if want := "[very-secret site-1 very-secret site-2]"; fmt.Sprint(verifier.tokens()) != want {
		t.Errorf("the provider got %v, want %s", verifier.tokens(), want)
	}
	for _, problem := range page.Problems() {
		if !strings.Contains(problem, "400") { // the console reports the answers to the first two submissions
			t.Errorf("the page reports %s", problem)
		}
	}
	c, err := contact.ByEmail(ctx, db, acme.Tenant, "ann@example.org")
	if err != nil || c.Status != contact.Active {
		t.Errorf("the contact is %v, %v", c.Status, err)
	}
}
