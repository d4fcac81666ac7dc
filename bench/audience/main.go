// Command audiencebench measures what the program does with contacts: requests a
// second of the operations on them, an import, and how long searches, filters
// and segments take in a database of a million contacts and their history.
//
// The program is the real binary in a process of its own. The client shares the
// machine with it, so each figure is printed with that of the same client and a
// server that does nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.IntVar(&o.conns, "connections", 32, "connections that requests come in on")
	flag.DurationVar(&o.span, "span", 5*time.Second, "how long each operation is measured")
	flag.IntVar(&o.contacts, "contacts", 1_000_000, "contacts of the large database")
	flag.IntVar(&o.entries, "entries", 5_000_000, "journal entries of the large database")
	flag.IntVar(&o.rows, "rows", 200_000, "rows of the import")
	flag.StringVar(&o.only, "only", "", "run only what contains each of these words, such as sqlite, requests, import or scale")
	flag.StringVar(&o.operation, "operation", "", "measure only operations whose name contains this")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener, to take profiles from")
	flag.StringVar(&o.profiles, "profiles", "", "directory for a processor profile of each operation, taken from -admin")
	flag.StringVar(&o.keep, "keep", "", "directory that keeps large databases for the next run")
	flag.BoolVar(&o.plans, "plans", false, "print the plans of the statements, and measure nothing")
	bare := flag.Bool("bare", false, "be the server that does nothing")
	flag.Parse()
	run := run
	if *bare {
		run = func(context.Context, options) error { return serveBare() }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "audiencebench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, postgres, only, operation, admin, profiles, keep string
	conns, contacts, entries, rows                            int
	span                                                      time.Duration
	plans                                                     bool
}

func (o options) wants(database, part string) bool {
	for word := range strings.FieldsSeq(o.only) {
		if !strings.Contains(database+" "+part, word) {
			return false
		}
	}
	return database != "postgres" || o.postgres != ""
}

func run(ctx context.Context, o options) error {
	type part struct {
		name string
		run  func(context.Context, options, string) error
	}
	parts := []part{{"requests", requests}, {"import", importing}}
	if o.plans {
		parts = []part{{"plans", showPlans}}
	}
	var errs []error
	for _, part := range parts {
		for _, database := range []string{"sqlite", "postgres"} {
			if !o.wants(database, part.name) {
				continue
			}
			if err := part.run(ctx, o, database); err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", part.name, database, err))
			}
		}
	}
	if !o.plans {
		errs = append(errs, scale(ctx, o))
	}
	return errors.Join(errs...)
}
