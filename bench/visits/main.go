// Command visitsbench measures how many requests of websites' scripts a second the program accepts (page
// views, events, identities), and how long after the last of them all are applied.
//
// The program is the real binary in a process of its own; the client shares the machine with it. Each
// request is answered when it is durable. A tenant is limited to 6,000 requests a minute, so the requests
// are those of many tenants.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/press"
	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type options struct {
	program, postgres, only  string
	tenants, visitors, conns int
	span, limit              time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.IntVar(&o.tenants, "tenants", 30, "tenants with a website; each is limited to 6,000 requests a minute")
	flag.IntVar(&o.visitors, "visitors", 1000, "visitors of each website")
	flag.IntVar(&o.conns, "connections", 32, "connections that the requests come in on")
	flag.DurationVar(&o.span, "span", 3*time.Second, "how long each kind of request is measured")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "how long to wait until the requests are applied")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := benchsite.OnEach(o.postgres, o.only, func(dialect string) error { return measure(ctx, o, dialect) }); err != nil {
		fmt.Fprintln(os.Stderr, "visitsbench:", err)
		os.Exit(1)
	}
}

// site is a running program with the site keys of its tenants.
type site struct {
	*benchsite.Site
	keys []string
}

func open(ctx context.Context, o options, dialect string) (*site, error) {
	running, err := benchsite.Open(ctx, benchsite.Options{
		Name: "visits", Program: o.program, Dialect: dialect, Postgres: o.postgres,
		Env: []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32"}, // each visitor has an address, in X-Forwarded-For
	})
	if err != nil {
		return nil, err
	}
	s := &site{Site: running}
	for i := range o.tenants {
		name := fmt.Sprintf("shop-%d", i)
		if _, err := s.Run(ctx, "tenant", "create", "--slug", name, "--name", name); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	rows, err := s.DB.Query(ctx, `SELECT site_key FROM tenant WHERE slug LIKE 'shop-%' /* all tenants: those with a website */`)
	s.keys, err = sqldb.Collect(rows, err, func(scan func(...any) error) (key string, err error) { return key, scan(&key) })
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// measure measures all kinds of requests on one database, and prints a row for each.
func measure(ctx context.Context, o options, dialect string) (err error) {
	s, err := open(ctx, o, dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Printf("\n%-9s %-11s %10s %9s %8s %8s %9s %9s %9s %8s\n",
		dialect, "requests", "accepted/s", "applied/s", "p50 ms", "p99 ms", "CPU µs", "server µs", "lag s", "peak MB")
	for _, l := range s.loads(o) {
		if err := s.measure(ctx, o, l); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one kind of request. The processor time includes that of applying them; the lag is how
// long after the last answer all are applied.
func (s *site) measure(ctx context.Context, o options, l press.Load) error {
	before, err := s.Usage()
	if err != nil {
		return err
	}
	server, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	began := time.Now()
	got, err := press.Press(ctx, strings.TrimPrefix(s.BaseURL, "http://"), press.Pace{Conns: o.conns, Span: o.span}, l, "")
	if err != nil {
		return err
	}
	ended := time.Now()
	if err := s.await(ctx, o.limit); err != nil {
		return err
	}
	applied := time.Now()
	after, err := s.Usage()
	if err != nil {
		return err
	}
	served, err := meter.Server(ctx, s.Database)
	if err != nil {
		return err
	}
	n := float64(max(len(got.Took), 1))
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	fmt.Printf("%-9s %-11s %10.0f %9.0f %8.2f %8.2f %9.1f %9.1f %9.1f %8d\n", s.Dialect, l.Name, got.Rate, n/applied.Sub(began).Seconds(),
		ms(got.At(.5)), ms(got.At(.99)), (after.CPU-before.CPU).Seconds()*1e6/n, (served-server).Seconds()*1e6/n, applied.Sub(ended).Seconds(), after.PeakMemory>>20)
	return nil
}

// await waits until all accepted requests are applied, and their journal entries followed.
func (s *site) await(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		var left bool
		err := s.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM visitor_inbox) /* all tenants: the benchmark's */`).Scan(&left)
		if err != nil {
			return err
		}
		if !left {
			return harness.Followed(ctx, s.DB, "score")
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("requests were not applied: %w", ctx.Err())
		}
	}
}

// loads are the kinds of requests: each names a random visitor of a random website.
func (s *site) loads(o options) []press.Load {
	host := strings.TrimPrefix(s.BaseURL, "http://")
	request := func(route string, fields func(r *rand.Rand, visitor int) string) press.Load {
		return press.Load{Name: route, Next: func(r *rand.Rand, b []byte) []byte {
			key, visitor := r.IntN(len(s.keys)), r.IntN(o.visitors)
			body := `{"site_key":"` + s.keys[key] + `","visitor_id":"` + strconv.Itoa(visitor) + `",` + fields(r, visitor) + `}`
			b = append(b, "POST /_q/"+route+" HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: text/plain\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n"...)
			b = fmt.Appendf(b, "X-Forwarded-For: 10.%d.%d.%d\r\nContent-Length: %d\r\n\r\n", key, r.IntN(256), r.IntN(256), len(body))
			return append(b, body...)
		}}
	}
	return []press.Load{
		request("page", func(r *rand.Rand, _ int) string {
			return fmt.Sprintf(`"url":"https://www.example.com/mugs/%d?utm_source=ads","title":"Mug","referrer":"https://www.example.net/","timezone":"Europe/Berlin"`, r.IntN(1000))
		}),
		request("identify", func(_ *rand.Rand, visitor int) string {
			return fmt.Sprintf(`"email":"visitor%d@example.org","traits":{"first_name":"Ann"}`, visitor)
		}),
		request("event", func(r *rand.Rand, _ int) string {
			return fmt.Sprintf(`"event_name":"plan_chosen","properties":{"plan":"gold","value":%d}`, r.IntN(500))
		}),
	}
}
