package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"packetboat/internal/id"
)

// TestConnReadsWhatServersWrite asks one connection for answers of every length
// and framing, one after the other.
func TestConnReadsWhatServersWrite(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/t/short":
			_, _ = w.Write([]byte("short"))
		case "/t/long": // no length is known beforehand: chunks
			for range 40 {
				_, _ = w.Write([]byte(strings.Repeat("long ", 1000)))
				w.(http.Flusher).Flush()
			}
		case "/t/nothing":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.Error(w, "no", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	a := account{address: server.Listener.Addr().String(), prefix: "/t", key: "k"}
	c, err := dial(a.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.net.Close() })
	c.keep = true
	for range 3 {
		for _, tt := range []struct {
			path   string
			status int
			body   string
		}{
			{"/short", 200, "short"}, {"/long", 200, strings.Repeat("long ", 40_000)}, {"/nothing", 204, ""}, {"/missing", 404, "no\n"},
		} {
			status, err := c.do(a.request(nil, "POST", tt.path, []byte(`{}`)))
			if err != nil || status != tt.status || string(c.body) != tt.body {
				t.Errorf("%s: %d, %d bytes, %v; want %d, %d bytes", tt.path, status, len(c.body), err, tt.status, len(tt.body))
			}
		}
	}
}

// TestUUIDsOfThePastAreInOrder makes ids of moments, as the program would have.
func TestUUIDsOfThePastAreInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	at, last := time.Now().Add(-past), ""
	for range 1000 {
		at = at.Add(time.Duration(1+r.IntN(2000)) * time.Microsecond)
		u := uuidAt(r, at)
		if !id.Valid(u) || u[14] != '7' || u <= last {
			t.Fatalf("uuidAt(%s) = %s after %s", at, u, last)
		}
		last = u
	}
}

// TestPeopleStayThemselves holds a person to a number.
func TestPeopleStayThemselves(t *testing.T) {
	all := people{n: 100, now: time.Now()}
	for i := range all.n {
		a, b := all.person(i), all.person(i)
		if a.email != b.email || a.fields() != b.fields() || !strings.HasPrefix(a.searchText(), a.email) {
			t.Errorf("person %d is %+v and %+v", i, a, b)
		}
	}
}
