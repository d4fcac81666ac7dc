package deliver

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/destination"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

const (
	lookups      = 32               // concurrent questions to the DNS for one batch
	lookupWithin = 10 * time.Second // how long a batch waits for the DNS
	missingFor   = time.Hour        // how long a domain must have been missing before its mail bounces
	dnsMaxRetry  = time.Hour
)

// The texts of refusals that the DNS is the reason of.
const (
	nullMX   = "the domain accepts no mail: its MX record is “.”"
	noServer = "the domain has no mail server: it does not exist, or has neither MX records nor an address"
)

// router returns the router of the engine, or a new one that uses the machine's resolver.
func (e *Engine) router() *directmx.Router {
	e.routerOnce.Do(func() {
		if e.Router == nil {
			e.Router = &directmx.Router{Resolver: mx.NewResolver(""), Guard: netguard.Guard{AllowPrivate: e.AllowPrivate}, Now: e.Now}
		}
	})
	return e.Router
}

// routed is the answer of the DNS for a domain.
type routed struct {
	route directmx.Route
	err   error
}

// routeJobs looks up where the mail of lanes of type direct_mx goes, and sets the destination of each job. It
// returns the jobs that can be sent, the results of those whose domain accepts no mail, and those that
// wait because their destination is left alone.
func (e *Engine) routeJobs(ctx context.Context, jobs []*job) (ready []*job, ends []outbox.Result, waiting []deferredItem) {
	routes := map[string]routed{}
	for _, j := range jobs {
		if j.lane.config.Type == lane.DirectMX {
			routes[domainOf(j.item.Email)] = routed{}
		}
	}
	if len(routes) == 0 {
		return jobs, nil, nil
	}
	e.lookUp(ctx, routes)
	now := e.Now()
	for _, j := range jobs {
		if j.lane.config.Type != lane.DirectMX {
			ready = append(ready, j)
			continue
		}
		r, over := e.direct(ctx, j, routes[domainOf(j.item.Email)], now)
		if over {
			ends = append(ends, r)
			continue
		}
		if h := j.dest.blocked(now); h != nil {
			if r, over := expired(j.item, h.down, j.lane.config.RetryMaxAge, now); over {
				ends = append(ends, r)
			} else {
				waiting = append(waiting, deferredItem{j.item, h})
			}
			continue
		}
		ready = append(ready, j)
	}
	return ready, ends, waiting
}

// lookUp asks the DNS for the routes to domains that are not known, many at a time.
func (e *Engine) lookUp(ctx context.Context, routes map[string]routed) {
	var unknown []string
	for d := range routes {
		if r, ok := e.router().Known(d); ok {
			routes[d] = routed{route: r}
		} else {
			unknown = append(unknown, d)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	found := make([]routed, len(unknown))
	free := make(chan struct{}, lookups)
	var asking sync.WaitGroup
	for i, d := range unknown {
		free <- struct{}{}
		asking.Go(func() {
			found[i].route, found[i].err = e.router().Route(ctx, d)
			<-free
		})
	}
	asking.Wait()
	for i, d := range unknown {
		routes[d] = found[i]
	}
}

// direct sets the destination of a job, or returns the result of a message that cannot be sent there now.
func (e *Engine) direct(ctx context.Context, j *job, to routed, now time.Time) (outbox.Result, bool) {
	since := waitingSince(j.item, time.Time{})
	end := func(o reply.Outcome, due time.Time) (outbox.Result, bool) {
		r := resultOf(j.item, o, j.lane.config.RetryMaxAge, since, now)
		if r.State == outbox.Queued && due.After(r.Due) {
			r.Due = due
		}
		if r.State == outbox.Queued {
			e.feeders.waits.addWait(j.item.Tenant, j.item.Send, outbox.Wait{Kind: outbox.WaitDNS, Until: r.Due, Reason: o.Text}, 1)
		}
		return r, true
	}
	if to.err != nil {
		wait := min(max(now.Sub(since)/2, time.Minute), dnsMaxRetry)
		return end(reply.Outcome{Stage: reply.Connect, Text: "the name servers of the domain did not answer"}, now.Add(wait))
	}
	switch s := to.route.Servers; {
	case s.Null:
		return end(reply.Outcome{Stage: reply.Rcpt, Code: 556, Enhanced: "5.1.10", Text: nullMX}, time.Time{})
	case s.Missing:
		first, err := maildomain.NoteMissing(ctx, e.DB, domainOf(j.item.Email), now)
		if err != nil {
			e.Log.Error("note missing domain failed", "err", err)
			first = now
		}
		if to.route.Resolved.Sub(first) >= missingFor {
			return end(reply.Outcome{Stage: reply.Rcpt, Code: 550, Enhanced: "5.1.2", Text: noServer}, time.Time{})
		}
		jitter := time.Duration(rand.Int64N(int64(5 * time.Minute)))
		return end(reply.Outcome{Stage: reply.Connect, Text: "the domain has no mail server; it is looked up once more"}, first.Add(missingFor+time.Minute+jitter))
	}
	j.route = to.route
	j.from = from(j, now)
	j.dest = e.dests.get(destination.Key{Source: j.from.Primary().IP, Name: to.route.Destination}, to.route.Shape, now)
	j.target = j.dest.target(to.route.Security())
	return outbox.Result{}, false
}

// pick selects the source of a message: the same for each attempt, since servers that greylist
// remember it.
func pick(j *job) uint64 { return binary.BigEndian.Uint64(j.item.Contact[8:]) }

// from returns how connections for a job are made. While the lane's addresses warm up, each gets mail in
// proportion to its limit today.
func from(j *job, now time.Time) directmx.From {
	f := fromOf(j.lane.config.Direct, pick(j))
	if !j.lane.config.WarmsSources() {
		return f
	}
	today := spread.DayOf(now, j.sender.Tenant.Location())
	all := f.Sources
	f.Sources = nil
	for _, v4 := range []bool{true, false} {
		var list []netip.Addr
		for _, s := range all {
			if s.IP.Is4() == v4 {
				list = append(list, s.IP)
			}
		}
		if picked := j.lane.config.PickSource(list, f.Pick, today); picked.IsValid() {
			f.Sources = append(f.Sources, all[slices.IndexFunc(all, func(s directmx.Source) bool { return s.IP == picked })])
		}
	}
	return f
}

func fromOf(d lane.DirectSettings, pick uint64) directmx.From {
	f := directmx.From{Pick: pick, TLS: d.TLS, Sources: make([]directmx.Source, len(d.IPs))}
	for i, s := range d.IPs {
		f.Sources[i] = directmx.Source{IP: s.IP, HELO: s.HELO}
	}
	return f
}

// returnKept returns the kept connection to the pool, if there is one: kept by the worker, it could not
// be used by others.
func (w *worker) returnKept() {
	conn := w.kept
	if w.kept = nil; conn != nil {
		messages, _ := w.terms()
		w.directPool.Put(w.at.Target, conn, messages, w.at.dest.most(w.engine.Now()))
	}
}

// terms returns how many messages a connection may carry, and whether it must be encrypted.
func (w *worker) terms() (messages int, requireTLS bool) {
	messages, requireTLS = w.at.dest.terms()
	return min(messages, w.settings.config.Caps.MaxMessagesPerConnection), requireTLS
}

// probeAfter is how long a connection may have been idle without being checked before use.
const probeAfter = time.Second

// takeKept returns the kept connection, or another idle one to the same target, or nil if none can carry
// another message.
func (w *worker) takeKept() *smtpclient.Conn {
	messages, requireTLS := w.terms()
	for {
		conn, idle := w.kept, w.idle
		if conn == nil {
			if conn, idle = w.directPool.Take(w.at.Key); conn == nil {
				return nil
			}
		}
		w.kept = nil
		switch {
		case !conn.Usable() || conn.Sent() >= messages:
			w.directPool.Put(w.at.Target, conn, messages, 0) // closes it
		case requireTLS && conn.TLS() == nil:
			w.directPool.Put(w.at.Target, conn, 0, 0)
		case idle >= probeAfter && !conn.Alive():
			w.directPool.Discard(w.at.Target, conn)
		default:
			return conn
		}
	}
}

// connectDirect returns a connection to the servers of a job's domain.
func (w *worker) connectDirect(j *job) (*smtpclient.Conn, error) {
	e, d := w.engine, j.dest
	if h := d.blocked(e.Now()); h != nil {
		return nil, h
	}
	most := func() int { return d.most(e.Now()) }
	if most() < 1 {
		return nil, withoutSlots(e.Now())
	}
	if conn := w.takeKept(); conn != nil {
		return conn, nil
	}
	_, requireTLS := w.terms()
	if !w.directPool.Reserve(w.at.Target, most) {
		return nil, withoutSlots(e.Now())
	}
	f := j.from
	if requireTLS {
		f.TLS = smtpclient.Required
	}
	conn, err := e.router().Dial(w.quit, j.route, f)
	if err == nil {
		d.connected()
		e.stats.connection(w.settings, true)
		return conn, nil
	}
	w.directPool.Release(w.at.Target)
	if _, ok := errors.AsType[*smtpclient.DialError](err); ok {
		e.stats.connection(w.settings, !isOurs(err))
	}
	return nil, err
}

// isOurs reports whether a connection failed because of this machine: the lane does not work then,
// whatever the destination.
func isOurs(err error) bool {
	for _, e := range []syscall.Errno{syscall.EADDRNOTAVAIL, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EACCES, syscall.EPERM, syscall.EMFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// handleUnreachable handles a message for which there is no connection to its domain's servers.
func (w *worker) handleUnreachable(j *job, it outbox.Item, err error) {
	e, now := w.engine, w.engine.Now()
	if h, ok := errors.AsType[*deferral](err); ok {
		if r, over := expired(it, h.down, w.settings.config.RetryMaxAge, now); over {
			w.setResult(r)
			return
		}
		e.putBack([]deferredItem{{it, h}}, false)
		return
	}
	d, ok := errors.AsType[*smtpclient.DialError](err)
	if !ok { // the lane is closing
		e.release(it)
		return
	}
	o := atMail(d.Outcome)
	switch v := reply.Classify(o); {
	case errors.Is(err, directmx.ErrPolicy): // the servers work, and other domains may use them
	case v.Class == reply.Lane:
		j.dest.unreachable(now)
	default:
		j.dest.observe(o, v, now)
	}
	until, down := j.dest.resume()
	r := resultOf(it, o, w.settings.config.RetryMaxAge, waitingSince(it, down), now)
	if r.State == outbox.Queued && r.Due.Before(until) {
		r.Due = until
	}
	w.setResult(r)
}

// atMail returns the outcome of a connection that the server refused, as if it had refused the
// sender: the destination answered, and the lane is not the cause.
func atMail(o reply.Outcome) reply.Outcome {
	if o.Code != 0 && o.Stage == reply.Connect {
		o.Stage = reply.Mail
	}
	return o
}

// reactToReply notes the answer to a message, and changes when a deferred one is due: not before the
// provider accepts mail again, and after a delay that greylisting servers accept.
func (w *worker) reactToReply(j *job, o reply.Outcome, r *outbox.Result) {
	now, v := w.engine.Now(), reply.Classify(o)
	if o.Code == 0 {
		j.dest.unreachable(now)
	} else {
		j.dest.observe(o, v, now)
	}
	if refusedInClear(o, v) && r.State == outbox.Bounced { // the next attempt encrypts, or fails
		r.State, r.BounceType, r.Due = outbox.Queued, "", now.Add(time.Minute)
	}
	if r.State != outbox.Queued {
		return
	}
	earliest, _ := j.dest.resume()
	switch {
	case v.Reason == reply.Greylisted && j.item.Attempts == 0:
		earliest = later(earliest, now.Add(6*time.Minute+time.Duration(rand.Int64N(int64(4*time.Minute)))))
	case v.Reason == reply.RecipientThrottled:
		earliest = later(earliest, now.Add(time.Hour))
	case v.Reason == reply.RateLimited: // not this message's fault: its pauses do not grow
		r.Due = later(earliest, now.Add(5*time.Minute+time.Duration(rand.Int64N(int64(time.Minute)))))
		return
	}
	r.Due = later(r.Due, earliest)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
