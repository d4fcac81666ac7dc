// Command sendbench measures a whole send: a broadcast to N recipients, each
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
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/page"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.sink, "sink", "bin/smtpsink", "the SMTP sink")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.IntVar(&o.n, "n", 100_000, "recipients of an unsigned send")
	flag.IntVar(&o.signed, "signed", 0, "recipients of a signed send; 0 means a fifth of n")
	flag.IntVar(&o.connections, "connections", 64, "SMTP connections of the lane")
	flag.StringVar(&o.only, "only", "", "run only what contains this, such as sqlite or unsigned")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener, to take profiles from")
	flag.StringVar(&o.what, "what", "send", "what to measure: send, fair (a small send beside a large one), prepare (an audience into the outbox) or direct (delivery to the servers of 1,000 domains, beside one relay)")
	flag.IntVar(&o.rounds, "rounds", 3, "how often -what direct sends by each lane")
	flag.DurationVar(&o.delay, "delay", 0, "how long the servers of -what direct take for each message")
	flag.IntVar(&o.hosts, "hosts", 50, "the number of servers of -what direct")
	flag.IntVar(&o.workers, "workers", 1, "worker processes; more than one needs -postgres")
	flag.BoolVar(&o.keep, "keep", false, "keep the data and logs of each run")
	flag.Parse()
	if o.signed == 0 {
		o.signed = max(o.n/5, 1)
	}
	if o.hosts < 1 || o.hosts > domains {
		fmt.Fprintf(os.Stderr, "sendbench: -hosts must be from 1 to %d\n", domains)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "sendbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, sink, postgres, only, admin, what string
	n, signed, connections, workers, rounds    int
	hosts                                      int
	delay                                      time.Duration
	keep                                       bool
	env                                        []string // of the program
}

func run(ctx context.Context, o options) error {
	if other := map[string]func(context.Context, options, string) error{"fair": fair, "prepare": prepare, "direct": direct}[o.what]; other != nil {
		return each(o, func(database string) error { return other(ctx, o, database) })
	}
	fmt.Printf("%-9s %-9s %9s %8s %8s %6s %8s %10s %6s %11s %8s %8s\n",
		"database", "", "messages", "msgs/s", "bare", "ratio", "source", "pipelined", "ratio", "CPU s/1000", "server", "peak MB")
	return each(o, func(database string) error {
		var errs []error
		for _, sign := range []bool{false, true} {
			name := map[bool]string{false: "unsigned", true: "signed"}[sign]
			if !strings.Contains(database+" "+name, o.only) {
				continue
			}
			if err := measure(ctx, o, database, sign); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(errs...)
	})
}

// each measures on every database that is there and asked for.
func each(o options, measure func(database string) error) error {
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && o.postgres == "" || database == "sqlite" && o.workers > 1 || o.what != "send" && !strings.Contains(database, o.only) {
			continue
		}
		if err := measure(database); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", database, err))
		}
	}
	return errors.Join(errs...)
}

// served starts the program on a fresh database, lets do use it, and stops it.
func served(ctx context.Context, o options, database string, do func(p *harness.Program) error) (err error) {
	dir, err := os.MkdirTemp("", "packetboat-bench")
	if err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	address, drop, err := databaseFor(ctx, o, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	p := &harness.Program{Path: o.program, Dir: dir, Database: address, Admin: o.admin, Env: o.env}
	if err := p.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	return do(p)
}

func measure(ctx context.Context, o options, database string, sign bool) error {
	n := o.n
	if sign {
		n = o.signed
	}
	return served(ctx, o, database, func(p *harness.Program) error { return measureSend(ctx, o, p, database, n, sign) })
}

// measureSend measures one send to n recipients and prints its row.
func measureSend(ctx context.Context, o options, p *harness.Program, database string, n int, sign bool) (err error) {
	ready, err := p.Ready(ctx)
	if err != nil {
		return err
	}
	key, err := seed(ctx, p, ready, n)
	if err != nil {
		return err
	}
	if !sign {
		key = nil
	}
	sample, err := oneMessage(ctx, o, ready)
	if err != nil {
		return fmt.Errorf("take a sample: %w", err)
	}
	counting, err := startSink(ctx, o.sink, "-discard", "-quiet")
	if err != nil {
		return err
	}
	defer counting.stop()
	limits, err := bareLimits(ctx, o, counting.address, sample, n, key)
	if err != nil {
		return err
	}
	lane, err := ready.Lane(ctx, "Bench", counting.address, o.connections, sign)
	if err != nil {
		return err
	}
	for i := 1; i < o.workers; i++ {
		other := p.NewNode(filepath.Join(p.Dir, fmt.Sprint("worker", i)), "--roles", "worker")
		if err := errors.Join(os.Mkdir(other.Dir, 0o700), other.Start(ctx)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, other.Stop()) }()
	}
	figures, err := send(ctx, p, ready, lane, n)
	if err != nil {
		return err
	}
	again, err := bareLimits(ctx, o, counting.address, sample, n, key)
	if err != nil {
		return err
	}
	source, err := bare.Source(ctx, o.connections, min(n, 100_000), len(sample))
	if err != nil {
		return err
	}
	plain, pipelined := (limits.plain+again.plain)/2, (limits.pipelined+again.pipelined)/2
	fmt.Printf("%-9s %-9s %9d %8.0f %8.0f %6.2f %8.0f %10.0f %6.2f %11.3f %8.3f %8.0f\n", database,
		map[bool]string{false: "unsigned", true: "signed"}[sign], n, figures.rate,
		plain, figures.rate/plain, source, pipelined, figures.rate/pipelined,
		figures.cpu.Seconds()*1000/float64(n), figures.server.Seconds()*1000/float64(n), float64(figures.peak)/(1<<20))
	return nil
}

// servers is the processor time of the PostgreSQL server at an address, with that of
// the workers when it is a coordinator.
func servers(ctx context.Context, address string) (sum time.Duration, err error) {
	nodes, err := dbtest.CitusNodes(address)
	if nodes == nil {
		nodes = []string{address}
	}
	for _, n := range nodes {
		used, failed := meter.Server(ctx, n)
		sum, err = sum+used, errors.Join(err, failed)
	}
	return sum, err
}

type figures struct {
	rate   float64 // messages a second, from schedule to completed
	cpu    time.Duration
	server time.Duration // of PostgreSQL, in all its processes
	peak   int64
}

// send schedules the broadcast and waits for its end.
func send(ctx context.Context, p *harness.Program, ready *harness.Ready, lane string, n int) (figures, error) {
	id, err := ready.Broadcast(ctx, lane, map[string]any{"subject": "News for {{ first_name }}", "body_html": page.HTML()})
	if err != nil {
		return figures{}, err
	}
	before, err := p.Usage()
	if err != nil {
		return figures{}, err
	}
	server, err := servers(ctx, p.Database)
	if err != nil {
		return figures{}, err
	}
	began := time.Now()
	if err := ready.Schedule(ctx, id); err != nil {
		return figures{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	b, err := ready.Await(waiting, id, "completed")
	if err != nil {
		return figures{}, err
	}
	elapsed := time.Since(began)
	after, err := p.Usage()
	if err != nil {
		return figures{}, err
	}
	served, err := servers(ctx, p.Database)
	if err != nil {
		return figures{}, err
	}
	if b["sent"] != float64(n) {
		return figures{}, fmt.Errorf("%v of %d were sent", b["sent"], n)
	}
	return figures{float64(n) / elapsed.Seconds(), after.CPU - before.CPU, served - server, after.PeakMemory}, nil
}
