package watch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/broadcast"
	"github.com/packetboat/packetboat/internal/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// fakePauser records its calls, and returns what the test sets.
type fakePauser struct {
	asked     []map[id.Tenant]bool
	downSince time.Time
	paused    []outbox.PausedSend
	err       error
}

func (p *fakePauser) PauseStuck(_ context.Context, _ *sqldb.DB, tenants map[id.Tenant]bool, downSince, _ time.Time) ([]outbox.PausedSend, error) {
	p.asked, p.downSince = append(p.asked, tenants), downSince
	return p.paused, p.err
}

func TestEveryPauserIsCalledForAffectedTenants(t *testing.T) {
	each(t, func(w *ward) {
		other := broadcasttest.New(w.t, w.DB, "other")
		failing := &fakePauser{
			err:    errors.New("one send cannot be paused"),
			paused: []outbox.PausedSend{{Tenant: w.Tenant, Kind: "sequence", ID: "s1", Reason: "domain_paused"}},
		}
		last := &fakePauser{}
		w.watch.Pausers = []outbox.Pauser{failing, broadcast.Pauser(), last}
		w.AddContacts(w.List.ID, "c", 1)
		b := w.send()
		w.look(time.Second)
		if len(failing.asked)+len(last.asked) != 0 {
			w.t.Errorf("asked while nothing is wrong: %v, %v", failing.asked, last.asked)
		}

		_, err := sender.PauseDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.at)
		w.must(err)
		w.at = w.at.Add(time.Second)
		if _, err := w.watch.Tick(w.t.Context()); !errors.Is(err, failing.err) {
			w.t.Errorf("Tick = %v, want the error of the first pauser", err)
		}
		for i, p := range []*fakePauser{failing, last} {
			if len(p.asked) != 1 || !p.asked[0][w.Tenant] || p.asked[0][other.Tenant] {
				w.t.Errorf("pauser %d was asked about %v, want one question about %s alone", i, p.asked, w.Tenant)
			}
			if want := w.at.Add(-10 * time.Minute); !p.downSince.Equal(want) {
				w.t.Errorf("pauser %d: lanes must be down since %s, want %s", i, p.downSince, want)
			}
		}
		w.expect("after the pauser before it failed", b, broadcast.Paused, broadcast.DomainPaused)
		for _, want := range []string{"kind=sequence id=s1 reason=domain_paused", "kind=broadcast id=" + b.String() + " reason=domain_paused"} {
			if !strings.Contains(w.log.String(), want) {
				w.t.Errorf("the log does not say %q:\n%s", want, w.log.String())
			}
		}
	})
}

func TestOtherTenantsBroadcastsAreNotPaused(t *testing.T) {
	each(t, func(w *ward) {
		w.AddContacts(w.List.ID, "c", 1)
		b := w.send()
		other := broadcasttest.New(w.t, w.DB, "other")
		paused, err := broadcast.Pauser().PauseStuck(w.t.Context(), w.DB, map[id.Tenant]bool{other.Tenant: true}, w.at, w.at)
		if len(paused) != 0 || err != nil {
			w.t.Errorf("PauseStuck = %v, %v", paused, err)
		}
		_, err = sender.PauseDomain(w.t.Context(), w.DB, other.Tenant, other.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.at)
		w.must(err)
		w.look(time.Second)
		w.expect("while another tenant's domain is paused", b, broadcast.Sending, "")
	})
}
