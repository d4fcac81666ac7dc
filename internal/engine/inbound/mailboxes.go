package inbound

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/imapbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// When mailboxes are read.
const (
	readEvery    = time.Minute      // each mailbox
	readSlowest  = 30 * time.Minute // one that fails
	lookEvery    = 5 * time.Second  // for mailboxes that are due
	readLease    = 90 * time.Second // longer than the steps of a session between two extensions
	readAtOnce   = 16               // mailboxes of a process
	readOfTenant = 4                // of them, of one tenant
	pagesAtOnce  = 16               // of a session; the mailbox is due again at once if there is more
	recordAtOnce = 16               // messages of a page
	heldBack     = 10 * time.Minute // how long a report waits for the result of its message's attempt
)

// Mailboxes reads the bounce mailboxes of lanes by IMAP. Any number of processes may run one: each
// leases the mailboxes that it reads, and the leases of a process that died end.
//
// The cursor of a mailbox is stored after the effects of the messages before it. A process that is
// killed in between reads them again, which changes nothing, as with any repeated report.
//
// A session reads a limited number of messages, and a process reads a limited number of mailboxes of
// one tenant at a time. A mailbox that fails is read less often. So neither a slow server nor a full
// mailbox delays those of other tenants.
type Mailboxes struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Receiver     *Receiver
	Log          *slog.Logger
	Now          func() time.Time
	AllowPrivate bool           // mailboxes may be at loopback and private addresses
	RootCAs      *x509.CertPool // nil: the system's
	Alone        bool           // no other process reads mailboxes

	mu      sync.Mutex
	reading map[id.Tenant]int
}

// Run reads mailboxes that are due until ctx ends.
func (m *Mailboxes) Run(ctx context.Context) error {
	if m.Alone {
		if err := lane.ReleaseMailboxes(ctx, m.DB); err != nil {
			m.Log.Error("release bounce mailboxes failed", "err", err)
		}
	}
	var reads sync.WaitGroup
	start := func(ctx context.Context) (more bool, err error) { return false, m.start(ctx, &reads) }
	err := poll.Loop{Poll: start, Every: lookEvery, Log: m.Log, Failed: "find bounce mailboxes failed"}.Run(ctx)
	reads.Wait()
	return err
}

// Tick reads the mailboxes that are due, as many as a process reads at a time. It does not wait for those that
// another call is reading.
func (m *Mailboxes) Tick(ctx context.Context) error {
	var reads sync.WaitGroup
	err := m.start(ctx, &reads)
	reads.Wait()
	return err
}

// start begins to read mailboxes that are due, as part of reads.
func (m *Mailboxes) start(ctx context.Context, reads *sync.WaitGroup) error {
	free, busy := m.free()
	if free == 0 {
		return nil
	}
	now := m.Now()
	list, err := lane.LeaseMailboxes(ctx, m.DB, busy, free, readOfTenant, now, now.Add(readLease))
	for _, due := range list {
		m.count(due.Tenant, 1)
		reads.Go(func() {
			defer m.count(due.Tenant, -1)
			m.read(ctx, due)
		})
	}
	return err
}

// free returns how many more mailboxes may be read, and the tenants whose number is used up. A lease
// takes up to readOfTenant mailboxes, so a tenant has twice as many for a moment.
func (m *Mailboxes) free() (n int, busy []id.Tenant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = readAtOnce
	for tenant, reading := range m.reading {
		if n -= reading; reading >= readOfTenant {
			busy = append(busy, tenant)
		}
	}
	slices.Sort(busy)
	return max(n, 0), busy
}

func (m *Mailboxes) count(tenant id.Tenant, by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reading == nil {
		m.reading = map[id.Tenant]int{}
	}
	if m.reading[tenant] += by; m.reading[tenant] == 0 {
		delete(m.reading, tenant)
	}
}

// errLeaseLost means that another process reads the mailbox now, or that it was changed or removed.
var errLeaseLost = errors.New("the lease of the mailbox was lost")

// read reads one mailbox and ends its lease.
func (m *Mailboxes) read(ctx context.Context, due lane.DueMailbox) {
	log := m.Log.With("tenant", due.Tenant, "lane", due.Lane)
	more, err := m.session(ctx, &due)
	if errors.Is(err, errLeaseLost) || errors.Is(err, lane.ErrNotFound) {
		return
	}
	if ctx.Err() != nil { // the process ends
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		if err := due.Abandon(ctx, m.DB, m.Now()); err != nil {
			log.Error("release bounce mailbox failed", "err", err)
		}
		return
	}
	failure, wait := "", readEvery
	problem, shown := errors.AsType[*imapbox.Problem](err)
	switch {
	case shown:
		failure = problem.Error()
		wait = min(readEvery<<min(due.Failures, 10), readSlowest)
		if due.Failures == 0 {
			log.Warn("bounce mailbox cannot be read", "step", problem.Step, "err", problem.Text)
		}
	case errors.Is(err, ErrUnsettled):
		wait = lookEvery
	case err != nil:
		log.Error("read bounce mailbox failed", "err", err)
		failure = "an internal error; the mailbox is read again soon"
	case more:
		wait = 0
	}
	if err == nil && due.Failures > 0 {
		log.Info("bounce mailbox can be read again")
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	now := m.Now()
	if err := due.Release(ctx, m.DB, failure, now, now.Add(wait)); err != nil {
		log.Error("release bounce mailbox failed", "err", err)
	}
}

// session reads new messages of a mailbox, and reports whether there are more.
func (m *Mailboxes) session(ctx context.Context, due *lane.DueMailbox) (more bool, err error) {
	config, err := lane.ByID(ctx, m.DB, due.Tenant, due.Lane)
	if err != nil {
		return false, err
	}
	at := config.SMTP.BounceMailbox
	if at == nil || !config.Active {
		return false, errLeaseLost
	}
	password, err := lane.BouncePassword(ctx, m.DB, m.Box, due.Tenant, due.Lane)
	if err != nil {
		return false, err
	}
	box, err := imapbox.Open(ctx, imapbox.Config{
		Host: at.Host, Port: at.Port, TLS: at.TLS, Username: at.Username, Password: password,
		Guard: netguard.Guard{AllowPrivate: m.AllowPrivate}, RootCAs: m.RootCAs,
	})
	if err != nil {
		return false, err
	}
	defer box.Close()
	for range pagesAtOnce {
		page, err := box.Next(ctx, due.Cursor, dsn.MaxSize, m.Now())
		if err != nil {
			return false, err
		}
		after, err := m.record(ctx, due, page)
		if after != due.Cursor || err == nil && page.More {
			held, extended := due.Extend(ctx, m.DB, after, m.Now().Add(readLease))
			switch {
			case extended != nil:
				return false, extended
			case !held:
				return false, errLeaseLost
			}
		}
		if err != nil || !page.More {
			return false, err
		}
	}
	return true, nil
}

// record records the messages of a page, and returns the position before the first one that was not
// recorded. Those after it are recorded again with it, which changes nothing.
func (m *Mailboxes) record(ctx context.Context, due *lane.DueMailbox, page imapbox.Page) (imapbox.Cursor, error) {
	errs := make([]error, len(page.Messages))
	var all sync.WaitGroup
	turns := make(chan struct{}, recordAtOnce)
	for i, message := range page.Messages {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			errs[i] = m.recordOne(ctx, due.Tenant, message)
		})
	}
	all.Wait()
	after := imapbox.Cursor{Validity: page.After.Validity}
	if due.Cursor.Validity == after.Validity {
		after.UID = due.Cursor.UID
	}
	for i, message := range page.Messages {
		if errs[i] != nil {
			return after, errs[i]
		}
		after.UID = message.UID
	}
	return page.After, nil
}

// recordOne records one message. A report about an attempt whose result is not stored yet waits for
// it, but not for long: if the message is tried again, the next attempt decides.
func (m *Mailboxes) recordOne(ctx context.Context, tenant id.Tenant, message imapbox.Message) error {
	now := m.Now()
	at := message.At.UTC()
	if at.IsZero() || at.After(now) {
		at = now
	}
	err := m.Receiver.ReceiveFor(ctx, tenant, at, message.Raw)
	if errors.Is(err, ErrUnsettled) && now.Sub(at) >= heldBack {
		return nil
	}
	return err
}
