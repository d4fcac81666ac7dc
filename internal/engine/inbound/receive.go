package inbound

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	account "github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Receiver reads reports and records what they mean.
type Receiver struct {
	DB       *sqldb.DB
	Keys     *track.Keys
	Contents *content.Cache
	Senders  *render.Senders
	Recorder *Recorder
	Metrics  *Metrics // nil: none
	Log      *slog.Logger
	Now      func() time.Time
	// Host is the name of this server: mail for postmaster and abuse there is accepted.
	Host string
	// Feedback is the address that the operator has registered for abuse reports; empty: none.
	Feedback string

	hosts cache.Cache[string, []id.Tenant]
}

// Target is what an address is for.
type Target struct {
	use     use
	tenants []id.Tenant // of the address's host
	message id.Message
}

type use int

const (
	nothing     use = iota // of a test mail
	returned               // the return path of a message
	unsubscribe            // the mailto address of List-Unsubscribe
	feedback               // the operator's: reports are identified by their Message-ID
)

var (
	// ErrNoMailbox means that mail for an address is not accepted.
	ErrNoMailbox = errors.New("no such mailbox")
	// ErrExpired means that an address was valid and is too old.
	ErrExpired = errors.New("the address has expired")
)

// hostsKept is how long the tenants of a host are cached.
const hostsKept = time.Minute

// tenantsOf returns the tenants whose messages have a return path at host.
func (r *Receiver) tenantsOf(ctx context.Context, host string) ([]id.Tenant, error) {
	return r.hosts.Load(host, r.Now(), hostsKept, func() ([]id.Tenant, error) { return sender.ReturnPathTenants(ctx, r.DB, host) })
}

// Resolve returns the target of an address. Upper and lower case are the same, since some servers
// change it.
func (r *Receiver) Resolve(ctx context.Context, addr string) (Target, error) {
	addr = strings.ToLower(addr)
	local, host, _ := strings.Cut(addr, "@")
	if addr == strings.ToLower(r.Feedback) && addr != "" {
		return Target{use: feedback}, nil
	}
	host, err := address.Hostname(host)
	if err != nil {
		return Target{}, ErrNoMailbox
	}
	ours := local == "postmaster" || local == "abuse"
	if ours && host == r.Host {
		return Target{use: feedback}, nil
	}
	kind, token, _ := strings.Cut(local, ".")
	var t Target
	var sent time.Time
	switch {
	case ours:
		t.use = feedback
	case kind == "b":
		t.use = returned
		t.message, sent, err = r.Keys.VerifyReturnPath(token)
	case kind == "u":
		t.use = unsubscribe
		t.message, sent, err = r.Keys.VerifyUnsubscribeAddress(token)
	default:
		return Target{}, ErrNoMailbox
	}
	if errors.Is(err, track.ErrPreview) {
		return Target{use: nothing}, nil
	}
	if err != nil {
		return Target{}, ErrNoMailbox
	}
	if t.use == returned && r.Now().Sub(sent) > maxAge+24*time.Hour {
		return Target{}, ErrExpired
	}
	t.tenants, err = r.tenantsOf(ctx, host)
	if err == nil && len(t.tenants) == 0 {
		err = ErrNoMailbox
	}
	return t, err
}

// Receive processes one mail for a target. If it returns nil, the effects are durable; ErrUnsettled
// and errors of the database are temporary.
func (r *Receiver) Receive(ctx context.Context, t Target, raw []byte) error {
	if t.use == nothing {
		r.Metrics.count("test", "none")
		return nil
	}
	report := dsn.Parse(raw)
	if t.use == unsubscribe {
		return r.record(ctx, dsn.Unsubscribe, t, Event{Effect: Unsubscribed})
	}
	if t.use == feedback {
		message, host, err := r.Keys.VerifyMessageID(report.Original.MessageID)
		if err == nil {
			t.tenants, err = r.tenantsOf(ctx, host)
			if err != nil {
				return err
			}
		}
		t.message = message
	}
	return r.process(ctx, t, r.Now(), report)
}

// ReceiveFor processes one mail that a tenant's mailbox contains. It is identified by an address with
// a token in its header, or by the Message-ID of the mail that was returned. at is when it arrived
// there.
func (r *Receiver) ReceiveFor(ctx context.Context, tenant id.Tenant, at time.Time, raw []byte) error {
	report := dsn.Parse(raw)
	for _, addr := range dsn.Addresses(raw) {
		if t, err := r.Resolve(ctx, addr); err == nil && (t.use == returned || t.use == unsubscribe) {
			t.tenants = []id.Tenant{tenant}
			if t.use == unsubscribe {
				return r.record(ctx, dsn.Unsubscribe, t, Event{Effect: Unsubscribed, At: at})
			}
			return r.process(ctx, t, at, report)
		}
	}
	message, _, err := r.Keys.VerifyMessageID(report.Original.MessageID)
	if err != nil {
		r.Metrics.count(string(report.Kind), "unproven")
		return nil
	}
	return r.process(ctx, Target{use: returned, tenants: []id.Tenant{tenant}, message: message}, at, report)
}

// process records the effect of a report about a message, which arrived at a time.
func (r *Receiver) process(ctx context.Context, t Target, at time.Time, report dsn.Report) error {
	if t.message.IsZero() {
		r.Metrics.count(string(report.Kind), "unproven")
		return nil
	}
	e := Event{At: at, Recipients: report.Recipients}
	switch {
	case report.Delayed():
		r.Metrics.count(string(report.Kind), "delayed")
		return nil
	case report.Delivered():
		r.Metrics.count(string(report.Kind), "delivered")
		return nil
	case report.Kind == dsn.DSN, report.Kind == dsn.Bounce:
		e.Effect = Bounced
	case report.Kind == dsn.ARF && report.Feedback.Complaint():
		e.Effect = Complained
	case report.Kind == dsn.ARF && report.Feedback.OptOut():
		e.Effect = Unsubscribed
	default:
		r.Metrics.count(string(report.Kind), "none")
		return nil
	}
	return r.record(ctx, report.Kind, t, e)
}

// record records an event for the first of the target's tenants that has the message.
func (r *Receiver) record(ctx context.Context, kind dsn.Kind, t Target, e Event) error {
	if e.Message = t.message; e.At.IsZero() {
		e.At = r.Now()
	}
	for _, tenant := range t.tenants {
		e.Tenant = tenant
		if e.Effect == Unsubscribed {
			scope, err := r.scope(ctx, tenant, t.message)
			if errors.Is(err, outbox.ErrGone) || errors.Is(err, content.ErrGone) || errors.Is(err, account.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			e.Scope = scope
		}
		effect, err := r.Recorder.Record(ctx, e)
		if errors.Is(err, ErrNoMessage) {
			continue
		}
		if err == nil {
			r.Metrics.count(string(kind), string(effect))
		}
		return err
	}
	r.Metrics.count(string(kind), "no_message")
	return nil
}

// scope returns what the recipient of a message unsubscribes from.
func (r *Receiver) scope(ctx context.Context, tenant id.Tenant, message id.Message) (contact.UnsubscribeScope, error) {
	m, err := outbox.Find(ctx, r.DB, tenant, message)
	if err != nil {
		return contact.UnsubscribeScope{}, err
	}
	c, err := r.Contents.Get(ctx, tenant, m.Content)
	if err != nil {
		return contact.UnsubscribeScope{}, err
	}
	s, err := r.Senders.PastReload(ctx, tenant, m.Identity, c.Context.EmailType)
	if err != nil {
		return contact.UnsubscribeScope{}, err
	}
	return s.UnsubscribeScope(), nil
}

// Report records what a provider's hook says about a message of a tenant.
func (r *Receiver) Report(ctx context.Context, tenant id.Tenant, message id.Message, effect Effect, at time.Time, recipient dsn.Recipient) error {
	return r.record(ctx, hookKind, Target{tenants: []id.Tenant{tenant}, message: message}, Event{Effect: effect, At: at, Recipients: []dsn.Recipient{recipient}, Source: consent.Provider})
}

// CountHook counts a report of a hook without an effect.
func (r *Receiver) CountHook(effect string) { r.Metrics.count(string(hookKind), effect) }

// hookKind is the kind of reports of hooks in metrics.
const hookKind dsn.Kind = "hook"
