// Package sequences measures sequences: how many contacts a second requests enroll, how many
// steps a second the engine carries out beside enrollments that wait, how long a mail takes from the
// event that triggers it to the receiving server, what waiting enrollments cost, and how long a change of
// a contact takes to enroll it by one of many segments.
package sequences

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// Command measures sequences on each database.
type Command struct {
	Contacts    int           `default:"20000" help:"Contacts that are enrolled."`
	Waiting     int           `env:"WAITING" default:"1000000" help:"Enrollments that wait meanwhile."`
	Connections int           `default:"32" help:"Connections that the requests come in on."`
	Mails       int           `default:"20" help:"Mails of which the time is measured."`
	Segments    int           `default:"200" help:"Segments whose members triggers follow."`
	Watch       bool          `help:"Measure only triggers that follow segments."`
	Span        time.Duration `default:"10s" help:"How long requests, and the program at rest, are measured."`
}

// options are what the measurements need.
type options struct {
	Command
	*site.Target
}

// Run prints a row for each figure.
func (c *Command) Run(ctx context.Context, t *site.Target) error {
	return t.OnEach(func(dialect string) error { return measure(ctx, options{*c, t}, dialect) })
}
