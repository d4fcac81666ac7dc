package overview

import (
	"cmp"
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// Kind is the kind of a notice.
type Kind string

// The kinds.
const (
	OfDomain    Kind = "domain"
	OfLane      Kind = "mta"
	OfSeedList  Kind = "seed_list"
	OfWebhook   Kind = "webhook"
	OfJob       Kind = "job"
	OfBroadcast Kind = "broadcast"
	OfForm      Kind = "form"
	OfSequence  Kind = "sequence"
)

// Least returns the least role that may read the records of a kind.
func (k Kind) Least() auth.Role {
	if k == OfWebhook {
		return auth.Admin
	}
	return auth.Viewer
}

// Severity says how serious a notice is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something does not work
	Warning Severity = "warning" // it may soon not work, or works only in part
)

func (s Severity) rank() int {
	if s == Error {
		return 0
	}
	return 1
}

// Notice says that a record needs attention.
type Notice struct {
	Kind     Kind
	Severity Severity
	Type     string // of the record
	ID       string
	Message  string
	Since    *time.Time // nil: unknown
}

const (
	maxNotices = 50
	recent     = 7 * 24 * time.Hour // failures of broadcasts and jobs that are older are left out
	maxFailed  = 20                 // failed jobs
)

// attention returns all notices.
func (r *Reader) attention(ctx context.Context, s setting) ([]Notice, error) {
	list := domainNotices(s.domains)
	for _, more := range []func(context.Context, setting) ([]Notice, error){
		r.domainWarnings, r.laneNotices, r.seedListNotices, r.webhookNotices, r.jobNotices, r.broadcastNotices, r.formNotices, r.sequenceNotices,
	} {
		found, err := more(ctx, s)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// domainPauses are the reasons for which domains are paused.
var domainPauses = map[sender.PauseReason]string{
	sender.PausedForComplaints: "for complaints",
	sender.PausedForBounces:    "for hard bounces",
	sender.PausedForDNS:        "because its DNS records are missing or wrong",
	sender.PausedByOperator:    "by the operator",
}

func domainNotices(domains []sender.Domain) (list []Notice) {
	for _, d := range domains {
		n := Notice{Kind: OfDomain, Severity: Error, Type: "domain", ID: d.ID.String(), Since: d.FailingSince}
		switch {
		case d.Paused:
			n.Message, n.Since = d.Name+" is paused "+domainPauses[sender.PauseReason(d.PauseReason)], nil
		case d.Status == sender.Failed:
			n.Message = d.Name + " is not verified any more: required DNS records are missing or wrong"
		case d.TrackingStatus == sender.Failed:
			n.Message = "the tracking host " + d.TrackingHost + " does not answer"
		case d.Status == sender.Verified && d.FailingSince != nil:
			n.Severity, n.Message = Warning, "required DNS records of "+d.Name+" are missing or wrong"
		default:
			continue
		}
		list = append(list, n)
	}
	return list
}

func (r *Reader) domainWarnings(ctx context.Context, s setting) (list []Notice, err error) {
	all, err := sender.Warnings(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range s.domains {
		for _, w := range all[d.ID] {
			list = append(list, Notice{OfDomain, Warning, "domain", d.ID.String(), d.Name + ": " + w.String(), &w.Since})
		}
	}
	return list, nil
}

func (r *Reader) laneNotices(ctx context.Context, s setting) (list []Notice, err error) {
	states, err := lane.StatesOf(ctx, r.DB, s.account.ID, lane.IDs(s.lanes))
	if err != nil {
		return nil, err
	}
	for _, c := range s.lanes {
		h := states[c.ID]
		if !c.Active || h.State == lane.Healthy {
			continue
		}
		n := Notice{Kind: OfLane, Severity: Warning, Type: "mta_config", ID: c.ID.String(), Message: "many attempts by " + c.Name + " fail to connect or to log in"}
		if h.State == lane.Down {
			n.Severity, n.Message = Error, c.Name+" is down"
			if h.LastError != "" {
				n.Message += ": " + h.LastError
			}
		}
		if !h.Since.IsZero() {
			n.Since = &h.Since
		}
		list = append(list, n)
	}
	return list, nil
}

func (r *Reader) seedListNotices(ctx context.Context, s setting) (list []Notice, err error) {
	all, err := seedlist.All(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		n := Notice{Kind: OfSeedList, Type: "seed_list", ID: l.ID.String()}
		switch l.Freshness(r.Now()) {
		case seedlist.Stale:
			n.Severity, n.Message, n.Since = Error, l.Name+" is stale and gets no copies; update its addresses", l.StaleAt()
		case seedlist.Grace:
			n.Severity, n.Message, n.Since = Warning, l.Name+" is due for an update of its addresses", l.RotatesAt()
		default:
			continue
		}
		list = append(list, n)
	}
	return list, nil
}

func (r *Reader) webhookNotices(ctx context.Context, s setting) (list []Notice, err error) {
	all, err := webhook.List(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		n := Notice{Kind: OfWebhook, Type: "webhook", ID: e.ID.String(), Since: e.FailingSince}
		switch {
		case e.DisabledReason == webhook.Gone:
			n.Severity, n.Message, n.Since = Error, e.URL+" was disabled: it answered 410", e.LastFailureAt
		case e.DisabledReason != "":
			n.Severity, n.Message = Error, e.URL+" was disabled: all attempts failed"
		case e.Status() == webhook.Failing:
			n.Severity, n.Message = Warning, "attempts to deliver events to "+e.URL+" fail"
		default:
			continue
		}
		list = append(list, n)
	}
	return list, nil
}

func (r *Reader) jobNotices(ctx context.Context, s setting) (list []Notice, err error) {
	failed, _, err := job.List(ctx, r.DB, s.account.ID, job.Filter{Statuses: []job.Status{job.Failed}}, nil, maxFailed)
	if err != nil {
		return nil, err
	}
	for _, j := range failed {
		if j.FinishedAt == nil || r.Now().Sub(*j.FinishedAt) > recent {
			continue
		}
		n := Notice{Kind: OfJob, Severity: Warning, Type: "job", ID: j.ID.String(), Message: cmp.Or(j.Title, "the job") + " failed", Since: j.FinishedAt}
		if j.Error != nil {
			n.Message += ": " + j.Error.Message
		}
		list = append(list, n)
	}
	return list, nil
}

// pauses are the reasons of pauses that are not a user's.
var pauses = map[broadcast.PauseReason]string{
	broadcast.CapacityCollapsed: "no MTA config is up",
	broadcast.DomainPaused:      "its sending domain is paused",
	broadcast.TenantPaused:      "the account is paused",
}

// label returns how people call a broadcast.
func label(b broadcast.Broadcast) string { return cmp.Or(b.Name, "a broadcast") }

func (r *Reader) broadcastNotices(ctx context.Context, s setting) (list []Notice, err error) {
	paused, err := broadcast.List(ctx, r.DB, s.account.ID, broadcast.Filter{Status: []broadcast.Status{broadcast.Paused}})
	if err != nil {
		return nil, err
	}
	for _, b := range paused {
		if why, ok := pauses[b.PauseReason]; ok {
			list = append(list, Notice{OfBroadcast, Error, "broadcast", b.ID.String(), label(b) + " is paused: " + why, nil})
		}
	}
	held, err := r.heldNotices(ctx, s)
	if err != nil {
		return nil, err
	}
	list = append(list, held...)
	since := r.Now().Add(-2 * recent) // of its creation
	failed, err := broadcast.List(ctx, r.DB, s.account.ID, broadcast.Filter{Status: []broadcast.Status{broadcast.Failed}, Since: &since})
	if err != nil {
		return nil, err
	}
	for _, b := range failed {
		if b.Failure != nil && r.Now().Sub(b.Failure.At) <= recent {
			list = append(list, Notice{OfBroadcast, Error, "broadcast", b.ID.String(), label(b) + " failed: " + b.Failure.Message, &b.Failure.At})
		}
	}
	return list, nil
}

// heldNotices returns the broadcasts that would be sent if the operator did not hold all sends.
func (r *Reader) heldNotices(ctx context.Context, s setting) (list []Notice, err error) {
	since, err := hold.Since(ctx, r.DB)
	if err != nil || since == nil {
		return nil, err
	}
	waiting, err := broadcast.List(ctx, r.DB, s.account.ID, broadcast.Filter{Status: []broadcast.Status{broadcast.Scheduled, broadcast.Sending}})
	if err != nil {
		return nil, err
	}
	for _, b := range waiting {
		if b.Status == broadcast.Sending || b.ScheduledAt != nil && !b.ScheduledAt.After(r.Now()) {
			list = append(list, Notice{OfBroadcast, Error, "broadcast", b.ID.String(), label(b) + " waits: " + hold.Reason, since})
		}
	}
	return list, nil
}

func (r *Reader) formNotices(ctx context.Context, s setting) (list []Notice, err error) {
	forms, err := form.Unconfirmable(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	for _, f := range forms {
		list = append(list, Notice{OfForm, Error, "form", f.ID.String(), "no sender can send the confirmation mail of " + f.Name, nil})
	}
	return list, nil
}

func (r *Reader) sequenceNotices(ctx context.Context, s setting) (list []Notice, err error) {
	found, err := sequence.UnsendableOf(ctx, r.DB, s.account)
	if err != nil {
		return nil, err
	}
	for _, u := range found {
		list = append(list, Notice{OfSequence, Error, "sequence", u.Sequence.ID.String(), u.Sequence.Name + " has a mail that cannot be sent: " + u.Problem, nil})
	}
	return list, nil
}
