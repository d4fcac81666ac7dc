// Command eventsbench measures how many custom events a second the program records, one by one and
// in batches, and how many bytes of the database an event takes.
//
// The program is the real binary in a process of its own; the client shares the machine with it.
// Each request is answered when its events are durable.
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
	flag.IntVar(&o.contacts, "contacts", 20_000, "contacts that have the events")
	flag.IntVar(&o.conns, "connections", 32, "connections that the requests come in on")
	flag.DurationVar(&o.span, "span", 5*time.Second, "how long each kind of request is measured")
	flag.StringVar(&o.only, "only", "", "run only this database (sqlite or postgres), or requests whose name contains this")
	flag.StringVar(&o.admin, "admin", "", "address of the program's admin listener, to take profiles from")
	flag.StringVar(&o.profiles, "profiles", "", "directory for processor profiles of the program; needs -admin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "eventsbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, postgres, only, admin, profiles string
	contacts, conns                          int
	span                                     time.Duration
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && o.postgres == "" {
			continue
		}
		if o.only == "sqlite" || o.only == "postgres" {
			if o.only != database {
				continue
			}
		}
		if err := measure(ctx, o, database); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", database, err))
		}
	}
	return errors.Join(errs...)
}

// wanted reports whether requests are measured.
func (o options) wanted(name string) bool {
	return o.only == "sqlite" || o.only == "postgres" || strings.Contains(name, o.only)
}
