// Package application measures the browser application: how soon its pages are shown, how soon it answers to
// presses and keys, and how smoothly it scrolls.
//
// The pages are shown by Chromium without a graphics card, on the same machine as the program. The same is measured
// with a bare page, which has no script of the application: what Chromium itself costs here.
// What the columns mean: docs/performance.md.
package application

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/chromium"
)

// Command measures the application on each database.
type Command struct {
	Parts    []string `default:"loads,presses,scrolling,keys,preview,design,paste" help:"What is measured."`
	Contacts int      `default:"10000" help:"Contacts of the account."`
	Loads    int      `default:"10" help:"How often Home is loaded, without what the browser keeps and with it."`
	Frames   int      `default:"600" help:"Frames of scrolling."`
	Keys     int      `default:"60" help:"Keys pressed in the code editor."`
	Acts     int      `default:"40" help:"Acts in the design of each mail."`
	Pastes   int      `default:"10" help:"Pastes of a document of Word."`
}

// Run prints a row for each figure.
func (c *Command) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) error { return c.measure(ctx, t, dialect) })
}

func (c *Command) measure(ctx context.Context, t *site.Target, dialect string) (err error) {
	path, ok := chromium.Find()
	if !ok {
		return errors.New("no Chromium")
	}
	at, err := t.Open(ctx, dialect, site.Options{Contacts: c.Contacts})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	browser, err := chromium.Start(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, browser.Stop()) }()
	bare := serveBare()
	defer bare.Close()
	b := &bench{Command: c, site: at, browser: browser, bare: bare.URL}
	fmt.Printf("\n%-10s%-44s%8s%8s%9s%9s%11s\n", dialect, "milliseconds", "p50", "p95", "longest", "goal", "beyond it")
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"loads", b.loads}, {"presses", b.presses}, {"scrolling", b.scrolling}, {"keys", b.keys}, {"preview", b.preview}, {"design", b.design}, {"paste", b.paste}} {
		if slices.Contains(c.Parts, part.name) {
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
