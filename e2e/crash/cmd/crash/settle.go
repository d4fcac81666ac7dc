package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
)

// settle waits for the end of the send and checks the results.
func (s *scene) settle(ctx context.Context, gentle bool) error {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	if err := s.ready.Hurry(ctx, s.db, s.broadcast); err != nil {
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
		wrong = fmt.Errorf("%d mails were repeated although no process was killed", figures.Repeats)
	}
	var names []string
	for name, n := range s.failures {
		names = append(names, fmt.Sprintf("%d × %s", n, name))
	}
	slices.Sort(names)
	fmt.Printf("done to it: %s; %d people left on the way\n", strings.Join(names, ", "), len(s.left))
	fmt.Printf("%v\n", figures)
	fmt.Printf("repeats: %d; bound: %d open connections + %d withheld answers\n", figures.Repeats, s.mayRepeat, figures.Lost)
	return wrong
}
