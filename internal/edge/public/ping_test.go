package public_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestHosts asks for certificates and sends challenges.
func TestHosts(t *testing.T) {
	t.Parallel()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	nonce := sender.NewNonce(box)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, tenant, now := t.Context(), idtest.Tenant(), time.Now()
		for _, name := range []string{"live.example", "pending.example"} {
			if _, err := sender.CreateDomain(ctx, db, box, tenant, sender.DomainDraft{Domain: name}, now); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := sender.ForceVerify(ctx, db, tenant, "live.example", "go.live.example:8443", now); err != nil {
			t.Fatal(err)
		}
		for address, host := range map[string]string{"a@live.example": "read.live.example", "b@live.example": "read.elsewhere.example"} {
			if _, err := sender.CreateIdentity(ctx, db, tenant, sender.IdentityFields{Address: &address, DisplayName: new("A"), ContentHost: &host}, now); err != nil {
				t.Fatal(err)
			}
		}
		mux := http.NewServeMux()
		(&public.Hosts{DB: db, Answer: nonce.Answer, Own: []string{"mail.example.com"}, Log: slog.New(slog.DiscardHandler)}).Routes(mux)
		get := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
			return w
		}
		for host, want := range map[string]int{
			"mail.example.com": 200, "MAIL.example.com": 200, "go.live.example": 200, "read.live.example": 200,
			"go.pending.example": 404, "read.elsewhere.example": 404, "live.example": 404, "": 404, "127.0.0.1": 404, "a%00b": 404, strings.Repeat("a.", 3000): 404,
		} {
			if w := get("/_q/tls-ask?domain=" + host); w.Code != want {
				t.Errorf("GET /_q/tls-ask?domain=%.40s answered %d; want %d", host, w.Code, want)
			}
		}
		if w := get("/_q/ping?challenge=abc"); w.Code != 200 || strings.TrimSpace(w.Body.String()) != nonce.Answer("abc") || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("GET /_q/ping answered %d %s", w.Code, w.Body)
		}
		if w := get("/_q/ping?challenge=" + strings.Repeat("x", sender.MaxChallenge+1)); w.Code != 400 {
			t.Errorf("a long challenge was answered with %d", w.Code)
		}
	})
}
