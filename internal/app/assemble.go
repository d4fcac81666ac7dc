package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"packetboat/internal/auth"
	"packetboat/internal/broadcast"
	"packetboat/internal/contact"
	"packetboat/internal/content"
	"packetboat/internal/endpoint"
	"packetboat/internal/engine/classify"
	"packetboat/internal/engine/deliver"
	"packetboat/internal/engine/dispatch"
	"packetboat/internal/httpapi"
	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/letter"
	"packetboat/internal/limit"
	"packetboat/internal/mailbox"
	"packetboat/internal/public"
	"packetboat/internal/sqldb"
	"packetboat/internal/suppression"
	"packetboat/internal/tenant"
	"packetboat/internal/track"
	"packetboat/internal/usage"
)

// parts is the program assembled: what answers requests and what runs beside.
type parts struct {
	handler http.Handler
	loops   []loop
}

// followers react to the journal, in this order.
func followers() []journal.Follower {
	return []journal.Follower{
		contact.Follower(),
		suppression.Follower(),
	}
}

func (s *Server) assemble(ctx context.Context, registry prometheus.Registerer) (*parts, error) {
	db, box, now := s.Store.DB, s.Store.Box, time.Now
	keys := track.NewKeys(box)
	contents := &content.Cache{DB: db}
	senders := &letter.Senders{DB: db, Box: box, Now: now}
	letters := &letter.Renderer{Keys: keys, BaseURL: s.Config.BaseURL}
	hits := public.NewHits(db)
	wakeDispatch, wakeDeliver, wakeJournal := newSignal(), newSignal(), newSignal()
	private := s.Config.AllowPrivateRelays || s.Config.LoopbackBaseURL()

	out := &parts{}
	limiter := limit.New(db)
	gate := auth.NewGate(db, now, s.Log)
	router := endpoint.New(endpoint.Options{
		Gate: gate, Limiter: limiter, DB: db, BaseURL: s.Config.BaseURL, TrustedProxies: s.Config.TrustedProxies,
		RatePerMinute: s.Config.RateLimitPerMinute, Now: now, Log: s.Log.With("part", "api"), Took: requestTimes(registry),
	})
	api := &httpapi.API{
		DB: db, Box: box, Now: now, BaseURL: s.Config.BaseURL, Log: s.Log.With("part", "api"), AllowPrivateRelays: private,
		Door: s.door(limiter), Usage: usage.Finders{broadcast.Finder()},
		Tester: &deliver.Tester{DB: db, Box: box, Now: now, AllowPrivate: private},
	}
	api.Register(router)
	out.loops = append(out.loops, s.chores(limiter, api.Door)...)
	clientIP := func(r *http.Request) netip.Addr { return endpoint.ClientIP(r, s.Config.TrustedProxies) }

	mux := http.NewServeMux()
	s.health(mux)
	if s.has(RoleAPI) || s.has(RoleApp) {
		document, err := router.Document()
		if err != nil {
			return nil, err
		}
		docs, err := public.Docs(document)
		if err != nil {
			return nil, err
		}
		mux.Handle("GET /docs", docs)
		mux.Handle("GET /docs/", docs)
	}
	if s.has(RoleApp) {
		page := &public.Mailbox{
			DB: db, Door: api.Door, Cursors: api.Cursors, BaseURL: s.Config.BaseURL, Log: s.Log.With("part", "mailbox"),
			Now: now, ClientIP: clientIP,
		}
		if s.Demo != "" && s.Config.LoopbackBaseURL() {
			t, err := tenant.ByID(ctx, db, s.Demo)
			if err != nil {
				return nil, err
			}
			page.Open = []tenant.Tenant{t}
		}
		page.Routes(mux)
		mux.Handle("GET /{$}", public.Home())
	}
	if s.has(RoleTrack) {
		recipient := &public.Recipient{
			DB: db, Keys: keys, Hits: hits, Contents: contents, Senders: senders, Letters: letters,
			Log: s.Log.With("part", "track"), Now: now, ClientIP: clientIP, Appended: wakeJournal.notify,
		}
		recipient.Routes(mux)
		out.loops = append(out.loops, loop{"hits", hits.Run})
	}
	out.handler = mux
	if s.has(RoleAPI) || s.has(RoleApp) {
		out.handler = front(mux, waking(router, wakeDispatch, wakeDeliver, wakeJournal))
	}
	if s.has(RoleWorker) {
		out.loops = append(out.loops, s.engines(registry, keys, contents, senders, letters, private, wakeDispatch, wakeDeliver, wakeJournal)...)
	}
	return out, nil
}

// engines are the loops of a worker.
func (s *Server) engines(registry prometheus.Registerer, keys *track.Keys, contents *content.Cache, senders *letter.Senders,
	letters *letter.Renderer, private bool, wakeDispatch, wakeDeliver, wakeJournal signal) []loop {
	db, now := s.Store.DB, time.Now
	followed := &journal.Engine{DB: db, Followers: followers(), Log: s.Log.With("engine", "journal"), Wake: wakeJournal}
	dispatcher := &dispatch.Engine{DB: db, Owner: id.New[string](), Now: now, Log: s.Log.With("engine", "dispatch"), Wake: wakeDispatch, Ready: wakeDeliver.notify}
	deliverer := &deliver.Engine{
		DB: db, Box: s.Store.Box, Keys: keys, Contents: contents, Senders: senders, Letters: letters,
		Log: s.Log.With("engine", "deliver"), Now: now, Metrics: deliver.NewMetrics(registry), Wake: wakeDeliver,
		FeedbackSender: s.Config.FeedbackSenderID, AllowPrivate: private, Alone: alone(db),
	}
	classifier := &classify.Engine{DB: db, Log: s.Log.With("engine", "classify"), Now: now, Live: s.live}
	return []loop{
		{"journal", followed.Run},
		{"dispatch", dispatcher.Run},
		{"deliver", deliverer.Run},
		{"classify", classifier.Run},
		{"contacts", (&contact.Upkeep{DB: db, Log: s.Log.With("engine", "contacts"), Now: now}).Run},
		s.every("prune mailboxes", 10*time.Minute, func(ctx context.Context) error {
			for {
				if more, err := mailbox.Prune(ctx, db, now()); err != nil || !more {
					return err
				}
			}
		}),
	}
}

// live reports whether a broadcast is sending or paused.
func (s *Server) live(ctx context.Context, t id.Tenant, stream string) (bool, error) {
	b, err := broadcast.Load(ctx, s.Store.DB, t, id.Broadcast(stream))
	if err != nil {
		return false, err
	}
	return b.Status == broadcast.Sending || b.Status == broadcast.Paused, nil
}

// waking wakes the engines after a request that may have given them work.
func waking(next http.Handler, signals ...signal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead && strings.HasPrefix(r.URL.Path, "/t/") {
			for _, s := range signals {
				s.notify()
			}
		}
	})
}

// health adds what load balancers and orchestrators ask.
func (s *Server) health(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		checks := map[string]string{"database": "ok", "migrations": "ok", "queue": "ok"}
		status, code := "ok", http.StatusOK
		fail := func(check string) {
			checks[check], status, code = "failing", "unavailable", http.StatusServiceUnavailable
		}
		ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
		defer cancel()
		if s.Store.DB.Ping(ctx) != nil {
			fail("database")
		}
		if pending, err := s.pending(ctx); err != nil || pending {
			fail("migrations")
		}
		if _, err := journal.Lag(ctx, s.Store.DB); err != nil {
			fail("queue")
		}
		writeJSON(w, code, map[string]any{"status": status, "checks": checks})
	})
}

func (s *Server) pending(ctx context.Context) (bool, error) {
	if s.Store.DB.Dialect() == sqldb.SQLite { // migrated when it was opened, and nobody else serves it
		return false, nil
	}
	return s.Store.DB.Pending(ctx)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
