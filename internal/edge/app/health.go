package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// health adds the endpoints for load balancers and orchestrators.
func (s *Server) health(mux *http.ServeMux) {
	writable := newWritable(s.Store.DB, s.Log.With("part", "health"))
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
		if s.Store.DB.Ping(ctx) != nil || writable.check(ctx) != nil {
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
	if s.Store.DB.Dialect() == sqldb.SQLite { // migrated when it was opened, and served by this process alone
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
