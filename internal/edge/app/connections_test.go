package app

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
)

// bounded serves with a bound of connections, and returns how to connect and the
// states that connections come to.
func bounded(t *testing.T, most int) (dial func() net.Conn, states <-chan http.ConnState) {
	t.Helper()
	from, states := limited(t, connectionLimits{all: most, perAddress: 1000})
	return func() net.Conn { return from("127.0.0.1") }, states
}

// limited is bounded with all limits, and a client's address.
func limited(t *testing.T, limits connectionLimits) (dial func(from string) net.Conn, states <-chan http.ConnState) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := limitConnections(l, limits)
	seen := make(chan http.ConnState, 1000)
	server := httpServer(b.handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/slow" {
			<-r.Context().Done() // until the client leaves
			return
		}
		writeJSON(w, http.StatusOK, map[string]string{"path": r.URL.Path})
	})), 0)
	server.ConnContext = b.mark
	server.ConnState = func(c net.Conn, s http.ConnState) {
		b.watch(c, s)
		seen <- s
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(b) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return func(from string) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		await(t, seen, http.StateNew)
		return c
	}, seen
}

func await(t *testing.T, states <-chan http.ConnState, want http.ConnState) {
	t.Helper()
	for s := range states {
		if s == want {
			return
		}
	}
}

func ask(t *testing.T, c net.Conn, path string) *http.Response {
	t.Helper()
	if _, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	_ = res.Body.Close()
	return res
}

func TestHealthIsAnsweredWhenConnectionsAreExhausted(t *testing.T) {
	t.Parallel()
	dial, states := bounded(t, 3)
	for range 3 { // they are being answered
		if _, err := dial().Write([]byte("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		await(t, states, http.StateActive)
	}
	for range 2 * spareConnections { // the spare connections cannot be exhausted either
		dial()
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/t/acme/api/contacts": 503} {
		res := ask(t, dial(), path)
		if res.StatusCode != want || !res.Close {
			t.Errorf("GET %s: %d, closed %v; want %d, closed", path, res.StatusCode, res.Close, want)
		}
	}
}

func TestAnIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	dial, states := bounded(t, 1)
	first := dial()
	if res := ask(t, first, "/a"); res.StatusCode != 200 || res.Close {
		t.Fatalf("the first: %d, closed %v", res.StatusCode, res.Close)
	}
	await(t, states, http.StateIdle)
	if res := ask(t, dial(), "/b"); res.StatusCode != 200 || res.Close {
		t.Errorf("while the first is idle: %d, closed %v", res.StatusCode, res.Close)
	}
	if n, err := first.Read(make([]byte, 1)); err == nil {
		t.Errorf("the first still reads %d bytes", n)
	}
}

func TestAClosedConnectionFreesItsPlace(t *testing.T) {
	t.Parallel()
	dial, states := bounded(t, 1)
	for range 3 {
		c := dial()
		if res := ask(t, c, "/a"); res.StatusCode != 200 {
			t.Errorf("GET /a: %d", res.StatusCode)
		}
		_ = c.Close()
		await(t, states, http.StateClosed)
	}
}

func TestTheBoundOfConnectionsIsChecked(t *testing.T) {
	o := DefaultOptions()
	o.MaxConnections, o.MaxPerAddress = "none", "0"
	_, err := o.Config()
	for _, name := range []string{"PACKETBOAT_MAX_CONNECTIONS (", "PACKETBOAT_MAX_CONNECTIONS_PER_ADDRESS ("} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the mistakes do not name %q: %v", name, err)
		}
	}
}

// Of connections that wait for the rest of a request, the oldest makes room: in its header, and in its body.
func TestAnIncompleteRequestMakesRoom(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"nothing": "", "a part of the header": "GET / HTTP/1.1\r\nHost:", "a part of the body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dial, states := bounded(t, 3)
			var waiting []net.Conn
			for range 3 {
				c := dial()
				if _, err := c.Write([]byte(request)); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(request, "POST") {
					await(t, states, http.StateActive)
				}
				waiting = append(waiting, c)
			}
			if res := ask(t, dial(), "/t/acme/api/contacts"); res.StatusCode != 200 {
				t.Errorf("a whole request: %d, want 200", res.StatusCode)
			}
			if n, err := waiting[0].Read(make([]byte, 1)); err == nil {
				t.Errorf("the oldest reads %d bytes, want it closed", n)
			}
		})
	}
}

func TestOneAddressCannotTakeAllConnections(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8")
	}
	proxy := netip.MustParseAddr("127.0.0.3")
	dial, states := limited(t, connectionLimits{all: 100, perAddress: 2, unlimited: func(ip netip.Addr) bool { return ip == proxy }})
	busy := func(from string) {
		t.Helper()
		if _, err := dial(from).Write([]byte("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		await(t, states, http.StateActive)
	}
	for _, from := range []string{"127.0.0.1", "127.0.0.1", "127.0.0.3", "127.0.0.3", "127.0.0.3"} {
		busy(from)
	}
	for from, want := range map[string]int{"127.0.0.1": 503, "127.0.0.2": 200, "127.0.0.3": 200} {
		if res := ask(t, dial(from), "/a"); res.StatusCode != want {
			t.Errorf("another connection from %s: %d, want %d", from, res.StatusCode, want)
		}
	}
	incomplete := dial("127.0.0.2")
	await(t, states, http.StateClosed) // the one that was answered 503
	for range 2 {
		if res := ask(t, dial("127.0.0.2"), "/a"); res.StatusCode != 200 {
			t.Errorf("beside connections of the same address that send nothing: %d, want 200", res.StatusCode)
		}
	}
	if n, err := incomplete.Read(make([]byte, 1)); err == nil {
		t.Errorf("one that sends nothing reads %d bytes, want it closed", n)
	}
}

func TestNetworksOfClients(t *testing.T) {
	t.Parallel()
	c := limitConnections(nil, connectionLimits{})
	for address, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7/32", "[::ffff:192.0.2.7]:80": "192.0.2.7/32",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64",
	} {
		if got := c.network(remote{address: address}); got.String() != want {
			t.Errorf("%s is of %s, want %s", address, got, want)
		}
	}
	if got := c.network(remote{address: "@"}); got.IsValid() {
		t.Errorf("a socket without an address is of %s", got)
	}
}

type remote struct {
	net.Conn
	address string
}

func (r remote) RemoteAddr() net.Addr { return r }
func (r remote) Network() string      { return "tcp" }
func (r remote) String() string       { return r.address }
