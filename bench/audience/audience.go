// Package audience measures what the program does with contacts: requests a
// second of the operations on them, an import, and how long searches, filters
// and segments take in a database of a million contacts and their history.
//
// The client shares the machine with the program, so each figure of requests is printed
// with that of the same client and a server that does nothing.
package audience

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// Command measures requests, imports and scale.
type Command struct {
	Parts       []string      `default:"requests,import,scale" enum:"requests,import,scale,plans" help:"What to measure; plans prints the plans of the statements."`
	Connections int           `default:"32" help:"Connections that requests come in on."`
	Span        time.Duration `default:"5s" help:"How long each operation is measured."`
	Contacts    int           `env:"CONTACTS" default:"1000000" help:"Contacts of the large database."`
	Entries     int           `env:"ENTRIES" default:"5000000" help:"Journal entries of the large database."`
	Rows        int           `env:"ROWS" default:"200000" help:"Rows of the import."`
	Operation   string        `help:"Measure only operations whose name contains this."`
	KeepIn      string        `help:"Directory that keeps large databases for the next run."`
}

// options are what the parts need.
type options struct {
	Command
	*site.Target
}

// Run prints a table for each part.
func (c *Command) Run(ctx context.Context, t *site.Target) error {
	o := options{*c, t}
	var errs []error
	for _, part := range []struct {
		name string
		run  func(context.Context, options, string) error
	}{{"requests", requests}, {"import", importing}, {"plans", showPlans}} {
		if slices.Contains(c.Parts, part.name) {
			if err := t.OnEach(func(dialect string) error { return part.run(ctx, o, dialect) }); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", part.name, err))
			}
		}
	}
	if slices.Contains(c.Parts, "scale") {
		errs = append(errs, scale(ctx, o))
	}
	return errors.Join(errs...)
}
