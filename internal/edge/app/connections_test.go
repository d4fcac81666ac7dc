package app

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
)

// bounded serves with a bound of connections, and returns how to connect and the
// states that connections come to.
func bounded(t *testing.T, most int) (dial func() net.Conn, states <-chan http.ConnState) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := limitConnections(l, most)
	seen := make(chan http.ConnState, 1000)
	server := httpServer(sparing(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	return func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
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
	dial, _ := bounded(t, 3)
	for range 3 { // they send half a request and keep the connection open
		if _, err := dial().Write([]byte("GET / HTTP/1.1\r\nHost:")); err != nil {
			t.Fatal(err)
		}
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
	o.MaxConnections = "none"
	if _, err := o.Config(); err == nil || !strings.Contains(err.Error(), "PACKETBOAT_MAX_CONNECTIONS") {
		t.Errorf("none is taken: %v", err)
	}
}
