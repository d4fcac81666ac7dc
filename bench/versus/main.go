// Command versusbench measures several programs in turn, in one run on one machine:
// the version before a change and the one after it. Each measurement gives each
// program a fresh database, in as many rounds as are asked for, and ends with the
// median of each figure and its factor over that of the first program.
//
// The programs may have different tables: everything is done over HTTP, as a user
// does it, and all that is read of a database is the size of what it holds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	var o options
	programs := flag.String("programs", "bin/packetboat", "what is measured: NAME=PATH,NAME=PATH, the older one first")
	flag.StringVar(&o.sink, "sink", "bin/smtpsink", "the SMTP sink")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.what, "what", "size,send,signed,workers,prepare,import,requests,hits,listmonk", "what to measure")
	flag.StringVar(&o.only, "only", "", "measure on this database alone: sqlite or postgres")
	flag.IntVar(&o.rounds, "rounds", 1, "how often each program is measured")
	flag.IntVar(&o.n, "n", 20_000, "contacts and messages of size, send, workers and listmonk")
	flag.IntVar(&o.signed, "signed", 4000, "messages of a signed send")
	flag.IntVar(&o.audience, "audience", 200_000, "recipients of prepare")
	flag.IntVar(&o.rows, "rows", 100_000, "rows of an import")
	flag.IntVar(&o.messages, "messages", 5000, "mails whose links are followed")
	flag.IntVar(&o.connections, "connections", 64, "SMTP connections of a send, and HTTP connections of opens and clicks")
	flag.DurationVar(&o.span, "span", 5*time.Second, "how long requests, opens and clicks are made")
	flag.StringVar(&o.listmonk, "listmonk", "", "path of a listmonk binary to compare a send with (20 connections, PostgreSQL); it runs in LISTMONK_DIR, where its files are if they are not in the binary")
	flag.BoolVar(&o.keep, "keep", false, "keep the data and logs of each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := o.parse(*programs)
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "versusbench:", err)
		os.Exit(1)
	}
}

type options struct {
	programs                                    []program
	sink, postgres, what, only, listmonk        string
	rounds, n, signed, audience, rows, messages int
	connections                                 int
	span                                        time.Duration
	keep                                        bool
}

// program is one of those that are compared.
type program struct{ name, path string }

func (o *options) parse(programs string) error {
	for part := range strings.SplitSeq(programs, ",") {
		name, path, ok := strings.Cut(part, "=")
		if !ok {
			name, path = fmt.Sprint("program ", len(o.programs)+1), part
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("-programs: %w", err)
		}
		o.programs = append(o.programs, program{name, path})
	}
	for what := range strings.SplitSeq(o.what, ",") {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == what }) {
			return fmt.Errorf("-what: there is no measurement %q", what)
		}
	}
	return nil
}

// measurement is one thing that is measured, of one program on a fresh database.
type measurement struct {
	name   string
	server bool // on PostgreSQL alone
	run    func(ctx context.Context, o options, s *site) (figures, error)
}

// figures are what a measurement found; note is printed as it is.
type figures struct {
	list []figure
	note string
}

type figure struct {
	name   string
	value  float64
	digits int
}

func (f *figures) add(name string, value float64, digits int) {
	f.list = append(f.list, figure{name, value, digits})
}

var measurements = []measurement{
	{"size", false, size},
	{"send", false, func(ctx context.Context, o options, s *site) (figures, error) { return send(ctx, o, s, o.n, false) }},
	{"signed", false, func(ctx context.Context, o options, s *site) (figures, error) { return send(ctx, o, s, o.signed, true) }},
	{"workers", true, workers},
	{"prepare", false, prepare},
	{"import", false, importing},
	{"requests", false, requests},
	{"hits", false, hits},
	{"listmonk", true, measureBesideListmonk},
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, m := range measurements {
		if !slices.Contains(strings.Split(o.what, ","), m.name) || m.name == "listmonk" && o.listmonk == "" {
			continue
		}
		for _, dialect := range []string{"sqlite", "postgres"} {
			if m.server && dialect != "postgres" || dialect == "postgres" && o.postgres == "" || o.only != "" && o.only != dialect {
				continue
			}
			if err := compare(ctx, o, m, dialect); err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", m.name, dialect, err))
			}
		}
	}
	return errors.Join(errs...)
}

// compare measures each program in turn, and prints what came of it.
func compare(ctx context.Context, o options, m measurement, dialect string) error {
	programs := slices.Clone(o.programs)
	all := make([][]figures, len(programs))
	if m.name == "listmonk" {
		programs = append(programs, program{"listmonk", o.listmonk})
		all = append(all, nil)
	}
	for round := range o.rounds {
		for i := range programs {
			if round%2 == 1 { // none is always the first
				i = len(programs) - 1 - i
			}
			began := time.Now()
			f, err := measure(ctx, o, m, programs[i], dialect)
			if err != nil {
				return fmt.Errorf("%s: %w", programs[i].name, err)
			}
			all[i] = append(all[i], f)
			fmt.Fprintf(os.Stderr, "%s, %s, %s: %s, measured in %s\n", m.name, dialect, programs[i].name, f, time.Since(began).Round(time.Second))
		}
	}
	printTable(m.name+", "+dialect, programs, all)
	return nil
}

func measure(ctx context.Context, o options, m measurement, p program, dialect string) (f figures, err error) {
	if p.name == "listmonk" && p.path == o.listmonk {
		return listmonk(ctx, o)
	}
	s, err := open(ctx, o, p, dialect)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return m.run(ctx, o, s)
}

// String is a row of the log.
func (f figures) String() string {
	var parts []string
	for _, one := range f.list {
		parts = append(parts, fmt.Sprintf("%s %.*f", one.name, one.digits, one.value))
	}
	return strings.Join(parts, ", ")
}

// printTable prints a row for each figure: its median for each program, and what
// factor that is of the first program's.
func printTable(title string, programs []program, all [][]figures) {
	fmt.Printf("\n%-34s", title)
	for i, p := range programs {
		fmt.Printf(" %12.12s", p.name)
		if i > 0 {
			fmt.Printf(" %7s", "factor")
		}
	}
	fmt.Println()
	for _, f := range all[0][0].list {
		fmt.Printf("%-34s", f.name)
		first := 0.0
		for i := range programs {
			v, ok := median(all[i], f.name)
			if !ok {
				fmt.Printf(" %12s %7s", "-", "")
				continue
			}
			fmt.Printf(" %12.*f", f.digits, v)
			if i == 0 {
				first = v
			} else if first != 0 {
				fmt.Printf(" %7.2f", v/first)
			}
		}
		fmt.Println()
	}
	for i, p := range programs {
		if note := all[i][len(all[i])-1].note; note != "" {
			fmt.Printf("\n%s, %s:\n%s", title, p.name, note)
		}
	}
}

// median returns the median of a figure over the rounds that have it.
func median(rounds []figures, name string) (float64, bool) {
	var values []float64
	for _, f := range rounds {
		for _, one := range f.list {
			if one.name == name {
				values = append(values, one.value)
			}
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2, true
}
