package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
)

// The size of the template that bindings are checked against.
const (
	parameters = 100
	slots      = 30
	blocks     = 100
)

// binding measures the calls an author's program makes in a loop: check what
// fills a large template, and render it.
func (c *contents) binding(ctx context.Context, t *site.Target, dialect string) (err error) {
	s, err := t.Open(ctx, dialect, site.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	key, person := s.Account.Key, s.Account.Owner
	if err := large(ctx, key, person); err != nil {
		return err
	}
	body := map[string]any{"template_binding": filled()}
	fmt.Printf("\n%s: a template of %d parameters and %d slots, %d blocks; %d requests each, one after the other\n", dialect, parameters, slots, blocks, c.N)
	fmt.Printf("%-34s %9s %9s %9s\n", "", "p50", "p95", "of a read")
	var read time.Duration
	for _, r := range []struct {
		name, method, path string
		body               any
	}{
		{"read an account", http.MethodGet, "/settings/account", nil},
		{"validate-binding (goal 2 ms)", http.MethodPost, "/templates/large/validate-binding", body},
		{"render, 40 KB of HTML", http.MethodPost, "/templates/large/render", body},
		{"binding-options", http.MethodGet, "/templates/large/binding-options", nil},
	} {
		took, err := repeat(ctx, c.N, key, r.method, r.path, r.body)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		median := took[len(took)/2]
		if read == 0 {
			read = median
		}
		fmt.Printf("%-34s %9s %9s %9.1f\n", r.name, short(median), short(took[len(took)*95/100]), float64(median)/float64(read))
	}
	return nil
}

func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// repeat makes a request n times, and returns how long each took, sorted.
func repeat(ctx context.Context, n int, key *harness.Client, method, path string, body any) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for i := range n + n/10 { // the first tenth warms up
		began := time.Now()
		a, err := key.Do(ctx, method, path, body)
		if err != nil {
			return nil, err
		}
		if a.Status != http.StatusOK || strings.Contains(string(a.Body[:min(len(a.Body), 100)]), `"valid":false`) {
			return nil, fmt.Errorf("answered %d: %.300s", a.Status, a.Body)
		}
		if i >= n/10 {
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return took, nil
}

// large makes the template and the blocks that fit its slots.
func large(ctx context.Context, key, person *harness.Client) error {
	for i := range blocks {
		_, err := person.Must(ctx, http.MethodPost, "/blocks", map[string]any{
			"name": fmt.Sprintf("Block %03d", i), "tags": []string{"all", fmt.Sprintf("tag%d", i%10)},
			"content_html": "<h2>{{param:title}}</h2><p>{{param:text}}</p>",
			"parameters_schema": []any{
				map[string]any{"name": "title", "type": "text", "required": true, "validation": map[string]any{"max_length": 100}},
				map[string]any{"name": "text", "type": "textarea"},
			},
		})
		if err != nil {
			return err
		}
	}
	var body strings.Builder
	var declared, places []any
	for i := range parameters {
		fmt.Fprintf(&body, "<p>%s {{param:p%d}}</p>\n", strings.Repeat("words of the template ", 15), i)
		declared = append(declared, map[string]any{"name": fmt.Sprintf("p%d", i), "type": []string{"text", "rich_text", "url", "number"}[i%4], "required": true})
	}
	for i := range slots {
		fmt.Fprintf(&body, "<div>{{slot:s%d}}</div>\n", i)
		places = append(places, map[string]any{"name": fmt.Sprintf("s%d", i), "tag_filter": []string{fmt.Sprintf("tag%d", i%10)}})
	}
	_, err := key.Must(ctx, http.MethodPost, "/templates", map[string]any{
		"name": "Large", "slug": "large", "subject": "{{param:p0}}", "content_html": "<html><body>" + body.String() + "</body></html>",
		"parameters_schema": declared, "slots_schema": places,
	})
	return err
}

// filled is what fills the large template: a third of the slots by chance.
func filled() map[string]any {
	values, places := map[string]any{}, map[string]any{}
	for i := range parameters {
		values[fmt.Sprintf("p%d", i)] = []any{"Some words", "<p>Some <b>words</b></p>", "https://example.com/a?b=c", 42.5}[i%4]
	}
	for i := range slots {
		fill := map[string]any{"strategy": "fixed", "block_id": fmt.Sprintf("block-%03d", i%10), "parameters": map[string]any{"title": "A title"}}
		if i%3 == 0 {
			fill = map[string]any{"strategy": "random", "parameters": map[string]any{"title": "A title"}}
		}
		places[fmt.Sprintf("s%d", i)] = fill
	}
	return map[string]any{"parameters": values, "sections": map[string]any{}, "slots": places}
}
