package app

import (
	"context"
	"encoding/json"
	"errors"
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
		if schema, err := s.Store.DB.Schema(ctx); err != nil || schema.Err() != nil {
			fail("migrations")
		}
		if _, err := journal.Lag(ctx, s.Store.DB); err != nil {
			fail("queue")
		}
		writeJSON(w, code, map[string]any{"status": status, "checks": checks})
	})
}

// schemaInterval is the time between checks of the schema of a database that is served.
const schemaInterval = 5 * time.Second

// schema returns a loop that ends, and so ends the program, when a newer program has migrated the database: what this one
// would write might be wrong there.
func (s *Server) schema(serving *sqldb.Serving) loop {
	return loop{"check the schema", func(ctx context.Context) error {
		tick := time.NewTicker(schemaInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			err := checkSchema(ctx, serving)
			if errors.Is(err, sqldb.ErrNewerSchema) {
				s.Log.Error("a newer program has migrated the database; this one stops", "err", err)
				return err
			}
			if err != nil && ctx.Err() == nil { // an outage, which others report as well
				s.Log.Warn("check the schema failed", "err", err)
			}
		}
	}}
}

func checkSchema(ctx context.Context, serving *sqldb.Serving) error {
	ctx, cancel := context.WithTimeout(ctx, schemaInterval)
	defer cancel()
	return serving.Check(ctx)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
