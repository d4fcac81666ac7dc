package app

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// served is the whole program as an HTTP handler, without its loops.
func served(t *testing.T) http.Handler {
	t.Helper()
	o := DefaultOptions()
	o.DataDir = t.TempDir()
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	server := &Server{Config: cfg, Store: store, Roles: []Role{RoleAPI, RoleApp, RoleTrack}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	made, err := server.assemble(t.Context(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return made.handler
}

// Unknown routes are answered by the API in its format, whatever the path.
func TestUnknownRoutesAreAnsweredInTheEnvelope(t *testing.T) {
	t.Parallel()
	h := served(t)
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "//t/x", 404, "NOT_FOUND"},
		{"POST", "//t/x/api/contacts", 404, "NOT_FOUND"},
		{"GET", "/t//api/contacts", 404, "NOT_FOUND"},
		{"GET", "/t/x/../y/api/contacts", 404, "NOT_FOUND"},
		{"GET", "/t/x/./api", 404, "NOT_FOUND"},
		{"GET", "//docs", 404, "NOT_FOUND"},
		{"GET", "//", 404, "NOT_FOUND"},
		{"GET", "/docs/../healthz", 404, "NOT_FOUND"},
		{"GET", "//_q/o/x.gif", 404, "NOT_FOUND"},
		{"GET", "/nowhere", 404, "NOT_FOUND"},
		{"GET", "/t/nobody/api/contacts", 404, "TENANT_NOT_FOUND"},
		{"POST", "/docs", 404, "NOT_FOUND"},
		{"DELETE", "/healthz", 404, "NOT_FOUND"},
		{"PUT", "/api/discover", 405, "METHOD_NOT_ALLOWED"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, "http://127.0.0.1:8080"+tt.path, nil))
		var body struct {
			Error struct{ Code string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != tt.status || body.Error.Code != tt.code || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s = %d %s %s, want %d %s in the envelope", tt.method, tt.path, w.Code, w.Header().Get("Location"), w.Body, tt.status, tt.code)
		}
	}
}

func TestPagesAreServedWithTheAPI(t *testing.T) {
	t.Parallel()
	h := served(t)
	for target, want := range map[string]struct {
		status int
		typ    string
	}{
		"/docs":              {200, "text/html"},
		"/docs/":             {200, "text/html"},
		"/docs/style.css":    {200, "text/css"},
		"/healthz":           {200, "application/json"},
		"/readyz":            {200, "application/json"},
		"/api/discover":      {200, "application/json"},
		"/api/openapi.json":  {200, "application/json"},
		"/mailbox/style.css": {200, "text/css"},
		"/_q/ping":           {204, ""},
		"/_q/o/x.gif":        {200, "image/gif"},
		"/_q/u/x":            {404, "text/html"},
		"/robots.txt":        {200, "text/plain"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:8080"+target, nil))
		if got := w.Header().Get("Content-Type"); w.Code != want.status || !strings.HasPrefix(got, want.typ) {
			t.Errorf("GET %s = %d %s, want %d %s", target, w.Code, got, want.status, want.typ)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:8080/mailbox", nil))
	if w.Code/100 != 3 || w.Header().Get("Location") != "/mailbox/" {
		t.Errorf("GET /mailbox = %d %s, want the way to /mailbox/", w.Code, w.Header().Get("Location"))
	}
}

// A recipients' page asked for with a wrong method exists all the same.
func TestPagesHaveTheirMethods(t *testing.T) {
	t.Parallel()
	h := served(t)
	for path, allowed := range map[string]string{
		"/_q/u/x": "GET HEAD POST", "/_q/p/x": "GET HEAD POST", "/_q/v/x": "GET HEAD", "/_q/d/x": "GET HEAD POST", "/_q/o/x.gif": "GET HEAD OPTIONS",
		"/_q/c/x": "GET HEAD OPTIONS", "/_q/a/x/y": "GET HEAD", "/_q/f.js": "GET HEAD", "/_q/s.js": "GET HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PROPFIND"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1:8080"+path, nil))
			allows := strings.Contains(" "+allowed+" ", " "+method+" ")
			if (w.Code == http.StatusMethodNotAllowed) == allows || !allows && w.Header().Get("Allow") == "" {
				t.Errorf("%s %s = %d, Allow: %s", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("PUT", "http://127.0.0.1:8080/_q/nothing", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("PUT /_q/nothing = %d", w.Code)
	}
}

// Requests for pages with any input do not cause a server error.
func TestPagesHandleAnyInput(t *testing.T) {
	t.Parallel()
	h := served(t)
	hostile := []string{
		"x", "%00", "%ff%fe", "..", "%2e%2e%2fetc%2fpasswd", "'%20OR%201=1--", "%3Cscript%3E", "%E2%80%AE", "%F0%9F%8F%B4", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		strings.Repeat("A", 60_000), strings.Repeat("_-", 500), "x.gif", ".gif", "%0d%0aX-Evil:%20y", "x%2fy",
	}
	bodies := map[string]string{
		"":                                  "",
		"application/x-www-form-urlencoded": "List-Unsubscribe=One-Click&email=%00%ff&password=%zz&next=//evil.example&tenant=" + strings.Repeat("x", 2<<20),
		"application/json":                  "{",
		"multipart/form-data; boundary=x":   "--x\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\n\x00",
		"text/plain; =":                     "\xff",
	}
	for _, at := range []string{"/_q/o/", "/_q/c/", "/_q/u/", "/_q/p/", "/_q/v/", "/_q/", "/mailbox/", "/mailbox/x/", "/docs/", "/", "/mailbox/sign-in?next=", "/mailbox/?tenant=", "/mailbox/?cursor="} {
		for _, text := range hostile {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
				for typ, body := range bodies {
					if method != "POST" && typ != "" {
						continue
					}
					r := httptest.NewRequest(method, "http://127.0.0.1:8080"+at+text, strings.NewReader(body))
					r.Header.Set("Content-Type", typ)
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if w.Code >= 500 || w.Header().Get("X-Evil") != "" || w.Code/100 == 3 && !strings.HasPrefix(w.Header().Get("Location"), "/mailbox/") {
						t.Errorf("%s %s%.60s with %s = %d %v %.200s", method, at, text, typ, w.Code, w.Header(), w.Body)
					}
				}
			}
		}
	}
}
