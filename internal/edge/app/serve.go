package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/edge/demo"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Role is a part of the program that a process runs.
type Role string

// The roles.
const (
	RoleAPI     Role = "api"     // the tenant API and the pages
	RoleApp     Role = "app"     // sign-in, the mailbox
	RoleTrack   Role = "track"   // the links in mails
	RoleInbound Role = "inbound" // mail that comes back, if it is configured
	RoleWorker  Role = "worker"  // the engines
)

// Roles returns every role.
func Roles() []Role { return []Role{RoleAPI, RoleApp, RoleTrack, RoleInbound, RoleWorker} }

// shutdown is how long running requests may take when the program stops.
const shutdown = 15 * time.Second

// Server is the running program.
type Server struct {
	Config Config
	Store  *Store
	Roles  []Role
	Log    *slog.Logger
	// Hold holds all sends of the installation before any begins.
	Hold bool
	// Demo, if set, is the tenant whose mailbox needs no login.
	Demo id.Tenant
	// Started is called when the listeners are open, with the address of the public one; may be
	// nil.
	Started func(address string)
	// Before is called when the listeners are open; may be nil. Requests wait, and the engines of a worker
	// begin, until it has returned. An error is logged.
	Before func(ctx context.Context) error

	prepared chan struct{} // is closed when Before has returned

	clock  func() time.Time // nil means that of the database
	shared sqldb.Clock
}

// now returns the clock of the API and the engines.
func (s *Server) now() func() time.Time {
	if s.clock == nil {
		return s.shared.Now
	}
	return s.clock
}

// Run serves until ctx ends. Then it stops accepting connections, finishes running requests, stops
// the engines and returns. The store stays open.
func (s *Server) Run(ctx context.Context) error {
	s.prepared = make(chan struct{})
	registry := newRegistry(s.Store.DB)
	registry.MustRegister(newDisk(s.Store.DB, s.Config.DataDir))
	serving, err := s.Store.DB.Serve(ctx)
	if err != nil {
		return err
	}
	defer serving.Stop()
	s.shared.DB = s.Store.DB
	if err := s.compareClocks(ctx); err != nil {
		return err
	}
	if err := s.beginHold(ctx); err != nil {
		return err
	}
	parts, err := s.assemble(ctx, registry)
	if err != nil {
		return err
	}
	if s.Store.DB.Dialect() == sqldb.SQLite {
		registry.MustRegister(newLogSize(s.Store.DB))
		look := (&databaseLog{db: s.Store.DB, log: s.Log.With("part", "database"), max: sqldb.MaxLog}).look
		parts.loops = append(parts.loops, s.every("keep the log of the database small", logInterval, look))
	}
	parts.loops = append(parts.loops, s.schema(serving), s.every("compare clocks", clockInterval, s.compareClocks))
	returned, err := s.listenInbound()
	if err != nil {
		return err
	}
	if returned != nil {
		defer returned.Close()
		parts.loops = append(parts.loops, loop{"inbound mail", func(ctx context.Context) error { return parts.inbound.Serve(ctx, returned) }})
	}
	public, err := listen("PACKETBOAT_LISTEN", s.Config.Listen)
	if err != nil {
		return err
	}
	limits := connectionLimits{all: s.Config.MaxConnections, perAddress: s.Config.MaxPerAddress, unlimited: s.trustedProxy}
	bounded := limitConnections(public, limits)
	plain := parts.handler
	if parts.tls != nil {
		plain = s.upgrade(plain)
	}
	servers := []*http.Server{s.publicServer(plain, bounded)}
	listeners := []net.Listener{bounded}
	if parts.tls != nil {
		secure, err := listen("PACKETBOAT_TLS_LISTEN", s.Config.TLSListen)
		if err != nil {
			return errors.Join(err, public.Close())
		}
		s.Log.Info("https is served", "listen", secure.Addr().String())
		bounded := limitConnections(secure, limits)
		servers, listeners = append(servers, s.publicServer(s.requireTLS(parts.handler), bounded)), append(listeners, tls.NewListener(bounded, parts.tls))
	}
	if s.Config.AdminListen != "" {
		admin, err := listen("PACKETBOAT_ADMIN_LISTEN", s.Config.AdminListen)
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
			return err
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
		profiles(mux)
		servers, listeners = append(servers, httpServer(mux, 5*time.Minute)), append(listeners, admin)
	}
	return s.run(ctx, servers, listeners, parts)
}

// profiles adds the handlers for go tool pprof.
func profiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// publicServer returns the server of a listener whose connections are bounded.
func (s *Server) publicServer(h http.Handler, bounded *connections) *http.Server {
	server := httpServer(bounded.handler(endStalled(s.whenPrepared(h))), 30*time.Second) // the API extends it for uploads
	server.ConnState, server.ConnContext = bounded.watch, bounded.mark
	server.BaseContext = func(net.Listener) context.Context { return quota.With(context.Background(), s.Config.Quota) }
	return server
}

// whenPrepared lets requests wait until Before has returned, but for those about the program's health, and
// those that Before makes.
func (s *Server) whenPrepared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", demo.StockPath:
		default:
			select {
			case <-s.prepared:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func httpServer(h http.Handler, read time.Duration) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       read,
		WriteTimeout:      10 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

func (s *Server) run(ctx context.Context, servers []*http.Server, listeners []net.Listener, parts *parts) error {
	// The engines stop after the requests, which may still create work for them.
	working, stop := context.WithCancel(quota.With(context.WithoutCancel(ctx), s.Config.Quota))
	defer stop()
	failed := make(chan error, len(servers)+len(parts.loops)+len(parts.engines))
	var loops, serving sync.WaitGroup
	run := func(l loop) {
		loops.Go(func() {
			if err := l.run(working); err != nil {
				failed <- fmt.Errorf("%s: %w", l.name, err)
			}
		})
	}
	for _, l := range parts.loops {
		run(l)
	}
	for i, server := range servers {
		serving.Go(func() {
			if err := server.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	s.Log.Info("packetboat is up", "listen", listeners[0].Addr().String(), "base_url", s.Config.BaseURL.String(), "database", s.Store.DB.Dialect().String())
	// Starting takes more memory than anything that follows for a while. The system gets it back now, not
	// piece by piece over the next minutes.
	debug.FreeOSMemory()
	if s.Started != nil {
		s.Started(listeners[0].Addr().String())
	}
	loops.Go(func() {
		if s.Before != nil {
			if err := s.Before(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("prepare what the engines work on failed", "err", err)
			}
		}
		close(s.prepared)
		if ctx.Err() != nil {
			return
		}
		for _, l := range parts.engines {
			run(l)
		}
	})
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.Log.Info("packetboat is shutting down")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
	defer cancel()
	parts.changes.Close() // its streams are requests without an end
	for _, server := range servers {
		if e := server.Shutdown(grace); e != nil {
			_ = server.Close()
		}
	}
	serving.Wait()
	stop()
	loops.Wait()
	return err
}

// loop is one engine.
type loop struct {
	name string
	run  func(ctx context.Context) error
}

// every returns a loop that calls f now and then; a failure is logged, not fatal.
func (s *Server) every(name string, interval time.Duration, f func(ctx context.Context) error) loop {
	look := func(ctx context.Context) (bool, error) { return false, f(ctx) }
	return loop{name, poll.Loop{Poll: look, Every: interval, Log: s.Log.With("task", name), Failed: "maintenance failed"}.Run}
}

func (s *Server) has(r Role) bool { return slices.Contains(s.Roles, r) }

// alone reports whether this process has the database to itself, which is the case with SQLite.
func alone(db *sqldb.DB) bool { return db.Dialect() == sqldb.SQLite }

// listen opens a listener. If the address is in use, the error says which option changes it.
func listen(option, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		if err != nil {
			err = fmt.Errorf("listen on %s: %w; %s (%s) names the address", address, err, option, flagOf(option))
		}
		return l, err
	}
	instead := "127.0.0.1:8081"
	if option == "PACKETBOAT_ADMIN_LISTEN" {
		instead = "127.0.0.1:9091, or off for no metrics"
	}
	return nil, fmt.Errorf("another program listens on %s already, perhaps a second packetboat; stop it, or choose another address with %s: %s=%s",
		address, flagOf(option), option, instead)
}
