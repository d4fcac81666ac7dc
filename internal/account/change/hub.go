package change

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrTooMany means that a user or a tenant has too many streams open.
var ErrTooMany = fault.New(fault.Limited, "RATE_LIMITED", "too many streams are open; close one, or try again later")

// The maximum numbers of open streams in one process.
const (
	MaxPerUser   = 10
	MaxPerTenant = 200
)

// pollInterval is the interval at which a process with streams reads hints.
const pollInterval = interval / 2

// Hub passes the hints of all processes to the streams of this one.
type Hub struct {
	DB   *sqldb.DB
	Now  func() time.Time
	Log  *slog.Logger
	Wake <-chan struct{} // notified when this process has stored hints; may be nil

	mu        sync.Mutex
	streams   map[*Stream]bool
	closed    bool
	opened    chan struct{} // wakes Run when the first stream is opened
	readAt    time.Time     // up to which hints were read
	seen      map[id.Hint]time.Time
	renewedAt map[id.Tenant]time.Time // when this process last renewed the row of a tenant
	prunedAt  time.Time
}

// NewHub returns a hub without streams. Until Run is called, streams get no hints.
func NewHub(db *sqldb.DB, now func() time.Time, log *slog.Logger) *Hub {
	return &Hub{
		DB: db, Now: now, Log: log, Wake: db.Subscribe(Wake),
		streams: map[*Stream]bool{}, opened: make(chan struct{}, 1), seen: map[id.Hint]time.Time{}, renewedAt: map[id.Tenant]time.Time{},
	}
}

// Caller is who opens a stream.
type Caller struct {
	Tenant id.Tenant
	User   id.User
	May    func(Type) bool // whether it may read records of a type
	After  string          // the last position it has received, if any
}

// Open opens a stream. The hints that follow the caller's position come first; if the position is unknown or
// older than Resumable, the stream begins with a reset. The caller closes the stream.
func (h *Hub) Open(ctx context.Context, c Caller) (*Stream, error) {
	s := &Stream{hub: h, caller: c, changes: Set{}, woken: make(chan struct{}, 1), ended: make(chan struct{})}
	now := h.Now()
	if err := h.add(s, now); err != nil {
		return nil, err
	}
	if s.isEnded() {
		return s, nil
	}
	err := h.renew(ctx, c.Tenant, now)
	if err == nil && c.After != "" {
		err = h.resume(ctx, s, now)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// add registers a stream, unless there are too many.
func (h *Hub) add(s *Stream, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.position = now
		close(s.ended)
		return nil
	}
	ofUser, ofTenant := 0, 0
	for other := range h.streams {
		if other.caller.User == s.caller.User {
			ofUser++
		}
		if other.caller.Tenant == s.caller.Tenant {
			ofTenant++
		}
	}
	if ofUser >= MaxPerUser || ofTenant >= MaxPerTenant {
		return ErrTooMany
	}
	if len(h.streams) == 0 { // no hints were read meanwhile
		h.readAt = now
		select {
		case h.opened <- struct{}{}:
		default:
		}
	}
	s.position = h.readAt
	h.streams[s] = true
	return nil
}

// renew has the hints of a tenant stored. It writes at most once a minute.
func (h *Hub) renew(ctx context.Context, t id.Tenant, now time.Time) error {
	h.mu.Lock()
	at, ok := h.renewedAt[t]
	h.mu.Unlock()
	if ok && now.Sub(at) < time.Minute {
		return nil
	}
	if err := listen(ctx, h.DB, t, now.Add(keep+time.Minute)); err != nil {
		return err
	}
	h.mu.Lock()
	h.renewedAt[t] = now
	h.mu.Unlock()
	return nil
}

// resume adds the hints after the caller's position to its stream.
func (h *Hub) resume(ctx context.Context, s *Stream, now time.Time) error {
	micros, err := strconv.ParseInt(s.caller.After, 10, 64)
	if at := time.UnixMicro(micros); err != nil || at.Before(now.Add(-Resumable)) || at.After(now.Add(time.Minute)) {
		s.receive(nil, true)
		return nil
	}
	hints, err := readHints(ctx, h.DB, s.caller.Tenant, time.UnixMicro(micros).Add(-late))
	for _, hint := range hints {
		s.receive(hint.changes, false)
	}
	return err
}

// Run reads hints until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	defer h.Close()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-h.opened:
		}
		reading, stop := context.WithCancel(ctx)
		read := func(ctx context.Context) (bool, error) {
			err := h.Tick(ctx)
			if h.idle() {
				stop()
			}
			return false, err
		}
		err := poll.Loop{Poll: read, Every: pollInterval, Wake: h.Wake, Log: h.Log, Failed: "read hints of changes failed"}.Run(reading)
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.streams) == 0
}

// Tick passes new hints to the streams.
func (h *Hub) Tick(ctx context.Context) error {
	now := h.Now()
	tenants, since := h.listening()
	if len(tenants) == 0 {
		return nil
	}
	hints, err := readHints(ctx, h.DB, 0, since.Add(-late))
	if err != nil {
		return err
	}
	h.pass(hints, now)
	for _, t := range tenants {
		if err := h.renew(ctx, t, now); err != nil {
			return err
		}
	}
	if now.Sub(h.prunedAt) < time.Minute {
		return nil
	}
	h.prunedAt = now
	return prune(ctx, h.DB, now)
}

// listening returns the tenants with streams, and up to when their hints were read.
func (h *Hub) listening() (tenants []id.Tenant, readAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[id.Tenant]bool{}
	for s := range h.streams {
		if !found[s.caller.Tenant] {
			found[s.caller.Tenant] = true
			tenants = append(tenants, s.caller.Tenant)
		}
	}
	for t, at := range h.renewedAt {
		if !found[t] && at.Before(h.readAt.Add(-keep)) {
			delete(h.renewedAt, t)
		}
	}
	return tenants, h.readAt
}

// pass passes hints that were read at now to the streams.
func (h *Hub) pass(hints []hint, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readAt = now
	for one, at := range h.seen {
		if at.Before(now.Add(-2 * late)) {
			delete(h.seen, one)
		}
	}
	for _, hint := range hints {
		if _, known := h.seen[hint.id]; known {
			continue
		}
		h.seen[hint.id] = now
		for s := range h.streams {
			if s.caller.Tenant == hint.tenant {
				s.receive(hint.changes, false)
			}
		}
	}
	for s := range h.streams {
		s.reach(now)
	}
}

// Close ends all streams, and those that are opened later.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.streams {
		close(s.ended)
	}
	clear(h.streams)
}

// hint is a row of change_hint.
type hint struct {
	tenant  id.Tenant
	id      id.Hint
	changes []Change
}

// readHints returns the hints of all tenants after a time, or of one.
func readHints(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after time.Time) ([]hint, error) {
	query, args := `SELECT tenant_id, id, changes FROM change_hint WHERE at > $1 /* all tenants: those with streams, in this process or another */`, []any{after.UnixMicro()}
	if !tenant.IsZero() {
		query, args = `SELECT tenant_id, id, changes FROM change_hint WHERE tenant_id = $1 AND at > $2`, []any{tenant, after.UnixMicro()}
	}
	rows, err := db.Query(ctx, query, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (hint, error) {
		var one hint
		var text []byte
		if err := scan(&one.tenant, &one.id, &text); err != nil {
			return one, err
		}
		err := json.Unmarshal(text, &one.changes)
		return one, err
	})
	if err != nil {
		return nil, fmt.Errorf("read hints of changes: %w", err)
	}
	return list, nil
}

// prune deletes old rows.
func prune(ctx context.Context, db *sqldb.DB, now time.Time) error {
	_, err := db.Exec(ctx, `DELETE FROM change_hint WHERE at < $1 /* all tenants: by age */`, now.Add(-keep).UnixMicro())
	if err == nil {
		_, err = db.Exec(ctx, `DELETE FROM change_listener WHERE expires_at < $1 /* all tenants: expired */`, now.UnixMicro())
	}
	if err != nil {
		return fmt.Errorf("delete old hints of changes: %w", err)
	}
	return nil
}
