package app

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
)

func TestOnlyPagesAreRedirectedToHTTPS(t *testing.T) {
	t.Parallel()
	s := &Server{Config: Config{
		BaseURL: &url.URL{Scheme: "https", Host: "mail.boat.example"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}}
	h := s.upgrade(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, tt := range []struct {
		method, host, target, peer string
		to                         string // empty: not redirected
	}{
		{"GET", "mail.boat.example", "/docs/?q=a%2Fb", "198.51.100.1:5", "https://mail.boat.example/docs/?q=a%2Fb"},
		{"HEAD", "mail.boat.example:80", "/", "[2001:db8::1]:5", "https://mail.boat.example/"},
		{"GET", "MAIL.boat.example", "//evil.example/%2e", "198.51.100.1:5", "https://mail.boat.example//evil.example/%2e"},
		{"POST", "mail.boat.example", "/docs", "198.51.100.1:5", ""},
		{"GET", "mail.boat.example", "/_q/u/token", "198.51.100.1:5", ""},
		{"GET", "mail.boat.example", "/.well-known/acme-challenge/x", "198.51.100.1:5", ""},
		{"GET", "mail.boat.example", "/healthz", "198.51.100.1:5", ""},
		{"GET", "other.example", "/docs", "198.51.100.1:5", ""},
		{"GET", "mail.boat.example", "/docs", "127.0.0.1:5", ""},
		{"GET", "mail.boat.example", "/docs", "10.1.2.3:5", ""},
	} {
		r := httptest.NewRequest(tt.method, "http://"+tt.host+tt.target, nil)
		r.Host, r.RemoteAddr = tt.host, tt.peer
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != tt.to || (w.Code == http.StatusTemporaryRedirect) != (tt.to != "") {
			t.Errorf("%s %s%s from %s: %d %q, want %q", tt.method, tt.host, tt.target, tt.peer, w.Code, got, tt.to)
		}
	}
}

func TestBrowsersComeBackByHTTPSToTheBaseURLOnly(t *testing.T) {
	t.Parallel()
	s := &Server{Config: Config{BaseURL: &url.URL{Scheme: "https", Host: "mail.boat.example"}}}
	h := s.requireTLS(http.NotFoundHandler())
	for host, want := range map[string]string{
		"mail.boat.example": "max-age=31536000", "MAIL.boat.example:443": "max-age=31536000", "links.acme.example": "", "x.mail.boat.example": "", "": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "https://mail.boat.example/nothing", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
