package mail

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A relay accepts all mail, and the server behind it defers some of it. The relay reports the delay, which
// changes nothing: the mail still counts as delivered. Then the server accepts one part of what waits, which
// changes nothing either, and refuses the other, whose report bounces it.
func TestReportsOfDelaysChangeNothing(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		const late, lost, fine = 2, 3, 2
		returned := "127.0.0.1:" + e2etest.FreePort(t)
		program := &harness.Program{Admin: "127.0.0.1:" + e2etest.FreePort(t), Env: []string{"PACKETBOAT_INBOUND_LISTEN=" + returned}}
		p, ready, next := e2etest.StartWith(t, program, address)
		if err := next.Rules(`[{"stage": "rcpt", "to": "@(late|lost)\\.test$", "reply": "451 4.3.0 try again later"}]`); err != nil {
			t.Fatal(err)
		}
		// By default Exim reports no delays of bulk mail. The second report of a message would come after 99 days.
		relay := startExim(t, returned, next.Address, "delay_warning = 1s:99d", "delay_warning_condition = yes")
		db := e2etest.Database(t, p)
		t.Cleanup(func() { _ = db.Close() })
		for domain, n := range map[string]int{"late.test": late, "lost.test": lost, "fine.test": fine} {
			if err := harness.Seed(t.Context(), db, ready.List, n, domain); err != nil {
				t.Fatal(err)
			}
		}
		lane, err := ready.Lane(t.Context(), "relay", relay, 2, false)
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
		if _, err := ready.Await(t.Context(), b, "completed"); err != nil {
			t.Fatal(err)
		}
		for reports(t, p, "delayed") < late+lost {
			e2etest.Pause(t)
		}
		check := func(when string, bounced int, contacts string) {
			t.Helper()
			report := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+b+"/report", nil)
			if diff := agree(report, map[string]any{
				"total_sent": float64(late + lost + fine), "total_delivered": float64(late + lost + fine - bounced), "total_bounced": float64(bounced),
			}); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
			if got := states(t, db); got != contacts {
				t.Errorf("%s: %s, want %s", when, got, contacts)
			}
			if n := reports(t, p, "delayed"); n != late+lost {
				t.Errorf("%s: %v delays were reported, want %d", when, n, late+lost)
			}
		}
		check("after the reports of delays", 0, "active 7, bounced 0, listed 0")

		if err := next.Rules(`[{"stage": "rcpt", "to": "@lost\\.test$", "reply": "550 5.1.1 no such user"}]`); err != nil {
			t.Fatal(err)
		}
		for states(t, db) != "active 4, bounced 3, listed 3" {
			e2etest.Pause(t)
		}
		for {
			taken, err := next.Messages()
			if err != nil {
				t.Fatal(err)
			}
			if len(taken) == late+fine {
				break
			}
			e2etest.Pause(t)
		}
		check("at the end", lost, "active 4, bounced 3, listed 3")
		rows := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+b+"/bounces", nil)["data"].([]any)
		for _, row := range rows {
			if row := row.(map[string]any); row["type"] != "hard" || !strings.HasSuffix(row["email"].(string), "@lost.test") {
				t.Errorf("bounce: %v", row)
			}
		}
		if n := reports(t, p, "bounced"); len(rows) != lost || n != lost {
			t.Errorf("%d bounces, by %v reports", len(rows), n)
		}
	})
}

// reports returns how many reports about failed and late mail the program has received, by their effect.
func reports(t *testing.T, p *harness.Program, effect string) (n int) {
	t.Helper()
	res, err := http.Get("http://" + p.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		for _, kind := range []string{"dsn", "bounce"} {
			var more int
			if _, err := fmt.Sscanf(line, fmt.Sprintf("packetboat_inbound_total{effect=%q,kind=%q} %%d", effect, kind), &more); err == nil {
				n += more
			}
		}
	}
	return n
}
