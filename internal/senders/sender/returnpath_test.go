package sender_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// accounts makes the two tenants of the fixture real accounts.
func (c *checker) accounts() {
	c.Helper()
	for slug, to := range map[string]*id.Tenant{"acme": &c.mine, "other": &c.other} {
		made, err := tenant.Create(c.Context(), c.db, slug, slug, "UTC", noon)
		if err != nil {
			c.Fatal(err)
		}
		*to = made.ID
	}
}

func (c *checker) lane(t id.Tenant, name string, kind lane.Type, records ...lane.ReturnPathRecordFields) lane.Config {
	c.Helper()
	f := lane.Fields{Name: &name, Type: &kind, ReturnPath: &records}
	switch kind {
	case lane.SMTP:
		f.Host = new("smtp.relay.example")
	case lane.DirectMX:
		f.IPs = &[]lane.SourceFields{{IP: "192.0.2.1", HELO: "out.acme.example"}}
	}
	made, err := lane.Create(c.Context(), c.db, c.box, t, f, lane.Rules{}, c.now)
	if err != nil {
		c.Fatal(err)
	}
	return made
}

func (c *checker) activate(l lane.Config, active bool) {
	c.Helper()
	if _, err := lane.Update(c.Context(), c.db, c.box, l.Tenant, l.ID, lane.Fields{Active: &active}, lane.Rules{}, c.now); err != nil {
		c.Fatal(err)
	}
}

// returnPath returns the records of the return path of a domain, as they are stored.
func (c *checker) returnPath(d sender.Domain) (list []sender.Record) {
	c.Helper()
	bounces, err := sender.ReturnPathOf(c.Context(), c.db, d.Tenant)
	if err != nil {
		c.Fatal(err)
	}
	stored, err := sender.DomainByID(c.Context(), c.db, d.Tenant, d.ID)
	if err != nil {
		c.Fatal(err)
	}
	for _, r := range stored.Records(boat, bounces) {
		if strings.HasPrefix(r.Purpose, "return_path") {
			list = append(list, r)
		}
	}
	return list
}

// lines returns records in a short form, with their statuses.
func lines(list []sender.Record) (out []string) {
	for _, r := range list {
		out = append(out, strings.Join([]string{r.Purpose, r.Host, r.Type, r.Value, string(r.Status)}, " "))
	}
	return out
}

var ours = []string{"return_path bounce.acme.example MX mx.boat.example", "return_path_spf bounce.acme.example TXT v=spf1 include:spf.boat.example -all"}

func withStatus(status string, list ...string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] += " " + status
	}
	return out
}

// TestBouncesComeBackToTheRelay verifies a domain by our records, then by those of its relay.
func TestBouncesComeBackToTheRelay(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		c.accounts()
		d, theirs := c.domain(c.mine, "acme.example", ""), c.domain(c.other, "acme.example", "")
		check := func(when string, want ...string) {
			h.Helper()
			if diff := gocmp.Diff(want, lines(c.returnPath(d))); diff != "" {
				h.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		relay := []string{"return_path bounce.acme.example MX feedback.relay.example", "return_path_spf bounce.acme.example TXT v=spf1 include:relay.example ~all"}

		c.lane(c.mine, "Sink", lane.Sink)
		c.publish(required(d)...)
		if d = c.verify(d); d.Status != sender.Verified {
			h.Fatalf("with our records: %+v", d)
		}
		check("with our records", withStatus("ok", ours...)...)

		ses := c.lane(c.mine, "Relay", lane.SMTP,
			lane.ReturnPathRecordFields{Type: "MX", Value: "feedback.relay.example"}, lane.ReturnPathRecordFields{Type: "TXT", Value: "v=spf1 include:relay.example ~all"})
		check("before the first check", withStatus("missing", relay...)...)
		if note := c.returnPath(d)[0].Note; !strings.Contains(note, "Relay") {
			h.Errorf("the note is %q", note)
		}
		d = c.verify(d)
		check("with the wrong records", withStatus("invalid", relay...)...)
		if r := c.returnPath(d)[0]; d.Status != sender.Verified || d.FailingSince == nil || !strings.Contains(r.Problem, "mx.boat.example") || r.Found != "10 mx.boat.example" {
			h.Errorf("with the wrong records: %+v, %+v", d, r)
		}
		c.zone.Remove("bounce.acme.example")
		d = c.verify(d)
		check("without records", withStatus("missing", relay...)...)
		c.zone.Add(h, "bounce.acme.example. 60 IN MX 10 feedback.relay.example.", `bounce.acme.example. 60 IN TXT "v=spf1 include:relay.example ~all"`, `relay.example. 60 IN TXT "v=spf1 ip4:192.0.2.0/24 -all"`)
		d = c.verify(d)
		check("with the relay's records", withStatus("ok", relay...)...)
		if d.Status != sender.Verified || d.FailingSince != nil {
			h.Errorf("with the relay's records: %+v", d)
		}

		c.activate(ses, false)
		check("after the relay was switched off", withStatus("missing", ours...)...)
		d = c.verify(d)
		check("after the relay was switched off and a check", withStatus("invalid", ours...)...)
		c.now = c.now.Add(73 * time.Hour)
		if d = c.verify(d); d.Status != sender.Failed || !d.Paused {
			h.Errorf("73 hours after the relay was switched off: %+v", d)
		}
		c.activate(ses, true)
		if d = c.verify(d); d.Status != sender.Verified || d.Paused {
			h.Errorf("with the relay again: %+v", d)
		}
		c.lane(c.mine, "Own", lane.DirectMX)
		check("with direct delivery too", withStatus("missing", ours...)...)

		if got := lines(c.returnPath(theirs)); !slices.Equal(got, withStatus("missing", ours...)) {
			h.Errorf("the other tenant's records: %v", got)
		}
	})
}

// TestARelayMayNeedOtherHosts gives a relay records at hosts of one domain; the tenant's other domain keeps
// ours.
func TestARelayMayNeedOtherHosts(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		c.accounts()
		d, second := c.domain(c.mine, "acme.example", ""), c.domain(c.mine, "notacme.example", "")
		c.lane(c.mine, "Relay", lane.SMTP,
			lane.ReturnPathRecordFields{Type: "CNAME", Host: "em1.acme.example", Value: "u1.relay.example"},
			lane.ReturnPathRecordFields{Type: "TXT", Host: "acme.example", Value: "relay-token=1"},
			lane.ReturnPathRecordFields{Type: "MX", Host: "in.acme.example", Value: "mx1.relay.example", Priority: new(10)},
			lane.ReturnPathRecordFields{Type: "MX", Host: "in.acme.example", Value: "mx2.relay.example", Priority: new(10)})
		c.publish(slices.DeleteFunc(required(d), func(r sender.Record) bool { return r.Purpose != "dkim" })...)
		if d = c.verify(d); d.Status != sender.Pending {
			h.Errorf("without the relay's records: %s", d.Status)
		}
		wanted := []string{
			"return_path em1.acme.example CNAME u1.relay.example", "return_path acme.example TXT relay-token=1",
			"return_path in.acme.example MX mx1.relay.example", "return_path in.acme.example MX mx2.relay.example",
		}
		zone := []string{
			"em1.acme.example. 60 IN CNAME u1.relay.example.", `acme.example. 60 IN TXT "relay-token=1"`,
			"in.acme.example. 60 IN MX 10 mx1.relay.example.", "in.acme.example. 60 IN MX 10 mx2.relay.example.",
		}
		for i, record := range zone {
			c.zone.Add(h, record)
			d = c.verify(d)
			if complete := i == len(zone)-1; (d.Status == sender.Verified) != complete {
				h.Errorf("with %d of %d records: %s", i+1, len(zone), d.Status)
			}
		}
		if diff := gocmp.Diff(withStatus("ok", wanted...), lines(c.returnPath(d))); diff != "" {
			h.Errorf("records (-want +got):\n%s", diff)
		}
		got := lines(c.returnPath(second))
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "notacme", "acme")
		}
		if diff := gocmp.Diff(withStatus("missing", ours...), got); diff != "" {
			h.Errorf("records of the second domain (-want +got):\n%s", diff)
		}
	})
}

// TestTheAccountsLaneDecidesTheReturnPath has three relays, of which the account prefers the last.
func TestTheAccountsLaneDecidesTheReturnPath(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		c.accounts()
		d := c.domain(c.mine, "acme.example", "")
		mx := func(value string) lane.ReturnPathRecordFields {
			return lane.ReturnPathRecordFields{Type: "MX", Value: value}
		}
		c.lane(c.mine, "First", lane.SMTP, mx("first.example"))
		c.now = c.now.Add(time.Second)
		preferred := c.lane(c.mine, "Last", lane.SMTP, mx("last.example"))
		value := func() string { return cmp.Or(c.returnPath(d)[0].Value, "none") }
		if got := value(); got != "first.example" {
			h.Errorf("without a default: %s", got)
		}
		account, err := tenant.ByID(h.Context(), h.db, c.mine)
		if err != nil {
			h.Fatal(err)
		}
		account.Settings.DefaultLane = preferred.ID
		if err := tenant.SaveSettings(h.Context(), h.db, c.mine, account.Name, account.Settings, c.now); err != nil {
			h.Fatal(err)
		}
		if got := value(); got != "last.example" {
			h.Errorf("with a default: %s", got)
		}
	})
}
