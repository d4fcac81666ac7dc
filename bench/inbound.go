package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/journal"
)

// inbound measures how many reports about failed mail the program receives by SMTP in a second, with their effects
// written: the message, its sums, the contact and the suppression list.
type inbound struct {
	Reports     int `env:"REPORTS" default:"30000" help:"Reports of a run."`
	Connections int `default:"48" help:"Connections that they come in on; the program accepts 50 of one address."`
}

// Run prints a row for each database.
func (c *inbound) Run(ctx context.Context, t *site.Target) error {
	fmt.Printf("\n%d reports of 7 KB, on %d connections\n%-9s | %10s | %12s | %12s\n", c.Reports, c.Connections, "database", "accepted/s", "in effect/s", "CPU s/1000")
	return t.OnEach(func(dialect string) error {
		s, err := c.open(ctx, t, dialect)
		if err != nil {
			return err
		}
		return errors.Join(c.measure(ctx, s), s.Close())
	})
}

// measure sends all reports, waits until the followers have read them, and checks the result.
func (c *inbound) measure(ctx context.Context, s *inboundSite) error {
	var accepted time.Duration
	cost, err := s.During(ctx, func() error {
		begin := time.Now()
		all, sending := errgroup.WithContext(ctx)
		for i := range c.Connections {
			all.Go(func() error { return s.sendReports(sending, i, c.Connections) })
		}
		if err := all.Wait(); err != nil {
			return err
		}
		accepted = time.Since(begin)
		for {
			lag, err := journal.Lag(ctx, s.DB)
			if err != nil || lag == 0 {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	if err != nil {
		return err
	}
	n := float64(len(s.reports))
	fmt.Printf("%-9s | %10.0f | %12.0f | %12.3f\n", s.Dialect, n/accepted.Seconds(), n/cost.Took.Seconds(), cost.CPU.Seconds()/n*1000)
	var messages, contacts, listed int
	err = errors.Join(
		s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM outbox WHERE state = 'bounced' /* all tenants: there is one */`).Scan(&messages),
		s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM contact WHERE global_status = 'bounced' /* all tenants: there is one */`).Scan(&contacts),
		s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM suppression /* all tenants: there is one */`).Scan(&listed),
	)
	if hard := len(s.reports) * 6 / 10; err == nil && (messages != len(s.reports) || contacts != hard || listed != hard) {
		err = fmt.Errorf("%d messages and %d contacts bounced, %d addresses are suppressed; want %d, %d and %d", messages, contacts, listed, len(s.reports), hard, hard)
	}
	return err
}

// sendReports sends every n-th report on one connection.
func (s *inboundSite) sendReports(ctx context.Context, first, n int) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	command := func(text, want string) error {
		if text != "" {
			if _, err := c.Write([]byte(text)); err != nil {
				return err
			}
		}
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			if !strings.HasPrefix(line, want) {
				return fmt.Errorf("the server replied %q", line)
			}
			if line[3] == ' ' {
				return nil
			}
		}
	}
	if err := errors.Join(command("", "220"), command("EHLO relay.example\r\n", "250")); err != nil {
		return err
	}
	for i := first; i < len(s.reports); i += n {
		x := s.reports[i]
		for _, step := range [][2]string{{"MAIL FROM:<>\r\n", "250"}, {"RCPT TO:<" + x.to + ">\r\n", "250"}, {"DATA\r\n", "354"}, {x.text + ".\r\n", "250"}} {
			if err := command(step[0], step[1]); err != nil {
				return err
			}
		}
	}
	return nil
}
