// Command crash sends a broadcast while everything around it fails: the processes that send are
// killed, frozen and cut off from their database, the database and the receiving server are killed
// and restarted, and the server causes all kinds of failures. At the end the program's records must
// agree with the mails that the server has on its disk: no mail is lost, and a mail arrives twice
// only if its answer was pending at a kill.
//
// All random choices come from one seed, which is printed. A seed repeats the plan, but not the
// timing of the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.sink, "sink", "bin/smtpsink", "the SMTP sink")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server of its own; without it only SQLite is tried")
	flag.StringVar(&o.restart, "restart", "", "command that kills the PostgreSQL server and starts it again")
	flag.IntVar(&o.n, "n", 20_000, "recipients")
	flag.IntVar(&o.cycles, "cycles", 30, "how often something is killed")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "of all chance")
	flag.StringVar(&o.only, "only", "", "run only what contains this, such as sqlite or gentle")
	flag.BoolVar(&o.keep, "keep", false, "keep data and logs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("seed %d\n", o.seed)
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "crash: seed %d: %v\n", o.seed, err)
		os.Exit(1)
	}
}

type options struct {
	program, sink, postgres, restart, only string
	n, cycles                              int
	seed                                   uint64
	keep                                   bool
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && o.postgres == "" {
			continue
		}
		for _, gentle := range []bool{false, true} {
			name := database + map[bool]string{false: " harsh", true: " gentle"}[gentle]
			if !strings.Contains(name, o.only) {
				continue
			}
			began := time.Now()
			fmt.Printf("== %s\n", name)
			if err := try(ctx, o, database, gentle); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
				fmt.Printf("%s: FAILED: %v\n", name, err)
			}
			fmt.Printf("%s: %v\n", name, time.Since(began).Round(time.Second))
		}
	}
	return errors.Join(errs...)
}

// try is one run, from an empty database to the account at the end.
func try(ctx context.Context, o options, database string, gentle bool) error {
	if gentle {
		o.n, o.cycles = o.n/4, max(o.cycles/4, 3)
	}
	s, err := newScene(ctx, o, database)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.schedule(ctx); err != nil {
		return err
	}
	if err := s.run(ctx, gentle); err != nil {
		return err
	}
	return s.settle(ctx, gentle)
}
