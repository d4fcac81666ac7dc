package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// domains is the number of destinations of direct delivery: each has one of the hosts as its only mail server.
const domains = 1000

// direct measures delivery to the servers of recipients' domains, found in a DNS on loopback, beside
// the same send by one relay. Both lanes sign, have as many connections, and end in sinks of the same kind;
// one listens at the addresses of all hosts. They take turns, and the ratio is that of the medians.
func direct(ctx context.Context, o options, database string) error {
	relay, err := startSink(ctx, o.sink, "-discard", "-quiet", "-delay", o.delay.String())
	if err != nil {
		return err
	}
	defer relay.stop()
	var addresses, names []string
	for i := range o.hosts {
		addresses = append(addresses, fmt.Sprintf("127.0.%d.%d", 1+i/250, 1+i%250))
	}
	servers, err := startSink(ctx, o.sink, "-discard", "-quiet", "-delay", o.delay.String(), "-hosts", strings.Join(addresses, ","))
	if err != nil {
		return err
	}
	defer servers.stop()
	var zone []string
	for i, a := range addresses {
		zone = append(zone, fmt.Sprintf("mx%d.example.net. 3600 IN A %s", i, a))
	}
	for i := range domains {
		names = append(names, fmt.Sprintf("d%d.example.org", i))
		zone = append(zone, fmt.Sprintf("%s. 3600 IN MX 10 mx%d.example.net.", names[i], i%o.hosts))
	}
	dns, err := dnstest.Listen(zone...)
	if err != nil {
		return err
	}
	defer dns.Close()
	_, port, err := net.SplitHostPort(servers.address)
	if err != nil {
		return err
	}
	o.env = []string{"PACKETBOAT_DNS_RESOLVER=" + dns.Addr, "PACKETBOAT_MX_PORT=" + port}
	if err := served(ctx, o, database, func(p *harness.Program) error { return measureDirect(ctx, o, p, database, relay.address, names) }); err != nil {
		return err
	}
	n := float64(o.n * o.rounds)
	seen, other := servers.stop(), relay.stop()
	fmt.Printf("%-9s connections a message: relay %.3f, direct %.3f; CPU s/1000 of the servers %.3f and %.3f\n", database,
		float64(other.Connections)/n, float64(seen.Connections)/n, relay.cpu().Seconds()*1000/n, servers.cpu().Seconds()*1000/n)
	return nil
}

func measureDirect(ctx context.Context, o options, p *harness.Program, database, relay string, names []string) error {
	ready, err := p.Ready(ctx)
	if err != nil {
		return err
	}
	if err := inDatabase(ctx, p, func(db *sqldb.DB) error { return harness.SeedDomains(ctx, db, ready.List, o.n, names) }); err != nil {
		return err
	}
	relayed, err := ready.Lane(ctx, "Relay", relay, o.connections, true)
	if err != nil {
		return err
	}
	own, err := ready.Owner.Must(ctx, http.MethodPost, "/mta-configs", map[string]any{
		"name": "Own", "type": "direct_mx",
		"settings": map[string]any{"tls": "opportunistic", "ips": []any{map[string]any{"ip": "127.0.0.1", "helo_host": "out.example.com"}}},
		"caps":     map[string]any{"max_connections": o.connections, "max_messages_per_connection": 100000},
	})
	if err != nil {
		return err
	}
	lanes := []struct{ name, key string }{{"relay", relayed}, {"direct", own["key"].(string)}}
	rates, cpu := map[string][]float64{}, map[string]time.Duration{}
	for range o.rounds {
		for _, l := range lanes {
			f, err := send(ctx, p, ready, l.key, o.n)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			rates[l.name] = append(rates[l.name], f.rate)
			cpu[l.name] += f.cpu
		}
	}
	each := func(lane string) float64 { return cpu[lane].Seconds() * 1000 / float64(o.n*o.rounds) }
	fmt.Printf("%-9s %d messages to %d domains at %d servers: relay %5.0f/s, direct %5.0f/s, ratio %.2f; CPU s/1000 %.3f and %.3f\n",
		database, o.n, len(names), o.hosts, median(rates["relay"]), median(rates["direct"]), median(rates["direct"])/median(rates["relay"]), each("relay"), each("direct"))
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
