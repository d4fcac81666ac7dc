// Package versus measures several programs in turn, in one run on one machine:
// the version before a change and the one after it. Each measurement gives each
// program a fresh database, in as many rounds as are asked for, and ends with the
// median of each figure and its factor over that of the first program.
//
// The programs may have different tables: everything is done over HTTP, as a user
// does it, and all that is read of a database is the size of what it holds.
package versus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// Command measures the programs.
type Command struct {
	Programs    []string      `env:"PROGRAMS" help:"What is measured: NAME=PATH,NAME=PATH, the older one first; without it the program."`
	Parts       []string      `default:"size,send,signed,workers,prepare,import,requests,hits" enum:"size,send,signed,workers,prepare,import,requests,hits" help:"What to measure. Sizes by table on SQLite need the command sqlite3."`
	Rounds      int           `default:"1" help:"How often each program is measured."`
	N           int           `default:"20000" help:"Contacts and messages of size, send and workers."`
	Signed      int           `default:"4000" help:"Messages of a signed send."`
	Audience    int           `default:"200000" help:"Recipients of prepare."`
	Rows        int           `default:"100000" help:"Rows of an import."`
	Messages    int           `default:"5000" help:"Mails whose links are followed."`
	Connections int           `default:"64" help:"SMTP connections of a send, and HTTP connections of opens and clicks."`
	Span        time.Duration `default:"5s" help:"How long requests, opens and clicks are made."`
}

// options are what the measurements need.
type options struct {
	Command
	*site.Target
	programs []program
}

// program is one of those that are compared.
type program struct{ name, path string }

// Run prints a table for each measurement.
func (c *Command) Run(ctx context.Context, t *site.Target) error {
	o := options{Command: *c, Target: t}
	for i, text := range c.Programs {
		name, path, ok := strings.Cut(text, "=")
		if !ok {
			name, path = fmt.Sprint("program ", i+1), text
		}
		o.programs = append(o.programs, program{name, path})
	}
	if o.programs == nil {
		o.programs = []program{{"program", t.Program}}
	}
	for _, p := range o.programs {
		if _, err := os.Stat(p.path); err != nil {
			return fmt.Errorf("--programs: %w", err)
		}
	}
	return run(ctx, o)
}

// measurement is one thing that is measured, of one program on a fresh database.
type measurement struct {
	name   string
	server bool // on PostgreSQL alone
	run    func(ctx context.Context, o options, s *instance) (figures, error)
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
	{"send", false, func(ctx context.Context, o options, s *instance) (figures, error) { return send(ctx, o, s, o.N, false) }},
	{"signed", false, func(ctx context.Context, o options, s *instance) (figures, error) {
		return send(ctx, o, s, o.Signed, true)
	}},
	{"workers", true, workers},
	{"prepare", false, prepare},
	{"import", false, importing},
	{"requests", false, requests},
	{"hits", false, hits},
}

func run(ctx context.Context, o options) error {
	var errs []error
	for _, m := range measurements {
		if !slices.Contains(o.Parts, m.name) {
			continue
		}
		for _, dialect := range o.Dialects() {
			if m.server && dialect != "postgres" {
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
	programs := o.programs
	all := make([][]figures, len(programs))
	for round := range o.Rounds {
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
