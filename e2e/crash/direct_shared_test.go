package crash

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Several processes on one database never have more connections together to a server than it accepts from one
// address, also when one of them is killed. The others then use its part.
func TestProcessesShareTheConnectionsOfAServer(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if _, sqlite := e2etest.SQLiteDir(address); sqlite {
			t.Skip("SQLite is served by one process")
		}
		t.Parallel()
		const recipients, domains, most = 3500, 20, 10
		ctx := t.Context()
		slow := []sink.Rule{{Stage: sink.Dot, Delay: 200 * time.Millisecond}}
		servers := []*sink.Server{sink.Start(t, sink.Options{Addr: "127.0.4.1:0", Rules: slow})}
		servers = append(servers, sink.Start(t, sink.Options{Addr: fmt.Sprintf("127.0.4.2:%d", servers[0].Port()), Rules: slow}))
		zone := []string{"mx0.example.net. 60 IN A 127.0.4.1", "mx1.example.net. 60 IN A 127.0.4.2"}
		var names []string
		for i := range domains {
			names = append(names, fmt.Sprintf("d%d.example.org", i))
			zone = append(zone, fmt.Sprintf("%s. 60 IN MX 10 mx%d.example.net.", names[i], i%len(servers)))
		}
		front := &harness.Program{Args: []string{"--roles", "api,app,track"}, Env: []string{
			"PACKETBOAT_NODE_LEASE=" + nodeLease.String(), "PACKETBOAT_DNS_RESOLVER=" + dnstest.New(t, zone...).Addr, fmt.Sprint("PACKETBOAT_MX_PORT=", servers[0].Port()),
		}}
		e2etest.Begin(t, front, address)
		ready, err := front.Ready(ctx)
		if err != nil {
			t.Fatal(err)
		}
		db := e2etest.Database(t, front)
		t.Cleanup(func() { _ = db.Close() })
		if err := harness.SeedDomains(ctx, db, ready.List, recipients, names); err != nil {
			t.Fatal(err)
		}
		lane := e2etest.Must(t, ready.Owner, http.MethodPost, "/mta-configs", map[string]any{
			"name": "Own", "type": "direct_mx", "caps": map[string]any{"max_connections": 40},
			"settings": map[string]any{"tls": "opportunistic", "ips": []any{map[string]any{"ip": "127.0.0.1", "helo_host": "out.example.com"}}},
		})["key"].(string)
		b, err := ready.Broadcast(ctx, lane, map[string]any{"subject": "News", "body_html": "<p>Hello {{ first_name }}</p>"})
		if err == nil {
			err = ready.Schedule(ctx, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		workers := make([]*harness.Program, 2)
		for i := range workers {
			dir := filepath.Join(front.Dir, fmt.Sprint("worker", i))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			w := front.NewNode(dir, "--roles", "worker")
			w.Admin = "127.0.0.1:" + e2etest.FreePort(t)
			if err := w.Start(ctx); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = w.Kill() })
			workers[i] = w
		}
		for _, w := range workers { // both send
			for !sends(t, w) {
				e2etest.Pause(t)
			}
		}
		if err := workers[0].Kill(); err != nil {
			t.Fatal(err)
		}
		// Both servers accept ten connections by now, and the process that is left gets them all.
		for {
			var full int
			if err := db.QueryRow(ctx, `
				SELECT COUNT(*) FROM (SELECT name FROM pace_slot WHERE name LIKE 'site:%' AND expires_at > pace_clock()
					GROUP BY name HAVING MAX(granted) = $1 AND COUNT(*) FILTER (WHERE owner <> '') = 1) AS full_sites`, most).Scan(&full); err != nil {
				t.Fatal(err)
			}
			if full == len(servers) {
				break
			}
			e2etest.Pause(t)
		}
		if _, err := ready.Await(ctx, b, "completed"); err != nil {
			t.Fatal(err)
		}
		got := 0
		for i, s := range servers {
			st := s.Stats()
			if got += int(st.Messages); st.Peak > most || st.Peak < most-2 {
				t.Errorf("server %d had %d connections at once, want %d", i, st.Peak, most)
			}
		}
		if got < recipients || got > recipients+len(servers)*most {
			t.Errorf("%d messages were accepted, want %d and at most one more for each connection of the killed process", got, recipients)
		}
	})
}

// sends reports whether a worker has sent messages.
func sends(t *testing.T, w *harness.Program) bool {
	t.Helper()
	res, err := http.Get("http://" + w.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte(`packetboat_delivery_results_total{`))
}
