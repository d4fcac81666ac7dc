package public

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Mailbox serves the pages that show the mail accepted by MTA configs of type sink. They work without a
// script.
//
// A signed-in user sees the mail of the tenants that the user is a member of. Mail is untrusted: its HTML is
// shown in a frame with an opaque origin, in which only the script that reports its height runs, and
// everything else is shown as text.
type Mailbox struct {
	DB       *sqldb.DB
	Sends    outbox.Labeler
	Login    *auth.Login
	Cursors  *endpoint.Cursors
	BaseURL  *url.URL
	Log      *slog.Logger
	Now      func() time.Time
	ClientIP func(*http.Request) netip.Addr // behind trusted proxies

	// Open are the tenants shown without a login to browsers that requested a loopback name, for the demo on
	// a loopback address. Their mail may also be deleted without a login.
	Open []tenant.Tenant
}

// Routes adds the routes to mux.
func (b *Mailbox) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /mailbox/{$}", b.list)
	mux.HandleFunc("GET /mailbox/{tenant}/{message}", b.message)
	mux.HandleFunc("GET /mailbox/{tenant}/{message}/html", b.frame)
	mux.HandleFunc("GET /mailbox/{tenant}/{message}/raw", b.raw)
	mux.HandleFunc("POST /mailbox/{tenant}/{message}/delete", b.deleteMessage)
	mux.HandleFunc("POST /mailbox/{tenant}/read", b.markRead)
	mux.HandleFunc("POST /mailbox/{tenant}/delete", b.deleteMessages)
	mux.HandleFunc("POST /mailbox/sign-in", b.signIn)
	mux.HandleFunc("POST /mailbox/sign-out", b.signOut)
	mux.HandleFunc("GET /mailbox/style.css", asset("style.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /mailbox/live.js", asset("live.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /mailbox/", func(w http.ResponseWriter, r *http.Request) { b.notFound(w, r) })
}

// reader is the user who requested a page, and the tenants that the user may see.
type reader struct {
	tenants  []auth.Membership
	signedIn bool
}

// inTenant returns the tenant that a path names.
func (v reader) inTenant(slug string) (auth.Membership, bool) {
	i := slices.IndexFunc(v.tenants, func(m auth.Membership) bool { return m.Slug == slug })
	if i < 0 {
		return auth.Membership{}, false
	}
	return v.tenants[i], true
}

// reader returns the reader of r.
func (b *Mailbox) reader(r *http.Request) (reader, error) {
	var v reader
	if cookie, err := r.Cookie(auth.CookieName); err == nil && cookie.Value != "" {
		s, err := auth.FindSession(r.Context(), b.DB, cookie.Value, b.Now())
		switch {
		case errors.Is(err, auth.ErrNoSession):
		case err != nil:
			return v, err
		default:
			v.signedIn = true
			if v.tenants, err = auth.Memberships(r.Context(), b.DB, s.User.ID); err != nil {
				return v, err
			}
		}
	}
	if !isLocalRequest(r) {
		return v, nil
	}
	for _, t := range b.Open {
		if _, have := v.inTenant(t.Slug); !have {
			v.tenants = append(v.tenants, auth.Membership{Tenant: t.ID, Slug: t.Slug, Name: t.Name, Role: auth.Admin})
		}
	}
	return v, nil
}

// isLocalRequest reports whether a browser on this machine made the request. The connection must have come in on a
// loopback address, whatever the listener's, and not through a proxy, whose clients may be on other machines.
func isLocalRequest(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	ap, err := netip.ParseAddrPort(local.String())
	return err == nil && ap.Addr().Unmap().IsLoopback() && loopbackName(r.Host)
}

// loopbackName reports whether the Host of a request is this machine. It rejects a foreign site whose name
// was made to resolve to a loopback address (DNS rebinding), since its pages send its own name.
func loopbackName(host string) bool {
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.Addr().Unmap().IsLoopback()
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return ip.Unmap().IsLoopback()
	}
	name, _, _ := strings.Cut(strings.ToLower(host), ":")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// enter returns the reader, or writes that a login is needed.
func (b *Mailbox) enter(w http.ResponseWriter, r *http.Request) (reader, bool) {
	v, err := b.reader(r)
	if err != nil {
		b.fail(w, r, err)
		return v, false
	}
	if len(v.tenants) == 0 && !v.signedIn {
		b.show(w, r, http.StatusUnauthorized, "signin.html", signInView{frameOf(r, "Sign in"), "", ""})
		return v, false
	}
	return v, true
}

const pageOfMails = 50

func (b *Mailbox) list(w http.ResponseWriter, r *http.Request) {
	v, ok := b.enter(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	view := listView{pageFrame: frameOf(r, "Mailbox"), SignedIn: v.signedIn, Tenants: v.tenants, Still: query.Get("still") == "1"}
	view.Search = clean(query.Get("search"))
	if len(v.tenants) > 0 {
		view.Tenant = v.tenants[0]
	}
	if slug := query.Get("tenant"); slug != "" {
		if view.Tenant, ok = v.inTenant(slug); !ok {
			b.notFound(w, r)
			return
		}
	}
	send, err := b.sendOf(r.Context(), view.Tenant.Tenant, clean(query.Get("broadcast")))
	if err != nil {
		b.fail(w, r, err)
		return
	}
	if send != nil {
		view.Group = &mailGroup{Group: mailbox.Group{Send: *send}, Name: "A broadcast without mail here"}
	}
	if view.Tenant.Tenant != 0 {
		if err := b.fill(r, &view, query.Get("cursor")); err != nil {
			if _, refused := fault.As(err); refused {
				b.notFound(w, r)
				return
			}
			b.fail(w, r, err)
			return
		}
	}
	b.show(w, r, http.StatusOK, "list.html", view)
}

// clean makes a parameter valid for a text column.
func clean(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }

// fill reads a page of mails and the number of mails of each broadcast.
func (b *Mailbox) fill(r *http.Request, view *listView, cursor string) error {
	if err := b.count(r.Context(), view); err != nil {
		return err
	}
	q := mailbox.Query{Send: view.send(), Search: view.Search, Limit: pageOfMails}
	if cursor != "" {
		c, err := b.Cursors.Decode(cursor, "received_at", "desc")
		if err != nil || c.LastValue == nil {
			return endpoint.ErrCursor
		}
		at, err := time.Parse(time.RFC3339Nano, *c.LastValue)
		if err != nil {
			return endpoint.ErrCursor
		}
		q.After, view.Later = &mailbox.Position{At: at, ID: id.Read[id.SinkMessage](c.LastID)}, true
	}
	list, more, err := mailbox.List(r.Context(), b.DB, view.Tenant.Tenant, q)
	if err != nil {
		return err
	}
	view.Mails = list
	if more {
		last := list[len(list)-1]
		next := b.Cursors.Encode(endpoint.Cursor{
			Sort: "received_at", Dir: "desc", LastValue: new(last.ReceivedAt.Format(time.RFC3339Nano)), LastID: last.ID.String(),
		})
		view.Next = view.link("cursor", next)
	}
	return nil
}

// find returns the message of a path, or writes that there is none.
func (b *Mailbox) find(w http.ResponseWriter, r *http.Request) (auth.Membership, mailbox.Message, []byte, bool) {
	v, ok := b.enter(w, r)
	if !ok {
		return auth.Membership{}, mailbox.Message{}, nil, false
	}
	t, known := v.inTenant(r.PathValue("tenant"))
	message, valid := id.Parse[id.SinkMessage](r.PathValue("message"))
	if !known || !valid {
		b.notFound(w, r)
		return t, mailbox.Message{}, nil, false
	}
	m, raw, err := mailbox.Raw(r.Context(), b.DB, t.Tenant, id.Lane{}, message)
	switch {
	case errors.Is(err, mailbox.ErrNotFound):
		b.notFound(w, r)
	case err != nil:
		b.fail(w, r, err)
	default:
		return t, m, raw, true
	}
	return t, m, nil, false
}

func (b *Mailbox) message(w http.ResponseWriter, r *http.Request) {
	t, m, raw, ok := b.find(w, r)
	if !ok {
		return
	}
	parts := mailbox.Read(raw)
	view := messageView{
		pageFrame: frameOf(r, m.Subject), Tenant: t, Mail: m, HasHTML: parts.HTML != "", HasText: parts.Text != "",
		MayDelete: t.Role.AtLeast(auth.Admin),
	}
	if view.Title == "" {
		view.Title = noSubject
	}
	switch part := r.URL.Query().Get("part"); {
	case part == "headers":
		view.Part, view.Headers = part, parts.Headers
	case part == "source":
		view.Part, view.Source = part, readable(raw)
	case view.HasText && (part == "text" || !view.HasHTML):
		view.Part, view.Text = "text", linked(parts.Text)
	case view.HasHTML:
		view.Part = "html"
	default: // nothing that can be shown
		view.Part, view.Source = "source", readable(raw)
	}
	if !m.Read && r.Method == http.MethodGet && r.Header.Get("Sec-Purpose") == "" { // not if a browser only prefetches
		if err := mailbox.MarkRead(r.Context(), b.DB, t.Tenant, m.ID, b.Now()); err != nil {
			b.Log.Error("mark mailbox message as read failed", "err", err) // the message is shown all the same
		}
	}
	b.show(w, r, http.StatusOK, "message.html", view)
}

// frame serves the HTML of a mail. It always has an opaque origin, runs no script but ours, which the policy
// allows by its hash, and opens links in new tabs. Images load, so that opens are recorded.
func (b *Mailbox) frame(w http.ResponseWriter, r *http.Request) {
	_, _, raw, ok := b.find(w, r)
	if !ok {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "+
		"script-src '"+heightScriptHash+"'; img-src http: https: data:; style-src 'unsafe-inline' http: https:; font-src http: https: data:; media-src http: https:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	h.Set("Referrer-Policy", "no-referrer")
	common(h)
	_, _ = w.Write([]byte(framed(mailbox.Read(raw).HTML)))
}

// raw serves the source of a mail, as text that browsers do not interpret.
func (b *Mailbox) raw(w http.ResponseWriter, r *http.Request) {
	_, m, raw, ok := b.find(w, r)
	if !ok {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Disposition", `inline; filename="`+m.ID.String()+`.eml.txt"`)
	common(h)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(raw))
}
