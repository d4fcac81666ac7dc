package public

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/preference"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Recipient serves the links of mails: the open pixel, clicks, unsubscribing and the mail as a page. Each link
// is a signed token; an invalid one is a plain 404.
type Recipient struct {
	DB       *sqldb.DB
	Keys     *track.Keys
	Hits     *track.Queue
	Contents *content.Cache
	Senders  *render.Senders
	Renderer *render.Renderer
	Log      *slog.Logger
	Now      func() time.Time
	ClientIP func(*http.Request) netip.Addr // behind trusted proxies

	origins origins
}

// Routes adds the routes to mux.
func (p *Recipient) Routes(mux *http.ServeMux) {
	mux.HandleFunc("/_q/o/{token}", p.open)
	mux.HandleFunc("/_q/c/{token}", p.click)
	mux.HandleFunc("GET /_q/u/{token}", p.unsubscribePage)
	mux.HandleFunc("POST /_q/u/{token}", p.unsubscribe)
	mux.HandleFunc("GET /_q/p/{token}", p.preferencesPage)
	mux.HandleFunc("POST /_q/p/{token}", p.choosePreferences)
	mux.HandleFunc("GET /_q/v/{token}", p.view)
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
}

// errPreview means that a token is of a test mail, which is not in the database.
var errPreview = errors.New("the link of a test mail")

// verify checks a token of kind. For a test mail it returns errPreview.
func (p *Recipient) verify(kind track.Kind, text string) (track.Token, error) {
	t, err := p.Keys.Verify(kind, text)
	if err == nil && t.Preview {
		err = errPreview
	}
	return t, err
}

// find returns the message of a token of kind. For a test mail it returns errPreview.
func (p *Recipient) find(r *http.Request, kind track.Kind, text string) (track.Token, outbox.Record, error) {
	t, err := p.verify(kind, text)
	if err != nil {
		return t, outbox.Record{}, err
	}
	m, err := outbox.Find(r.Context(), p.DB, t.Tenant, t.Message)
	return t, m, err
}

// currentContent returns the content and the sender of a message of any age, with the current settings.
func (p *Recipient) currentContent(ctx context.Context, m outbox.Record) (*content.Compiled, *render.Sender, error) {
	return p.loadContent(ctx, m.Tenant, origin{m.Content, m.Identity}, p.Senders.PastReload)
}

// loadContent returns the content and the sender of an origin; load returns the sender.
func (p *Recipient) loadContent(ctx context.Context, t id.Tenant, from origin, load func(context.Context, id.Tenant, id.Identity, id.EmailType) (*render.Sender, error)) (*content.Compiled, *render.Sender, error) {
	c, err := p.Contents.Get(ctx, t, from.content)
	if err != nil {
		return nil, nil, err
	}
	s, err := load(ctx, t, from.identity, c.Context.EmailType)
	if err == nil && s.Tenant.Status == tenant.Deleted {
		err = tenant.ErrNotFound
	}
	return c, s, err
}

// refuse writes the response for an invalid token or an internal error. For the link of a test mail it writes
// a page of success without doing anything; for a one-click request of a mail program, an empty success.
func (p *Recipient) refuse(w http.ResponseWriter, r *http.Request, err error) {
	to := personOf(r, nil)
	switch {
	case errors.Is(err, errPreview):
		if r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/_q/u/") {
			to.page(w, r, http.StatusOK, "title_test", "text_test")
		}
	case errors.Is(err, tenant.ErrNotFound):
		to.page(w, r, http.StatusGone, "title_gone", "text_gone")
	case errors.Is(err, track.ErrBadToken), errors.Is(err, outbox.ErrGone), errors.Is(err, content.ErrGone), errors.Is(err, preference.ErrGone):
		to.page(w, r, http.StatusNotFound, "title_not_found", "text_not_found")
	default:
		p.Log.Error("recipient request failed", "err", err, "path", kindOf(r.URL.Path))
		to.page(w, r, http.StatusServiceUnavailable, "title_error", "text_error")
	}
}

// kindOf returns the path without its token, for the log.
func kindOf(path string) string { return path[:min(len(path), len("/_q/x"))] }

// hit returns the hit for a request of a message's link. The contact and the time of sending are looked up
// when the hit is recorded, for many hits at once.
func (p *Recipient) hit(r *http.Request, t track.Token) track.Hit {
	return track.Hit{
		Tenant: t.Tenant, Message: t.Message, At: p.Now(),
		Method: r.Method, Agent: r.UserAgent(), IP: p.ClientIP(r).Unmap().WithZone("").String(), Prefetch: track.DeclaresPrefetch(r.Header),
		Signals: track.ReadSignals(r, p.https(r), p.direct(r)),
	}
}

// https reports whether a recipient's client uses https, directly or through a proxy of the operator.
func (p *Recipient) https(r *http.Request) bool {
	return r.TLS != nil || p.Renderer != nil && p.Renderer.BaseURL.Scheme == "https"
}

// direct reports whether the client is connected without a proxy of the operator.
func (p *Recipient) direct(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap() == p.ClientIP(r).Unmap()
}

// recordWithin limits how long a response waits for its hit.
const recordWithin = 5 * time.Second

// record stores a hit and waits until it is durable, at most for recordWithin. It never fails: a click must
// work even if it cannot be counted. The hit is stored even if the client disconnects.
func (p *Recipient) record(ctx context.Context, h track.Hit) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	if err := p.Hits.Put(ctx, h); err != nil {
		p.Log.Error("hit lost", "tenant", h.Tenant, "message", h.Message, "err", err)
	}
}
