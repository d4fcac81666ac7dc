package send

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/mail/dnstest"
)

// domains is the number of destinations of direct delivery: each has one of the hosts as its only mail server.
const domains = 1000

// Direct measures delivery to the servers of recipients' domains, found in a DNS on loopback, beside
// the same send by one relay. Both lanes sign, have as many connections, and end in sinks of the same kind;
// one listens at the addresses of all hosts. They take turns, and the ratio is that of the medians.
type Direct struct {
	N           int           `env:"N" default:"20000" help:"Recipients of each send."`
	Connections int           `default:"64" help:"SMTP connections of each lane."`
	Rounds      int           `default:"3" help:"How often each lane sends."`
	Delay       time.Duration `default:"0s" help:"How long the servers take for each message."`
	Hosts       int           `default:"50" help:"The number of servers, at most 1,000."`
}

// Run prints the figures of each database.
func (c *Direct) Run(ctx context.Context, t *site.Target) error {
	if c.Hosts < 1 || c.Hosts > domains {
		return fmt.Errorf("--hosts must be from 1 to %d", domains)
	}
	return t.OnEach(func(dialect string) error { return c.measure(ctx, t, dialect) })
}

func (c *Direct) measure(ctx context.Context, t *site.Target, dialect string) (err error) {
	relay, err := t.StartSink(ctx, "-discard", "-delay", c.Delay.String())
	if err != nil {
		return err
	}
	defer relay.Stop()
	var addresses, names []string
	for i := range c.Hosts {
		addresses = append(addresses, fmt.Sprintf("127.0.%d.%d", 1+i/250, 1+i%250))
	}
	servers, err := t.StartSink(ctx, "-discard", "-delay", c.Delay.String(), "-hosts", strings.Join(addresses, ","))
	if err != nil {
		return err
	}
	defer servers.Stop()
	var zone []string
	for i, a := range addresses {
		zone = append(zone, fmt.Sprintf("mx%d.example.net. 3600 IN A %s", i, a))
	}
	for i := range domains {
		names = append(names, fmt.Sprintf("d%d.example.org", i))
		zone = append(zone, fmt.Sprintf("%s. 3600 IN MX 10 mx%d.example.net.", names[i], i%c.Hosts))
	}
	dns, err := dnstest.Listen(zone...)
	if err != nil {
		return err
	}
	defer dns.Close()
	_, port, err := net.SplitHostPort(servers.Address)
	if err != nil {
		return err
	}
	s, err := t.Open(ctx, dialect, site.Options{Env: []string{"PACKETBOAT_DNS_RESOLVER=" + dns.Addr, "PACKETBOAT_MX_PORT=" + port}})
	if err != nil {
		return err
	}
	if err := errors.Join(c.send(ctx, s, relay.Address, names), s.Close()); err != nil {
		return err
	}
	n := float64(c.N * c.Rounds)
	seen, other := servers.Stop(), relay.Stop()
	fmt.Printf("%-9s connections a message: relay %.3f, direct %.3f; CPU s/1000 of the servers %.3f and %.3f\n", dialect,
		float64(other.Connections)/n, float64(seen.Connections)/n, relay.CPU().Seconds()*1000/n, servers.CPU().Seconds()*1000/n)
	return nil
}

// send sends by each lane in turn.
func (c *Direct) send(ctx context.Context, s *site.Site, relay string, names []string) error {
	ready := s.Account
	if err := harness.SeedDomains(ctx, s.DB, ready.List, c.N, names); err != nil {
		return err
	}
	relayed, err := ready.Lane(ctx, "Relay", relay, c.Connections, true)
	if err != nil {
		return err
	}
	own, err := ready.Owner.Must(ctx, http.MethodPost, "/mta-configs", map[string]any{
		"name": "Own", "type": "direct_mx",
		"settings": map[string]any{"tls": "opportunistic", "ips": []any{map[string]any{"ip": "127.0.0.1", "helo_host": "out.example.com"}}},
		"caps":     map[string]any{"max_connections": c.Connections, "max_messages_per_connection": 100000},
	})
	if err != nil {
		return err
	}
	lanes := []struct{ name, key string }{{"relay", relayed}, {"direct", own["key"].(string)}}
	rates, cpu := map[string][]float64{}, map[string]time.Duration{}
	for range c.Rounds {
		for _, l := range lanes {
			f, err := send(ctx, s, l.key, c.N)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			rates[l.name] = append(rates[l.name], float64(c.N)/f.Took.Seconds())
			cpu[l.name] += f.CPU
		}
	}
	each := func(lane string) float64 { return cpu[lane].Seconds() * 1000 / float64(c.N*c.Rounds) }
	fmt.Printf("%-9s %d messages to %d domains at %d servers: relay %5.0f/s, direct %5.0f/s, ratio %.2f; CPU s/1000 %.3f and %.3f\n",
		s.Dialect, c.N, len(names), c.Hosts, median(rates["relay"]), median(rates["direct"]), median(rates["direct"])/median(rates["relay"]), each("relay"), each("direct"))
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
