// Command inboundbench measures how many reports about failed mail the program receives by SMTP in a
// second, with their effects written: the message, its sums, the contact and the suppression list.
//
// The program is the real binary in a process of its own; the client shares the machine with it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/account/journal"
)

type options struct {
	program, postgres, only string
	reports, conns          int
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.IntVar(&o.reports, "reports", 30_000, "reports of a run")
	flag.IntVar(&o.conns, "connections", 48, "connections that they come in on; the program accepts 50 of one address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("\n%d reports of 7 KB, on %d connections\n%-9s | %10s | %12s | %12s\n", o.reports, o.conns, "database", "accepted/s", "in effect/s", "CPU s/1000")
	if err := benchsite.OnEach(o.postgres, o.only, func(dialect string) error { return measure(ctx, o, dialect) }); err != nil {
		fmt.Fprintln(os.Stderr, "inboundbench:", err)
		os.Exit(1)
	}
}

// measure sends all reports, waits until the followers have read them, and checks the result.
func measure(ctx context.Context, o options, dialect string) error {
	s, err := open(ctx, o, dialect)
	if err != nil {
		return err
	}
	err = s.measure(ctx, o)
	return errors.Join(err, s.Close())
}

func (s *site) measure(ctx context.Context, o options) error {
	before, err := s.Usage()
	if err != nil {
		return err
	}
	begin := time.Now()
	all, sending := errgroup.WithContext(ctx)
	for i := range o.conns {
		all.Go(func() error { return s.sendReports(sending, i, o.conns) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	accepted := time.Since(begin)
	for {
		lag, err := journal.Lag(ctx, s.DB)
		if err != nil {
			return err
		}
		if lag == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	done := time.Since(begin)
	after, err := s.Usage()
	if err != nil {
		return err
	}
	n := float64(len(s.reports))
	fmt.Printf("%-9s | %10.0f | %12.0f | %12.3f\n", s.Dialect, n/accepted.Seconds(), n/done.Seconds(), (after.CPU-before.CPU).Seconds()/n*1000)
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
func (s *site) sendReports(ctx context.Context, first, n int) error {
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
