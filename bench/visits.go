package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// visits measures how many requests of websites' scripts a second the program accepts (page views, events,
// identities), and how long after the last of them all are applied. Each request is answered when it is durable. A
// tenant is limited to 6,000 requests a minute, so the requests are those of many tenants.
type visits struct {
	Tenants     int           `default:"30" help:"Tenants with a website; each is limited to 6,000 requests a minute."`
	Visitors    int           `default:"1000" help:"Visitors of each website."`
	Connections int           `default:"32" help:"Connections that the requests come in on."`
	Span        time.Duration `default:"3s" help:"How long each kind of request is measured."`
	Limit       time.Duration `default:"10m" help:"How long to wait until the requests are applied."`
}

// Run prints a row for each kind of request.
func (c *visits) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) (err error) {
		s, err := c.open(ctx, t, dialect)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		fmt.Printf("\n%-9s %-11s %10s %9s %8s %8s %9s %9s %9s %8s\n",
			dialect, "requests", "accepted/s", "applied/s", "p50 ms", "p99 ms", "CPU µs", "server µs", "lag s", "peak MB")
		for _, l := range c.loads(s) {
			if err := c.measure(ctx, s, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// visitSite is a running program with the site keys of its tenants.
type visitSite struct {
	*site.Site
	keys []string
}

func (c *visits) open(ctx context.Context, t *site.Target, dialect string) (*visitSite, error) {
	running, err := t.Open(ctx, dialect, site.Options{
		Env: []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32"}, // each visitor has an address, in X-Forwarded-For
	})
	if err != nil {
		return nil, err
	}
	s := &visitSite{Site: running}
	for i := range c.Tenants {
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

// measure measures one kind of request. The processor time includes that of applying them; the lag is how
// long after the last answer all are applied.
func (c *visits) measure(ctx context.Context, s *visitSite, l press.Load) error {
	var got press.Result
	var lag time.Duration
	cost, err := s.During(ctx, func() (err error) {
		if got, err = press.Press(ctx, s.API().Address, press.Pace{Conns: c.Connections, Span: c.Span}, l, ""); err != nil {
			return err
		}
		ended := time.Now()
		err = s.await(ctx, c.Limit)
		lag = time.Since(ended)
		return err
	})
	if err != nil {
		return err
	}
	n := float64(max(len(got.Took), 1))
	fmt.Printf("%-9s %-11s %10.0f %9.0f %8.2f %8.2f %9.1f %9.1f %9.1f %8d\n", s.Dialect, l.Name, got.Rate, n/cost.Took.Seconds(),
		ms(got.At(.5)), ms(got.At(.99)), cost.CPU.Seconds()*1e6/n, cost.Server.Seconds()*1e6/n, lag.Seconds(), cost.Peak>>20)
	return nil
}

// await waits until all accepted requests are applied, and their journal entries followed.
func (s *visitSite) await(ctx context.Context, limit time.Duration) error {
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
func (c *visits) loads(s *visitSite) []press.Load {
	host := s.API().Address
	request := func(route string, fields func(r *rand.Rand, visitor int) string) press.Load {
		return press.Load{Name: route, Next: func(r *rand.Rand, b []byte) []byte {
			key, visitor := r.IntN(len(s.keys)), r.IntN(c.Visitors)
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
