package dispatch_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// sendDue marks all messages due at a time as sent, and returns their number.
func sendDue(t *testing.T, a *broadcasttest.Account, b id.Broadcast, at time.Time) int {
	t.Helper()
	n := outbox.Node{DB: a.DB, Owner: "test"}
	if err := n.Renew(t.Context(), at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	items, err := n.Claim(t.Context(), a.Tenant, a.SendOf(b), 10_000, at)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]outbox.Result, len(items))
	for i, it := range items {
		results[i] = outbox.Result{Item: it, State: outbox.Delivered, At: at}
	}
	if _, err := n.Commit(t.Context(), results, nil, at); err != nil {
		t.Fatal(err)
	}
	return len(items)
}

// days returns for each day of a send how many messages were sent and planned.
func days(t *testing.T, a *broadcasttest.Account, b id.Broadcast) string {
	t.Helper()
	list, err := outbox.Days(t.Context(), a.DB, a.Tenant, a.SendOf(b))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, d := range list {
		fmt.Fprintf(&text, "%s %d/%d ", d.Day[5:], d.Sent, d.Planned)
	}
	return text.String()
}

// messages returns the messages of a send, after checking that they agree with the sums of its
// days.
func messages(t *testing.T, a *broadcasttest.Account, b id.Broadcast) []outbox.Record {
	t.Helper()
	list, err := outbox.First(t.Context(), a.DB, a.Tenant, a.SendOf(b), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	want := map[spread.Day]int{}
	for _, m := range list {
		if m.State == outbox.HeldBack {
			if m.Day != "" {
				t.Errorf("a message held back has the day %s", m.Day)
			}
			continue
		}
		want[m.Day]++
		if got := spread.DayOf(m.DueAt, time.UTC); got != m.Day {
			t.Errorf("a message of %s is due on %s", m.Day, got)
		}
	}
	planned, err := outbox.Days(t.Context(), a.DB, a.Tenant, a.SendOf(b))
	if err != nil {
		t.Fatal(err)
	}
	got := map[spread.Day]int{}
	for _, d := range planned {
		if d.Planned > 0 {
			got[d.Day] = d.Planned
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("days and messages differ (-messages +days): %s", diff)
	}
	return list
}

func overDays(n int, more ...func(*broadcast.DeliveryChange)) func(*broadcast.Change) {
	return func(ch *broadcast.Change) {
		ch.Delivery = &broadcast.DeliveryChange{Mode: new(broadcast.OverDays), WindowDays: new(new(n))}
		for _, edit := range more {
			edit(ch.Delivery)
		}
	}
}

func holdback(d *broadcast.DeliveryChange) { d.Overflow = new(broadcast.Holdback) }

// capLane sets the daily limit of a lane.
func capLane(t *testing.T, a *broadcasttest.Account, n int) {
	t.Helper()
	_, err := lane.Update(t.Context(), a.DB, broadcasttest.Box(t), a.Tenant, a.Lane.ID, lane.Fields{MaxPerDay: &lane.Bound{To: &n}}, lane.Rules{}, broadcasttest.Now)
	if err != nil {
		t.Fatal(err)
	}
}

func TestASendOverDaysIsSentDayByDay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 11)
		b := a.Schedule(overDays(3, func(d *broadcast.DeliveryChange) { d.Skipped = &[]string{"2026-03-03", "2026-04-01"} }))
		at := now // 2 March, 9:00
		e := engine(db, "one", &at)
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-02 0/6 03-04 0/5 "; got != want {
			t.Fatalf("days %s, want %s", got, want)
		}
		dues := map[time.Time]int{}
		for _, m := range messages(t, a, b.ID) {
			dues[m.DueAt]++
			if m.DueAt.Before(now) {
				t.Errorf("a message is due at %v, before the send began", m.DueAt)
			}
		}
		if len(dues) != 11 {
			t.Errorf("11 messages over more batches than that are due at %d moments", len(dues))
		}
		for _, step := range []struct {
			at   time.Time
			sent int
		}{{now, 0}, {now.Add(15*time.Hour - time.Second), 6}, {now.Add(38 * time.Hour), 0}, {now.Add(63*time.Hour - time.Second), 5}} {
			if at = step.at; at.Equal(now) {
				at = at.Add(time.Second)
			}
			settle(t, e)
			if n := sendDue(t, a, b.ID, at); n != step.sent && !step.at.Equal(now) {
				t.Errorf("by %v %d messages were sent, want %d", at, n, step.sent)
			}
			settle(t, e)
			if status := a.Load(b.ID).Status; (status == broadcast.Completed) != (step.sent == 5) {
				t.Errorf("at %v the broadcast is %s", at, status)
			}
		}
		if got, want := days(t, a, b.ID), "03-02 6/6 03-04 5/5 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
	})
}

func TestRecentlyEngagedContactsComeFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		people := a.AddContacts(a.List.ID, "a", 8)
		engage := func(i int, clicked, opened any) {
			_, err := db.Exec(t.Context(), `
				INSERT INTO contact_activity (tenant_id, contact_id, deliverability_updated_at, last_email_clicked_at, last_email_opened_at)
				VALUES ($1, $2, 0, $3, $4)`,
				a.Tenant, people[i].ID, clicked, opened)
			if err != nil {
				t.Fatal(err)
			}
		}
		ago := func(d int) any { return now.AddDate(0, 0, -d).UnixMicro() }
		engage(5, ago(1), nil)
		engage(2, ago(3), ago(1))
		engage(7, nil, ago(2))
		engage(0, nil, ago(9))
		b := a.Schedule(overDays(8))
		at := now
		settle(t, engine(db, "one", &at))
		order := map[spread.Day]id.Contact{}
		for _, m := range messages(t, a, b.ID) {
			order[m.Day] = m.Contact
		}
		for i, want := range []contact.Contact{people[5], people[2], people[7], people[0]} {
			if got := order[spread.Day("2026-03-02").Add(i)]; got != want.ID {
				t.Errorf("day %d is not for %s", i, want.Email)
			}
		}
	})
}

func TestLanesWithDayCaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		edit func(*broadcast.Change)
		want string
		held int
	}{
		{"over days", overDays(2), "03-02 0/4 03-03 0/4 03-04 0/2 ", 0},
		{"over days, the rest held back", overDays(2, holdback), "03-02 0/4 03-03 0/4 ", 2},
		{"now", func(*broadcast.Change) {}, "03-02 0/4 03-03 0/4 03-04 0/2 ", 0},
		{"now, the rest held back", func(ch *broadcast.Change) { ch.Delivery = &broadcast.DeliveryChange{Overflow: new(broadcast.Holdback)} }, "03-02 0/4 ", 6},
		{"by date", func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Mode: new(broadcast.ByDate), WindowDate: new(new("2026-03-06"))}
		}, "03-02 0/2 03-03 0/2 03-04 0/2 03-05 0/2 03-06 0/2 ", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				a := broadcasttest.New(t, db, "acme")
				a.AddContacts(a.List.ID, "a", 10)
				capLane(t, a, 4)
				b := a.Schedule(tt.edit)
				at := now
				settle(t, engine(db, "one", &at))
				if got := days(t, a, b.ID); got != tt.want {
					t.Errorf("days %s, want %s", got, tt.want)
				}
				messages(t, a, b.ID)
				if s := progress(t, a, b.ID); s.Total != 10 || s.HeldBack != tt.held || s.Waiting != 10-tt.held || s.Phase != outbox.Open {
					t.Errorf("the send is %+v", s)
				}
			})
		})
	}
}

func TestSendsShareTheDaysOfALane(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 6)
		capLane(t, a, 4)
		at := now
		e := engine(db, "one", &at)
		first := a.Schedule()
		settle(t, e)
		if n := sendDue(t, a, first.ID, at); n != 4 {
			t.Fatalf("%d left at once", n)
		}
		second := a.Schedule(overDays(2))
		settle(t, e)
		if got, want := days(t, a, first.ID), "03-02 4/4 03-03 0/2 "; got != want {
			t.Errorf("the first has days %s, want %s", got, want)
		}
		if got, want := days(t, a, second.ID), "03-03 0/2 03-04 0/4 "; got != want {
			t.Errorf("the second has days %s, want %s", got, want)
		}
		if err := broadcast.Cancel(t.Context(), db, a.Tenant, first.ID, at); err != nil {
			t.Fatal(err)
		}
		third := a.Schedule(overDays(2))
		settle(t, e)
		if got, want := days(t, a, third.ID), "03-03 0/2 03-05 0/4 "; got != want {
			t.Errorf("the third has days %s, want %s: what was cancelled is free again", got, want)
		}
	})
}

func TestARateLimitsDays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		s := tenant.Defaults("UTC")
		s.SendWindow = tenant.SendWindow{Start: "08:00", End: "11:00"}
		if err := tenant.SaveSettings(t.Context(), db, a.Tenant, "Acme", s, now); err != nil {
			t.Fatal(err)
		}
		a.AddContacts(a.List.ID, "a", 12)
		b := a.Schedule(overDays(2, func(d *broadcast.DeliveryChange) { d.PerHour = new(new(2)) }))
		at := now // two hours of the window remain
		settle(t, engine(db, "one", &at))
		if got, want := days(t, a, b.ID), "03-02 0/4 03-03 0/6 03-04 0/2 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		for _, m := range messages(t, a, b.ID) {
			if h := m.DueAt.Hour(); h < 8 || h >= 11 {
				t.Errorf("a message is due at %v", m.DueAt)
			}
		}
	})
}

func TestRescheduleMovesMessagesNotSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 12)
		b := a.Schedule(overDays(4, func(d *broadcast.DeliveryChange) { d.Skipped = &[]string{"2026-03-03"} }))
		at := now
		e := engine(db, "one", &at)
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-02 0/4 03-04 0/4 03-05 0/4 "; got != want {
			t.Fatalf("days %s, want %s", got, want)
		}
		at = now.Add(15*time.Hour - time.Second)
		sendDue(t, a, b.ID, at)
		at = now.Add(24 * time.Hour) // on the 3rd
		reschedule := func(skipped ...string) error {
			return broadcast.Reschedule(t.Context(), db, a.Tenant, b.ID, skipped, at)
		}
		for _, bad := range []struct {
			skipped []string
			code    error
		}{
			{[]string{"2026-03-02"}, broadcast.ErrSkip},
			{[]string{"2026-03-03", "2026-03-01"}, broadcast.ErrSkip},
		} {
			if err := reschedule(bad.skipped...); !errors.Is(err, bad.code) {
				t.Errorf("skipping %v: %v", bad.skipped, err)
			}
		}
		if err := reschedule("2026-03-03", "2026-03-05"); err != nil {
			t.Fatal(err)
		}
		if p := progress(t, a, b.ID).Phase; p != outbox.Held {
			t.Errorf("the send is %s while it is planned", p)
		}
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-02 4/4 03-04 0/8 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		messages(t, a, b.ID)
		if err := reschedule(); err != nil { // no day is skipped any more: today, the 3rd, is used
			t.Fatal(err)
		}
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-02 4/4 03-03 0/3 03-04 0/3 03-05 0/2 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		for _, m := range messages(t, a, b.ID) {
			if m.State == outbox.Queued && m.DueAt.Before(at) {
				t.Errorf("a message was moved to %v, before now", m.DueAt)
			}
		}
	})
}

func TestDaysThatPassDuringAPauseArePlannedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 12)
		b := a.Schedule(overDays(4))
		at := now
		e := engine(db, "one", &at)
		settle(t, e)
		at = now.Add(14 * time.Hour)
		sent := sendDue(t, a, b.ID, at)
		if err := broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at); err != nil {
			t.Fatal(err)
		}
		at = now.Add(39 * time.Hour) // midnight before the 4th
		settle(t, e)
		before := map[id.Message]time.Time{}
		for _, m := range messages(t, a, b.ID) {
			if m.Day >= "2026-03-04" {
				before[m.ID] = m.DueAt
			}
		}
		if err := broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at); err != nil {
			t.Fatal(err)
		}
		settle(t, e)
		if got, want := days(t, a, b.ID), fmt.Sprintf("03-02 %d/%d 03-04 0/%d 03-05 0/%d ", sent, sent, (13-sent)/2, (12-sent)/2); got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		for _, m := range messages(t, a, b.ID) {
			if due, ok := before[m.ID]; ok && !due.Equal(m.DueAt) {
				t.Errorf("a message that kept its day was moved from %v to %v", due, m.DueAt)
			}
		}
		if p := progress(t, a, b.ID); p.Phase != outbox.Open || p.Waiting != 12-sent {
			t.Errorf("the send is %+v", p)
		}
	})
}

// Messages left over from a day are planned again if the send may be extended.
func TestMessagesLeftOverArePlannedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", 6)
		capLane(t, a, 4)
		b := a.Schedule()
		at := now
		e := engine(db, "one", &at)
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-02 0/4 03-03 0/2 "; got != want {
			t.Fatalf("days %s, want %s", got, want)
		}
		at = now.Add(24 * time.Hour) // and nothing was sent on the 2nd
		settle(t, e)
		if got, want := days(t, a, b.ID), "03-03 0/4 03-04 0/2 "; got != want {
			t.Errorf("days %s, want %s", got, want)
		}
		messages(t, a, b.ID)
	})
}

// After any series of operations on sends that share a lane, no message is lost, no future day
// exceeds the lane's limit, and no skipped day is used.
func TestPlansRespectLimitsAndSkippedDays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const most, people = 5, 9
		a := broadcasttest.New(t, db, "acme")
		a.AddContacts(a.List.ID, "a", people)
		capLane(t, a, most)
		at := now
		e := engine(db, "one", &at)
		chance := rand.New(rand.NewPCG(1, 2))
		var sends []broadcast.Broadcast
		for step := range 24 {
			if step%8 == 0 {
				edit := overDays(1 + chance.IntN(4))
				if chance.IntN(2) == 0 {
					edit = overDays(1+chance.IntN(4), holdback)
				}
				b := a.Create(edit, func(ch *broadcast.Change) { ch.Start.At = &at })
				if err := broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, at); err != nil {
					t.Fatal(err)
				}
				sends = append(sends, b)
				settle(t, e)
			}
			b := a.Load(sends[chance.IntN(len(sends))].ID)
			today := spread.DayOf(at, time.UTC)
			var err error
			switch chance.IntN(6) {
			case 0:
				err = broadcast.Pause(t.Context(), db, a.Tenant, b.ID, broadcast.ByUser, at)
			case 1, 2:
				err = broadcast.Resume(t.Context(), db, a.Tenant, b.ID, at)
			case 3:
				err = broadcast.Reschedule(t.Context(), db, a.Tenant, b.ID, []string{string(today.Add(1 + chance.IntN(3)))}, at)
			default:
				at = at.Add(time.Duration(1+chance.IntN(20)) * time.Hour)
			}
			if err != nil && !errors.Is(err, broadcast.ErrTransition) && !errors.Is(err, broadcast.ErrNotSending) && !errors.Is(err, broadcast.ErrNoPlan) {
				t.Fatal(err)
			}
			settle(t, e)
			if chance.IntN(2) == 0 {
				sendDue(t, a, b.ID, at)
				settle(t, e)
			}
			ahead := map[spread.Day]int{}
			for _, b := range sends {
				b = a.Load(b.ID)
				for _, m := range messages(t, a, b.ID) {
					if m.State == outbox.Queued && m.Day > spread.DayOf(at, time.UTC) {
						ahead[m.Day]++
						if slices.Contains(b.Delivery.Skipped, m.Day) && b.Status == broadcast.Sending {
							t.Errorf("step %d: a message leaves on %s, which is skipped", step, m.Day)
						}
					}
				}
				if s := progress(t, a, b.ID); s.Total != people || s.Waiting+s.Sent+s.HeldBack != people {
					t.Fatalf("step %d: of %d, %d wait, %d left, %d are held back", step, people, s.Waiting, s.Sent, s.HeldBack)
				}
			}
			for day, n := range ahead {
				if n > most {
					t.Errorf("step %d: %d messages on %s, of %d", step, n, day, most)
				}
			}
		}
	})
}

// A domain without good mail behind it gets half of what the lane's warm-up allows, and the plan knows.
func TestThePlanKnowsTheLimitOfANewDomain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, tt := range map[string]struct {
			warm     int // days of good mail of the domain
			overflow func(*broadcast.DeliveryChange)
			want     string
			held     int
		}{
			"extend":   {0, func(*broadcast.DeliveryChange) {}, "03-02 0/20 03-03 0/40 03-04 0/30 ", 0},
			"holdback": {0, holdback, "03-02 0/20 ", 70},
			"old":      {sender.WarmDays, holdback, "03-02 0/40 ", 50},
		} {
			a := broadcasttest.New(t, db, name)
			a.AddContacts(a.List.ID, "c", 90)
			_, err := db.Exec(t.Context(), `UPDATE sending_domain SET warm_days = $2 WHERE tenant_id = $1`, a.Tenant, tt.warm)
			if err != nil {
				t.Fatal(err)
			}
			warming := lane.WarmupFields{Enabled: new(true), StartPerDay: new(40), GrowthPct: new(100)}
			if _, err := lane.Update(t.Context(), db, broadcasttest.Box(t), a.Tenant, a.Lane.ID, lane.Fields{Warmup: warming}, lane.Rules{Today: "2026-03-02"}, broadcasttest.Now); err != nil {
				t.Fatal(err)
			}
			edit := func(ch *broadcast.Change) {
				ch.Delivery = &broadcast.DeliveryChange{}
				tt.overflow(ch.Delivery)
			}
			ahead, err := dispatch.NewForecaster(db, func() time.Time { return broadcasttest.Now }).Forecast(t.Context(), a.Create(edit))
			if err != nil {
				t.Fatal(err)
			}
			var planned strings.Builder
			for _, d := range ahead.Plan {
				if d.Planned > 0 {
					fmt.Fprintf(&planned, "%s 0/%d ", d.Day[5:], d.Planned)
				}
			}
			if got := planned.String(); got != tt.want || ahead.HeldBack != tt.held {
				t.Errorf("%s: forecast %q, %d held back, want %q and %d", name, got, ahead.HeldBack, tt.want, tt.held)
			}
			b := a.Schedule(edit)
			at := now
			settle(t, engine(db, "one", &at))
			if got := days(t, a, b.ID); got != tt.want {
				t.Errorf("%s: planned %q, want %q", name, got, tt.want)
			}
			p, err := outbox.Load(t.Context(), db, a.Tenant, a.SendOf(b.ID))
			if err != nil || p.HeldBack != tt.held {
				t.Errorf("%s: %d held back, %v, want %d", name, p.HeldBack, err, tt.held)
			}
		}
	})
}
