package press

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
	a := Account{Address: server.Listener.Addr().String(), Prefix: "/t", Key: "k"}
	c, err := Dial(a.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	c.Keep = true
	for range 3 {
		for _, tt := range []struct {
			path   string
			status int
			body   string
		}{
			{"/short", 200, "short"}, {"/long", 200, strings.Repeat("long ", 40_000)}, {"/nothing", 204, ""}, {"/missing", 404, "no\n"},
		} {
			status, err := c.Do(a.Request(nil, "POST", tt.path, []byte(`{}`)))
			if err != nil || status != tt.status || string(c.Body) != tt.body {
				t.Errorf("%s: %d, %d bytes, %v; want %d, %d bytes", tt.path, status, len(c.Body), err, tt.status, len(tt.body))
			}
		}
	}
}
