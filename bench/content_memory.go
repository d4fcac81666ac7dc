package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// memory measures the memory of the program before MJML is compiled, while
// the compiler is open, and after it was closed.
func memory(ctx context.Context, t *site.Target) (err error) {
	p, err := t.Open(ctx, "sqlite", site.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	fmt.Printf("\nmemory of the program (resident)\n")
	say := func(when string) error {
		u, err := p.Usage()
		if err == nil {
			fmt.Printf("%-34s %6.0f MB, peak %6.0f MB\n", when, float64(u.Memory)/(1<<20), float64(u.PeakMemory)/(1<<20))
		}
		return err
	}
	if err := say("no MJML yet"); err != nil {
		return err
	}
	for i := range 3 {
		began := time.Now()
		_, err := p.Account.Key.Must(ctx, http.MethodPost, "/templates", map[string]any{
			"name": fmt.Sprintf("Letter %d", i), "format": "mjml", "content_html": "",
			"content_mjml": fmt.Sprintf("<mjml><mj-body><mj-section><mj-column><mj-text>Letter %d</mj-text></mj-column></mj-section></mj-body></mjml>", i),
		})
		if err != nil {
			return err
		}
		fmt.Printf("%-34s %9s\n", fmt.Sprintf("save a small MJML template, no. %d", i+1), short(time.Since(began)))
	}
	if err := say("the compiler is open"); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(75 * time.Second):
	}
	return say("75 s later")
}
