package public_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/report"
)

// kind is what a report says about a message.
type kind string

// The kinds.
const (
	hardBounce  kind = "hard bounce"
	softBounce  kind = "soft bounce"
	blockBounce kind = "block"
	complaint   kind = "complaint"
	notSpam     kind = "not spam"
	unsubscribe kind = "unsubscribe"
	optOut      kind = "opt-out report"
	delivery    kind = "delivery"
	delay       kind = "delay"
	autoReply   kind = "automatic reply"
	forged      kind = "forged hard bounce"
	foreign     kind = "hard bounce of another tenant's message"
)

// outcome is what a report changes; the zero outcome is nothing.
type outcome struct {
	Bounce  string         // type of the message's bounce
	Status  contact.Status // of the contact; empty: active
	Contact string         // the contact's bounce type
	Listed  string         // reason of its row in the suppression list
	Left    bool           // the contact has unsubscribed from the email type
}

var outcomes = map[kind]outcome{
	hardBounce:  {Bounce: "hard", Status: contact.Bounced, Contact: "hard", Listed: "hard_bounce"},
	softBounce:  {Bounce: "soft", Contact: "soft"},
	blockBounce: {Bounce: "block", Contact: "soft"},
	complaint:   {Status: contact.Complained, Listed: "complaint"},
	unsubscribe: {Left: true},
	optOut:      {Left: true},
	notSpam:     {}, delivery: {}, delay: {}, autoReply: {}, forged: {}, foreign: {},
}

// outcome returns what happened to a message and its contact.
func (r *returned) outcome(i int) (outbox.State, outcome) {
	r.t.Helper()
	m, c := r.Message(i), r.Contact(i)
	o := outcome{Bounce: m.BounceType, Status: c.Status, Contact: string(c.BounceType), Left: slices.Contains(r.left(), c.ID)}
	if o.Status == contact.Active {
		o.Status = ""
	}
	err := r.DB.QueryRow(r.t.Context(), `SELECT COALESCE(MAX(reason), '') FROM suppression WHERE tenant_id = $1 AND email = $2`, r.Tenant, c.Email).Scan(&o.Listed)
	if err != nil {
		r.t.Fatal(err)
	}
	return m.State, o
}

// left returns the contacts that have unsubscribed from the email type.
func (r *returned) left() []id.Contact {
	r.t.Helper()
	var list []id.Contact
	for i := range r.People {
		if c := r.Contact(i); slices.Contains(slices.Collect(maps.Values(c.Subscriptions)), false) {
			list = append(list, c.ID)
		}
	}
	return list
}

// Each kind of report has the same effects on message, contact, suppression list, report and domain, in
// whatever way it comes, and has them once.
func TestReportsHaveTheSameEffectsInEachWay(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				r := newReturned(t, db, w, len(w.kinds))
				for range 2 { // servers and providers repeat what they are not sure of
					for i, k := range w.kinds {
						r.pass(k, r.Messages[i])
					}
					r.Follow()
				}
				var want report.Report
				want.Messages.Sent = len(w.kinds)
				for i, k := range w.kinds {
					wantState := w.state
					switch {
					case outcomes[k].Bounce != "":
						wantState = outbox.Bounced
						want.Messages.Bounced++
					case k == delivery:
						wantState = outbox.Delivered
					}
					if outcomes[k].Status == contact.Complained {
						want.People.Complained++
					}
					if outcomes[k].Left {
						want.People.Unsubscribed++
					}
					if state, got := r.outcome(i); state != wantState || got != outcomes[k] {
						t.Errorf("%s: the message is %s, and %+v; want %s, %+v", k, state, got, wantState, outcomes[k])
					}
				}
				got, err := report.Of(t.Context(), db, r.Tenant, r.Send)
				if err != nil {
					t.Fatal(err)
				}
				want.Messages.Total, want.Messages.Delivered = want.Messages.Sent, want.Messages.Sent-want.Messages.Bounced
				if d := cmp.Diff(want.Messages.Sums, got.Messages.Sums); d != "" {
					t.Errorf("the report of messages (-want +got):\n%s", d)
				}
				if d := cmp.Diff(want.People, got.People); d != "" {
					t.Errorf("the report of people (-want +got):\n%s", d)
				}
				counts, err := traffic.OfDomain(t.Context(), db, r.Tenant, r.Domain.ID, r.Now().Add(-time.Hour))
				if want := (traffic.Counts{Late: 1, Complained: 1}); err != nil || counts != want {
					t.Errorf("the domain has %+v, %v; want %+v", counts, err, want)
				}
				r.checkProofs(w.proof, want.People.Unsubscribed)
				r.checkOther()
			})
		})
	}
}

// checkProofs checks that each unsubscribe has left one proof of its source.
func (r *returned) checkProofs(source string, n int) {
	r.t.Helper()
	var all, right int
	err := r.DB.QueryRow(r.t.Context(), `SELECT COUNT(*), COALESCE(SUM(CASE WHEN source = $2 THEN 1 ELSE 0 END), 0) FROM consent_record WHERE tenant_id = $1 AND source <> 'complaint'`, r.Tenant, source).Scan(&all, &right)
	if err != nil || all != n || right != n {
		r.t.Errorf("%d proofs, of which %d are %s, %v; want %d", all, right, source, err, n)
	}
}

// checkOther checks that nothing happened to the other tenant.
func (r *returned) checkOther() {
	r.t.Helper()
	r.other.Follow()
	m, c := r.other.Message(0), r.other.Contact(0)
	listed, err := suppression.Listed(r.t.Context(), r.DB, r.other.Tenant, []string{c.Email})
	if err != nil || m.State != outbox.Delivered || c.Status != contact.Active || len(listed) > 0 {
		r.t.Errorf("the other tenant's message is %s, its contact %s, listed %v, %v", m.State, c.Status, listed, err)
	}
}

// Five soft bounces in a row over a week make a contact bounced, in whatever way they are reported; refusals
// for policy do not count.
func TestSoftBouncesInARowCountInEachWay(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				r := newReturned(t, db, w, 1)
				reports := []kind{softBounce, softBounce, blockBounce, softBounce, softBounce, softBounce}
				var list []outbox.Message
				for i := range reports {
					m := r.Messages[0]
					m.ID, m.Visit = id.New[id.Message](), i+1
					list = append(list, m)
				}
				if _, err := outbox.AddMessages(t.Context(), db, r.Tenant, r.Send, list); err != nil {
					t.Fatal(err)
				}
				r.exec(`UPDATE outbox SET state = 'delivered' WHERE tenant_id = $1 AND id = $2`, r.Tenant, r.Messages[0].ID)
				for i, k := range reports {
					m, sent := list[i], broadcasttest.Now.Add(time.Duration(i+1)*3*24*time.Hour)
					r.exec(`UPDATE outbox SET state = $3, sent_at = $4, lane_id = $5 WHERE tenant_id = $1 AND id = $2`, r.Tenant, m.ID, string(w.state), sent.UnixMicro(), r.lane.ID)
					r.exec(`UPDATE send SET last_send_at = $2 WHERE tenant_id = $1`, r.Tenant, sent.UnixMicro())
					r.SetNow(sent.Add(time.Hour))
					r.pass(k, m)
					r.Follow()
					want := outcome{Contact: "soft"}
					if i == len(reports)-1 {
						want.Status = contact.Bounced
					}
					_, got := r.outcome(0)
					if got.Bounce = ""; got != want {
						t.Fatalf("after report %d, %s: %+v, want %+v", i+1, k, got, want)
					}
				}
				r.checkOther()
			})
		})
	}
}

// What a recipient leaves is the account's choice, in each way that carries an unsubscribe: with the scope
// "global" the contact gets nothing more.
func TestUnsubscribesFromEverythingInEachWay(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		if !slices.Contains(w.kinds, unsubscribe) {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				r := newReturned(t, db, w, 2)
				account, err := tenant.ByID(t.Context(), db, r.Tenant)
				if err != nil {
					t.Fatal(err)
				}
				account.Settings.UnsubscribeScope = tenant.UnsubscribeGlobal
				if err := tenant.SaveSettings(t.Context(), db, r.Tenant, account.Name, account.Settings, r.Now()); err != nil {
					t.Fatal(err)
				}
				r.pass(unsubscribe, r.Messages[0])
				r.pass(unsubscribe, r.Messages[0])
				r.Follow()
				for i, want := range []contact.Status{contact.Unsubscribed, contact.Active} {
					if c := r.Contact(i); c.Status != want || (c.UnsubscribedAt != nil) != (want == contact.Unsubscribed) {
						t.Errorf("contact %d is %s since %v, want %s", i, c.Status, c.UnsubscribedAt, want)
					}
				}
				if got, err := report.Of(t.Context(), db, r.Tenant, r.Send); err != nil || got.People.Unsubscribed != 1 {
					t.Errorf("the report has %+v, %v", got.People, err)
				}
				r.checkProofs(w.proof, 1)
				r.checkOther()
			})
		})
	}
}
