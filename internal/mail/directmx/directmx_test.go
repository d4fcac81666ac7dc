package directmx_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

func newRouter(dns *dnstest.Server, port int, private bool) *directmx.Router {
	return &directmx.Router{Resolver: dns.Resolver(), Guard: netguard.Guard{AllowPrivate: private}, Port: port, Now: time.Now}
}

func loopback(mode smtpclient.TLSMode) directmx.From {
	return directmx.From{Sources: []directmx.Source{{IP: netip.MustParseAddr("127.0.0.1"), HELO: "out.example.net"}}, TLS: mode}
}

// dial returns the address of the server that a domain's mail goes to, or the outcome of the failure.
func dial(t *testing.T, r *directmx.Router, domain string, mode smtpclient.TLSMode) (string, reply.Outcome) {
	t.Helper()
	route, err := r.Route(t.Context(), domain)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := r.Dial(t.Context(), route, loopback(mode))
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		return "", d.Outcome
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Quit()
	o, err := conn.Send(t.Context(), smtpclient.Envelope{From: "a@example.net", To: "b@" + domain}, []byte("Subject: x\r\n\r\ny\r\n"))
	if err != nil || !o.Accepted {
		t.Fatalf("Send = %+v, %v", o, err)
	}
	return conn.Remote(), o
}

func TestServersAreTriedInTheOrderOfTheirPreference(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Addr: "127.0.0.2:0"})
	dns := dnstest.New(t,
		"one.test. 60 IN MX 30 last.test.", "one.test. 60 IN MX 20 good.test.", "one.test. 60 IN MX 10 dead.test.", "one.test. 60 IN MX 5 gone.test.",
		"good.test. 60 IN A 127.0.0.2", "dead.test. 60 IN A 127.0.0.3", "last.test. 60 IN A 127.0.0.4",
		"implicit.test. 60 IN A 127.0.0.2",
		"dead-only.test. 60 IN MX 0 dead.test.",
		"nowhere.test. 60 IN MX 0 gone.test.",
	)
	r := newRouter(dns, s.Port(), true)
	for _, domain := range []string{"one.test", "implicit.test"} {
		if at, o := dial(t, r, domain, smtpclient.Opportunistic); at != s.Addr() {
			t.Errorf("mail for %s went to %q: %+v", domain, at, o)
		}
	}
	for _, domain := range []string{"dead-only.test", "nowhere.test"} {
		if at, o := dial(t, r, domain, smtpclient.Opportunistic); at != "" || reply.Classify(o).Class != reply.Lane {
			t.Errorf("mail for %s went to %q: %+v", domain, at, o)
		}
	}
}

func TestAddressesThatAreNotPublicAreNeverConnectedTo(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	dns := dnstest.New(t,
		"loop.test. 60 IN A 127.0.0.1", "private.test. 60 IN MX 1 a.private.test.", "a.private.test. 60 IN A 10.1.2.3",
		"meta.test. 60 IN A 169.254.169.254", "mapped.test. 60 IN AAAA ::ffff:127.0.0.1",
	)
	for _, domain := range []string{"loop.test", "private.test", "meta.test", "mapped.test"} {
		at, o := dial(t, newRouter(dns, s.Port(), false), domain, smtpclient.Opportunistic)
		if v := reply.Classify(o); at != "" || v.Class != reply.Hard || o.Enhanced != "5.1.2" {
			t.Errorf("mail for %s went to %q: %+v is %+v", domain, at, o, v)
		}
	}
	if n := s.Stats().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// Without a source of the family of a server's addresses no attempt can ever succeed: the mail bounces at
// once, softly, since the address is valid, and the reason says what is missing.
func TestServersOfAnotherFamilyAreOutOfReach(t *testing.T) {
	t.Parallel()
	dns := dnstest.New(t,
		"six.test. 60 IN MX 10 a.six.test.", "six.test. 60 IN MX 20 gone.test.", "a.six.test. 60 IN AAAA 2001:4860::1",
		"implicit.test. 60 IN AAAA 2001:4860::1",
		"four.test. 60 IN MX 10 a.four.test.", "a.four.test. 60 IN A 192.88.99.1",
		"nowhere.test. 60 IN MX 0 gone.test.",
		"barred.test. 60 IN MX 10 a.barred.test.", "a.barred.test. 60 IN A 10.1.2.3", "a.barred.test. 60 IN AAAA 2001:4860::1",
	)
	four := directmx.From{Sources: []directmx.Source{{IP: netip.MustParseAddr("127.0.0.1")}}}
	six := directmx.From{Sources: []directmx.Source{{IP: netip.MustParseAddr("::1")}}}
	for _, tt := range []struct {
		domain string
		from   directmx.From
		class  reply.Class
		says   string
	}{
		{"six.test", four, reply.Soft, "only IPv6 addresses"},
		{"implicit.test", four, reply.Soft, "only IPv6 addresses"},
		{"four.test", six, reply.Soft, "only IPv4 addresses"},
		{"nowhere.test", four, reply.Lane, "have no address"},
		{"barred.test", four, reply.Hard, "no address that mail may be sent to"},
	} {
		r := newRouter(dns, 25, false)
		route, err := r.Route(t.Context(), tt.domain)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Dial(t.Context(), route, tt.from)
		d, ok := errors.AsType[*smtpclient.DialError](err)
		if !ok {
			t.Errorf("mail for %s: %v", tt.domain, err)
			continue
		}
		if v := reply.Classify(d.Outcome); v.Class != tt.class || !strings.Contains(d.Outcome.Text, tt.says) {
			t.Errorf("mail for %s: %+v is %+v", tt.domain, d.Outcome, v)
		}
	}
}

func TestTLSPolicies(t *testing.T) {
	t.Parallel()
	dns := dnstest.New(t, "a.test. 60 IN A 127.0.0.1")
	plain, offering := sink.Start(t, sink.Options{}), sink.Start(t, sink.Options{STARTTLS: true})
	for _, tt := range []struct {
		server    *sink.Server
		mode      smtpclient.TLSMode
		delivered bool
		encrypted bool
	}{
		{plain, smtpclient.Opportunistic, true, false},
		{plain, smtpclient.Required, false, false},
		{offering, smtpclient.Opportunistic, true, true}, // although nobody vouches for its certificate
		{offering, smtpclient.Required, true, true},
	} {
		at, o := dial(t, newRouter(dns, tt.server.Port(), true), "a.test", tt.mode)
		if (at != "") != tt.delivered || o.TLS != tt.encrypted {
			t.Errorf("%s: delivered to %q, %+v; want delivered %t, encrypted %t", tt.mode, at, o, tt.delivered, tt.encrypted)
		}
	}
}

func TestBrokenTLSIsRemembered(t *testing.T) {
	t.Parallel()
	dns := dnstest.New(t, "a.test. 60 IN A 127.0.0.1")
	s := sink.Start(t, sink.Options{Offer: []string{"STARTTLS"}}) // it does not know the command
	r := newRouter(dns, s.Port(), true)
	if at, o := dial(t, r, "a.test", smtpclient.Opportunistic); at != "" || o.Stage != reply.TLS {
		t.Errorf("the first attempt: %q, %+v", at, o)
	}
	if at, o := dial(t, r, "a.test", smtpclient.Opportunistic); at == "" || o.TLS {
		t.Errorf("the second attempt: %q, %+v", at, o)
	}
	if at, _ := dial(t, r, "a.test", smtpclient.Required); at != "" {
		t.Errorf("mail that must be encrypted went to %s in clear", at)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	dns := dnstest.New(t,
		"b.test. 60 IN MX 10 y.test.", "b.test. 60 IN MX 20 x.test.", "c.test. 60 IN MX 10 x.test.", "c.test. 60 IN MX 10 Y.test.",
		"null.test. 60 IN MX 0 .", "work.test. 60 IN MX 1 aspmx.l.google.com.", "gmail.com. 60 IN MX 1 gmail-smtp-in.l.google.com.",
	)
	r := newRouter(dns, 25, true)
	dest := func(domain string) directmx.Route {
		route, err := r.Route(t.Context(), domain)
		if err != nil {
			t.Fatal(err)
		}
		return route
	}
	if b, c := dest("b.test"), dest("c.test"); b.Destination != c.Destination || !strings.Contains(b.Destination, "x.test") {
		t.Errorf("the same servers are at the destinations %q and %q", b.Destination, c.Destination)
	}
	if w, g := dest("work.test"), dest("gmail.com"); w.Destination != "gmail" || g.Destination != "gmail" || w.Servers.Provider != mx.GoogleWorkspace || !w.Shape.TLS {
		t.Errorf("mailboxes at Google are at the destinations %+v and %+v", w, g)
	}
	if !dest("null.test").Servers.Null || !dest("nowhere.test").Servers.Missing {
		t.Error("domains that accept no mail have servers")
	}
}
