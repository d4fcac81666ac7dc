// Command contentbench measures what authors and their programs wait for, through
// the API of the real binary: how long it takes to check what fills a template and
// to render it, beside a request that reads one record; and what the compiler of
// MJML holds, before, while and after it is used.
//
// What recipients cost is measured by benchmarks of Go beside the code, which
// scripts/bench runs first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.only, "only", "", "run only what contains each of these words: sqlite, postgres, memory")
	flag.IntVar(&o.n, "n", 300, "requests of each sort")
	flag.BoolVar(&o.idle, "idle", true, "wait until the compiler has been closed for being idle")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "contentbench:", err)
		os.Exit(1)
	}
}

type options struct {
	program, postgres, only string
	n                       int
	idle                    bool
}

func (o options) wants(part string) bool {
	for word := range strings.FieldsSeq(o.only) {
		if !strings.Contains(part, word) {
			return false
		}
	}
	return true
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if o.wants(database) && (database == "sqlite" || o.postgres != "") {
			errs = append(errs, binding(ctx, o, database))
		}
	}
	if o.wants("memory") {
		errs = append(errs, memory(ctx, o))
	}
	return errors.Join(errs...)
}
