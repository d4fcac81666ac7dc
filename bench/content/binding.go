package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"database/sql"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

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
func binding(ctx context.Context, o options, database string) (err error) {
	p, drop, err := start(ctx, o, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	key := p.Keyed()
	person, err := p.SignIn(ctx)
	if err != nil {
		return err
	}
	if err := large(ctx, key, person); err != nil {
		return err
	}
	body := map[string]any{"template_binding": filled()}
	fmt.Printf("\n%s: a template of %d parameters and %d slots, %d blocks; %d requests each, one after the other\n", database, parameters, slots, blocks, o.n)
	fmt.Printf("%-34s %9s %9s %9s\n", "", "p50", "p95", "of a read")
	var read time.Duration
	for _, c := range []struct {
		name, method, path string
		body               any
	}{
		{"read an account", http.MethodGet, "/settings/account", nil},
		{"validate-binding (goal 2 ms)", http.MethodPost, "/templates/large/validate-binding", body},
		{"render, 40 KB of HTML", http.MethodPost, "/templates/large/render", body},
		{"binding-options", http.MethodGet, "/templates/large/binding-options", nil},
	} {
		took, err := repeat(ctx, o.n, key, c.method, c.path, c.body)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		median := took[len(took)/2]
		if read == 0 {
			read = median
		}
		fmt.Printf("%-34s %9s %9s %9.1f\n", c.name, short(median), short(took[len(took)*95/100]), float64(median)/float64(read))
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

// start starts the program on an empty database.
func start(ctx context.Context, o options, database string) (p *harness.Program, drop func() error, err error) {
	dir, err := os.MkdirTemp("", "packetboat-content")
	if err != nil {
		return nil, nil, err
	}
	p = &harness.Program{Path: o.program, Dir: dir}
	remove := func() error { return os.RemoveAll(dir) }
	if database == "postgres" {
		if p.Database, remove, err = temporary(ctx, o.postgres, remove); err != nil {
			return nil, nil, err
		}
	}
	if err := p.Start(ctx); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return p, func() error { return errors.Join(p.Stop(), remove()) }, nil
}

// temporary makes a database on the server at address, and drops it in the end.
func temporary(ctx context.Context, address string, then func() error) (string, func() error, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("contentbench_%d", os.Getpid())
	if _, err := db.ExecContext(ctx, `CREATE DATABASE `+name+` /* all tenants: of this run */`); err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	u.Path = "/" + name
	return u.String(), func() error {
		_, err := db.ExecContext(context.WithoutCancel(ctx), `DROP DATABASE `+name+` /* all tenants: of this run */`)
		return errors.Join(err, db.Close(), then())
	}, nil
}
