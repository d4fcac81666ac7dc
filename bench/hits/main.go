// Command hitsbench measures what the program does with opens and clicks: requests
// a second while a flood of them comes in, how long other requests take
// meanwhile, and how long it takes until all hits are judged.
//
// The program is the real binary in a process of its own; the client shares the
// machine with it. The same flood comes from one address, from ten, and from many:
// what it costs must not depend on that, so the figures are to be compared within
// a run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.IntVar(&o.hits, "hits", 200_000, "requests of each flood")
	flag.IntVar(&o.messages, "messages", 20_000, "messages whose links are followed")
	flag.IntVar(&o.conns, "connections", 64, "connections that the flood comes in on")
	flag.StringVar(&o.addresses, "addresses", "1,10,50000", "numbers of addresses that a flood comes from")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.DurationVar(&o.calm, "calm", 5*time.Second, "how long other requests are measured without a flood")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "how long to wait until all hits are judged")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener, to take profiles from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "hitsbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, postgres, addresses, only, admin string
	hits, messages, conns                     int
	calm, limit                               time.Duration
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if o.only != "" && o.only != database || database == "postgres" && o.postgres == "" {
			continue
		}
		heading(o)
		for part := range strings.SplitSeq(o.addresses, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 {
				return fmt.Errorf("-addresses: %q is not a number of addresses", part)
			}
			if err := measure(ctx, o, database, n); err != nil {
				errs = append(errs, fmt.Errorf("%s, %d addresses: %w", database, n, err))
			}
		}
	}
	return errors.Join(errs...)
}

func heading(o options) {
	fmt.Printf("\n%d requests, 9 in 10 of them opens, on %d connections; times in ms\n", o.hits, o.conns)
	fmt.Printf("%-9s %9s | %7s %7s %7s | %-23s | %-23s | %8s %8s %8s %7s %6s\n", "", "", "", "", "",
		"create p50/p99", "GET p50/p99", "", "", "", "", "")
	fmt.Printf("%-9s %9s | %7s %7s %7s | %11s %11s | %11s %11s | %8s %8s %8s %7s %6s\n", "database", "addresses", "req/s", "p99", "max",
		"calm", "flood", "calm", "flood", "judged s", "CPU s", "server s", "peak MB", "lost")
}
