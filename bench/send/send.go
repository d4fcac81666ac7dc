// Package send measures a whole send: a broadcast to N recipients, each
// mail personal, from the moment it is scheduled until the broadcast is
// completed, into an SMTP sink on loopback. Each figure is printed with the limit of
// the machine in the same run: bare clients that send the same bytes to the same
// sink from memory, without a database, contacts or reports.
//
// Two clients set the limit, measured before and after. "bare" is a plain pooled
// client (emersion/go-smtp, one round trip for each command), which is what most
// senders are built on; "pipelined" is our own client at full speed. In signed
// runs both sign the same bytes with the same key. "source" is Postfix's smtp-source into
// its smtp-sink, where they are installed.
package send

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/bench/site"
)

// Command measures one send on each database, unsigned and signed.
type Command struct {
	N           int  `env:"N" default:"100000" help:"Recipients of an unsigned send."`
	Signed      int  `default:"0" help:"Recipients of a signed send; 0 means a fifth of N."`
	Connections int  `default:"64" help:"SMTP connections of the lane."`
	Unsigned    bool `default:"true" negatable:"" help:"Measure the unsigned send."`
	Workers     int  `default:"1" help:"Worker processes; more than one needs PostgreSQL."`
}

// Run prints a row for each send.
func (c *Command) Run(ctx context.Context, t *site.Target) error {
	fmt.Printf("%-9s %-9s %9s %8s %8s %6s %8s %10s %6s %11s %8s %8s\n",
		"database", "", "messages", "msgs/s", "bare", "ratio", "source", "pipelined", "ratio", "CPU s/1000", "server", "peak MB")
	return t.OnEach(func(dialect string) error {
		if dialect == "sqlite" && c.Workers > 1 {
			return nil
		}
		var err error
		if c.Unsigned {
			err = c.measure(ctx, t, dialect, c.N, false)
		}
		return errors.Join(err, c.measure(ctx, t, dialect, cmp.Or(c.Signed, max(c.N/5, 1)), true))
	})
}

// measure measures one send to n recipients and prints its row.
func (c *Command) measure(ctx context.Context, t *site.Target, dialect string, n int, sign bool) (err error) {
	s, err := t.Open(ctx, dialect, site.Options{Contacts: n})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var key *rsa.PrivateKey
	if sign {
		if key, err = s.SigningKey(ctx, s.DB, s.Account.Domain); err != nil {
			return err
		}
	}
	sample, err := oneMessage(ctx, t, s)
	if err != nil {
		return fmt.Errorf("take a sample: %w", err)
	}
	counting, err := t.StartSink(ctx)
	if err != nil {
		return err
	}
	defer counting.Stop()
	limits, err := c.limits(ctx, counting.Address, sample, n, key)
	if err != nil {
		return err
	}
	lane, err := s.Account.Lane(ctx, "Bench", counting.Address, c.Connections, sign)
	if err != nil {
		return err
	}
	for i := 1; i < c.Workers; i++ {
		other := s.NewNode(filepath.Join(s.Dir, fmt.Sprint("worker", i)), "--roles", "worker")
		if err := errors.Join(os.Mkdir(other.Dir, 0o700), other.Start(ctx)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, other.Stop()) }()
	}
	cost, err := send(ctx, s, lane, n)
	if err != nil {
		return err
	}
	again, err := c.limits(ctx, counting.Address, sample, n, key)
	if err != nil {
		return err
	}
	source, err := bare.Source(ctx, c.Connections, min(n, 100_000), len(sample))
	if err != nil {
		return err
	}
	rate, plain, pipelined := float64(n)/cost.Took.Seconds(), (limits.plain+again.plain)/2, (limits.pipelined+again.pipelined)/2
	fmt.Printf("%-9s %-9s %9d %8.0f %8.0f %6.2f %8.0f %10.0f %6.2f %11.3f %8.3f %8.0f\n", dialect,
		map[bool]string{false: "unsigned", true: "signed"}[sign], n, rate,
		plain, rate/plain, source, pipelined, rate/pipelined,
		cost.CPU.Seconds()*1000/float64(n), cost.Server.Seconds()*1000/float64(n), float64(cost.Peak)/(1<<20))
	return nil
}

// send sends a broadcast to the account's list of n contacts. It costs what is spent from its schedule to its
// completion.
func send(ctx context.Context, s *site.Site, lane string, n int) (site.Cost, error) {
	id, err := s.Account.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return site.Cost{}, err
	}
	return s.During(ctx, func() error {
		if err := s.Account.Schedule(ctx, id); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, 15*time.Minute)
		defer cancel()
		b, err := s.Account.Await(waiting, id, "completed")
		if err == nil && b["sent"] != float64(n) {
			err = fmt.Errorf("%v of %d were sent", b["sent"], n)
		}
		return err
	})
}
