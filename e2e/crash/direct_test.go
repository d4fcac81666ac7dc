package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKilledSendersLoseNoMailToDomains kills the program while it sends to the servers of many domains, at
// random moments. As with a relay, no mail is lost, and one arrives twice only if its final answer was
// pending at a kill.
func TestKilledSendersLoseNoMailToDomains(t *testing.T) {
	t.Parallel()
	const recipients, domains, hosts, kills = 3000, 40, 10, 3
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		ctx := t.Context()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 3))
		var addresses, zone, names, people []string
		for i := range hosts {
			addresses = append(addresses, fmt.Sprintf("127.0.3.%d", i+1))
			zone = append(zone, fmt.Sprintf("mx%d.example.net. 60 IN A %s", i, addresses[i]))
		}
		for i := range domains {
			names = append(names, fmt.Sprintf("d%d.example.org", i))
			zone = append(zone, fmt.Sprintf("%s. 60 IN MX 10 mx%d.example.net.", names[i], i%hosts))
		}
		for i := range recipients {
			people = append(people, fmt.Sprintf("person%d@%s", i, names[i%domains]))
		}
		s, err := harness.StartSink(context.WithoutCancel(ctx), e2etest.SinkProgram(t), t.TempDir(), "-delay", "2ms", "-hosts", strings.Join(addresses, ","))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		_, port, err := net.SplitHostPort(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		p := &harness.Program{Env: []string{
			"PACKETBOAT_NODE_LEASE=" + nodeLease.String(), "PACKETBOAT_DNS_RESOLVER=" + dnstest.New(t, zone...).Addr, "PACKETBOAT_MX_PORT=" + port,
		}}
		e2etest.Begin(t, p, address)
		ready, err := p.Ready(ctx)
		if err != nil {
			t.Fatal(err)
		}
		db := e2etest.Database(t, p)
		if err := harness.SeedDomains(ctx, db, ready.List, recipients, names); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		lane := e2etest.Must(t, ready.Owner, http.MethodPost, "/mta-configs", map[string]any{
			"name": "Own", "type": "direct_mx", "caps": map[string]any{"max_connections": crashConnections},
			"settings": map[string]any{"tls": "opportunistic", "ips": []any{map[string]any{"ip": "127.0.0.1", "helo_host": "out.example.com"}}},
		})["key"].(string)
		id, err := ready.Broadcast(ctx, lane, map[string]any{"subject": "Hello {{ first_name }}", "body_html": `<p>Hello {{ first_name }}</p>`})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(ctx, id); err != nil {
			t.Fatal(err)
		}
		e2etest.Eventually(t, func() (bool, bool) {
			taken, err := s.Messages()
			return true, err == nil && len(taken) > 0
		})
		for range kills {
			e2etest.Wait(t, time.Duration(200+random.IntN(500))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
		}
		account(t, p, ready, s, id, harness.Expected{People: people, MayRepeat: kills * crashConnections})
	})
}
