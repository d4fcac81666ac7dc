package watch_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/engine/watch"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fixture is an account with a watch, and a clock that the test moves.
type fixture struct {
	*broadcasttest.Account
	t     *testing.T
	now   time.Time
	log   bytes.Buffer
	watch *watch.Engine
}

// each runs f on both databases.
func each(t *testing.T, f func(w *fixture)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := &fixture{Account: broadcasttest.New(t, db, "acme"), t: t, now: broadcasttest.Now}
		w.watch = &watch.Engine{
			DB: db, Box: broadcasttest.Box(t), Now: func() time.Time { return w.now }, AllowPrivate: true, Pausers: []outbox.Pauser{broadcast.Pauser()},
			Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		}
		f(w)
	})
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// tickAfter advances the clock and calls Tick.
func (w *fixture) tickAfter(after time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(after)
	_, err := w.watch.Tick(w.t.Context())
	w.must(err)
}

// addTraffic adds counts to a lane and the account's domain.
func (w *fixture) addTraffic(l id.Lane, c traffic.Counts) {
	w.t.Helper()
	w.must(traffic.Add(w.t.Context(), w.DB, w.now, map[traffic.Key]traffic.Counts{{Tenant: w.Tenant, Lane: l, Domain: w.Domain.ID}: c}))
}

// addLane creates a lane to a port of this machine.
func (w *fixture) addLane(name string, port int, edits ...func(*lane.Fields)) lane.Config {
	w.t.Helper()
	f := lane.Fields{Name: &name, Type: new(lane.SMTP), Host: new("127.0.0.1"), Port: &port, TLS: new(smtpclient.None), Auth: new(smtpclient.AuthNone)}
	for _, edit := range edits {
		edit(&f)
	}
	c, err := lane.Create(w.t.Context(), w.DB, broadcasttest.Box(w.t), w.Tenant, f, lane.Rules{AllowPrivate: true, Today: "2026-03-02"}, w.now)
	w.must(err)
	return c
}

func (w *fixture) health(l id.Lane) lane.Health {
	w.t.Helper()
	all, err := lane.StatesOf(w.t.Context(), w.DB, w.Tenant, []id.Lane{l})
	w.must(err)
	return all[l]
}

// startBroadcast begins a broadcast.
func (w *fixture) startBroadcast(edits ...func(*broadcast.Change)) id.Broadcast {
	w.t.Helper()
	b := w.Schedule(edits...)
	d := &dispatch.Engine{DB: w.DB, Owner: "test", Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)}
	for more := true; more; {
		var err error
		more, err = d.Tick(w.t.Context())
		w.must(err)
	}
	if got := w.Load(b.ID); got.Status != broadcast.Sending {
		w.t.Fatalf("the broadcast is %s", got.Status)
	}
	return b.ID
}

// wantStatus checks the status of a broadcast, and the reason if it is paused.
func (w *fixture) wantStatus(when string, b id.Broadcast, status broadcast.Status, why broadcast.PauseReason) {
	w.t.Helper()
	if got := w.Load(b); got.Status != status || got.PauseReason != why {
		w.t.Fatalf("%s: the broadcast is %s (%s), want %s (%s)", when, got.Status, got.PauseReason, status, why)
	}
}

// countEntries returns the number of journal entries of a type.
func (w *fixture) countEntries(what journal.Type) (n int) {
	w.t.Helper()
	w.must(w.DB.QueryRow(w.t.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type = $2`, w.Tenant, what).Scan(&n))
	return n
}

// deadPort returns a port without a listener.
func deadPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestALaneThatIsDownIsProbedUntilItRecovers(t *testing.T) {
	each(t, func(w *fixture) {
		port := deadPort(w.t)
		relay := w.addLane("Relay", port)
		w.addTraffic(relay.ID, traffic.Counts{Tries: 20, Unreached: 20})
		w.addTraffic(w.Lane.ID, traffic.Counts{Tries: 20})
		w.tickAfter(time.Second)
		got := w.health(relay.ID)
		if got.State != lane.Down || !strings.Contains(got.LastError, "refused") || got.ProbedAt == nil || !got.Since.Equal(w.now) {
			w.t.Fatalf("after twenty tries in vain: %+v", got)
		}
		if got := w.health(w.Lane.ID); got.State != lane.Healthy {
			w.t.Errorf("the other lane: %+v", got)
		}
		first := *got.ProbedAt
		w.tickAfter(30 * time.Second)
		if got := w.health(relay.ID); !got.ProbedAt.Equal(first) {
			w.t.Error("probed again after half a minute")
		}
		w.tickAfter(31 * time.Second)
		if got := w.health(relay.ID); got.State != lane.Down || !got.ProbedAt.Equal(w.now) {
			w.t.Errorf("a minute later: %+v", got)
		}
		server := sink.Start(w.t, sink.Options{})
		_, err := lane.Update(w.t.Context(), w.DB, broadcasttest.Box(w.t), w.Tenant, relay.ID, lane.Fields{Port: new(server.Port())}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
		w.must(err)
		w.tickAfter(time.Second) // the lane was changed, so it is probed at once
		if got := w.health(relay.ID); got.State != lane.Healthy || got.LastError != "" || !got.Since.Equal(w.now) {
			w.t.Errorf("with a listener:  %+v", got)
		}
		if s := server.Stats(); s.Connections != 1 || s.Messages != 0 {
			w.t.Errorf("the probe was %+v, want one connection and no mail", s)
		}
		w.tickAfter(10 * time.Second) // earlier failures are not considered any more
		if got := w.health(relay.ID); got.State != lane.Healthy {
			w.t.Errorf("ten seconds after it came back: %+v", got)
		}
		if down, up := w.countEntries(journal.MTADown), w.countEntries(journal.MTARecovered); down != 1 || up != 1 {
			w.t.Errorf("the journal has %d downs and %d recoveries, want one each", down, up)
		}
	})
}

// After a failure the sender pauses, so there may be few attempts to judge by.
func TestASuspectWhoseProbesFailIsDownAtOnce(t *testing.T) {
	each(t, func(w *fixture) {
		dead, alive := w.addLane("Dead", deadPort(w.t)), w.addLane("Alive", sink.Start(w.t, sink.Options{}).Port())
		for _, l := range []lane.Config{dead, alive} {
			w.addTraffic(l.ID, traffic.Counts{Tries: 3, Unreached: 3})
		}
		w.tickAfter(10 * time.Second)
		if got := w.health(dead.ID); got.State != lane.Down || !strings.Contains(got.LastError, "refused") {
			w.t.Errorf("after one tick: %+v", got)
		}
		if got := w.health(alive.ID); got.State != lane.Healthy {
			w.t.Errorf("the one that had a bad moment: %+v", got)
		}
	})
}

// A lane that delivers needs no test.
func TestALaneThatDeliversIsTested(t *testing.T) {
	each(t, func(w *fixture) {
		works, idle := w.addLane("Works", sink.Start(w.t, sink.Options{}).Port()), w.addLane("Idle", deadPort(w.t))
		w.tickAfter(2 * time.Minute)
		w.addTraffic(works.ID, traffic.Counts{Tries: 3, Delivered: 3})
		w.tickAfter(time.Minute)
		for c, want := range map[id.Lane]bool{works.ID: true, idle.ID: false} {
			got, err := lane.ByID(w.t.Context(), w.DB, w.Tenant, c)
			w.must(err)
			if (got.TestedAt != nil) != want {
				w.t.Errorf("%s was tested at %v, want %t", got.Name, got.TestedAt, want)
			}
		}
	})
}

func TestALaneThatRefusesOurLoginIsDown(t *testing.T) {
	each(t, func(w *fixture) {
		server := sink.Start(w.t, sink.Options{User: "u", Password: "right"})
		relay := w.addLane("Relay", server.Port(), func(f *lane.Fields) {
			f.Auth, f.Username, f.Password = new(smtpclient.AuthPlain), new("u"), new("wrong")
		})
		w.addTraffic(relay.ID, traffic.Counts{Tries: 40, Unreached: 40})
		w.tickAfter(time.Second)
		if got := w.health(relay.ID); got.State != lane.Down || !strings.HasPrefix(got.LastError, "535") || strings.Contains(got.LastError, "wrong") {
			w.t.Errorf("with a wrong password: %+v", got)
		}
		_, err := lane.Update(w.t.Context(), w.DB, broadcasttest.Box(w.t), w.Tenant, relay.ID, lane.Fields{Password: new("right")}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
		w.must(err)
		w.tickAfter(time.Second)
		if got := w.health(relay.ID); got.State != lane.Healthy {
			w.t.Errorf("with the right one: %+v", got)
		}
	})
}

func TestALaneThatFailsAtTimesIsDegraded(t *testing.T) {
	each(t, func(w *fixture) {
		relay := w.addLane("Relay", sink.Start(w.t, sink.Options{}).Port())
		w.addTraffic(relay.ID, traffic.Counts{Tries: 100, Unreached: 25})
		w.tickAfter(time.Second)
		if got := w.health(relay.ID); got.State != lane.Degraded || got.ProbedAt == nil {
			w.t.Fatalf("a quarter of the tries failed: %+v", got)
		}
		w.tickAfter(6 * time.Minute)
		if got := w.health(relay.ID); got.State != lane.Healthy {
			w.t.Errorf("when that is past: %+v", got)
		}
		if n := w.countEntries(journal.MTADown) + w.countEntries(journal.MTARecovered); n != 0 {
			w.t.Errorf("the journal has %d entries about a lane that was never down", n)
		}
	})
}

func TestASendWithoutAWorkingLaneIsPaused(t *testing.T) {
	each(t, func(w *fixture) {
		w.AddContacts(w.List.ID, "c", 3)
		one, other := w.addLane("One", deadPort(w.t)), w.addLane("Other", deadPort(w.t))
		collapsed := w.startBroadcast(func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Lanes: &[]broadcast.LaneShare{{Lane: one.ID, Weight: 1}, {Lane: other.ID, Weight: 1}}}
		})
		elsewhere := w.startBroadcast()
		w.addTraffic(one.ID, traffic.Counts{Tries: 20, Unreached: 20})
		w.tickAfter(time.Second)
		w.tickAfter(5 * time.Minute)
		w.addTraffic(other.ID, traffic.Counts{Tries: 20, Unreached: 20})
		w.tickAfter(time.Second)
		w.tickAfter(6 * time.Minute)
		w.wantStatus("one lane for eleven minutes, the other for six", collapsed, broadcast.Sending, "")
		w.tickAfter(4 * time.Minute)
		w.wantStatus("both for ten minutes", collapsed, broadcast.Paused, broadcast.CapacityCollapsed)
		w.wantStatus("by another lane", elsewhere, broadcast.Sending, "")

		if err := broadcast.Resume(w.t.Context(), w.DB, w.Tenant, collapsed, w.now); !errors.Is(err, broadcast.ErrCauseActive) {
			w.t.Errorf("Resume while both are down: %v, want %v", err, broadcast.ErrCauseActive)
		}
		server := sink.Start(w.t, sink.Options{})
		_, err := lane.Update(w.t.Context(), w.DB, broadcasttest.Box(w.t), w.Tenant, one.ID, lane.Fields{Port: new(server.Port())}, lane.Rules{AllowPrivate: true}, broadcasttest.Now)
		w.must(err)
		w.tickAfter(time.Minute)
		w.wantStatus("nothing is resumed by itself", collapsed, broadcast.Paused, broadcast.CapacityCollapsed)
		w.must(broadcast.Resume(w.t.Context(), w.DB, w.Tenant, collapsed, w.now))
		w.tickAfter(10 * time.Minute)
		w.wantStatus("with one lane up", collapsed, broadcast.Sending, "")
	})
}

func TestADomainIsPausedWithItsSends(t *testing.T) {
	for name, tt := range map[string]struct {
		carried traffic.Counts
		reason  sender.PauseReason // empty: not paused
		warned  string
	}{
		"complaints":              {traffic.Counts{Delivered: 1000, Complained: 3}, sender.PausedForComplaints, ""},
		"two complaints":          {traffic.Counts{Delivered: 1000, Complained: 2}, "", ""},
		"complaints of few":       {traffic.Counts{Delivered: 999, Complained: 50}, "", ""},
		"frequent complaints":     {traffic.Counts{Delivered: 20000, Complained: 45}, "", "complaint rate of domain is high"},
		"hard bounces":            {traffic.Counts{Delivered: 1800, Hard: 200}, sender.PausedForBounces, ""},
		"late hard bounces":       {traffic.Counts{Delivered: 1950, Hard: 50, Late: 150}, sender.PausedForBounces, ""},
		"not quite":               {traffic.Counts{Delivered: 1801, Hard: 199}, "", "hard bounce rate of domain is high"},
		"blocks are not the same": {traffic.Counts{Delivered: 1000, Block: 500}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *fixture) {
				w.AddContacts(w.List.ID, "c", 1)
				b := w.startBroadcast()
				w.addTraffic(w.Lane.ID, tt.carried)
				w.tickAfter(time.Second)
				got, err := sender.DomainByID(w.t.Context(), w.DB, w.Tenant, w.Domain.ID)
				w.must(err)
				if got.Paused != (tt.reason != "") || got.PauseReason != string(tt.reason) {
					w.t.Errorf("the domain is paused: %t (%s), want %q", got.Paused, got.PauseReason, tt.reason)
				}
				if tt.reason != "" {
					w.wantStatus("from a paused domain", b, broadcast.Paused, broadcast.DomainPaused)
				} else {
					w.wantStatus("from a domain that is not paused", b, broadcast.Sending, "")
				}
				w.tickAfter(time.Minute)
				w.tickAfter(time.Minute)
				if n := w.countEntries(journal.DomainPaused); (n == 1) != got.Paused {
					w.t.Errorf("the journal has %d entries", n)
				}
				if n := strings.Count(w.log.String(), tt.warned); tt.warned != "" && n != 1 {
					w.t.Errorf("warned %d times, want once:\n%s", n, w.log.String())
				}
			})
		})
	}
}

func TestAResumedDomainIsJudgedByLaterTraffic(t *testing.T) {
	each(t, func(w *fixture) {
		paused := func() bool {
			w.t.Helper()
			d, err := sender.DomainByID(w.t.Context(), w.DB, w.Tenant, w.Domain.ID)
			w.must(err)
			return d.Paused
		}
		w.AddContacts(w.List.ID, "c", 1)
		b := w.startBroadcast()
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 1000, Complained: 30})
		w.tickAfter(time.Second)
		if !paused() {
			w.t.Fatal("3 % complain and the domain is not paused")
		}
		if err := broadcast.Resume(w.t.Context(), w.DB, w.Tenant, b, w.now); !errors.Is(err, broadcast.ErrCauseActive) {
			w.t.Errorf("Resume of the broadcast: %v, want %v", err, broadcast.ErrCauseActive)
		}
		_, err := sender.ResumeDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, w.now)
		w.must(err)
		w.must(broadcast.Resume(w.t.Context(), w.DB, w.Tenant, b, w.now))
		w.tickAfter(time.Minute)
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 999, Complained: 1})
		w.tickAfter(time.Minute)
		if paused() {
			w.t.Fatal("paused again for what was before")
		}
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 1, Complained: 2})
		w.tickAfter(time.Minute)
		if !paused() {
			w.t.Error("three complaints of a thousand since, and the domain is not paused")
		}
		w.wantStatus("then", b, broadcast.Paused, broadcast.DomainPaused)
	})
}

func TestAnOperatorsPauseStopsSends(t *testing.T) {
	each(t, func(w *fixture) {
		w.AddContacts(w.List.ID, "c", 1)
		b := w.startBroadcast()
		paused, err := sender.PauseDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.now)
		if again, bad := sender.PauseDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, sender.Pause{Reason: sender.PausedForDNS}, w.now); !paused || again || err != nil || bad != nil {
			w.t.Fatalf("PauseDomain = %t, %v; again %t, %v", paused, err, again, bad)
		}
		w.tickAfter(time.Second)
		w.wantStatus("its domain is paused", b, broadcast.Paused, broadcast.DomainPaused)
	})
}

func TestWarmupsGrowWithGoodDays(t *testing.T) {
	each(t, func(w *fixture) {
		relay := w.addLane("Relay", 25, func(f *lane.Fields) { f.Warmup = lane.WarmupFields{Enabled: new(true)} })
		may := func() int {
			w.t.Helper()
			c, err := lane.ByID(w.t.Context(), w.DB, w.Tenant, relay.ID)
			w.must(err)
			return c.Warmup.Level
		}
		for _, day := range []struct {
			carried traffic.Counts
			want    int // on the next day
		}{
			{traffic.Counts{Delivered: 195, Deferred: 3}, 260},
			{traffic.Counts{}, 260},
			{traffic.Counts{Delivered: 250, Hard: 6}, 260},
			{traffic.Counts{Delivered: 260}, 338},
			{traffic.Counts{Delivered: 200, Block: 100}, 169},
		} {
			w.addTraffic(relay.ID, day.carried)
			w.tickAfter(time.Hour) // the day has not ended
			w.tickAfter(23 * time.Hour)
			if got := may(); got != day.want {
				w.t.Errorf("after %+v the lane may carry %d, want %d", day.carried, got, day.want)
			}
		}
	})
}

func TestAddressesAndDomainsWarmUpWithGoodDays(t *testing.T) {
	each(t, func(w *fixture) {
		ips := []lane.SourceFields{{IP: "127.0.0.1", HELO: "out1.example.net"}, {IP: "127.0.0.2", HELO: "out2.example.net"}}
		own := w.addLane("Own", 25, func(f *lane.Fields) {
			*f = lane.Fields{Name: f.Name, Type: new(lane.DirectMX), IPs: &ips, Warmup: lane.WarmupFields{Enabled: new(true)}}
		})
		other := broadcasttest.New(w.t, w.DB, "other")
		first := netip.MustParseAddr("127.0.0.1")
		send := func(c traffic.ProviderCounts) {
			w.t.Helper()
			w.addTraffic(own.ID, c.Counts)
			key := traffic.ProviderKey{Key: traffic.Key{Tenant: w.Tenant, Lane: own.ID, Domain: w.Domain.ID}, Source: first, Provider: "gmail"}
			w.must(traffic.AddByProvider(w.t.Context(), w.DB, w.now, map[traffic.ProviderKey]traffic.ProviderCounts{key: c}))
		}
		for _, day := range []struct {
			sent     traffic.Counts
			want     [4]int // of the first address: all and Gmail; of the second; good days of the domain
			goodDays int
		}{
			{traffic.Counts{Delivered: 195}, [4]int{260, 260, 200, 200}, 1},
			{traffic.Counts{Delivered: 250}, [4]int{338, 338, 200, 200}, 2},
			{traffic.Counts{}, [4]int{338, 338, 200, 200}, 2},
			{traffic.Counts{Delivered: 300, Block: 100}, [4]int{169, 169, 200, 200}, 0},
			{traffic.Counts{Delivered: 100}, [4]int{219, 219, 200, 200}, 1},
		} {
			send(traffic.ProviderCounts{Counts: day.sent})
			w.tickAfter(time.Hour) // the day has not ended
			w.tickAfter(23 * time.Hour)
			c, err := lane.ByID(w.t.Context(), w.DB, w.Tenant, own.ID)
			w.must(err)
			var got [4]int
			for i, s := range c.Warmup.Sources {
				gmail, _ := c.ProviderCap(s.IP, "gmail")
				got[2*i], got[2*i+1] = s.Level, gmail
			}
			d, err := sender.DomainByID(w.t.Context(), w.DB, w.Tenant, w.Domain.ID)
			w.must(err)
			if got != day.want || d.WarmDays != day.goodDays {
				w.t.Errorf("after %+v: limits %d and %d good days, want %d and %d", day.sent, got, d.WarmDays, day.want, day.goodDays)
			}
		}
		if d, err := sender.DomainByID(w.t.Context(), w.DB, other.Tenant, other.Domain.ID); err != nil || d.WarmDays != 0 {
			w.t.Errorf("the domain of another tenant has %d good days, %v", d.WarmDays, err)
		}
	})
}
