package public

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/static"
	"github.com/packetboat/packetboat/internal/sqldb"
)

//go:embed site/tracker.js
var trackerSource string

// Limits of the requests of websites' scripts.
var (
	siteClientLimit = ratelimit.Rule{Name: "site client", Max: 120, Window: time.Minute}
	siteTenantLimit = ratelimit.Rule{Name: "site tenant", Max: 6000, Window: time.Minute}
)

// siteKeyLast is how long it takes other processes to notice that a tenant was deleted.
const siteKeyLast = time.Second

// Site serves the script for tenants' websites and accepts its requests, from any origin and
// without cookies. A request is answered with 204 whatever becomes of it, so that an answer says
// nothing about who is a contact; only what is too large, too frequent or cannot be stored has
// another status.
type Site struct {
	DB       *sqldb.DB
	Visitors *visitor.Collector
	Limits   *ratelimit.Limiter
	Machine  func(agent string) bool        // whether an agent is a program, whose requests are ignored
	Country  func(r *http.Request) string   // of the client, ISO 3166-1; may be empty
	ClientIP func(*http.Request) netip.Addr // behind trusted proxies
	Log      *slog.Logger
	Now      func() time.Time

	tenants cache.Cache[string, id.Tenant] // by site key; zero: none has it
}

// Routes adds the routes to mux.
func (s *Site) Routes(mux *http.ServeMux) {
	mux.Handle("GET /_q/s.js", embeddedScript(stripScript(trackerSource)))
	for _, kind := range []visitor.Kind{visitor.Page, visitor.Identify, visitor.Event} {
		mux.HandleFunc("/_q/"+string(kind), func(w http.ResponseWriter, r *http.Request) { s.collect(w, r, kind) })
	}
}

// stripScript removes indentation, empty lines and lines that are comments.
func stripScript(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// embeddedScript serves a script that websites embed. It is the same for all tenants: it reads what
// differs from its own address or from the page.
func embeddedScript(script string) http.Handler {
	text := static.New("text/javascript; charset=utf-8", []byte(script))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=3600")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		text.ServeHTTP(w, r)
	})
}

// collect accepts a request of the script.
func (s *Site) collect(w http.ResponseWriter, r *http.Request, kind visitor.Kind) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions:
		h.Set("Access-Control-Allow-Methods", "POST")
		h.Set("Access-Control-Allow-Headers", "Content-Type")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h.Set("Allow", "POST, OPTIONS")
		writeError(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "use POST", nil)
		return
	}
	now := s.Now()
	if !s.within(w, r, siteClientLimit, ratelimit.Address(s.ClientIP(r)), now) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, visitor.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		writeError(w, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE", fmt.Sprintf("the body may have at most %d bytes", visitor.MaxBody), nil)
		return
	}
	// Sec-GPC: https://www.w3.org/TR/gpc/
	if err != nil || r.Header.Get("Sec-GPC") == "1" || s.Machine(r.UserAgent()) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	request, key, binding, ok := visitor.Parse(kind, body, now)
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	t, err := s.tenants.Load(key, now, siteKeyLast, func() (id.Tenant, error) { return s.find(r.Context(), key) })
	if err != nil {
		s.unavailable(w, err)
		return
	}
	if t == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if !s.within(w, r, siteTenantLimit, t.String(), now) {
		return
	}
	request.Country = s.Country(r)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), recordWithin)
	defer cancel()
	if err := s.Visitors.Accept(ctx, t, request, binding); err != nil {
		s.unavailable(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// find returns the tenant with a site key, 0 if there is none.
func (s *Site) find(ctx context.Context, key string) (id.Tenant, error) {
	t, err := tenant.BySiteKey(ctx, s.DB, key)
	if errors.Is(err, tenant.ErrNotFound) {
		return 0, nil
	}
	return t.ID, err
}

// within takes a permit of a limit; without one it writes 429.
func (s *Site) within(w http.ResponseWriter, r *http.Request, rule ratelimit.Rule, key string, now time.Time) bool {
	state, err := s.Limits.Acquire(r.Context(), rule, key, now)
	if err != nil {
		s.unavailable(w, err)
		return false
	}
	if !state.Allowed {
		w.Header().Set("Retry-After", strconv.Itoa(int(state.Reset/time.Second)+1))
		writeError(w, http.StatusTooManyRequests, "RATE_LIMITED", "too many requests; try again later", nil)
	}
	return state.Allowed
}

func (s *Site) unavailable(w http.ResponseWriter, err error) {
	s.Log.Error("accept request of a website failed", "err", err)
	writeError(w, http.StatusServiceUnavailable, "UNAVAILABLE", "the request could not be stored; try again later", nil)
}
