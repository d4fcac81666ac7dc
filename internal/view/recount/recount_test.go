package recount_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/recount"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// life is a tenant with two sends to which random things happen.
type life struct {
	*testing.T
	db       *sqldb.DB
	rnd      *rand.Rand
	tenant   id.Tenant
	sends    []id.Send
	contacts []id.Contact
	messages []message
	nodes    []*outbox.Node
	now      time.Time
}

type message struct {
	id   id.Message
	send id.Send
}

const people = 30

func newLife(t *testing.T, db *sqldb.DB, seed uint64) *life {
	t.Helper()
	l := &life{T: t, db: db, rnd: rand.New(rand.NewPCG(seed, 7)), now: noon}
	made, err := tenant.Create(t.Context(), db, "acme", "Acme", "UTC", noon)
	l.must(err)
	l.tenant = made.ID
	for i := range people {
		c, err := contact.Create(t.Context(), db, l.tenant, fmt.Sprintf("p%d@d%d.example", i, i%3), contact.Change{}, contact.Rules{}, noon)
		l.must(err)
		l.contacts = append(l.contacts, c.ID)
	}
	content, lane := id.New[id.Content](), id.New[id.Lane]()
	for range 2 {
		send := id.New[id.Send]()
		l.sends = append(l.sends, send)
		var list []outbox.Message
		for i, c := range l.contacts {
			list = append(list, outbox.Message{
				ID: id.New[id.Message](), Contact: c, Email: fmt.Sprintf("p%d@d%d.example", i, i%3), Content: content, Lane: lane, DueAt: noon,
				Identity: idtest.Named[id.Identity](fmt.Sprint(i % 2)), Variant: string("ab"[i%2]), Provider: []mx.Provider{mx.Gmail, "", mx.Yahoo}[i%3],
			})
			l.messages = append(l.messages, message{list[i].ID, send})
		}
		l.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: l.tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, noon); err != nil {
				return err
			}
			if _, err := outbox.AddMessages(t.Context(), tx, l.tenant, send, list[:people/2]); err != nil {
				return err
			}
			if _, err := outbox.AddMessages(t.Context(), tx, l.tenant, send, list); err != nil { // half of them again
				return err
			}
			// A plan has assigned days to some messages.
			if _, err := tx.Exec(t.Context(), `UPDATE outbox SET plan_day = '2026-03-01' WHERE tenant_id = $1 AND send_id = $2 AND email LIKE '%@d1.example'`, l.tenant, send); err != nil {
				return err
			}
			return outbox.Start(t.Context(), tx, l.tenant, send, noon)
		}))
		node := &outbox.Node{DB: db, Owner: send.String()}
		l.must(node.Renew(t.Context(), noon.Add(1000*time.Hour)))
		l.nodes = append(l.nodes, node)
	}
	return l
}

func (l *life) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *life) any() message { return l.messages[l.rnd.IntN(len(l.messages))] }

// deliver settles some messages with random results.
func (l *life) deliver() {
	i := l.rnd.IntN(len(l.sends))
	items, err := l.nodes[i].Claim(l.Context(), l.tenant, l.sends[i], 1+l.rnd.IntN(8), l.now)
	l.must(err)
	var results []outbox.Result
	for _, it := range items {
		r := outbox.Result{Item: it, At: l.now.Add(time.Duration(l.rnd.IntN(3600)) * time.Second)}
		switch l.rnd.IntN(8) {
		case 0:
			r.State, r.BounceType, r.Category, r.Code, r.Enhanced = outbox.Bounced, "hard", "mailbox", 550, "5.1.1"
		case 1:
			r.State, r.BounceType = outbox.Bounced, "soft"
		case 2:
			r.State, r.Error = outbox.Failed, "cannot be rendered"
		case 3:
			r.State, r.Due = outbox.Queued, l.now.Add(time.Minute)
		case 4:
			r.State, r.SkipReason = outbox.Skipped, "unsubscribed"
		case 5:
			r.State = outbox.Sent
		default:
			r.State = outbox.Delivered
		}
		results = append(results, r)
	}
	_, err = l.nodes[i].Commit(l.Context(), results, nil, l.now)
	l.must(err)
}

// hits records some opens and clicks; some of them are late.
func (l *life) hits() {
	var list []track.Hit
	for range 1 + l.rnd.IntN(6) {
		m := l.any()
		h := track.Hit{
			Tenant: l.tenant, Message: m.id, At: l.now.Add(time.Duration(l.rnd.IntN(7200)) * time.Second), Method: "GET",
			Agent: []string{"Mozilla/5.0", "curl", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15", "Mozilla/5.0 (X11; Linux) Firefox/145.0"}[l.rnd.IntN(4)],
			IP:    fmt.Sprintf("192.0.2.%d", l.rnd.IntN(5)),
		}
		if l.rnd.IntN(12) == 0 {
			h.At = h.At.Add(outbox.ReportOpen + 100*time.Hour)
		}
		if l.rnd.IntN(2) == 0 {
			h.Click, h.URL = true, fmt.Sprintf("https://example.org/%d", l.rnd.IntN(3))
		}
		list = append(list, h)
	}
	l.must(l.db.InTx(l.Context(), func(tx *sqldb.DB) error { return track.Record(l.Context(), tx, slices.Clone(list)) }))
}

// classify gives hits of some messages random classes, also if they have one.
func (l *life) classify() {
	var ids []id.Message
	for range 1 + l.rnd.IntN(10) {
		ids = append(ids, l.any().id)
	}
	slices.SortFunc(ids, id.Compare)
	l.must(l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
		found, err := track.LoadEvidence(l.Context(), tx, l.tenant, slices.Compact(ids))
		if err != nil {
			return err
		}
		var verdicts []track.Hit
		for _, h := range found.Hits {
			if l.rnd.IntN(3) == 0 {
				continue
			}
			h.Class = []track.Class{track.Human, track.Bot, track.Privacy}[l.rnd.IntN(3)]
			if h.Click && h.Class == track.Privacy {
				h.Class = track.Human
			}
			verdicts = append(verdicts, h)
		}
		return found.ApplyVerdicts(l.Context(), verdicts)
	}))
}

func (l *life) bounceLater() {
	var list []outbox.Bounce
	for range 1 + l.rnd.IntN(3) {
		b := outbox.Bounce{Message: l.any().id, At: l.now.Add(time.Duration(l.rnd.IntN(100)) * time.Hour), Refusal: outbox.Refusal{Class: "soft", Code: 452}}
		if l.rnd.IntN(6) == 0 {
			b.At = b.At.Add(outbox.ReportOpen + 1000*time.Hour)
		}
		list = append(list, b)
	}
	_, err := outbox.RecordBounces(l.Context(), l.db, l.tenant, list)
	l.must(err)
}

func (l *life) leave() {
	m, flag := l.any(), track.Unsubscribed
	if l.rnd.IntN(2) == 0 {
		flag = track.Complained
	}
	at := l.now
	if l.rnd.IntN(5) == 0 {
		at = at.Add(outbox.ReportOpen + 1000*time.Hour)
	}
	l.must(l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
		_, err := track.SetFlag(l.Context(), tx, l.tenant, m.send, m.id, flag, at)
		return err
	}))
}

func (l *life) removeContact() {
	c := l.contacts[l.rnd.IntN(len(l.contacts))]
	if l.rnd.IntN(2) == 0 {
		_, err := contact.Delete(l.Context(), l.db, l.tenant, []id.Contact{c}, l.now)
		l.must(err)
		return
	}
	l.must(l.db.InTx(l.Context(), func(tx *sqldb.DB) error {
		for _, h := range []contact.PersonalData{outbox.PersonalData(), track.PersonalData()} {
			if err := h.Erase(l.Context(), tx, l.tenant, []contact.Person{{ID: c}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (l *life) cancel() {
	l.must(outbox.Cancel(l.Context(), l.db, l.tenant, l.sends[1], l.now))
}

func (l *life) follow() {
	e := journal.Engine{DB: l.db, Followers: []journal.Follower{contact.Follower(), outbox.Follower()}, Log: slog.New(slog.DiscardHandler)}
	l.must(e.Drain(l.Context()))
}

// live takes n random steps.
func (l *life) live(n int) {
	steps := []struct {
		weight int
		name   string
		do     func()
	}{
		{10, "deliver", l.deliver}, {10, "hits", l.hits}, {10, "classify", l.classify}, {4, "bounce later", l.bounceLater},
		{4, "leave", l.leave}, {2, "remove contact", l.removeContact}, {3, "follow", l.follow},
	}
	for i := range n {
		l.now = l.now.Add(time.Duration(l.rnd.IntN(600)) * time.Second)
		if i == n-10 {
			l.cancel()
		}
		x := l.rnd.IntN(43)
		for _, s := range steps {
			if x -= s.weight; x < 0 {
				s.do()
				break
			}
		}
	}
	l.follow()
}

// recount returns the differences.
func (l *life) recount(repair bool) (recount.Result, []string) {
	l.Helper()
	var found []string
	r := recount.Recount{DB: l.db, Repair: repair, Now: func() time.Time { return l.now }, Page: 7, Found: func(d recount.Difference) {
		found = append(found, fmt.Sprintf("%s %s: stored %d, counted %d", d.Kind, d.Field, d.Stored, d.Counted))
	}}
	result, err := r.Run(l.Context(), []id.Tenant{l.tenant})
	l.must(err)
	if result.Differences != len(found) || len(result.Unchecked) > 0 {
		l.Errorf("%+v, with %d differences", result, len(found))
	}
	return result, found
}

// Whatever happens to the messages of broadcasts, the stored sums are those of a recount, and the
// numbers of a report are consistent.
func TestSumsAreThoseOfARecount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		l := newLife(t, db, seed)
		for range 3 {
			l.live(60)
			result, found := l.recount(false)
			if len(found) > 0 {
				t.Fatalf("a recount finds %d differences: %v", len(found), found)
			}
			if result.Sends != 2 || result.Messages != 2*people || result.Contacts != people {
				t.Errorf("%+v were counted", result)
			}
			for _, send := range l.sends {
				p, err := outbox.Load(t.Context(), db, l.tenant, send)
				l.must(err)
				s, err := track.LoadSums(t.Context(), db, l.tenant, send)
				l.must(err)
				if p.Waiting+p.Sent+p.Failed+p.Skipped+p.HeldBack+p.Cancelled != p.Total || p.Delivered+p.Bounced != p.Sent {
					t.Errorf("the sums of messages do not add up: %+v", p.Sums)
				}
				if s.Confirmed > s.HumanOpened || s.HumanOpened > s.VerifiedOpened || s.HumanClicked > s.VerifiedOpened || s.ApparentOpened > p.Total ||
					s.BotOpened+s.PendingOpened > s.ApparentOpened || s.VerifiedOpened > p.Total {
					t.Errorf("the levels are inconsistent: %+v", s)
				}
			}
		}
	})
}

// A recount finds sums that were changed, and corrects them, also while other things happen.
func TestARecountCorrectsSums(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		l := newLife(t, db, seed)
		l.live(120)
		for _, change := range []string{
			`UPDATE send SET delivered = delivered + 3, total = total - 1, last_send_at = 5 WHERE tenant_id = $1`,
			`DELETE FROM outbox_time_sum WHERE tenant_id = $1`,
			`UPDATE outbox_mix_sum SET bounced = bounced + 1 WHERE tenant_id = $1`,
			`UPDATE outbox_bounce_sum SET bounced = 0 WHERE tenant_id = $1`,
			`UPDATE outbox_day SET sent = sent + 2 WHERE tenant_id = $1`,
			`DELETE FROM outbox_day WHERE tenant_id = $1`,
			`UPDATE engagement_sum SET verified_opened = 77, complained = complained + 1 WHERE tenant_id = $1`,
			`UPDATE engagement SET flags = 0, mix = 3 WHERE tenant_id = $1`,
			`UPDATE engagement_time_sum SET human_clicked = human_clicked + 1 WHERE tenant_id = $1`,
			`DELETE FROM engagement_attribute_sum WHERE tenant_id = $1`,
			`UPDATE link_sum SET unique_clicks = 0, first_at = 9 WHERE tenant_id = $1`,
			`UPDATE contact_activity SET total_emails_sent = 50 WHERE tenant_id = $1`,
		} {
			if _, err := db.Exec(context.WithoutCancel(t.Context()), change, l.tenant); err != nil {
				t.Fatal(err)
			}
			_, found := l.recount(false)
			_, corrected := l.recount(true)
			if len(found) == 0 || len(corrected) == 0 {
				t.Errorf("%s: %d differences are found, %d corrected", change, len(found), len(corrected))
			}
			if _, left := l.recount(false); len(left) > 0 {
				t.Fatalf("%s: %d differences are left: %v", change, len(left), left)
			}
		}
	})
}
