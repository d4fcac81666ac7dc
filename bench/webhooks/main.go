// Command webhooksbench measures how many events a second the program delivers to webhook endpoints on
// the same machine.
//
// Custom events are appended to the journal, and the time counts until the last delivery is stored:
// the program reads the journal, adds the deliveries, signs and sends the requests, and stores the
// results. The receiver answers at once; it shares the machine with the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.IntVar(&o.deliveries, "deliveries", 60_000, "deliveries of each measurement")
	flag.DurationVar(&o.pause, "answer", 0, "how long the receiver takes to answer")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "how long one measurement may take")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener, to take a processor profile from")
	flag.StringVar(&o.profiles, "profiles", "", "directory for processor profiles of the program; needs -admin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "webhooksbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, postgres, only, admin, profiles string
	deliveries                               int
	pause, limit                             time.Duration
}

func run(ctx context.Context, o options) error {
	fmt.Printf("%-9s %9s | %12s %8s %9s %9s %8s %8s %9s\n", "database", "endpoints", "deliveries/s", "target", "CPU µs", "server µs", "bytes", "peak MB", "repeated")
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && o.postgres == "" || o.only != "" && o.only != database {
			continue
		}
		for _, endpoints := range []int{1, 20} {
			if err := measure(ctx, o, database, endpoints); err != nil {
				errs = append(errs, fmt.Errorf("%s, %d endpoints: %w", database, endpoints, err))
			}
		}
	}
	return errors.Join(errs...)
}
