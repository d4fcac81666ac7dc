// Package notify delivers events to the webhook endpoints of tenants.
//
// The Engine leases endpoints with due deliveries (webhook.Acquire), and a server for each of them makes the
// requests:
//
//	Engine ── Acquire ──► server ── attempt ──► client (POST)
//	                        ▲          │
//	                        └─ Due ────┴──► results, many in one transaction (webhook.Commit)
//
// No endpoint can hold up others: each has a window of concurrent requests that grows with successes
// and shrinks with failures; requests of a tenant and of the process are limited; endpoints that fail
// or are slow get only a part of the leases; and an endpoint with a long backlog is released after a
// while if others wait. Every leased endpoint can make at least one request at a time.
package notify

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/groupcommit"
)

// Limits of one process.
const (
	maxLeases         = 256 // endpoints that are served at a time
	maxSlowLeases     = 192 // of them, slow ones
	maxRequests       = 512 // besides one for each endpoint
	maxTenantRequests = 64  // likewise, of a tenant
	maxWindow         = 32  // requests of an endpoint
	maxResults        = 512 // in one transaction
)

const (
	leaseTime = 20 * time.Second       // how long a lease lasts without renewal
	idle      = time.Second            // interval of polling without a wake-up
	reload    = 250 * time.Millisecond // interval of polling for more deliveries of an endpoint that is being served
	slice     = 10 * time.Second       // after this an endpoint yields if others wait
	grace     = 5 * time.Second        // for requests in flight, when the process stops
)

// Engine delivers events. Any number of processes may run one on the same database.
type Engine struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Owner        string // identifies this process in leases; unique among processes
	Now          func() time.Time
	Log          *slog.Logger
	Wake         <-chan struct{} // deliveries are due; may be nil
	Metrics      *Metrics        // may be nil
	Alone        bool            // no other process uses the database: leases of other owners are stale
	AllowPrivate bool            // endpoints may have loopback and private addresses
	UserAgent    string

	Resolver *net.Resolver // nil: the system's
	TLS      *tls.Config   // nil: certificates that the system trusts
	Timeout  time.Duration // of one request; 0 means 15 s

	client  *client
	results *groupcommit.Group[*result]
	crowded atomic.Bool // more endpoints may be waiting than were leased

	mu       sync.Mutex
	servers  map[*server]bool
	requests int // in flight
	tenants  map[id.Tenant]int
}

// result is a result that waits for its transaction.
type result struct {
	webhook.Result
	disabled webhook.Reason // set by the transaction: the endpoint was disabled
}

// Run delivers until ctx ends and the requests in flight have ended.
func (e *Engine) Run(ctx context.Context) error {
	if e.Alone {
		if err := webhook.ReleaseOthers(ctx, e.DB, e.Owner); err != nil && ctx.Err() == nil {
			e.Log.Error("release leases of webhook endpoints failed", "err", err)
		}
	}
	end := e.begin(ctx)
	defer end()
	var serving sync.WaitGroup
	defer serving.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	freed := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-e.Wake:
		case <-freed:
		}
		list, err := e.acquire(ctx)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("lease webhook endpoints failed", "err", err)
		}
		for _, s := range list {
			serving.Go(func() {
				s.run()
				select {
				case freed <- struct{}{}:
				default:
				}
			})
		}
		timer.Reset(idle)
	}
}

// Tick makes the attempts that are due, and returns when no endpoint has any left.
func (e *Engine) Tick(ctx context.Context) error {
	end := e.begin(ctx)
	defer end()
	for {
		list, err := e.acquire(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		var serving sync.WaitGroup
		for _, s := range list {
			serving.Go(s.run)
		}
		serving.Wait()
	}
}

// begin starts what servers need, until the returned function is called after they have ended.
func (e *Engine) begin(ctx context.Context) (end func()) {
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	stopping := context.AfterFunc(ctx, func() { time.AfterFunc(grace, abort) })
	e.client = newClient(requests, e)
	e.results = groupcommit.New(maxResults, e.commit)
	e.servers, e.tenants, e.requests = map[*server]bool{}, map[id.Tenant]int{}, 0
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for range writers(e.DB) {
		all.Go(func() { _ = e.results.Run(background) }) // it never returns an error
	}
	all.Go(func() { e.renewLoop(background) })
	return func() {
		stopping()
		stop()
		all.Wait()
		abort()
		e.client.close()
	}
}

// writers is the number of transactions that can commit concurrently without waiting.
func writers(db *sqldb.DB) int {
	if db.Dialect() == sqldb.Postgres {
		return 2
	}
	return 1
}

// commit stores results.
func (e *Engine) commit(ctx context.Context, batch []*result) error {
	list := make([]webhook.Result, len(batch))
	for i, r := range batch {
		list[i] = r.Result
	}
	disabled, err := webhook.Commit(ctx, e.DB, list)
	if err != nil {
		return err
	}
	for _, r := range batch {
		r.disabled = disabled[r.Lease.Endpoint]
	}
	return nil
}

// acquire leases endpoints as far as there is room, and returns a server for each.
func (e *Engine) acquire(ctx context.Context) ([]*server, error) {
	e.mu.Lock()
	room, slow := maxLeases-len(e.servers), maxSlowLeases
	for s := range e.servers {
		if s.lease.Slow {
			slow--
		}
	}
	e.mu.Unlock()
	crowded := false
	var servers []*server
	for _, class := range []struct {
		slow bool
		room int
	}{{false, room}, {true, slow}} {
		limit := min(class.room, room-len(servers))
		if limit <= 0 {
			crowded = true
			continue
		}
		now := e.Now()
		list, err := webhook.Acquire(ctx, e.DB, e.Owner, limit, class.slow, now, now.Add(leaseTime))
		servers = append(servers, e.serve(ctx, list)...)
		if err != nil {
			return servers, err
		}
		crowded = crowded || len(list) == limit
	}
	e.crowded.Store(crowded)
	return servers, nil
}

// serve returns servers for leased endpoints.
func (e *Engine) serve(ctx context.Context, list []webhook.Lease) []*server {
	servers := make([]*server, len(list))
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, l := range list {
		servers[i] = newServer(ctx, e, l)
		e.servers[servers[i]] = true
	}
	return servers
}

// remove removes a server that has ended.
func (e *Engine) remove(s *server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.servers, s)
}

// begins reports whether a server may make another request, and counts it. One without a request in
// flight always may.
func (e *Engine) begins(s *server) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.inFlight > 0 && (e.requests >= maxRequests || e.tenants[s.lease.Tenant] >= maxTenantRequests) {
		return false
	}
	e.requests++
	e.tenants[s.lease.Tenant]++
	e.Metrics.inFlight(e.requests)
	return true
}

// ends counts a request that has ended.
func (e *Engine) ends(s *server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests--
	if e.tenants[s.lease.Tenant]--; e.tenants[s.lease.Tenant] == 0 {
		delete(e.tenants, s.lease.Tenant)
	}
	e.Metrics.inFlight(e.requests)
}

// renewLoop renews the leases until ctx ends, and stops servers that have lost theirs.
func (e *Engine) renewLoop(ctx context.Context) {
	tick := time.NewTicker(leaseTime / 6)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.mu.Lock()
		served := make([]*server, 0, len(e.servers))
		for s := range e.servers {
			served = append(served, s)
		}
		e.mu.Unlock()
		if len(served) == 0 {
			renewed = time.Now()
			continue
		}
		begun := time.Now()
		own, err := webhook.Renew(ctx, e.DB, e.Owner, e.Now().Add(leaseTime))
		if err != nil {
			if ctx.Err() == nil {
				e.Log.Error("renew leases of webhook endpoints failed", "err", err)
			}
			if time.Since(renewed) < leaseTime {
				continue
			}
		} else {
			renewed = begun
		}
		for _, s := range served {
			if !own[s.lease.Same()] {
				s.lose()
			}
		}
	}
}
