package crash

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKilledProcessesApplyHeldBouncesOnce has a provider refuse most recipients of a broadcast as unknown.
// Their contacts stay active until the operator decides. The program is killed while bounces are held, and
// while the decision is carried out.
func TestKilledProcessesApplyHeldBouncesOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		p, ready, s := e2etest.Start(t, address)
		db := e2etest.Database(t, p)
		defer db.Close()
		if err := s.Rules(`[{"stage": "rcpt", "reply": "550 5.1.1 no such user", "chance": 0.8}]`); err != nil {
			t.Fatal(err)
		}
		const recipients = 2000
		if err := harness.Seed(t.Context(), db, ready.List, recipients, "gmail.com"); err != nil {
			t.Fatal(err)
		}
		lane, err := ready.Lane(t.Context(), "Relay", s.Address, 8, false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ready.Broadcast(t.Context(), lane, map[string]any{"subject": "Spring", "body_html": "<p>Hello</p>"})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Await(t.Context(), b, "completed"); err != nil {
			t.Fatal(err)
		}
		number := func(text string) (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), text).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		restart := func() {
			t.Helper()
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		bounced := number(`SELECT COUNT(*) FROM outbox WHERE state = 'bounced'`)
		e2etest.Eventually(t, func() (bool, bool) { return true, number(`SELECT COUNT(*) FROM outage`) == 1 })
		restart()
		e2etest.Eventually(t, func() (bool, bool) {
			return true, number(`SELECT COUNT(*) FROM outage_bounce WHERE outage_id IS NOT NULL`) == bounced &&
				number(`SELECT COUNT(*) FROM contact WHERE global_status = 'bounced'`) == 0 && number(`SELECT COUNT(*) FROM suppression`) == 0
		})
		type outage struct {
			ID, Provider string
			Held         []struct {
				Tenant  string
				Bounces int
			}
		}
		list := func() (found struct{ Data []outage }) {
			t.Helper()
			out, err := p.Run(t.Context(), "--json", "outage", "list")
			if err == nil {
				err = json.Unmarshal([]byte(out), &found)
			}
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		open := list().Data
		if len(open) != 1 || open[0].Provider != "gmail" || len(open[0].Held) != 1 || open[0].Held[0].Bounces != bounced {
			t.Fatalf("outages are %+v, want %d held bounces of gmail", open, bounced)
		}
		configs := e2etest.Must(t, ready.Owner, http.MethodGet, "/mta-configs", nil)["data"].([]any)
		if held := configs[0].(map[string]any)["health"].(map[string]any)["held_bounces"]; held != float64(bounced) {
			t.Errorf("the MTA config shows %v held bounces, want %d", held, bounced)
		}
		applied := number(`SELECT COUNT(*) FROM journal WHERE type = 'bounce_applied'`)
		if withdrawn := number(`SELECT COUNT(*) FROM journal WHERE type = 'bounce_withdrawn'`); withdrawn != applied {
			t.Errorf("%d bounces were applied, %d withdrawn", applied, withdrawn)
		}
		if _, err := p.Run(t.Context(), "outage", "apply", open[0].ID); err != nil {
			t.Fatal(err)
		}
		e2etest.Eventually(t, func() (bool, bool) {
			return true, number(`SELECT COUNT(*) FROM outage_bounce WHERE outage_id IS NOT NULL`) < bounced
		})
		restart()
		e2etest.Eventually(t, func() (bool, bool) {
			return true, number(`SELECT COUNT(*) FROM contact WHERE global_status = 'bounced'`) == bounced && number(`SELECT COUNT(*) FROM suppression`) == bounced
		})
		if again := number(`SELECT COUNT(*) FROM journal WHERE type = 'bounce_applied'`); again != applied+bounced {
			t.Errorf("%d bounces were applied, want %d", again-applied, bounced)
		}
		if left := list().Data[0]; len(left.Held) != 0 {
			t.Errorf("after the decision: %+v", left)
		}
	})
}
