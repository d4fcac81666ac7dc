package deliver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// used returns the permits of days that are used, by the end of the limit's name.
func (h *house) used(ends ...string) map[string]int {
	h.t.Helper()
	got := map[string]int{}
	rows, err := h.DB.Query(h.t.Context(), `SELECT name, used FROM pace_day`)
	h.must(sqldb.Each(rows, err, func(scan func(...any) error) error {
		var name string
		var n int
		err := scan(&name, &n)
		for _, end := range ends {
			if strings.HasSuffix(name, end) {
				got[end] += n
			}
		}
		return err
	}))
	return got
}

func TestEachAddressSendsWhatItsWarmupAllows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Keep: true})
		dns := dnstest.New(t, "example.com. 60 IN MX 10 live.test.", "live.test. 60 IN A 127.0.0.2")
		h.direct(func(f *lane.Fields) {
			f.IPs = &[]lane.SourceFields{{IP: "127.0.0.1", HELO: "out1.example.net"}, {IP: "127.0.0.4", HELO: "out2.example.net"}}
		})
		h.send(60) // before the warm-up, by which it would be planned
		_, err := db.Exec(t.Context(), `UPDATE sending_domain SET warm_days = $2 WHERE tenant_id = $1`, h.Tenant, sender.WarmDays)
		h.must(err)
		_, err = lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID,
			lane.Fields{Warmup: lane.WarmupFields{Enabled: new(true), StartPerDay: new(4), GrowthPct: new(0)}},
			lane.Rules{AllowPrivate: true, Today: spread.DayOf(h.now(), time.UTC)}, h.now())
		h.must(err)
		stop := h.run(h.directEngine(dns, s.Port()))
		h.await("both addresses sent what they may", func(p outbox.Progress) bool {
			h.pass(10 * time.Millisecond) // as fast as time itself, or the lease of the node would end
			return p.Delivered == 8
		})
		stop()
		got := h.used(":127.0.0.1", ":127.0.0.1:other", ":127.0.0.4", ":127.0.0.4:other")
		for limit, n := range got {
			if n != 4 {
				t.Errorf("%d messages under the limit %s, want 4", n, limit)
			}
		}
		if len(got) != 4 {
			t.Errorf("limits: %v", got)
		}
	})
}

func TestANewDomainSendsHalfOfWhatTheWarmupAllows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port())
		h.send(25)
		_, err := lane.Update(t.Context(), db, broadcasttest.Box(t), h.Tenant, h.Lane.ID,
			lane.Fields{Warmup: lane.WarmupFields{Enabled: new(true), StartPerDay: new(10), GrowthPct: new(100)}},
			lane.Rules{AllowPrivate: true, Today: spread.DayOf(h.now(), time.UTC)}, h.now())
		h.must(err)
		stop := h.run(h.engine())
		h.await("half of the first day", func(p outbox.Progress) bool { return p.Delivered == 5 })
		stop()
		today := spread.DayOf(h.now(), time.UTC).Add(1)
		h.must(sender.CountDay(t.Context(), db, sender.WarmingDomain{Tenant: h.Tenant, Domain: h.Domain.ID}, today, true, false))
		h.must(sender.CountDay(t.Context(), db, sender.WarmingDomain{Tenant: h.Tenant, Domain: h.Domain.ID}, today, true, false)) // counted already
		h.pass(24 * time.Hour)
		h.run(h.engine())
		h.await("half of the second day", func(p outbox.Progress) bool { return p.Delivered == 15 })
		h.sums(outbox.Sums{Total: 25, Waiting: 10, Sent: 15, Delivered: 15})
	})
}
