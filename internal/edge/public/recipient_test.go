package public_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// recipientFixture is a mail that was sent, and the server that answers its links.
type recipientFixture struct {
	*broadcasttest.Account
	t       *testing.T
	keys    *track.Keys
	mux     *http.ServeMux
	now     time.Time
	message outbox.Message
	send    id.Send
	contact contact.Contact
	headers http.Header
}

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

func newPost(t *testing.T, db *sqldb.DB) *recipientFixture {
	t.Helper()
	p := &recipientFixture{Account: broadcasttest.New(t, db, "acme"), t: t, now: broadcasttest.Now.Add(time.Hour), headers: http.Header{"User-Agent": {chrome}}}
	p.contact = p.AddContacts(p.List.ID, "ann", 1)[0]
	b := p.Create()
	p.send = b.Send
	ctx := t.Context()
	frozen, err := content.Freeze(ctx, db, p.Tenant, content.Source{
		Subject: "Hi", Tracking: true,
		HTML:    `<html><body>{{ first_name | default: "Reader" }} <a href="https://example.org/a?x=1#top">A</a> <a href="https://example.org/{{ email }}">B</a><script>alert(1)</script></body></html>`,
		Send:    b.Send,
		Context: content.Context{Broadcast: b.ID, EmailType: p.Type.ID, UTM: true, UTMCampaign: "spring"},
	}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := outbox.Create(ctx, db, outbox.Send{Tenant: p.Tenant, ID: p.send, Source: outbox.FromBroadcast(b.ID)}, outbox.Terms{}, broadcasttest.Now); err != nil {
		t.Fatal(err)
	}
	p.message = outbox.Message{
		ID: id.New[id.Message](), Contact: p.contact.ID, Email: p.contact.Email, Content: frozen,
		Identity: p.Identity.ID, Lane: p.Lane.ID, DueAt: broadcasttest.Now,
	}
	if _, err := outbox.AddMessages(ctx, db, p.Tenant, p.send, []outbox.Message{p.message}); err != nil {
		t.Fatal(err)
	}
	p.exec(`UPDATE outbox SET state = 'delivered', sent_at = $2 WHERE tenant_id = $1`, p.Tenant, broadcasttest.Now.UnixMicro())
	p.keys = track.NewKeys(broadcasttest.Box(t))
	now := func() time.Time { return p.now }
	hits := track.NewQueue(db, slog.New(slog.DiscardHandler))
	run, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- hits.Run(run) }()
	t.Cleanup(func() { stop(); <-done })
	p.mux = http.NewServeMux()
	(&public.Recipient{
		DB: db, Keys: p.keys, Hits: hits, Contents: &content.Cache{DB: db}, Now: now, Log: slog.New(slog.DiscardHandler),
		Senders:  &render.Senders{DB: db, Now: now},
		Renderer: &render.Renderer{Keys: p.keys, BaseURL: &url.URL{Scheme: "https", Host: "app.example.com"}},
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("::ffff:192.0.2.7") },
	}).Routes(p.mux)
	return p
}

func (p *recipientFixture) exec(text string, args ...any) {
	p.t.Helper()
	if _, err := p.DB.Exec(p.t.Context(), text, args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *recipientFixture) path(kind track.Kind, link int, target string) string {
	p.t.Helper()
	s, err := p.keys.Signer(p.Tenant, p.message.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	path := "/_q/" + string(rune(kind)) + "/" + string(s.Append(nil, kind, link, target))
	if kind == track.OpenPixel {
		path += ".gif"
	}
	return path
}

func (p *recipientFixture) do(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, path, body)
	maps.Copy(r.Header, p.headers)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.mux.ServeHTTP(w, r)
	return w
}

// record records the accepted hits.
func (p *recipientFixture) record() {
	p.t.Helper()
	if err := (&track.Inbox{DB: p.DB, Log: slog.New(slog.DiscardHandler)}).Drain(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *recipientFixture) hits() []track.Hit {
	p.t.Helper()
	p.record()
	list, err := track.HitsOf(p.t.Context(), p.DB, p.Tenant, []id.Message{p.message.ID})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

func (p *recipientFixture) sums() track.Sums {
	p.t.Helper()
	p.record()
	s, err := track.LoadSums(p.t.Context(), p.DB, p.Tenant, p.send)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// person returns the contact's consent.
func (p *recipientFixture) person() string {
	p.t.Helper()
	c, err := contact.ByID(p.t.Context(), p.DB, p.Tenant, p.contact.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprint(c.Status, c.Subscriptions, c.CategorySubscriptions)
}

func each(t *testing.T, f func(t *testing.T, p *recipientFixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newPost(t, db)) })
}

func (p *recipientFixture) pages() []string {
	return []string{p.path(track.Unsubscribe, 0, ""), p.path(track.Preferences, 0, ""), p.path(track.View, 0, "")}
}

func TestFollowingEveryLinkChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		before := p.person()
		for _, path := range append(p.pages(), p.path(track.OpenPixel, 0, ""), p.path(track.ClickLink, 0, ""), p.path(track.ClickLink, 1, "https://example.org/b")) {
			for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
				w := p.do(method, path, nil, "Purpose", "prefetch")
				if w.Code >= 500 || strings.HasPrefix(path, "/_q/o") && w.Code != http.StatusOK {
					t.Errorf("%s %s: %d", method, path[:6], w.Code)
				}
				if w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s %s sets a cookie", method, path[:6])
				}
			}
		}
		if after := p.person(); after != before {
			t.Errorf("the contact was %s, is %s", before, after)
		}
		if s := p.sums(); s.Unsubscribed != 0 {
			t.Errorf("sums are %+v", s)
		}
	})
}

func TestOpen(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		good := p.path(track.OpenPixel, 0, "")
		for _, tt := range []struct {
			name, method, path string
			hits               int
		}{
			{"good", "GET", good, 1},
			{"asked about", "HEAD", good, 2},
			{"without its ending", "GET", strings.TrimSuffix(good, ".gif"), 2},
			{"forged", "GET", good[:10] + other(good[10:11]) + good[11:], 2},
			{"of another kind", "GET", "/_q/o/" + strings.TrimPrefix(p.path(track.ClickLink, 0, ""), "/_q/c/") + ".gif", 2},
			{"nonsense", "GET", "/_q/o/x", 2},
		} {
			w := p.do(tt.method, tt.path, nil)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/gif" || !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
				t.Errorf("%s: %d %v", tt.name, w.Code, w.Header())
			}
			if tt.method == "GET" && (w.Body.Len() != 43 || !strings.HasPrefix(w.Body.String(), "GIF89a")) {
				t.Errorf("%s: %d bytes", tt.name, w.Body.Len())
			}
			if n := len(p.hits()); n != tt.hits {
				t.Errorf("%s: %d hits, want %d", tt.name, n, tt.hits)
			}
			p.now = p.now.Add(time.Minute)
		}
		if w := p.do("POST", good, nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
			t.Errorf("POST: %d", w.Code)
		}
		h := p.hits()[0]
		if h.IP != "192.0.2.7" || h.Agent != chrome || h.Method != "GET" || *h.SinceSent != time.Hour || h.Click {
			t.Errorf("the hit is %+v", h)
		}
	})
}

func TestClick(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		const utm = "utm_source=acme&utm_medium=email&utm_campaign=spring"
		for _, tt := range []struct {
			name, path, location string
			status               int
		}{
			{"a link", p.path(track.ClickLink, 0, ""), "https://example.org/a?x=1&" + utm + "#top", 302},
			{"a link rendered for the recipient", p.path(track.ClickLink, 1, "https://example.org/ann"), "https://example.org/ann", 302},
			{"a rendered link without where it leads", p.path(track.ClickLink, 1, ""), "", 404},
			{"a rendered link that leads to a script", p.path(track.ClickLink, 1, "javascript:alert(1)"), "", 404},
			{"a rendered link with a line break", p.path(track.ClickLink, 1, "https://example.org/\r\nX: y"), "", 404},
			{"a link the content does not have", p.path(track.ClickLink, 2, ""), "", 404},
			{"a plain link is not led elsewhere", p.path(track.ClickLink, 0, "https://evil.example/"), "https://example.org/a?x=1&" + utm + "#top", 302},
			{"the query does not decide", p.path(track.ClickLink, 0, "") + "?url=https://evil.example/&u=//evil.example", "https://example.org/a?x=1&" + utm + "#top", 302},
			{"forged", "/_q/c/" + strings.Repeat("A", 70), "", 404},
			{"of another kind", "/_q/c/" + strings.TrimPrefix(p.path(track.View, 0, ""), "/_q/v/"), "", 404},
		} {
			w := p.do("GET", tt.path, nil)
			location := w.Header().Get("Location")
			if tt.name == "a link" && location != tt.location { // it may contain the sender's code
				tt.location = strings.Replace(tt.location, "utm_source=acme", "utm_source="+p.Identity.UTMCode, 1)
			}
			if p.Identity.UTMCode != "" {
				tt.location = strings.Replace(tt.location, "utm_source=acme&", "utm_source="+p.Identity.UTMCode+"&", 1)
			}
			if w.Code != tt.status || location != tt.location {
				t.Errorf("%s: %d to %q, want %d to %q", tt.name, w.Code, location, tt.status, tt.location)
			}
			if !strings.Contains(w.Header().Get("Cache-Control"), "no-store") || !strings.Contains(w.Header().Get("X-Robots-Tag"), "noindex") || w.Header().Get("Referrer-Policy") == "" {
				t.Errorf("%s: headers %v", tt.name, w.Header())
			}
			p.now = p.now.Add(time.Minute)
		}
		if hits := p.hits(); len(hits) != 4 || !hits[0].Click || hits[0].URL != "https://example.org/a?x=1#top" || hits[1].URL != "https://example.org/{{ email }}" {
			t.Errorf("hits are %+v", hits)
		}
		for i, method := range []string{"HEAD", "OPTIONS"} {
			w := p.do(method, p.path(track.ClickLink, 0, ""), nil)
			if hits := p.hits(); w.Code != 302 || len(hits) != 5+i || hits[4+i].Method != method {
				t.Errorf("%s: %d, %d hits", method, w.Code, len(hits))
			}
			p.now = p.now.Add(time.Minute)
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			if w := p.do(method, p.path(track.ClickLink, 0, ""), nil); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s: %d", method, w.Code)
			}
		}
	})
}

func TestAHitSurvivesAVisitorWhoDoesNotWait(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "GET", p.path(track.OpenPixel, 0, ""), nil)
		r.Header.Set("User-Agent", "caf\xe9\x00")
		r.Header.Set("X-Moz", "Prefetch")
		w := httptest.NewRecorder()
		p.mux.ServeHTTP(w, r)
		cancel()
		if hits := p.hits(); len(hits) != 1 || !hits[0].Prefetch {
			t.Errorf("hits are %+v", hits)
		}
	})
}

func form() (io.Reader, string) {
	return strings.NewReader("List-Unsubscribe=One-Click"), "application/x-www-form-urlencoded"
}

func TestOneClickUnsubscribe(t *testing.T) {
	var many bytes.Buffer
	w := multipart.NewWriter(&many)
	_ = w.WriteField("List-Unsubscribe", "One-Click")
	_ = w.Close()
	for _, tt := range []struct{ name, body, contentType string }{
		{"form", "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"},
		{"multipart", many.String(), w.FormDataContentType()},
		{"empty", "", ""},
		{"odd", "{]", "application/json"},
		{"broken", "a=%zz&&&", "application/x-www-form-urlencoded"},
		{"broken multipart", "--x", "multipart/form-data; boundary=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, p *recipientFixture) {
				for range 3 {
					w := p.do("POST", p.path(track.Unsubscribe, 0, ""), strings.NewReader(tt.body), "Content-Type", tt.contentType)
					if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Location") != "" || w.Header().Get("Set-Cookie") != "" {
						t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
					}
					if got, want := p.person(), fmt.Sprint("active", map[string]bool{p.Type.Key: false}, map[id.Category]bool{}); got != want {
						t.Errorf("the contact is %s, want %s", got, want)
					}
				}
				if s := p.sums(); s.Unsubscribed != 1 {
					t.Errorf("%d unsubscribed, want 1", s.Unsubscribed)
				}
				records, err := consent.List(t.Context(), p.DB, p.Tenant, p.contact.ID)
				if err != nil || len(records) != 1 || records[0].Granted || records[0].Source != consent.OneClick || records[0].Message != p.message.ID || records[0].TypeKey != p.Type.Key || records[0].IP != "192.0.2.7" {
					t.Errorf("the proofs are %+v, %v", records, err)
				}
				entries := 0
				e := &journal.Engine{DB: p.DB, Followers: []journal.Follower{{Name: "f", Follow: func(_ context.Context, _ *sqldb.DB, list []journal.Entry) error {
					for _, e := range list {
						if e.Type == journal.EmailUnsubscribed && e.Message == p.message.ID && e.Send == p.send {
							entries++
						}
					}
					return nil
				}}}}
				if err := e.Drain(t.Context()); err != nil || entries != 1 {
					t.Errorf("%d entries in the journal, %v; want 1", entries, err)
				}
			})
		})
	}
}

func TestTheScopeOfUnsubscribing(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		ctx := t.Context()
		category, err := sender.CreateCategory(ctx, p.DB, p.Tenant, sender.CategoryFields{Name: new("Marketing")}, p.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sender.UpdateEmailType(ctx, p.DB, p.Tenant, p.Type.ID, sender.EmailTypeFields{Category: &category.ID}, time.Now()); err != nil {
			t.Fatal(err)
		}
		page := p.do("GET", p.path(track.Unsubscribe, 0, ""), nil).Body.String()
		if !strings.Contains(page, "Marketing") || !strings.Contains(page, "a•••@example.com") {
			t.Errorf("the page does not say what is left: %s", page)
		}
		body, contentType := form()
		p.do("POST", p.path(track.Unsubscribe, 0, ""), body, "Content-Type", contentType)
		c, err := contact.ByID(ctx, p.DB, p.Tenant, p.contact.ID)
		if on, known := c.CategorySubscriptions[category.ID]; err != nil || on || !known || c.Status != contact.Active {
			t.Errorf("the contact is %s, %v; want to have left the category", p.person(), err)
		}

		acme, err := tenant.ByID(ctx, p.DB, p.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		acme.Settings.UnsubscribeScope = tenant.UnsubscribeGlobal
		if err := tenant.SaveSettings(ctx, p.DB, p.Tenant, acme.Name, acme.Settings, p.now); err != nil {
			t.Fatal(err)
		}
		if page := p.do("GET", p.path(track.Unsubscribe, 0, ""), nil).Body.String(); !strings.Contains(page, "all mail from") {
			t.Errorf("the page does not say what is left: %s", page)
		}
		p.do("POST", p.path(track.Unsubscribe, 0, ""), strings.NewReader("from=page"), "Content-Type", "application/x-www-form-urlencoded")
		if got := p.person(); !strings.HasPrefix(got, string(contact.Unsubscribed)) {
			t.Errorf("the contact is %s, want unsubscribed", got)
		}
		if s := p.sums(); s.Unsubscribed != 1 {
			t.Errorf("%d unsubscribed, want the one recipient", s.Unsubscribed)
		}
	})
}

var action = regexp.MustCompile(`<form method="post" action="([^"]+)"`)

func TestTheButtonOfThePage(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		w := p.do("GET", p.path(track.Unsubscribe, 0, ""), nil)
		m := action.FindStringSubmatch(w.Body.String())
		if w.Code != http.StatusOK || m == nil {
			t.Fatalf("%d without a form", w.Code)
		}
		if strings.Contains(w.Body.String(), p.contact.Email) {
			t.Error("the page shows the whole address")
		}
		for range 2 {
			w = p.do("POST", m[1], strings.NewReader("from=page"), "Content-Type", "application/x-www-form-urlencoded")
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Unsubscribed") || !strings.Contains(w.Body.String(), p.path(track.Preferences, 0, "")) {
				t.Errorf("the button: %d %s", w.Code, w.Body)
			}
		}
		records, err := consent.List(t.Context(), p.DB, p.Tenant, p.contact.ID)
		if err != nil || len(records) != 1 {
			t.Fatalf("the proofs are %+v, %v", records, err)
		}
		records[0].ID = id.ConsentRecord{}
		want := consent.Record{Contact: p.contact.ID, TypeKey: p.Type.Key, At: p.now, Proof: consent.Proof{
			Source: consent.UnsubscribePage, Wording: "Do you want to stop “Newsletter” from Account acme to a•••@example.com?",
			IP: "192.0.2.7", Agent: chrome, PageURL: "https://example.com/_q/u", Message: p.message.ID,
		}}
		if diff := cmp.Diff(want, records[0]); diff != "" {
			t.Errorf("the proof:\n%s", diff)
		}
	})
}

// Whoever has left is told so, and not asked again, however it left; who comes back is asked.
func TestThePageOfSomebodyWhoHasLeft(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		page := func() (body string, asks bool) {
			w := p.do("GET", p.path(track.Unsubscribe, 0, ""), nil)
			if w.Code != http.StatusOK {
				t.Fatalf("the page is %d %s", w.Code, w.Body)
			}
			return w.Body.String(), action.MatchString(w.Body.String())
		}
		choose := func(how string) {
			w := p.do("POST", p.path(track.Preferences, 0, ""), strings.NewReader("action="+how), "Content-Type", "application/x-www-form-urlencoded")
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d", how, w.Code)
			}
		}
		for _, step := range []struct {
			name string
			do   func()
			asks bool
			says string
		}{
			{"at first", func() {}, true, "Do you want to stop"},
			{"after one click", func() {
				body, kind := form()
				p.do("POST", p.path(track.Unsubscribe, 0, ""), body, "Content-Type", kind)
			}, false, "You will not get this mail any more"},
			{"subscribed again", func() { choose("resubscribe") }, true, "Do you want to stop"},
			{"after leaving all mail", func() { choose("unsubscribe_all") }, false, "You are unsubscribed from all mail from Account acme"},
			{"subscribed again to all", func() { choose("resubscribe") }, true, "Do you want to stop"},
			{"pending", func() {
				p.exec(`UPDATE contact SET global_status = 'pending' WHERE tenant_id = $1 AND id = $2`, p.Tenant, p.contact.ID)
			}, true, "Do you want to stop"},
		} {
			step.do()
			body, asks := page()
			if asks != step.asks || !strings.Contains(body, step.says) || !strings.Contains(body, p.path(track.Preferences, 0, "")) {
				t.Errorf("%s: asks %v: %s", step.name, asks, body[strings.Index(body, "<main>"):])
			}
		}
	})
}

func TestPagesAreSafe(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		for _, path := range append(p.pages(), "/_q/u/forged", "/_q/p/forged", "/_q/v/forged", "/_q/c/forged") {
			w := p.do("GET", path, nil)
			h := w.Header()
			policy := h.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script") ||
				h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
				!strings.Contains(h.Get("X-Robots-Tag"), "noindex") || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", path[:5], h)
			}
			if want := map[bool]int{true: 404, false: 200}[strings.HasSuffix(path, "forged")]; w.Code != want {
				t.Errorf("%s: %d, want %d", path, w.Code, want)
			}
		}
	})
}

func TestTokensOfPagesEnd(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		for _, tt := range []struct {
			kind  track.Kind
			after time.Duration
			want  int
		}{
			{track.View, 365 * 24 * time.Hour, 200}, {track.View, 365*24*time.Hour + time.Second, 404},
			{track.Preferences, 2 * 365 * 24 * time.Hour, 200}, {track.Preferences, 2*365*24*time.Hour + time.Second, 404},
			{track.Unsubscribe, 20 * 365 * 24 * time.Hour, 200}, {track.ClickLink, 20 * 365 * 24 * time.Hour, 302},
		} {
			p.now = broadcasttest.Now.Add(tt.after)
			if w := p.do("GET", p.path(tt.kind, 0, ""), nil); w.Code != tt.want {
				t.Errorf("kind %c after %v: %d, want %d", tt.kind, tt.after, w.Code, tt.want)
			}
		}
	})
}

func TestViewInBrowser(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		w := p.do("GET", p.path(track.View, 0, ""), nil)
		page := w.Body.String()
		if w.Code != 200 || !strings.Contains(page, "/_q/c/") || strings.Contains(page, "/_q/o/") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%d %s", w.Code, page)
		}
		m := regexp.MustCompile(`https://[^/"]+(/_q/c/[\w-]+)">B`).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no link B in %s", page)
		}
		if w := p.do("GET", m[1], nil); !strings.HasPrefix(w.Header().Get("Location"), "https://example.org/ann0@example.com?") {
			t.Errorf("link B leads to %q", w.Header().Get("Location"))
		}
	})
}

// A mail is viewed with the values that it was sent with, also after the contact changed.
func TestViewInBrowserShowsWhatWasSent(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		p.exec(`UPDATE outbox SET contact_version = $2 WHERE tenant_id = $1`, p.Tenant, p.contact.Version)
		p.exec(`INSERT INTO contact_activity (tenant_id, contact_id, last_email_sent_at, deliverability_updated_at) VALUES ($1, $2, $3, 0)`,
			p.Tenant, p.contact.ID, broadcasttest.Now.UnixMicro())
		change := contact.Change{Email: new("eve@example.org"), Texts: map[contact.Text]*string{contact.FirstName: new("Eve")}}
		if _, err := contact.SaveAll(t.Context(), p.DB, p.Tenant, []contact.Draft{{ID: p.contact.ID, Change: change}}, contact.Rules{}, p.now); err != nil {
			t.Fatal(err)
		}
		page := p.do("GET", p.path(track.View, 0, ""), nil).Body.String()
		if !strings.Contains(page, "Reader") || strings.Contains(page, "Eve") {
			t.Errorf("the page is %s", page)
		}
		m := regexp.MustCompile(`https://[^/"]+(/_q/c/[\w-]+)">B`).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no link B in %s", page)
		}
		if w := p.do("GET", m[1], nil); !strings.HasPrefix(w.Header().Get("Location"), "https://example.org/ann0@example.com?") {
			t.Errorf("link B leads to %q", w.Header().Get("Location"))
		}
	})
}

// Links of sent mail work after its sender was deleted.
func TestLinksWorkAfterTheirSenderWasDeleted(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		p.exec(`DELETE FROM sending_identity WHERE tenant_id = $1`, p.Tenant)
		if w := p.do("GET", p.path(track.ClickLink, 0, ""), nil); w.Code != 302 || !strings.HasPrefix(w.Header().Get("Location"), "https://example.org/a?x=1&utm_source=acme&") {
			t.Errorf("a click without the identity: %d to %q", w.Code, w.Header().Get("Location"))
		}
		for _, path := range p.pages() {
			if w := p.do("GET", path, nil); w.Code != 200 {
				t.Errorf("%s without the identity: %d", path[:5], w.Code)
			}
		}
		body, contentType := form()
		if w := p.do("POST", p.path(track.Unsubscribe, 0, ""), body, "Content-Type", contentType); w.Code != 200 || !strings.Contains(p.person(), "map["+p.Type.Key+":false]") {
			t.Errorf("unsubscribing without the identity: %d, %s", w.Code, p.person())
		}
		p.exec(`DELETE FROM contact WHERE tenant_id = $1`, p.Tenant)
		body, contentType = form()
		if w := p.do("POST", p.path(track.Unsubscribe, 0, ""), body, "Content-Type", contentType); w.Code != 200 {
			t.Errorf("unsubscribing without the contact: %d", w.Code)
		}
	})
}

func TestADeletedTenantIsGone(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		if err := tenant.Delete(t.Context(), p.DB, p.Tenant, p.now); err != nil {
			t.Fatal(err)
		}
		for _, path := range append(p.pages(), p.path(track.ClickLink, 0, "")) {
			if w := p.do("GET", path, nil); w.Code != http.StatusGone {
				t.Errorf("GET %s: %d, want 410", path[:5], w.Code)
			}
		}
		if w := p.do("POST", p.path(track.Unsubscribe, 0, ""), nil); w.Code != http.StatusGone {
			t.Errorf("POST: %d, want 410", w.Code)
		}
		if w := p.do("GET", p.path(track.OpenPixel, 0, ""), nil); w.Code != http.StatusOK {
			t.Errorf("the pixel: %d, want 200 as ever", w.Code)
		}
	})
}
