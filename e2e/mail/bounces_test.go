package mail

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// awaitGreeting waits until an SMTP server greets. It fails when ended is closed.
func awaitGreeting(t *testing.T, address string, ended <-chan struct{}) {
	t.Helper()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			buf := make([]byte, 3)
			_, err := c.Read(buf)
			_ = c.Close()
			if err == nil && bytes.Equal(buf, []byte("220")) {
				return
			}
		}
		select {
		case <-ended:
			t.Fatal("the server ended")
		default:
			e2etest.Pause(t)
		}
	}
}

// returnHost is the host of the return paths of the harness's account.
const returnHost = "bounce.example.com"

// refusals are arguments of the sink behind a relay, which make it refuse some recipients of sendToRefused.
var refusals = []string{
	"-refuse", `@x\.test$=550 5.1.1 no such user`,
	"-refuse", `@full\.test$=552 5.2.2 mailbox is over quota`,
	"-refuse", `@spam\.test$=550 5.7.1 message rejected for policy reasons`,
}

// recipients of a trial, by domain: how many, and the type of their bounce. The relay itself refuses those
// at gone.test, and the server behind it the others.
var recipients = map[string]struct {
	n    int
	kind string
}{"x.test": {3, "hard"}, "gone.test": {2, "hard"}, "full.test": {2, "soft"}, "spam.test": {1, "soft"}, "fine.test": {4, ""}}

// sendToRefused sends a broadcast to recipients by a lane, whose relay accepts all mail, and waits until
// its reports have their effects on messages, contacts and the suppression list. Before each look it calls
// read, if that is not nil.
func sendToRefused(t *testing.T, ready *harness.Ready, db *sqldb.DB, lane string, read func()) {
	t.Helper()
	want, total := map[string]string{}, 0
	for domain, r := range recipients {
		if err := harness.Seed(t.Context(), db, ready.List, r.n, domain); err != nil {
			t.Fatal(err)
		}
		total += r.n
		for i := 0; i < r.n && r.kind != ""; i++ {
			want[fmt.Sprintf("person%d@%s", i, domain)] = r.kind
		}
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
	for {
		if read != nil {
			read()
		}
		report, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/report", nil)
		if err != nil {
			t.Fatal(err)
		}
		if report["total_bounced"] == float64(len(want)) {
			if report["total_sent"] != float64(total) || report["total_delivered"] != float64(total-len(want)) {
				t.Errorf("report: %v", report)
			}
			break
		}
		e2etest.Pause(t)
	}
	bounces, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+b+"/bounces", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range bounces["data"].([]any) {
		row := row.(map[string]any)
		got[row["email"].(string)] = row["type"].(string)
	}
	if !maps.Equal(got, want) {
		t.Errorf("bounces: %v, want %v", got, want)
	}
	if s := bounces["summary"].(map[string]any); s["hard"] != 5.0 || s["soft"] != 2.0 || s["block"] != 1.0 {
		t.Errorf("bounces: %v", s)
	}
	for states(t, db) != "active 7, bounced 5, listed 5" {
		e2etest.Pause(t)
	}
}

// A relay accepts all mail and bounces some of it later: its reports come to our listener, and change
// messages, contacts and the suppression list.
func TestReportsOfRelaysMarkContacts(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T, returned, next string) (address string){
		"postfix": func(t *testing.T, returned, next string) string {
			return startPostfix(t, "default_transport = "+postfixRoute(next), "transport_maps = inline:{ "+postfixRefusal+" {"+returnHost+" = "+postfixRoute(returned)+"} }")
		},
		"exim": func(t *testing.T, returned, next string) string { return startExim(t, returned, next) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Addresses(t, func(t *testing.T, address string) {
				t.Parallel()
				returned := "127.0.0.1:" + e2etest.FreePort(t)
				p, ready, next := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_INBOUND_LISTEN=" + returned}}, address, refusals...)
				relay := start(t, returned, next.Address)
				db := e2etest.Database(t, p)
				t.Cleanup(func() { _ = db.Close() })
				lane, err := ready.Lane(t.Context(), "relay", relay, 2, false)
				if err != nil {
					t.Fatal(err)
				}
				sendToRefused(t, ready, db, lane, nil)
			})
		})
	}
}

// states counts contacts by status and suppressed addresses.
func states(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var tenant id.Tenant
	if err := db.QueryRow(t.Context(), `SELECT tenant_id FROM tenant WHERE slug = $1`, harness.Tenant).Scan(&tenant); err != nil {
		t.Fatal(err)
	}
	var active, bounced, listed int
	err := errors.Join(
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND global_status = 'active'`, tenant).Scan(&active),
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND global_status = 'bounced'`, tenant).Scan(&bounced),
		db.QueryRow(t.Context(), `SELECT COUNT(*) FROM suppression WHERE tenant_id = $1 AND reason = 'hard_bounce'`, tenant).Scan(&listed),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("active %s, bounced %s, listed %s", strconv.Itoa(active), strconv.Itoa(bounced), strconv.Itoa(listed))
}
