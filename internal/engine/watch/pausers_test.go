package watch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// fakePauser records its calls, and returns what the test sets.
type fakePauser struct {
	calls     []map[id.Tenant]bool
	downSince time.Time
	paused    []outbox.PausedSend
	err       error
}

func (p *fakePauser) PauseStuck(_ context.Context, _ *sqldb.DB, tenants map[id.Tenant]bool, downSince, _ time.Time) ([]outbox.PausedSend, error) {
	p.calls, p.downSince = append(p.calls, tenants), downSince
	return p.paused, p.err
}

func TestEveryPauserIsCalledForAffectedTenants(t *testing.T) {
	each(t, func(w *fixture) {
		other := broadcasttest.New(w.t, w.DB, "other")
		failing := &fakePauser{
			err:    errors.New("one send cannot be paused"),
			paused: []outbox.PausedSend{{Tenant: w.Tenant, Kind: "sequence", ID: "s1", Reason: "domain_paused"}},
		}
		last := &fakePauser{}
		w.watch.Pausers = []outbox.Pauser{failing, broadcast.Pauser(), last}
		w.AddContacts(w.List.ID, "c", 1)
		b := w.startBroadcast()
		w.tickAfter(time.Second)
		if len(failing.calls)+len(last.calls) != 0 {
			w.t.Errorf("called while nothing is wrong: %v, %v", failing.calls, last.calls)
		}

		_, err := sender.PauseDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.now)
		w.must(err)
		w.now = w.now.Add(time.Second)
		if _, err := w.watch.Tick(w.t.Context()); !errors.Is(err, failing.err) {
			w.t.Errorf("Tick = %v, want the error of the first pauser", err)
		}
		for i, p := range []*fakePauser{failing, last} {
			if len(p.calls) != 1 || !p.calls[0][w.Tenant] || p.calls[0][other.Tenant] {
				w.t.Errorf("pauser %d was called with tenants %v, want one call with %s alone", i, p.calls, w.Tenant)
			}
			if want := w.now.Add(-10 * time.Minute); !p.downSince.Equal(want) {
				w.t.Errorf("pauser %d: lanes must be down since %s, want %s", i, p.downSince, want)
			}
		}
		w.wantStatus("after the pauser before it failed", b, broadcast.Paused, broadcast.DomainPaused)
		for _, want := range []string{"kind=sequence id=s1 reason=domain_paused", "kind=broadcast id=" + b.String() + " reason=domain_paused"} {
			if !strings.Contains(w.log.String(), want) {
				w.t.Errorf("the log does not say %q:\n%s", want, w.log.String())
			}
		}
	})
}

func TestOtherTenantsBroadcastsAreNotPaused(t *testing.T) {
	each(t, func(w *fixture) {
		w.AddContacts(w.List.ID, "c", 1)
		b := w.startBroadcast()
		other := broadcasttest.New(w.t, w.DB, "other")
		paused, err := broadcast.Pauser().PauseStuck(w.t.Context(), w.DB, map[id.Tenant]bool{other.Tenant: true}, w.now, w.now)
		if len(paused) != 0 || err != nil {
			w.t.Errorf("PauseStuck = %v, %v", paused, err)
		}
		_, err = sender.PauseDomain(w.t.Context(), w.DB, other.Tenant, other.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.now)
		w.must(err)
		w.tickAfter(time.Second)
		w.wantStatus("while another tenant's domain is paused", b, broadcast.Sending, "")
	})
}
