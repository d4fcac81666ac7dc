package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"packetboat/internal/broadcast"
	"packetboat/internal/contact"
	"packetboat/internal/engine/classify"
	"packetboat/internal/engine/deliver"
	"packetboat/internal/engine/dispatch"
	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/mailbox"
	"packetboat/internal/outbox"
	"packetboat/internal/suppression"
)

// followers react to the journal, in this order.
func followers() []journal.Follower {
	return []journal.Follower{
		contact.Follower(),
		suppression.Follower(),
		outbox.Follower(),
	}
}

// wakes are the signals by which the engines hear of work at once.
type wakes struct{ dispatch, deliver, journal signal }

func newWakes() wakes { return wakes{newSignal(), newSignal(), newSignal()} }

// after wakes every engine after a request that may have given it work.
func (w wakes) after(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(rw, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead && strings.HasPrefix(r.URL.Path, "/t/") {
			w.dispatch.notify()
			w.deliver.notify()
			w.journal.notify()
		}
	})
}

// engines are the loops of a worker.
func (s *Server) engines(registry prometheus.Registerer, t tools) []loop {
	db := s.Store.DB
	followed := &journal.Engine{DB: db, Followers: followers(), Log: s.Log.With("engine", "journal"), Wake: t.wakes.journal}
	dispatcher := &dispatch.Engine{
		DB: db, Owner: id.New[string](), Now: t.now, Log: s.Log.With("engine", "dispatch"),
		Wake: t.wakes.dispatch, Ready: t.wakes.deliver.notify,
	}
	deliverer := &deliver.Engine{
		DB: db, Box: s.Store.Box, Keys: t.keys, Contents: t.contents, Senders: t.senders, Letters: t.letters,
		Log: s.Log.With("engine", "deliver"), Now: t.now, Metrics: deliver.NewMetrics(registry), Wake: t.wakes.deliver,
		FeedbackSender: s.Config.FeedbackSenderID, AllowPrivate: t.private, Alone: alone(db),
	}
	classifier := &classify.Engine{DB: db, Log: s.Log.With("engine", "classify"), Now: t.now, Live: s.live}
	upkeep := &contact.Upkeep{DB: db, Log: s.Log.With("engine", "contacts"), Now: t.now}
	return []loop{
		{"journal", followed.Run},
		{"dispatch", dispatcher.Run},
		{"deliver", deliverer.Run},
		{"classify", classifier.Run},
		{"contacts", upkeep.Run},
		s.every("prune mailboxes", 10*time.Minute, func(ctx context.Context) error {
			for {
				if more, err := mailbox.Prune(ctx, db, t.now()); err != nil || !more {
					return err
				}
			}
		}),
	}
}

// live reports whether a broadcast is sending or paused; one that is gone is not.
func (s *Server) live(ctx context.Context, t id.Tenant, stream string) (bool, error) {
	b, err := broadcast.Head(ctx, s.Store.DB, t, id.Broadcast(stream))
	if errors.Is(err, broadcast.ErrNotFound) {
		return false, nil
	}
	return b.Status == broadcast.Sending || b.Status == broadcast.Paused, err
}
