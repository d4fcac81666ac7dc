package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"packetboat/e2e/harness"
)

// settle lets the send come to its end and takes account.
func (s *scene) settle(ctx context.Context, gentle bool) error {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	if err := s.hurry(ctx); err != nil {
		return err
	}
	taken, err := s.server.Messages()
	if err != nil {
		return err
	}
	figures, wrong := harness.Account(ctx, s.db, s.ready, taken, s.broadcast, harness.Expected{
		People: s.people, Never: s.never, Left: s.left, MayRepeat: s.mayRepeat,
		Refused: func(to string) bool { return strings.HasSuffix(to, "@refused.example") },
	})
	if wrong == nil {
		wrong = harness.Followed(ctx, s.db, s.broadcast)
	}
	if gentle && wrong == nil && figures.Repeats > 0 {
		wrong = fmt.Errorf("%d mails were repeated, and nobody was killed", figures.Repeats)
	}
	var names []string
	for name, n := range s.did {
		names = append(names, fmt.Sprintf("%d × %s", n, name))
	}
	slices.Sort(names)
	fmt.Printf("done to it: %s; %d people left on the way\n", strings.Join(names, ", "), len(s.left))
	fmt.Printf("%v\n", figures)
	fmt.Printf("repeats: %d; bound: %d open connections + %d withheld answers\n", figures.Repeats, s.mayRepeat, figures.Lost)
	return wrong
}

// hurry waits for the end. Whoever was put off is due at once: the schedule of
// tries reaches over days, and is not what this is about.
func (s *scene) hurry(ctx context.Context) error {
	for {
		if _, err := s.db.Exec(ctx, `
			UPDATE outbox SET due_at = $1 WHERE state = 'queued' AND attempt_at IS NULL AND due_at > $2`,
			time.Now().Add(time.Second).UnixMicro(), time.Now().Add(3*time.Second).UnixMicro()); err != nil {
			return err
		}
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := s.ready.Await(within, s.broadcast, "completed")
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}
