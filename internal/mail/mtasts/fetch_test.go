package mtasts_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
)

const policy = "version: STSv1\nmode: enforce\nmx: *.example.com\nmax_age: 86400\n"

// fetcher returns a Fetcher whose connections all go to a server with a certificate for example.com.
func fetcher(zone *dnstest.Server, handler http.HandlerFunc, t *testing.T) *mtasts.Fetcher {
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return mtasts.NewFetcher(zone.Resolver(), transport)
}

func TestID(t *testing.T) {
	t.Parallel()
	zone := dnstest.New(t, `_mta-sts.a.test. 60 IN TXT "v=STSv1; id=one"`, `b.test. 60 IN A 127.0.0.1`)
	zone.Fail("_mta-sts.c.test", dns.RcodeServerFailure)
	f := mtasts.NewFetcher(zone.Resolver(), &http.Transport{})
	for domain, want := range map[string]string{"a.test": "one", "b.test": "", "none.test": ""} {
		if id, err := f.ID(t.Context(), domain); id != want || err != nil {
			t.Errorf("ID(%q) = %q, %v", domain, id, err)
		}
	}
	if id, err := f.ID(t.Context(), "c.test"); err == nil {
		t.Errorf("the id is %q although the DNS does not answer", id)
	}
}

// httptest's certificate is valid for example.com and its children.
func TestFetch(t *testing.T) {
	t.Parallel()
	zone := dnstest.New(t)
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		invalid bool // as a policy, not as an answer
	}{
		{"an error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, policy, http.StatusNotFound) }, false},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, false},
		{"another type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, policy)
		}, true},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, policy, strings.Repeat("x: y\n", 1<<20))
		}, true},
	} {
		_, err := fetcher(zone, tt.handler, t).Fetch(t.Context(), "example.com")
		if err == nil || errors.Is(err, mtasts.ErrInvalid) != tt.invalid {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	good := fetcher(zone, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "mta-sts.example.com" || r.URL.Path != "/.well-known/mta-sts.txt" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, policy)
	}, t)
	if p, err := good.Fetch(t.Context(), "example.com"); err != nil || p.Mode != mtasts.Enforce || !p.Lists("mx1.example.com") {
		t.Errorf("Fetch = %+v, %v", p, err)
	}
	if _, err := good.Fetch(t.Context(), "example.org"); err == nil {
		t.Error("a policy was accepted from a server without a certificate for its name")
	}
}
