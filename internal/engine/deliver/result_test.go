package deliver

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	const maxAge = 48 * time.Hour
	said := func(stage reply.Stage, code int, enhanced, text string) reply.Outcome {
		return reply.Outcome{Stage: stage, Code: code, Enhanced: enhanced, Text: text}
	}
	greylisted := said(reply.Rcpt, 451, "4.7.1", "greylisted, try again later")
	busy := said(reply.Rcpt, 451, "4.3.0", "local error")
	refused := reply.Outcome{Stage: reply.Connect, Text: "connection refused"}
	lost := reply.Outcome{Stage: reply.Dot, Text: "the server closed the connection", Uncertain: true}
	for _, test := range []struct {
		name     string
		outcome  reply.Outcome
		attempts int
		answered bool
		age      time.Duration
		state    outbox.State
		bounce   string
		wait     time.Duration // ± 20 %
	}{
		{"accepted", reply.Outcome{Stage: reply.Dot, Code: 250, Accepted: true}, 0, false, 0, outbox.Delivered, "", 0},
		{"no such user", said(reply.Rcpt, 550, "5.1.1", "no such user"), 0, false, 0, outbox.Bounced, "hard", 0},
		{"no such user, late", said(reply.Rcpt, 550, "5.1.1", "no such user"), 9, true, 60 * time.Hour, outbox.Bounced, "hard", 0},
		{"full", said(reply.Rcpt, 552, "5.2.2", "mailbox full"), 0, false, 0, outbox.Bounced, "soft", 0},
		{"spam", said(reply.Dot, 554, "5.7.1", "message looks like spam"), 0, false, 0, outbox.Bounced, "block", 0},
		{"greylisted once", greylisted, 0, false, 0, outbox.Queued, "", time.Minute},
		{"greylisted twice", greylisted, 1, true, time.Minute, outbox.Queued, "", 5 * time.Minute},
		{"greylisted for two days", greylisted, 12, true, maxAge, outbox.Bounced, "block", 0},
		{"busy", busy, 3, true, time.Hour, outbox.Queued, "", 30 * time.Minute},
		{"busy for long", busy, 20, true, 40 * time.Hour, outbox.Queued, "", 4 * time.Hour},
		{"busy for two days", busy, 12, true, maxAge, outbox.Bounced, "soft", 0},
		{"no connection", refused, 0, false, 0, outbox.Queued, "", time.Minute},
		{"no connection for two days", refused, 0, false, maxAge, outbox.Failed, "", 0},
		{"no connection in the end", refused, 12, true, maxAge, outbox.Bounced, "soft", 0},
		{"no answer", lost, 0, false, 0, outbox.Queued, "", time.Minute},
		{"never an answer", lost, 12, false, maxAge, outbox.Failed, "", 0},
		{"login refused", said(reply.Auth, 535, "5.7.8", "wrong password"), 0, false, 0, outbox.Queued, "", time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			it := outbox.Item{ID: idtest.Named[id.Message]("m"), Attempts: test.attempts, Answered: test.answered}
			r := resultOf(it, test.outcome, maxAge, now.Add(-test.age), now)
			if r.State != test.state || r.BounceType != test.bounce {
				t.Errorf("resultOf = %s %q, want %s %q", r.State, r.BounceType, test.state, test.bounce)
			}
			if wait := r.Due.Sub(now); test.wait > 0 && (wait < test.wait*4/5 || wait > test.wait*6/5) {
				t.Errorf("due in %v, want about %v", wait, test.wait)
			} else if test.wait == 0 && !r.Due.IsZero() && r.State != outbox.Queued {
				t.Errorf("ended, but due at %v", r.Due)
			}
			if expired := strings.HasPrefix(r.Error, "expired"); expired != (test.state == outbox.Failed) {
				t.Errorf("error = %q", r.Error)
			}
			if r.Uncertain != test.outcome.Uncertain {
				t.Errorf("uncertain = %v", r.Uncertain)
			}
		})
	}
}

func TestMessagesExpireWhenTheirLaneStaysDown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, test := range []struct {
		name  string
		first *time.Time
		queue time.Time
		down  time.Time
		want  bool
	}{
		{"the lane is down since", nil, ago(72 * time.Hour), ago(49 * time.Hour), true},
		{"the send was paused", nil, ago(72 * time.Hour), ago(time.Hour), false},
		{"just queued", nil, ago(time.Hour), ago(72 * time.Hour), false},
		{"first tried long ago", new(ago(49 * time.Hour)), ago(72 * time.Hour), ago(time.Hour), true},
		{"held for another reason", new(ago(49 * time.Hour)), ago(72 * time.Hour), time.Time{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, got := expired(outbox.Item{FirstAt: test.first, QueuedAt: test.queue}, test.down, 48*time.Hour, now)
			if got != test.want || got && r.State != outbox.Failed {
				t.Errorf("expired = %v, %s; want %v", got, r.State, test.want)
			}
		})
	}
}

func TestUnsentMessagesAreRetriedOrSkipped(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		err   error
		state outbox.State
	}{
		{smtpclient.ErrBadAddress, outbox.Skipped}, {smtpclient.ErrBareNewline, outbox.Failed},
		{errors.New("anything else"), outbox.Queued}, {nil, outbox.Queued},
	} {
		if r := unsentResult(outbox.Item{}, test.err, now); r.State != test.state || r.BounceType != "" {
			t.Errorf("unsent(%v) = %s %q, want %s", test.err, r.State, r.BounceType, test.state)
		}
	}
}

// Every send gets its turn, whatever their number.
func TestFeedersTakeTurns(t *testing.T) {
	t.Parallel()
	var f feeders
	f.init()
	const sends = 3*maxFeeders + 5
	now := time.Now()
	ready := make([]outbox.Ready, sends)
	for i := range ready {
		ready[i] = outbox.Ready{Tenant: idtest.TenantNamed("t" + string(rune('a'+i%7))), Send: idtest.Named[id.Send](strings.Repeat("x", i)), NextDue: now}
	}
	seated := map[sendKey]int{}
	for range 4 {
		ended := map[sendKey]bool{}
		f.seat(ready, now, func(k sendKey, _ bool) feeding {
			seated[k]++
			return feeding{now, func() { ended[k] = true }}
		})
		if len(f.busy) != maxFeeders {
			t.Fatalf("%d feeders, want %d", len(f.busy), maxFeeders)
		}
		now = now.Add(feedTurn)
		f.seat(ready, now, func(k sendKey, _ bool) feeding { t.Fatalf("%v got a feeder beyond maxFeeders", k); return feeding{} })
		if len(ended) != maxFeeders {
			t.Fatalf("%d turns end, want all", len(ended))
		}
		for k := range ended {
			f.finish(k, nil, now)
		}
	}
	if len(seated) != sends {
		t.Errorf("%d of %d sends had a turn", len(seated), sends)
	}
}

func TestADeferredSendGetsNoFeeder(t *testing.T) {
	t.Parallel()
	var f feeders
	f.init()
	now := time.Now()
	k := sendKey{idtest.TenantNamed("t"), idtest.Named[id.Send]("s")}
	ready := []outbox.Ready{{Tenant: idtest.TenantNamed("t"), Send: idtest.Named[id.Send]("s"), NextDue: now}}
	seats := 0
	seat := func(at time.Time) int {
		f.seat(ready, at, func(sendKey, bool) feeding { seats++; return feeding{at, func() {}} })
		return seats
	}
	if seat(now) != 1 || !f.finish(k, &deferral{until: now.Add(time.Second), reason: "paused"}, now) {
		t.Fatal("the first deferral of a send is not reported as new")
	}
	if seat(now.Add(999*time.Millisecond)) != 1 {
		t.Error("a deferred send got a feeder")
	}
	later := now.Add(time.Second)
	if seat(later) != 2 || f.finish(k, nil, later) || seat(later) != 3 || f.finish(k, &deferral{until: later.Add(time.Second), reason: "paused"}, later) {
		t.Error("the same reason is reported again after a turn")
	}
	later = later.Add(time.Second + logAgain + 1)
	if seat(later) != 4 || !f.finish(k, &deferral{until: later.Add(time.Second), reason: "paused"}, later) {
		t.Error("the same reason is not reported again a minute after the last deferral")
	}
}
