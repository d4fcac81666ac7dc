// Package bare measures the limit that a sending program is compared with: the
// SMTP client of ours, handing over ready-made messages as fast as a server
// takes them, with nothing else to do. It has no database, no queue and no
// rendering; what a real sender loses against it is the price of those.
package bare

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// Options say what to send and where.
type Options struct {
	Addr     string // server, host and port
	Conns    int    // connections that send at a time; default 1
	PerConn  int    // messages after which one is renewed; default: never
	Messages int
	// Next returns message i, from 0. It is called from several goroutines,
	// and its time counts.
	Next func(i int) (from, to string, raw []byte)
	// Sign is given each message before it is sent, if not nil: the limit of a
	// sender that must sign as well.
	Sign func(raw []byte) ([]byte, error)
}

// Result is what a run came to.
type Result struct {
	Messages int
	Elapsed  time.Duration
	CPU      time.Duration // of the whole process, system time included; 0 where it cannot be known
}

// Rate returns messages per second.
func (r Result) Rate() float64 { return float64(r.Messages) / r.Elapsed.Seconds() }

// CPUPerThousand returns the processor time that a thousand messages took.
func (r Result) CPUPerThousand() time.Duration {
	return r.CPU * 1000 / time.Duration(max(r.Messages, 1))
}

// Run sends the messages and fails on the first that is not accepted.
func Run(ctx context.Context, o Options) (Result, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return Result{}, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return Result{}, fmt.Errorf("port of %s: %w", o.Addr, err)
	}
	conns := max(o.Conns, 1)
	perConn := o.PerConn
	if perConn == 0 {
		perConn = o.Messages + 1
	}
	pool := smtpclient.NewPool(smtpclient.Config{
		Host: host, Port: number, HELO: "bare.invalid", Guard: netguard.Guard{AllowPrivate: true},
	}, smtpclient.Limits{Connections: conns, Messages: perConn})
	defer pool.Close()

	var next atomic.Int64
	cpu, began := cpuTime(), time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for range conns {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= o.Messages {
					return nil
				}
				if err := one(ctx, pool, o, i); err != nil {
					return fmt.Errorf("message %d: %w", i, err)
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return Result{}, err
	}
	return Result{o.Messages, time.Since(began), cpuTime() - cpu}, nil
}

func one(ctx context.Context, pool *smtpclient.Pool, o Options, i int) error {
	from, to, raw := o.Next(i)
	if o.Sign != nil {
		var err error
		if raw, err = o.Sign(raw); err != nil {
			return err
		}
	}
	c, err := pool.Get(ctx)
	if err != nil {
		return err
	}
	defer pool.Put(c)
	outcome, err := c.Send(ctx, smtpclient.Envelope{From: from, To: to}, raw)
	if err != nil {
		return err
	}
	if v := reply.Classify(outcome); v.Class != reply.Accepted {
		return fmt.Errorf("not accepted but %s: %s", v.Class, outcome)
	}
	return nil
}
