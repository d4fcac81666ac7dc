// Command applicationbench measures the browser application: how soon its pages are shown, how soon it answers to
// presses and keys, and how smoothly it scrolls.
//
// The program is the real binary, and the pages are shown by Chromium without a graphics card, on the same machine.
// The same is measured with a bare page, which has no script of the application: what Chromium itself costs here.
// What the columns mean: docs/performance.md.
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

	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/chromium"
)

type options struct {
	program, postgres, only, what string
	contacts, loads, frames, keys int
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/packetboat", "the program")
	flag.StringVar(&o.postgres, "postgres", "", "address of a PostgreSQL server; without it only SQLite is measured")
	flag.StringVar(&o.only, "only", "", "run only this database: sqlite or postgres")
	flag.StringVar(&o.what, "what", "loads,presses,scrolling,keys,preview", "what is measured, with commas")
	flag.IntVar(&o.contacts, "contacts", 10000, "contacts of the account")
	flag.IntVar(&o.loads, "loads", 10, "how often Home is loaded, without what the browser keeps and with it")
	flag.IntVar(&o.frames, "frames", 600, "frames of scrolling")
	flag.IntVar(&o.keys, "keys", 60, "keys pressed in the code editor")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := benchsite.OnEach(o.postgres, o.only, func(dialect string) error { return measure(ctx, o, dialect) }); err != nil {
		fmt.Fprintln(os.Stderr, "applicationbench:", err)
		os.Exit(1)
	}
}

// measure measures the application on one database, and prints a row for each figure.
func measure(ctx context.Context, o options, dialect string) (err error) {
	path, ok := chromium.Find()
	if !ok {
		return errors.New("no Chromium")
	}
	site, err := benchsite.Open(ctx, benchsite.Options{
		Name: "application", Program: o.program, Dialect: dialect, Postgres: o.postgres, Contacts: o.contacts,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	browser, err := chromium.Start(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, browser.Stop()) }()
	bare := serveBare()
	defer bare.Close()
	b := &bench{options: o, site: site, browser: browser, bare: bare.URL}
	fmt.Printf("\n%-10s%-44s%8s%8s%9s%9s%11s\n", dialect, "milliseconds", "p50", "p95", "longest", "goal", "beyond it")
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"loads", b.loads}, {"presses", b.presses}, {"scrolling", b.scrolling}, {"keys", b.keys}, {"preview", b.preview}} {
		if slices.Contains(strings.Split(o.what, ","), part.name) {
			if err := part.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

// row prints the figures of one thing that was measured several times, in milliseconds. Without a goal it is 0.
func (b *bench) row(name string, took []float64, goal float64) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(p float64) float64 { return took[min(int(p*float64(len(took))), len(took)-1)] }
	fmt.Printf("%-10s%-44s%8.1f%8.1f%9.1f", b.site.Dialect, name, at(.5), at(.95), took[len(took)-1])
	if goal > 0 {
		beyond := 0
		for _, t := range took {
			if t > goal {
				beyond++
			}
		}
		fmt.Printf("%9.0f%11s", goal, fmt.Sprintf("%d of %d", beyond, len(took)))
	}
	fmt.Println()
}
