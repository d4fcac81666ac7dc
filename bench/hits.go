package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// hits measures what the program does with opens and clicks: requests a second while a flood of them comes in, how
// long other requests take meanwhile, and how long it takes until all hits are judged.
//
// The same flood comes from one address, from ten, and from many: what it costs must not depend on that, so the
// figures are to be compared within a run.
type hits struct {
	Hits        int           `env:"HITS" default:"200000" help:"Requests of each flood."`
	Messages    int           `default:"20000" help:"Messages whose links are followed."`
	Connections int           `default:"64" help:"Connections that the flood comes in on."`
	Addresses   []int         `default:"1,10,50000" help:"Numbers of addresses that a flood comes from."`
	Calm        time.Duration `default:"5s" help:"How long other requests are measured without a flood."`
	Limit       time.Duration `default:"10m" help:"How long to wait until all hits are judged."`
}

// Run prints a row for each flood.
func (c *hits) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) error {
		c.heading()
		var errs []error
		for _, n := range c.Addresses {
			if err := c.measure(ctx, t, dialect, n); err != nil {
				errs = append(errs, fmt.Errorf("%d addresses: %w", n, err))
			}
		}
		return errors.Join(errs...)
	})
}

func (c *hits) heading() {
	fmt.Printf("\n%d requests, 9 in 10 of them opens, on %d connections; times in ms\n", c.Hits, c.Connections)
	fmt.Printf("%-9s %9s | %7s %7s %7s | %-23s | %-23s | %8s %8s %8s %7s %6s\n", "", "", "", "", "",
		"create p50/p99", "GET p50/p99", "", "", "", "", "")
	fmt.Printf("%-9s %9s | %7s %7s %7s | %11s %11s | %11s %11s | %8s %8s %8s %7s %6s\n", "database", "addresses", "req/s", "p99", "max",
		"calm", "flood", "calm", "flood", "judged s", "CPU s", "server s", "peak MB", "lost")
}

// hitSite is a running program with a send that is over, and the paths of its links.
type hitSite struct {
	*site.Site
	opens  []string
	clicks []string
}

func (c *hits) open(ctx context.Context, t *site.Target, dialect string) (*hitSite, error) {
	running, err := t.Open(ctx, dialect, site.Options{
		Contacts: c.Messages,
		Env:      []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32"}, // the addresses are in X-Forwarded-For
	})
	if err != nil {
		return nil, err
	}
	s := &hitSite{Site: running}
	if err := s.sign(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sign stores a send and signs the links of its mails.
func (s *hitSite) sign(ctx context.Context) error {
	box, err := s.Box()
	if err != nil {
		return err
	}
	keys := track.NewKeys(box)
	return s.FinishedSend(ctx, func(tenant id.Tenant, m outbox.Message, _ time.Time) error {
		signer, err := keys.Signer(tenant, m.ID)
		if err != nil {
			return err
		}
		signer.SetOrigin(m.Content, m.Identity)
		s.opens = append(s.opens, "/_q/o/"+string(signer.Append(nil, track.OpenPixel, 0, ""))+".gif")
		s.clicks = append(s.clicks, "/_q/c/"+string(signer.Append(nil, track.ClickLink, 0, "")))
		return nil
	})
}

// pending returns how many hits are still to be judged.
func (s *hitSite) pending(ctx context.Context) (n int, err error) {
	err = s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM hit WHERE class = 'pending' /* all tenants: there is one */`).Scan(&n)
	return n, err
}

func (s *hitSite) countRecorded(ctx context.Context) (n int, err error) {
	err = s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM hit /* all tenants: there is one */`).Scan(&n)
	return n, err
}
