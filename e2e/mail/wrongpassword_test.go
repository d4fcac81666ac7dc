package mail

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A relay that refuses the login is a failure of the lane: no recipient is affected, and all mail is sent
// after the password was corrected.
func TestAWrongPasswordIsAFailureOfTheLane(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel() // each waits until its lane is not healthy any more
		s := dovecottest.Start(t)
		relay := startPostfix(t, "smtpd_sasl_auth_enable = yes", "smtpd_sasl_type = dovecot", "smtpd_sasl_path = "+s.SASL,
			"smtpd_tls_auth_only = yes", "smtpd_tls_security_level = may", "smtpd_tls_cert_file = "+s.CertFile, "smtpd_tls_key_file = "+s.KeyFile,
			"smtpd_relay_restrictions = permit_sasl_authenticated, reject")
		p := &harness.Program{Env: []string{"SSL_CERT_FILE=" + s.CertFile}}
		e2etest.Begin(t, p, address)
		ready, err := p.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		db := e2etest.Database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		const n = 12
		if err := harness.Seed(t.Context(), db, ready.List, n, "fine.test"); err != nil {
			t.Fatal(err)
		}
		lane, err := ready.LaneBy(t.Context(), "relay", relay, 2, map[string]any{"tls": "starttls", "auth": "plain", "username": dovecottest.User, "password": "wrong"})
		if err != nil {
			t.Fatal(err)
		}
		b, err := ready.Broadcast(t.Context(), lane, map[string]any{"subject": "News", "body_html": "<p>Hello {{ first_name }}</p>"})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), b); err != nil {
			t.Fatal(err)
		}

		config := awaitHealth(t, ready, func(state, failure string) bool { return state != "healthy" && strings.Contains(failure, "535") })
		tested, err := ready.Owner.Must(t.Context(), http.MethodPost, "/mta-configs/"+config+"/test", map[string]any{"to": "ann@fine.test"})
		if err != nil || tested["accepted"] != false || tested["smtp_code"] != 535.0 {
			t.Errorf("test of the MTA config: %v, %v", tested, err)
		}
		var waiting, attempts, answered int
		if err := db.QueryRow(t.Context(), `/* all tenants: a test */ SELECT COUNT(*), COALESCE(SUM(attempts), 0), COALESCE(SUM(CASE WHEN answered THEN 1 ELSE 0 END), 0) FROM outbox WHERE state = 'queued'`).
			Scan(&waiting, &attempts, &answered); err != nil {
			t.Fatal(err)
		}
		if waiting != n || attempts != 0 || answered != 0 {
			t.Errorf("%d messages wait, with %d attempts and %d answers; want %d, without attempts", waiting, attempts, answered, n)
		}
		if got, want := states(t, db), "active 12, bounced 0, listed 0"; got != want {
			t.Errorf("contacts: %s, want %s", got, want)
		}
		report := func() map[string]any {
			t.Helper()
			r, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/report", nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := report(); r["total_sent"] != 0.0 || r["total_bounced"] != 0.0 {
			t.Errorf("report with a wrong password: %v", r)
		}

		if _, err := ready.Owner.Must(t.Context(), http.MethodPut, "/mta-configs/"+config, map[string]any{"settings": map[string]any{"password": dovecottest.Password}}); err != nil {
			t.Fatal(err)
		}
		if err := ready.Hurry(t.Context(), db, b); err != nil {
			t.Fatal(err)
		}
		if r := report(); r["total_sent"] != 12.0 || r["total_delivered"] != 12.0 || r["total_bounced"] != 0.0 {
			t.Errorf("report with the password: %v", r)
		}
		if got, want := states(t, db), "active 12, bounced 0, listed 0"; got != want {
			t.Errorf("contacts: %s, want %s", got, want)
		}
	})
}

// awaitHealth waits for a state and a last error of the account's only MTA config, whose id it returns.
func awaitHealth(t *testing.T, ready *harness.Ready, done func(state, failure string) bool) string {
	t.Helper()
	for {
		list, err := ready.Owner.Must(t.Context(), http.MethodGet, "/mta-configs", nil)
		if err != nil {
			t.Fatal(err)
		}
		config := list["data"].([]any)[0].(map[string]any)
		health := config["health"].(map[string]any)
		failure, _ := health["last_error"].(string)
		if done(health["state"].(string), failure) {
			return config["id"].(string)
		}
		e2etest.Pause(t)
	}
}
