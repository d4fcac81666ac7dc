package deliver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/destination"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// direct makes the account's lane one that delivers to the servers of domains.
func (h *house) direct(edits ...func(*lane.Fields)) {
	h.t.Helper()
	h.relay(25, append([]func(*lane.Fields){func(f *lane.Fields) {
		*f = lane.Fields{
			Name: new("Own"), Type: new(lane.DirectMX), MaxConnections: new(8),
			IPs: &[]lane.SourceFields{{IP: "127.0.0.1", HELO: "out.example.net"}},
		}
	}}, edits...)...)
}

func (h *house) directEngine(dns *dnstest.Server, port int) *deliver.Engine {
	e := h.engine()
	e.Router = &directmx.Router{Resolver: dns.Resolver(), Guard: netguard.Guard{AllowPrivate: true}, Port: port, Now: h.now}
	return e
}

func TestMailIsDeliveredToTheServersOfItsDomain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Keep: true, Rules: []sink.Rule{
			{Stage: sink.Rcpt, To: `^c[0-4]@`, Reply: "550 5.1.1 no such user"},
			{Stage: sink.Rcpt, To: `^c7@`, Reply: "451 4.7.1 greylisted, try again later", Times: 1},
		}})
		dns := dnstest.New(t, "example.com. 60 IN MX 10 dead.test.", "example.com. 60 IN MX 20 live.test.",
			"dead.test. 60 IN A 127.0.0.3", "live.test. 60 IN A 127.0.0.2")
		h.direct()
		h.send(40)
		h.run(h.directEngine(dns, s.Port()))
		h.await("the rest is deferred", func(p outbox.Progress) bool {
			h.pass(100 * time.Millisecond)
			return p.Waiting == 1 && p.Deferred == 1
		})
		if peak := s.Stats().Peak; peak > 8 {
			t.Errorf("%d connections at once", peak)
		}
		h.pass(11 * time.Minute)
		h.await("all has ended", func(p outbox.Progress) bool {
			h.pass(100 * time.Millisecond)
			return p.Waiting == 0
		})
		h.sums(outbox.Sums{Total: 40, Sent: 40, Delivered: 35, Bounced: 5})
		for to, n := range arrived(s) {
			if n != 1 {
				t.Errorf("%s got the mail %d times", to, n)
			}
		}
	})
}

// Workers send many messages to a destination over each connection to it, although the messages to ten
// destinations are mixed.
func TestConnectionsAreKeptBetweenMessages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const destinations, each = 10, 40
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0"})
		var zone, domains []string
		for i := range destinations {
			domains = append(domains, fmt.Sprintf("d%d.test", i))
			zone = append(zone, fmt.Sprintf("d%d.test. 60 IN MX 10 mx%d.test.", i, i), fmt.Sprintf("mx%d.test. 60 IN A 127.0.0.2", i))
		}
		dns := dnstest.New(t, zone...)
		h.direct(func(f *lane.Fields) { f.MaxConnections = new(destinations) })
		list := h.AddList("mixed")
		h.readers(list.ID, "r", destinations*each, domains...)
		h.begin(list.ID)
		h.run(h.directEngine(dns, s.Port()))
		h.over()
		h.sums(outbox.Sums{Total: destinations * each, Sent: destinations * each, Delivered: destinations * each})
		if st := s.Stats(); st.Connections > destinations*each/8 || st.Peak > 2*destinations {
			t.Errorf("%d messages took %d connections, at most %d at once", st.Messages, st.Connections, st.Peak)
		}
	})
}

// A destination that takes long for each message gets more connections, but not more than it accepts.
func TestASlowDestinationGetsMoreConnections(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Rules: []sink.Rule{{Stage: sink.Dot, Delay: 100 * time.Millisecond}}})
	dns := dnstest.New(t, "example.com. 60 IN MX 10 mx.test.", "mx.test. 60 IN A 127.0.0.2")
	h.direct(func(f *lane.Fields) { f.MaxConnections = new(30) })
	h.send(150)
	h.run(h.directEngine(dns, s.Port()))
	h.over()
	h.sums(outbox.Sums{Total: 150, Sent: 150, Delivered: 150})
	if peak := s.Stats().Peak; peak < 5 || peak > 10 {
		t.Errorf("%d connections at once, want 5 to 10", peak)
	}
}

// A destination counts the connections from an address, whichever tenants and processes make them.
func TestTenantsAndProcessesShareTheConnectionsOfADestination(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const each, most = 450, 10
		h := newHouse(t, db)
		other := &house{Account: broadcasttest.New(t, db, "other"), t: t, began: h.began}
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Rules: []sink.Rule{{Stage: sink.Dot, Delay: 40 * time.Millisecond}}})
		dns := dnstest.New(t, "example.com. 60 IN MX 10 mx.test.", "mx.test. 60 IN A 127.0.0.2")
		for _, k := range []*house{h, other} {
			k.direct(func(f *lane.Fields) { f.MaxConnections = new(30) })
			k.send(each)
		}
		engines := []*deliver.Engine{h.directEngine(dns, s.Port())}
		if db.Dialect() == sqldb.Postgres {
			engines = append(engines, h.directEngine(dns, s.Port()))
		}
		for _, e := range engines {
			h.run(e)
		}
		for _, k := range []*house{h, other} {
			k.over()
			k.sums(outbox.Sums{Total: each, Sent: each, Delivered: each})
		}
		if peak := s.Stats().Peak; peak < most/2 || peak > most {
			t.Errorf("%d connections at once, want %d to %d", peak, most/2, most)
		}
	})
}

func TestDomainsWithoutServersBounce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		records []string
		wait    time.Duration // until the message may have ended
	}{
		{"null MX", []string{"example.com. 60 IN MX 0 ."}, 0},
		{"no domain, looked up twice", nil, 70 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.One(t))
			h.direct()
			h.send(3)
			h.run(h.directEngine(dnstest.New(t, tt.records...), 25))
			if tt.wait > 0 {
				h.await("all wait for the second look-up", func(p outbox.Progress) bool { return p.Deferred == 3 })
				h.await("it is said what they wait for", func(outbox.Progress) bool {
					p, err := broadcast.LoadProgress(t.Context(), h.DB, h.Load(h.id), h.now())
					h.must(err)
					return p.Limit != nil && p.Limit.Kind == outbox.WaitDNS && p.Limit.Until.After(h.now()) && strings.Contains(p.Limit.Reason, "has no mail server")
				})
				h.pass(30 * time.Minute)
				if p := h.progress(); p.Bounced != 0 {
					t.Errorf("after half an hour: %+v", p.Sums)
				}
				h.pass(tt.wait - 30*time.Minute)
			}
			h.over()
			h.sums(outbox.Sums{Total: 3, Sent: 3, Bounced: 3})
			for _, r := range h.messages() {
				if r.BounceType != "hard" {
					t.Errorf("%s bounced %s", r.Email, r.BounceType)
				}
			}
		})
	}
}

// SES is a stand-in that accepts messages; package ses tests the signatures.
func TestMailIsSentBySES(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newHouse(t, db)
		var n atomic.Int64
		stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in struct {
				Destination struct{ ToAddresses []string }
			}
			_ = json.NewDecoder(r.Body).Decode(&in)
			switch in.Destination.ToAddresses[0] {
			case "c1@example.com":
				w.Header().Set("X-Amzn-Errortype", "MessageRejected")
				w.WriteHeader(400)
				fmt.Fprint(w, `{"message": "the message contains a virus"}`)
			case "c2@example.com":
				if n.Add(1) == 1 {
					w.Header().Set("X-Amzn-Errortype", "TooManyRequestsException")
					w.WriteHeader(429)
					fmt.Fprint(w, `{"message": "Maximum sending rate exceeded."}`)
					return
				}
				fallthrough
			default:
				fmt.Fprintf(w, `{"MessageId": "ses-%s"}`, in.Destination.ToAddresses[0])
			}
		}))
		t.Cleanup(stand.Close)
		h.relay(25, func(f *lane.Fields) {
			*f = lane.Fields{
				Name: new("SES"), Type: new(lane.SES), Region: new("eu-west-1"), MaxConnections: new(4),
				AccessKeyID: new("AKIAIOSFODNN7EXAMPLE"), SecretAccessKey: new("secret"),
			}
		})
		h.send(10)
		e := h.engine()
		e.SESEndpoint = stand.URL
		h.run(e)
		h.await("one is deferred", func(p outbox.Progress) bool { return p.Waiting == 1 && p.Deferred == 1 })
		h.pass(6 * time.Minute)
		h.over()
		h.sums(outbox.Sums{Total: 10, Sent: 10, Delivered: 9, Bounced: 1})
		found, err := outbox.ByProviderIDs(t.Context(), db, h.Tenant, h.Lane.ID, []string{"ses-c0@example.com", "ses-c2@example.com", "ses-c1@example.com"})
		h.must(err)
		other, err := outbox.ByProviderIDs(t.Context(), db, h.Tenant+1, h.Lane.ID, []string{"ses-c0@example.com"})
		h.must(err)
		var zero id.Message
		if len(found) != 2 || found["ses-c0@example.com"] == zero || len(other) != 0 {
			t.Errorf("messages by the ids of SES: %v; of another tenant: %v", found, other)
		}
		for _, r := range h.messages() {
			if r.State != outbox.Sent && r.State != outbox.Bounced {
				t.Errorf("%s is %s", r.Email, r.State)
			}
		}
	})
}

// policy is an MTA-STS policy that a test changes.
type policy struct{ atomic.Pointer[mtasts.Policy] }

func (p *policy) Policy(context.Context, string) (mtasts.Policy, bool, error) {
	found := p.Load()
	return *found, found.Mode != "", nil
}

func TestMailWaitsUntilThePolicyOfItsDomainIsSatisfied(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", STARTTLS: true})
	dns := dnstest.New(t, "example.com. 60 IN MX 10 mx.test.", "mx.test. 60 IN A 127.0.0.2")
	var p policy
	p.Store(&mtasts.Policy{Mode: mtasts.Enforce, Hosts: []string{"mx.test"}}) // its certificate is for another name
	h.direct()
	h.send(6)
	e := h.directEngine(dns, s.Port())
	e.Router.Policies = &p
	h.run(e)
	h.await("all are deferred", func(p outbox.Progress) bool { return p.Deferred == 6 })
	if n := s.Stats().Messages; n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	p.Store(&mtasts.Policy{})
	h.pass(6 * time.Minute)
	h.over()
	h.sums(outbox.Sums{Total: 6, Sent: 6, Delivered: 6})
}

func TestServersThatDemandEncryptionGetIt(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{"530 5.7.0 Must issue a STARTTLS command first", "550 5.7.10 encryption required"} {
		h := newHouse(t, dbtest.One(t))
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Without: []string{"PIPELINING"}, Rules: []sink.Rule{{Stage: sink.Mail, Reply: refusal}}})
		dns := dnstest.New(t, "example.com. 60 IN MX 10 mx.test.", "mx.test. 60 IN A 127.0.0.2")
		h.direct(func(f *lane.Fields) { f.MaxConnections = new(1) })
		h.send(3)
		h.run(h.directEngine(dns, s.Port()))
		h.await("all are deferred", func(p outbox.Progress) bool { return p.Deferred == 3 })
		if n := s.Stats().Refused; n != 1 { // the others fail before MAIL, since STARTTLS is not offered
			t.Errorf("%s: %d messages were offered in clear, want 1", refusal, n)
		}
	}
}

// A provider that limits rates says nothing about the message, so its pauses stay short.
func TestPausesDoNotGrowWhileAProviderLimitsRates(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.One(t))
	const times = 5
	s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0", Rules: []sink.Rule{
		{Stage: sink.Mail, Reply: "421 4.7.28 our system has detected an unusual rate of mail", Times: times},
	}})
	dns := dnstest.New(t, "example.com. 60 IN MX 10 mx.test.", "mx.test. 60 IN A 127.0.0.2")
	h.direct()
	h.send(1)
	h.run(h.directEngine(dns, s.Port()))
	for n := range times {
		h.await("deferred once more", func(p outbox.Progress) bool { return p.Deferred == 1 && h.messages()[0].Attempts == n+1 })
		h.pass(11 * time.Minute)
	}
	h.over()
	h.sums(outbox.Sums{Total: 1, Sent: 1, Delivered: 1})
}

// The recipients at a provider that asked to wait are first in the order of the send, and more than a batch.
func TestASuspendedProviderDelaysOnlyItsOwnRecipients(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const big, small = 288, 32
		h := newHouse(t, db)
		s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0"})
		dns := dnstest.New(t, "big.test. 60 IN MX 10 mx.big.test.", "mx.big.test. 60 IN A 127.0.0.2",
			"small.test. 60 IN MX 10 mx.small.test.", "mx.small.test. 60 IN A 127.0.0.2")
		h.direct()
		list := h.AddList("mixed")
		h.readers(list.ID, "b", big, "big.test")
		h.readers(list.ID, "s", small, "small.test")
		h.begin(list.ID)
		dest := destination.Key{Source: netip.MustParseAddr("127.0.0.1"), Name: "mx.big.test"}
		h.must(destination.Save(t.Context(), db, []destination.State{{Key: dest, Suspended: h.now().Add(2 * time.Hour), Reason: "asked to wait"}}, h.now()))
		h.run(h.directEngine(dns, s.Port()))
		h.await("the others have got their mail", func(p outbox.Progress) bool { return p.Delivered == small })
		for _, r := range h.messages() {
			if big := strings.HasSuffix(r.Email, "@big.test"); big != (r.State == outbox.Queued) {
				t.Fatalf("%s is %s", r.Email, r.State)
			}
		}
		h.pass(2*time.Hour + time.Minute)
		h.await("its own recipients get their turn", func(p outbox.Progress) bool {
			h.pass(100 * time.Millisecond)
			return p.Waiting == 0
		})
		h.sums(outbox.Sums{Total: big + small, Sent: big + small, Delivered: big + small})
	})
}
