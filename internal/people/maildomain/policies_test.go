package maildomain_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	miekg "github.com/miekg/dns"

	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// policyHost is the DNS and the policy server of example.com.
type policyHost struct {
	t       *testing.T
	db      *sqldb.DB
	zone    *dnstest.Server
	server  *httptest.Server
	text    atomic.Pointer[string] // nil: the server fails
	fetched atomic.Int64
	now     time.Time
	failed  []string
}

const record = "_mta-sts.example.com"

func newPolicyHost(t *testing.T, db *sqldb.DB) *policyHost {
	h := &policyHost{t: t, db: db, zone: dnstest.New(t), now: noon}
	h.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.fetched.Add(1)
		text := h.text.Load()
		if text == nil {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, *text)
	}))
	t.Cleanup(h.server.Close)
	return h
}

// publish publishes a policy under an id.
func (h *policyHost) publish(name, mode string, age time.Duration) {
	h.text.Store(new(fmt.Sprintf("version: STSv1\nmode: %s\nmx: *.example.com\nmax_age: %d\n", mode, int(age.Seconds()))))
	h.zone.Remove(record)
	h.zone.Add(h.t, record+`. 60 IN TXT "v=STSv1; id=`+name+`"`)
}

// process returns the Policies of a process that has just started.
func (h *policyHost) process() *maildomain.Policies {
	transport := h.server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, h.server.Listener.Addr().String())
	}
	return &maildomain.Policies{
		DB: h.db, Fetcher: mtasts.NewFetcher(h.zone.Resolver(), transport), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return h.now }, Failed: func(result string) { h.failed = append(h.failed, result) },
	}
}

// want checks the policy of example.com, and how often it was fetched since the last call.
func (h *policyHost) want(when string, p *maildomain.Policies, mode mtasts.Mode, fetched int64) {
	h.t.Helper()
	got, ok, err := p.Policy(h.t.Context(), "example.com")
	if err != nil || got.Mode != mode || ok != (mode != "") || ok && !got.Lists("mx.example.com") {
		h.t.Errorf("%s: %+v, %t, %v; want mode %q", when, got, ok, err, mode)
	}
	if n := h.fetched.Swap(0); n != fetched {
		h.t.Errorf("%s: the policy was fetched %d times, want %d", when, n, fetched)
	}
}

func TestPoliciesAreKeptForAllProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newPolicyHost(t, db)
		p := h.process()
		h.want("without a record", p, "", 0)
		h.publish("one", "enforce", 10*24*time.Hour)
		h.want("within an hour", p, "", 0)
		h.now = h.now.Add(61 * time.Minute)
		h.want("after an hour", p, mtasts.Enforce, 1)
		h.want("at once", p, mtasts.Enforce, 0)
		h.want("in another process", h.process(), mtasts.Enforce, 0)

		h.text.Store(nil)
		h.zone.Remove(record)
		h.zone.Fail(record, miekg.RcodeServerFailure)
		h.want("while the DNS fails", h.process(), mtasts.Enforce, 0)
		h.zone.Remove(record)
		h.want("without the record", h.process(), mtasts.Enforce, 0)
		h.zone.Add(t, record+`. 60 IN TXT "v=STSv1; id=two"`)
		h.want("while the server fails", h.process(), mtasts.Enforce, 1)
		if len(h.failed) != 1 || h.failed[0] != "sts-policy-fetch-error" {
			t.Errorf("failures: %q", h.failed)
		}
		h.now = h.now.Add(11 * 24 * time.Hour)
		h.want("after the policy has expired", h.process(), "", 1)
	})
}

func TestPoliciesAreRefreshed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := newPolicyHost(t, db)
		h.publish("one", "enforce", 10*24*time.Hour)
		p := h.process()
		h.want("first", p, mtasts.Enforce, 1)
		h.now = h.now.Add(2 * time.Hour)
		h.want("with the same id", p, mtasts.Enforce, 0)
		h.now = h.now.Add(23 * time.Hour)
		h.want("after a day", p, mtasts.Enforce, 1)
		h.publish("two", "testing", 10*24*time.Hour)
		h.now = h.now.Add(2 * time.Hour)
		h.want("with another id", p, mtasts.Testing, 1)
		h.publish("three", "none", 24*time.Hour)
		h.now = h.now.Add(2 * time.Hour)
		h.want("ended by its domain", p, "", 1)
		h.want("in another process", h.process(), "", 0)
		h.text.Store(new("nonsense"))
		h.now = h.now.Add(25 * time.Hour)
		h.want("nonsense", p, "", 1)
		if len(h.failed) != 1 || h.failed[0] != "sts-policy-invalid" {
			t.Errorf("failures: %q", h.failed)
		}
	})
}
