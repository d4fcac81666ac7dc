package main

import (
	"context"

	"github.com/packetboat/packetboat/bench/site"
)

// contents measures what authors and their programs wait for: how long it takes to check what fills a template and
// to render it, beside a request that reads one record; and what the compiler of MJML holds, before, while and after
// it is used.
//
// What recipients cost is measured by benchmarks of Go beside the code, which scripts/bench runs first.
type contents struct {
	N      int  `default:"300" help:"Requests of each sort."`
	Memory bool `default:"true" negatable:"" help:"Measure the memory of the compiler, which takes 75 s."`
}

// Run prints the tables.
func (c *contents) Run(ctx context.Context, t *site.Target) error {
	err := t.OnEach(func(dialect string) error { return c.binding(ctx, t, dialect) })
	if err != nil || !c.Memory {
		return err
	}
	return memory(ctx, t)
}
