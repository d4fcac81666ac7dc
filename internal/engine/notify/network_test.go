package notify

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// nameServer is a DNS server that answers with addresses that the test sets.
type nameServer struct {
	address string
	answer  atomic.Pointer[[4]byte]
	queries atomic.Int64
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &nameServer{address: conn.LocalAddr().String()}
	go s.serve(conn)
	return s
}

func (s *nameServer) serve(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			s.queries.Add(1)
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}, Body: &dnsmessage.AResource{A: *s.answer.Load()},
			}}
		}
		if reply, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.address)
	}}
}

// direct stores the URL of an endpoint without checking it, as if the rules had been others when it was
// created.
func (s *site) direct(e webhook.Endpoint, url string) {
	s.t.Helper()
	if _, err := s.db.Exec(s.t.Context(), `UPDATE webhook_endpoint SET url = $3 WHERE tenant_id = $1 AND id = $2`, s.tenant, e.ID, url); err != nil {
		s.t.Fatal(err)
	}
}

func TestPrivateAddressesAreRefusedWhenConnecting(t *testing.T) {
	t.Parallel()
	s, r := newSite(t, dbtest.One(t)), newReceiver(t, nil)
	s.engine.AllowPrivate = false
	e, _ := s.endpoint(s.tenant, "https://example.com/")
	_, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0", "[::]", "10.0.0.1", "192.168.0.1", "172.16.0.1",
		"169.254.169.254", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fd00:ec2::254]", "100.64.0.1", "100.100.100.200",
	} {
		s.direct(e, "http://"+host+":"+port+"/")
		d := s.test(e)
		s.tick()
		if got := s.delivery(d); got.Status != webhook.Retrying || got.ResponseCode != nil || got.Error != "the host has a private or reserved address" {
			t.Errorf("%s: %+v", host, got)
		}
	}
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	// Link-local addresses are refused where private ones are allowed.
	s.engine.AllowPrivate = true
	for _, host := range []string{"169.254.169.254", "[fe80::1]"} {
		s.direct(e, "http://"+host+":"+port+"/")
		d := s.test(e)
		s.tick()
		if got := s.delivery(d); got.Error != "the host has a private or reserved address" {
			t.Errorf("%s: %+v", host, got)
		}
	}
}

func TestANameThatBecomesPrivateIsRefused(t *testing.T) {
	t.Parallel()
	s, r, names := newSite(t, dbtest.One(t)), newReceiver(t, status(http.StatusOK)), newNameServer(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
	s.engine.Resolver = names.resolver()
	names.answer.Store(&[4]byte{127, 0, 0, 1})
	e, _ := s.endpoint(s.tenant, "http://rebinding.example:"+port+"/")
	d := s.test(e)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Delivered {
		t.Fatalf("where private addresses are allowed: %+v", got)
	}
	s.engine.AllowPrivate = false
	before := names.queries.Load()
	d = s.test(e)
	s.tick()
	if got := s.delivery(d); got.Error != "the host has a private or reserved address" || names.queries.Load() == before {
		t.Errorf("where they are not: %+v", got)
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests arrived, want 1", n)
	}
}

func TestErrorsTellNothingAboutTheNetwork(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	plain := newReceiver(t, nil)
	hangup, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangup.Close() })
	go func() {
		for {
			c, err := hangup.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			if n, _ := c.Read(buf); strings.HasPrefix(string(buf[:n]), "POST /junk") {
				_, _ = io.WriteString(c, "what?\r\n\r\n")
			}
			c.Close()
		}
	}()
	names := newNameServer(t)
	names.answer.Store(&[4]byte{192, 0, 2, 1})
	for url, want := range map[string]string{
		"http://" + address + "/":                    "the connection was refused",
		"https://" + plain.Listener.Addr().String():  "TLS failed",
		"http://" + hangup.Addr().String():           "the connection was closed before the answer",
		"http://" + hangup.Addr().String() + "/junk": "the answer is not valid HTTP",
		"http://nowhere.invalid/":                    "the host name could not be resolved",
	} {
		e, _ := s.endpoint(s.tenant, url)
		d := s.test(e)
		s.tick()
		if got := s.delivery(d); got.Error != want || got.ResponseCode != nil || got.Status != webhook.Retrying {
			t.Errorf("%s: %+v, want %q", url, got, want)
		}
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	s, r := newSite(t, dbtest.One(t)), newReceiver(t, nil)
	r.Close()
	secure := newTLSReceiver(t)
	e, key := s.endpoint(s.tenant, secure.URL)
	d := s.test(e)
	s.tick()
	if got := s.delivery(d); !strings.HasPrefix(got.Error, "the TLS certificate is not valid: ") {
		t.Errorf("an unknown authority: %+v", got)
	}
	s.engine.TLS = secure.Client().Transport.(*http.Transport).TLSClientConfig
	d = s.test(e)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Delivered || verify(t, key, secure.requests()[0]) != nil {
		t.Errorf("a trusted authority: %+v", got)
	}
}

func TestGiantAnswersAreCut(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t))
	var written atomic.Int64
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100_000 { // until the connection is closed
			n, err := fmt.Fprint(w, strings.Repeat("é", 500))
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	})
	e, _ := s.endpoint(s.tenant, r.URL)
	d := s.test(e)
	s.tick()
	got := s.delivery(d)
	if got.Status != webhook.Delivered || len(got.ResponseBody) != webhook.MaxResponse || strings.Trim(got.ResponseBody, "é") != "" {
		t.Errorf("%s, %d bytes stored", got.Status, len(got.ResponseBody))
	}
	if written.Load() > 50_000_000 {
		t.Errorf("%d bytes were read", written.Load())
	}
	r = newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 64<<10)) })
	e, _ = s.endpoint(s.tenant, r.URL)
	d = s.test(e)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Retrying || got.ResponseCode != nil {
		t.Errorf("a giant header: %+v", got)
	}
}

func TestUnansweredRequestsOfAStoppedEngineDoNotCount(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t))
	asked := make(chan struct{}, 8)
	release := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-req.Context().Done():
		}
	})
	e, _ := s.endpoint(s.tenant, r.URL)
	d := s.test(e)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.engine.Run(ctx) }()
	<-asked
	stop()
	if err := <-ended; err != nil { // after the grace of requests in flight
		t.Error(err)
	}
	close(release)
	got := s.delivery(d)
	if got.Status != webhook.Pending || got.Attempts != 0 {
		t.Errorf("delivery = %+v, want pending", got)
	}
	r.setAnswer(nil)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Delivered || got.Attempts != 1 {
		t.Errorf("the next process: %+v", got)
	}
}

func TestRequestsEndAfterTheirTime(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.One(t))
	s.engine.Timeout = 200 * time.Millisecond
	silent := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	e, _ := s.endpoint(s.tenant, silent.URL)
	d := s.test(e)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Retrying || got.ResponseCode != nil || got.Error != errTimeout.Error() {
		t.Errorf("no answer: %+v", got)
	}
	if e := s.get(e); e.Status() != webhook.Failing {
		t.Errorf("endpoint = %+v", e)
	}
	// The status decides, even if the body never ends.
	s.engine.Timeout = 0
	endless := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "so far")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	e, _ = s.endpoint(s.tenant, endless.URL)
	d = s.test(e)
	s.tick()
	if got := s.delivery(d); got.Status != webhook.Delivered || got.ResponseBody != "so far" {
		t.Errorf("an endless body: %+v", got)
	}
}
