// Command sequencesbench measures sequences: how many contacts a second requests enroll, how many
// steps a second the engine carries out beside enrollments that wait, how long a mail takes from the
// event that triggers it to the receiving server, what waiting enrollments cost, and how long a change of
// a contact takes to enroll it by one of many segments.
//
// The program is the real binary in a process of its own; clients and the receiving server share the
// machine with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	benchsite "github.com/packetboat/packetboat/bench/site"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.sink, "sink", "bin/smtpsink", "the receiving server")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.IntVar(&o.contacts, "contacts", 20_000, "contacts that are enrolled")
	flag.IntVar(&o.waiting, "waiting", 1_000_000, "enrollments that wait meanwhile")
	flag.IntVar(&o.conns, "connections", 32, "connections that the requests come in on")
	flag.IntVar(&o.mails, "mails", 20, "mails of which the time is measured")
	flag.IntVar(&o.segments, "segments", 200, "segments whose members triggers follow")
	flag.BoolVar(&o.watchOnly, "watch", false, "measure only triggers that follow segments")
	flag.DurationVar(&o.span, "span", 10*time.Second, "how long requests, and the program at rest, are measured")
	flag.StringVar(&o.only, "only", "", "run only this database (sqlite or postgres)")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "sequencesbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, sink, postgres, only, admin string
	contacts, waiting, conns, mails      int
	segments                             int
	watchOnly                            bool
	span                                 time.Duration
}

func run(ctx context.Context, o options) error {
	return benchsite.OnEach(o.postgres, o.only, func(dialect string) error { return measure(ctx, o, dialect) })
}
