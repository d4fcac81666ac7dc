package overview_test

import (
	"fmt"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// A tenant whose active lanes are all mailboxes is on trial. The most serious trouble is named.
func TestStanding(t *testing.T) {
	each(t, func(t *testing.T, s *place) {
		ctx := t.Context()
		of := func(x tenant.Tenant) string {
			t.Helper()
			got, err := s.reader.Standing(ctx, x.ID)
			s.ok(err)
			text := fmt.Sprint("trial ", got.Trial)
			if x := got.Trouble; x != nil {
				text += fmt.Sprintf(", %s %s %s", x.Kind, x.Name, x.State)
			}
			return text
		}
		want := func(want string) {
			t.Helper()
			if got := of(s.mine); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		want("trial false")
		create := func(f lane.Fields) lane.Config {
			t.Helper()
			c, err := lane.Create(ctx, s.db, s.box, s.mine.ID, f, lane.Rules{AllowPrivate: true}, noon)
			s.ok(err)
			return c
		}
		create(lane.Fields{Name: new("Mailbox"), Type: new(lane.Sink)})
		want("trial true")
		relay := create(lane.Fields{Name: new("Relay"), Type: new(lane.SMTP), Host: new("127.0.0.1"), TLS: new(smtpclient.None)})
		want("trial false")
		d, err := sender.CreateDomain(ctx, s.db, s.box, s.mine.ID, sender.DomainDraft{Domain: "example.com"}, noon)
		s.ok(err)
		_, err = sender.ForceVerify(ctx, s.db, s.mine.ID, "example.com", "127.0.0.1:8080", noon)
		s.ok(err)
		_, err = sender.PauseDomain(ctx, s.db, s.mine.ID, d.ID, sender.Pause{Reason: sender.PausedForComplaints}, noon)
		s.ok(err)
		want("trial false, domain example.com paused")
		s.ok(lane.StoreHealth(ctx, s.db, traffic.Lane{Tenant: s.mine.ID, Lane: relay.ID}, lane.Health{State: lane.Healthy}, lane.Health{State: lane.Down, Since: noon}))
		want("trial false, mta Relay down")
		_, err = lane.Update(ctx, s.db, s.box, s.mine.ID, relay.ID, lane.Fields{Active: new(false)}, lane.Rules{AllowPrivate: true}, noon)
		s.ok(err)
		want("trial true, domain example.com paused")
		if got := of(s.other); got != "trial false" {
			t.Errorf("another tenant has %s", got)
		}
	})
}
