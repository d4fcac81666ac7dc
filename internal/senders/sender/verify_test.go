package sender_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

var boat = sender.Hosts{MX: "mx.boat.example", SPF: "spf.boat.example", Track: "track.boat.example"}

// checker is a fixture with a name server, a server for tracked links, and a clock.
type checker struct {
	fixture
	*sender.Verifier
	zone *dnstest.Server
	now  time.Time
}

func newChecker(h fixture) *checker {
	c := &checker{fixture: h, zone: dnstest.New(h, "track.boat.example. 60 IN A 192.0.2.1"), now: noon}
	c.Verifier = &sender.Verifier{
		DB: h.db, DNS: dnscheck.NewResolver(c.zone.Addr), Hosts: boat, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return c.now },
		Tracking: newTracking(h, h.box, "go.acme.example").pinger(h.box),
	}
	return c
}

// tracking is a server of tracked links with a certificate for some hosts.
type tracking struct{ *httptest.Server }

func newTracking(t testing.TB, box *secret.Box, hosts ...string) tracking {
	nonce := sender.NewNonce(box)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.Host, "redirects."):
			http.Redirect(w, r, "https://go.acme.example"+r.RequestURI, http.StatusFound)
		case strings.HasPrefix(r.Host, "other."):
			_, _ = io.WriteString(w, strings.Repeat("hello ", 1000))
		case slices.Contains(hosts, r.Host) && r.URL.Path == sender.PingPath:
			_, _ = io.WriteString(w, nonce.Answer(r.URL.Query().Get("challenge"))+"\n")
		default:
			http.NotFound(w, r)
		}
	}))
	s.StartTLS()
	t.Cleanup(s.Close)
	return tracking{s}
}

// pinger returns a Pinger for which every name leads to the server, whose certificate is for
// example.com only: so it must not be verified.
func (s tracking) pinger(box *secret.Box) *sender.Pinger {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, s.Listener.Addr().String())
	}
	return sender.NewPinger(sender.NewNonce(box), "https", nil, netguard.Guard{}, transport)
}

func (c *checker) verify(d sender.Domain) sender.Domain {
	c.Helper()
	got, err := c.Verify(c.Context(), d.Tenant, d.ID)
	if err != nil {
		c.Fatalf("Verify: %v", err)
	}
	stored, err := sender.DomainByID(c.Context(), c.db, d.Tenant, d.ID)
	if err != nil || stored.Status != got.Status || stored.TrackingStatus != got.TrackingStatus || stored.Paused != got.Paused || stored.DKIMSelector != got.DKIMSelector || len(stored.Keys) != len(got.Keys) {
		c.Errorf("Verify = %+v; stored is %+v, %v", got, stored, err)
	}
	return got
}

// publish publishes what a record asks for.
func (c *checker) publish(records ...sender.Record) {
	for _, r := range records {
		value := r.Value
		switch r.Type {
		case "TXT":
			value = `"` + value[:min(len(value), 200)] + `" "` + value[min(len(value), 200):] + `"`
		case "MX":
			value = "10 " + value + "."
		case "CNAME":
			value += "."
		}
		c.zone.Add(c.T, r.Host+". 60 IN "+r.Type+" "+value)
	}
}

func required(d sender.Domain) (list []sender.Record) {
	for _, r := range d.Records(boat, lane.ReturnPath{}) {
		if r.Required {
			list = append(list, r)
		}
	}
	return list
}

func recordOf(d sender.Domain, purpose string) sender.Record {
	for _, r := range d.Records(boat, lane.ReturnPath{}) {
		if r.Purpose == purpose {
			return r
		}
	}
	return sender.Record{}
}

// entries returns the types of the tenant's entries in the journal.
func (c *checker) entries(t id.Tenant) (types []string) {
	c.Helper()
	rows, err := c.db.Query(c.Context(), `SELECT type FROM journal WHERE tenant_id = $1 ORDER BY pos`, t)
	types, err = sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) {
		err = scan(&s)
		return s, err
	})
	if err != nil {
		c.Fatal(err)
	}
	return types
}

// TestLifeOfADomain publishes records, loses them and publishes them again.
func TestLifeOfADomain(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		d := h.domain(h.mine, "acme.example", "")
		theirs := h.domain(h.other, "acme.example", "")

		d = c.verify(d)
		if d.Status != sender.Pending || d.TrackingStatus != sender.Pending || d.FailingSince == nil || d.LastCheckedAt == nil {
			h.Errorf("without records: %+v", d)
		}
		for _, r := range d.Records(boat, lane.ReturnPath{}) {
			if r.Status != "missing" || r.Found != "" || r.CheckedAt == nil {
				h.Errorf("without records: %+v", r)
			}
		}

		c.publish(required(d)...)
		d = c.verify(d)
		if d.Status != sender.Verified || d.VerifiedBy != sender.ByDNS || d.VerifiedAt == nil || !d.TrackingLive || d.FailingSince != nil || d.DMARCPolicy != "" {
			h.Errorf("with all records: %+v", d)
		}
		if r := recordOf(d, "return_path"); r.Status != "ok" || r.Found != "10 mx.boat.example" {
			h.Errorf("return path: %+v", r)
		}
		c.zone.Add(h, `_dmarc.acme.example. 60 IN TXT "v=DMARC1; p=quarantine"`)
		if d = c.verify(d); d.DMARCPolicy != "quarantine" {
			h.Errorf("policy = %q", d.DMARCPolicy)
		}
		if other := c.verify(theirs); other.Status != sender.Pending || !strings.Contains(recordOf(other, "dkim").Problem, "another key") {
			h.Errorf("another tenant's domain with the same name: %s, %+v", other.Status, recordOf(other, "dkim"))
		}

		lost := "bounce.acme.example"
		c.zone.Fail(lost, dns.RcodeServerFailure)
		for range 5 { // neither the time nor the number of failed queries matters
			c.now = c.now.Add(100 * time.Hour)
			if d = c.verify(d); d.Status != sender.Verified || d.FailingSince != nil || recordOf(d, "return_path").Status != "ok" || !strings.Contains(recordOf(d, "return_path").Problem, "did not answer") {
				h.Fatalf("while the DNS fails: %+v", d)
			}
		}
		c.zone.Remove(lost)
		for _, after := range []time.Duration{0, time.Hour, 72*time.Hour - time.Second} {
			start := c.now
			if after > 0 {
				start = *d.FailingSince
			}
			c.now = start.Add(after)
			if d = c.verify(d); d.Status != sender.Verified || d.Paused || d.FailingSince == nil {
				h.Fatalf("%s after the loss: %+v", after, d)
			}
		}
		c.now = d.FailingSince.Add(72 * time.Hour)
		if d = c.verify(d); d.Status != sender.Failed || !d.Paused || d.PauseReason != string(sender.PausedForDNS) {
			h.Fatalf("72 hours after the loss: %+v", d)
		}
		if _, err := sender.ResumeDomain(h.Context(), h.db, h.mine, d.ID, c.now); !errors.Is(err, sender.ErrDNSLost) {
			h.Errorf("ResumeDomain while the records are missing: %v", err)
		}
		c.verify(d)
		for _, r := range required(d) {
			if r.Host == lost {
				c.publish(r)
			}
		}
		if d = c.verify(d); d.Status != sender.Verified || d.Paused || d.PauseReason != "" {
			h.Errorf("after the records are back: %+v", d)
		}
		if got, want := c.entries(h.mine), []string{"domain_verified", "domain_failed", "domain_paused", "domain_verified"}; !slices.Equal(got, want) {
			h.Errorf("journal = %v; want %v", got, want)
		}
		if got := c.entries(h.other); len(got) != 0 {
			h.Errorf("journal of the other tenant = %v", got)
		}
	})
}

func TestOtherPausesStay(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		d := h.domain(h.mine, "acme.example", "")
		c.publish(required(d)...)
		d = c.verify(d)
		if _, err := sender.PauseDomain(h.Context(), h.db, h.mine, d.ID, sender.Pause{Reason: sender.PausedForComplaints}, c.now); err != nil {
			h.Fatal(err)
		}
		c.zone.Remove("bounce.acme.example")
		c.verify(d)
		c.now = c.now.Add(80 * time.Hour)
		d = c.verify(d)
		if d.Status != sender.Failed || d.PauseReason != string(sender.PausedForComplaints) {
			h.Errorf("a paused domain that fails: %+v", d)
		}
		c.publish(required(d)[1:3]...)
		if d = c.verify(d); d.Status != sender.Verified || !d.Paused {
			h.Errorf("a paused domain whose records are back: %+v", d)
		}
	})
}

func TestTheOperatorsWordStands(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		d := h.domain(h.mine, "acme.example", "127.0.0.1:8080")
		for range 4 {
			c.now = c.now.Add(50 * time.Hour)
			d = c.verify(d)
		}
		if d.Status != sender.Verified || d.VerifiedBy != sender.ByOperator || !d.TrackingLive || d.Paused || d.FailingSince != nil || recordOf(d, "dkim").Status != "missing" {
			h.Errorf("after four checks without records: %+v", d)
		}
	})
}

// TestTrackingHost checks that links need both the DNS and this installation's answer, and what
// happens when they are lost.
func TestTrackingHost(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		d := h.domain(h.mine, "acme.example", "")
		c.publish(recordOf(d, "tracking"))
		answering := c.Tracking
		other, err := secret.NewBox(slices.Repeat([]byte{7}, secret.KeyBytes))
		if err != nil {
			h.Fatal(err)
		}
		c.Tracking = newTracking(h, other, "go.acme.example").pinger(h.box)
		if d = c.verify(d); d.TrackingLive || !strings.Contains(recordOf(d, "tracking").Problem, "another server") || recordOf(d, "tracking").Status != "ok" {
			h.Errorf("a server with another key: %+v", recordOf(d, "tracking"))
		}
		if serves, err := sender.ServesHost(h.Context(), h.db, "go.acme.example"); err != nil || !serves {
			h.Errorf("ServesHost of a name that leads here = %t, %v", serves, err)
		}
		c.Tracking = answering
		if d = c.verify(d); !d.TrackingLive {
			h.Errorf("a server that answers: %s", d.TrackingStatus)
		}
		c.zone.Remove("go.acme.example")
		if d = c.verify(d); !d.TrackingLive {
			h.Errorf("the first failed check: %s", d.TrackingStatus)
		}
		c.now = c.now.Add(2 * time.Hour)
		if d = c.verify(d); d.TrackingStatus != sender.Failed {
			h.Errorf("after two hours: %s", d.TrackingStatus)
		}
		c.publish(recordOf(d, "tracking"))
		if d = c.verify(d); d.TrackingStatus != sender.Live {
			h.Errorf("after the record is back: %s", d.TrackingStatus)
		}
		if err := sender.DeleteDomain(h.Context(), h.db, h.mine, d.ID); err != nil {
			h.Fatal(err)
		}
		for host, want := range map[string]bool{"go.acme.example": true, "acme.example": false, "go.nobody.example": false} {
			if serves, err := sender.ServesHost(h.Context(), h.db, host); err != nil || serves != want {
				h.Errorf("ServesHost(%s) after the domain was deleted = %t, %v; want %t", host, serves, err, want)
			}
		}
	})
}

func TestPinger(t *testing.T) {
	t.Parallel()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	server := newTracking(t, box, "go.acme.example")
	p := server.pinger(box)
	for host, problem := range map[string]string{
		"go.acme.example": "", "redirects.acme.example": "redirects", "other.acme.example": "another server", "none.acme.example": "status 404",
	} {
		if got := p.Problem(t.Context(), host); !strings.Contains(got, problem) || problem == "" && got != "" {
			t.Errorf("Problem(%s) = %q; want %q", host, got, problem)
		}
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	guarded := sender.NewPinger(sender.NewNonce(box), "https", nil, netguard.Guard{}, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}})
	if got := guarded.Problem(t.Context(), server.Listener.Addr().String()); !strings.Contains(got, "not public") {
		t.Errorf("a host on loopback: %q", got)
	}
	allowed := sender.NewPinger(sender.NewNonce(box), "https", nil, netguard.Guard{AllowPrivate: true}, nil)
	if got := allowed.Problem(t.Context(), server.Listener.Addr().String()); !strings.Contains(got, "certificate") {
		t.Errorf("a certificate of an unknown authority: %q", got)
	}
}

// TestRotation replaces both keys of a domain and checks at each step which keys sign, and which
// records the owner is told to have.
func TestRotation(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		ctx := h.Context()
		d := h.domain(h.mine, "acme.example", "")
		c.publish(required(d)...)
		c.publish(recordOf(d, "dkim_ed25519"))
		d = c.verify(d)
		signing := func(want ...string) {
			h.Helper()
			k, err := sender.OpenKeys(ctx, h.db, h.box, h.mine, d.ID)
			got := []string{k.Selector}
			if k.Ed25519 != nil {
				got = append(got, k.Ed25519Selector)
			}
			if err != nil || !slices.Equal(got, want) || d.DKIMSelector != want[0] {
				h.Errorf("keys that sign: %v, %v; want %v", got, err, want)
			}
		}
		hosts := func(want ...string) {
			h.Helper()
			var got []string
			for _, r := range d.Records(boat, lane.ReturnPath{}) {
				if strings.HasPrefix(r.Purpose, "dkim") {
					got = append(got, strings.TrimSuffix(r.Host, "._domainkey.acme.example"))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				h.Errorf("records of keys: %v; want %v", got, want)
			}
		}
		signing("es1", "ed1")
		hosts("ed1", "es1")

		next, err := sender.PrepareRotation(h.box, h.mine, d.ID)
		if err == nil {
			d, err = next.Save(ctx, h.db, c.now)
		}
		if err != nil {
			h.Fatal(err)
		}
		if _, err := next.Save(ctx, h.db, c.now); !errors.Is(err, sender.ErrRotating) {
			h.Errorf("a second rotation: %v", err)
		}
		if f, _ := fault.As(err); f != nil {
			h.Errorf("unexpected fault: %v", f)
		}
		foreign, err := sender.PrepareRotation(h.box, h.other, d.ID)
		if err != nil {
			h.Fatal(err)
		}
		if _, err := foreign.Save(ctx, h.db, c.now); !errors.Is(err, sender.ErrDomainNotFound) {
			h.Errorf("a rotation by another tenant: %v", err)
		}
		d = c.verify(d)
		signing("es1", "ed1")
		hosts("ed1", "ed2", "es1", "es2")
		if r, ok := d.Rotation(); !ok || r.NextSelector != "es2" || r.RetiredSelector != "" {
			h.Errorf("Rotation = %+v, %t", r, ok)
		}

		for _, r := range d.Records(boat, lane.ReturnPath{}) {
			if r.Host == "es2._domainkey.acme.example" || r.Host == "ed2._domainkey.acme.example" {
				c.publish(r)
			}
		}
		c.now = c.now.Add(time.Hour)
		switched := c.now
		d = c.verify(d)
		signing("es2", "ed2")
		hosts("ed1", "ed2", "es1", "es2")
		if r, ok := d.Rotation(); !ok || r.NextSelector != "" || r.RetiredSelector != "es1" || !r.RetireAt.Equal(switched.Add(7*24*time.Hour)) {
			h.Errorf("Rotation = %+v, %t", r, ok)
		}
		if d.Status != sender.Verified || recordOf(d, "dkim").Host != "es2._domainkey.acme.example" || !recordOf(d, "dkim").Required {
			h.Errorf("after the switch: %+v", d)
		}

		c.now = switched.Add(7*24*time.Hour - time.Second)
		d = c.verify(d)
		hosts("ed1", "ed2", "es1", "es2")
		c.now = switched.Add(7 * 24 * time.Hour)
		d = c.verify(d)
		hosts("ed2", "es2")
		if r, ok := d.Rotation(); ok {
			h.Errorf("Rotation = %+v after its end", r)
		}

		c.zone.Remove("ed2._domainkey.acme.example")
		if d = c.verify(d); d.Status != sender.Verified {
			h.Errorf("without the optional key: %s", d.Status)
		}
		signing("es2")
		if next, err = sender.PrepareRotation(h.box, h.mine, d.ID); err == nil {
			d, err = next.Save(ctx, h.db, c.now)
		}
		if err != nil {
			h.Fatal(err)
		}
		hosts("ed3", "es2", "es3")
	})
}

// TestEveryDomainIsChecked runs several verifiers at once over domains of two tenants, of which some
// cannot be checked, and counts the checks.
func TestEveryDomainIsChecked(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		c := newChecker(h)
		var all []sender.Domain
		for i := range 6 {
			name := string(rune('a'+i)) + ".example"
			all = append(all, h.domain(h.mine, name, ""), h.domain(h.other, name, ""))
		}
		c.zone.Fail("es1._domainkey.a.example", dns.RcodeServerFailure)
		if _, err := c.Tick(h.Context()); err != nil {
			h.Fatal(err)
		}
		if n := c.zone.Queries("MX", "bounce.b.example"); n != 0 {
			h.Errorf("%d queries before the domain is a minute old", n)
		}
		c.now = c.now.Add(time.Minute)
		var together sync.WaitGroup
		for range 3 {
			together.Go(func() {
				for more := true; more; {
					var err error
					if more, err = c.Tick(h.Context()); err != nil {
						h.Errorf("Tick: %v", err)
					}
				}
			})
		}
		together.Wait()
		for _, d := range all {
			got, err := sender.DomainByID(h.Context(), h.db, d.Tenant, d.ID)
			if err != nil || got.LastCheckedAt == nil || !got.LastCheckedAt.Equal(c.now) || !got.NextCheckAt.Equal(c.now.Add(time.Minute)) {
				h.Errorf("%s: checked at %v, next at %v, %v", d.Name, got.LastCheckedAt, got.NextCheckAt, err)
			}
		}
		// Each name is asked for by both tenants; a missing record is looked for at another name.
		if n := c.zone.Queries("MX", "bounce.b.example"); n != 2 {
			h.Errorf("%d queries for a record of two domains", n)
		}
		for range 8 {
			c.now = c.now.Add(24 * time.Hour)
			if _, err := c.Tick(h.Context()); err != nil {
				h.Fatal(err)
			}
		}
		got, err := sender.DomainByID(h.Context(), h.db, h.mine, all[0].ID)
		if wait := got.NextCheckAt.Sub(c.now); err != nil || wait > time.Hour || wait < 57*time.Minute {
			h.Errorf("an old domain is checked again after %s, %v", wait, err)
		}
	})
}
