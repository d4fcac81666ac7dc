package audience

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// instance is a running program and what its database holds.
type instance struct {
	*harness.Program
	dialect string
	extent  extent
	people  people
	account press.Account
	drop    func() error
}

// key is the API key of every site: a database that is kept knows it already.
const key = "pbk_audience2026_" + "ABenchHasNoSecretsABenchHasNoSecretsABench1"

// loaded is the file that says what a kept database holds. Its content changes
// when what is loaded does.
const loaded, loadedAs = "loaded", "3"

// open starts the program on a database that is filled to an extent. With
// o.KeepIn the database stays, and is taken as it is by the next run.
func open(ctx context.Context, o options, dialect string, x extent) (s *instance, err error) {
	s = &instance{dialect: dialect, extent: x, Program: &harness.Program{Path: o.Program, Admin: o.Admin, Key: key}, drop: func() error { return nil }}
	name := "bench_audience_" + strings.ReplaceAll(x.String(), "-", "_")
	if o.KeepIn != "" {
		s.Dir = filepath.Join(o.KeepIn, dialect+"-"+x.String())
		err = os.MkdirAll(s.Dir, 0o700)
	} else {
		name += fmt.Sprintf("_%d", os.Getpid())
		s.Dir, err = os.MkdirTemp("", "packetboat-audience")
		s.drop = func() error { return os.RemoveAll(s.Dir) }
	}
	if err != nil {
		return nil, err
	}
	s.Log = filepath.Join(s.Dir, "log")
	// The time of a kept database does not advance, so that its contacts stay the same.
	s.people = people{n: x.contacts, now: time.Now().UTC().Truncate(24 * time.Hour)}
	// The DNS is not queried: there would be no answers.
	s.Env = []string{"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9"}
	mark := filepath.Join(s.Dir, loaded)
	fresh := true
	if text, err := os.ReadFile(mark); err == nil {
		version, day, _ := strings.Cut(string(text), " ")
		if t, err := time.Parse(time.RFC3339, day); err == nil && version == loadedAs {
			s.people.now, fresh = t, false
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dialect == "postgres" {
		if fresh, err = s.postgres(ctx, o, name, fresh); err != nil {
			return s, err
		}
	}
	if fresh {
		if dialect == "sqlite" {
			for _, f := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(filepath.Join(s.Dir, "packetboat.db"+f))
			}
		}
		if err := s.fill(ctx); err != nil {
			return s, err
		}
		if err := os.WriteFile(mark, []byte(loadedAs+" "+s.people.now.Format(time.RFC3339)), 0o600); err != nil {
			return s, err
		}
	}
	if !fresh {
		if err := s.migrate(ctx); err != nil {
			return s, err
		}
	}
	if err := s.Start(ctx); err != nil {
		return s, err
	}
	s.account = press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: key}
	return s, s.awaitIndex(ctx)
}

// indexedFrom is how many contacts must wait to be worth indexing.
const indexedFrom = 512

// awaitIndex waits until the program has all contacts in the index of the search,
// or gets no further.
func (s *instance) awaitIndex(ctx context.Context) error {
	db, err := s.database(ctx, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	began, moved, last := time.Now(), time.Now(), -1
	for ctx.Err() == nil {
		var waiting int
		if err := db.QueryRow(ctx, `
			SELECT (SELECT COUNT(*) FROM contact_search_queue) + (SELECT CAST(COALESCE(SUM(contacts), 0) AS BIGINT) FROM contact_search_range)`).Scan(&waiting); err != nil {
			return fmt.Errorf("wait for the index of the search: %w", err)
		}
		if waiting != last {
			last, moved = waiting, time.Now()
		}
		if waiting < indexedFrom || time.Since(moved) > 15*time.Second {
			if took := moved.Sub(began); took > time.Second || waiting >= indexedFrom {
				progressf("%s: %d contacts are not in the index of the search after %s", s.dialect, waiting, took.Round(time.Second))
			}
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

// close stops the program and removes what is not kept.
func (s *instance) close() error { return errors.Join(s.Stop(), s.drop()) }

// postgres finds or makes the site's database, and reports whether it is to be filled.
func (s *instance) postgres(ctx context.Context, o options, name string, fresh bool) (bool, error) {
	u, err := url.Parse(o.Postgres)
	if err != nil {
		return false, err
	}
	admin, err := sql.Open("pgx", o.Postgres)
	if err != nil {
		return false, err
	}
	defer admin.Close()
	var there bool
	if err := admin.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		return false, err
	}
	if there && fresh {
		if _, err := admin.ExecContext(ctx, `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			return false, err
		}
		there = false
	}
	if !there {
		if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
			return false, err
		}
	}
	u.Path = "/" + name
	s.Database = u.String()
	if o.KeepIn == "" {
		files := s.drop
		s.drop = func() error {
			admin, err := sql.Open("pgx", o.Postgres)
			if err != nil {
				return err
			}
			defer admin.Close()
			_, err = admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
			return errors.Join(err, files())
		}
	}
	return !there, nil
}

// database opens the site's database beside the program.
func (s *instance) database(ctx context.Context, connections int) (*sqldb.DB, error) {
	address := s.Database
	if address == "" {
		address = "sqlite:packetboat.db"
	}
	return sqldb.Open(ctx, address, sqldb.Options{DataDir: s.Dir, MaxConns: connections})
}

// migrate brings a kept database up to date, which may take longer than the
// start of a program is waited for.
func (s *instance) migrate(ctx context.Context) error {
	db, err := s.database(ctx, 4)
	if err != nil {
		return err
	}
	ran, err := db.Migrate(ctx)
	if err == nil && ran > 0 {
		_, err = db.Exec(ctx, domainsKnown)
	}
	return errors.Join(err, db.Close())
}

// fill makes the account in a running program, and the rest of its data while
// it is stopped.
func (s *instance) fill(ctx context.Context) (err error) {
	began := time.Now()
	if err := s.Start(ctx); err != nil {
		return err
	}
	lists, err := s.declare(ctx)
	if s.extent == (extent{}) {
		return errors.Join(err, s.Stop())
	}
	if err != nil {
		return errors.Join(err, s.Stop())
	}
	db, err := s.database(ctx, 1)
	if err != nil {
		return errors.Join(err, s.Stop())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = awaitFollowers(ctx, db)
	if err := errors.Join(err, s.Stop()); err != nil {
		return err
	}
	l := &loader{db: db, extent: s.extent, people: s.people, lists: lists}
	if err := db.QueryRow(ctx, `SELECT t.tenant_id, e.id FROM tenant t JOIN email_type e ON e.tenant_id = t.tenant_id
		WHERE t.slug = $1 ORDER BY e.sort_order LIMIT 1`, harness.Tenant).Scan(&l.tenant, &l.emailType); err != nil {
		return err
	}
	settings := []string{`PRAGMA synchronous = OFF`, `PRAGMA cache_size = -64000`, `PRAGMA temp_store = FILE`}
	if db.Dialect() == sqldb.Postgres {
		settings = []string{`SET synchronous_commit = off`, `SET maintenance_work_mem = '512MB'`}
	}
	for _, text := range settings {
		if _, err := db.Exec(ctx, text); err != nil {
			return err
		}
	}
	if err := l.load(ctx); err != nil {
		return err
	}
	progressf("%s: loaded %d contacts and %d journal entries in %s", s.dialect, s.extent.contacts, s.extent.entries, time.Since(began).Round(time.Second))
	return nil
}

// declare makes the custom fields and the lists.
func (s *instance) declare(ctx context.Context) ([]list, error) {
	owner, err := s.SignIn(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range []map[string]any{
		{"name": "Plan", "field_key": "plan", "field_type": "string"}, {"name": "Age", "field_key": "age", "field_type": "number"},
	} {
		if _, err := owner.Must(ctx, "POST", "/settings/custom-fields", f); err != nil {
			return nil, err
		}
	}
	var lists []list
	for _, l := range []list{{key: "newsletter", share: 600}, {key: "customers", share: 100}, {key: "vip", share: 5}} {
		made, err := owner.Must(ctx, "POST", "/segments", map[string]any{"name": l.key, "type": "static"})
		if err != nil {
			return nil, err
		}
		text, _ := made["id"].(string)
		l.id, _ = id.Parse[id.Segment](text)
		lists = append(lists, l)
	}
	// Something to follow, so that every follower has a place in the journal.
	_, err = owner.Must(ctx, "POST", "/contacts", map[string]any{"email": "first@example.com"})
	return lists, err
}

// awaitFollowers waits until all followers have read the journal.
func awaitFollowers(ctx context.Context, db *sqldb.DB) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for still := 0; still < 5; {
		var behind, followers int
		err := db.QueryRow(ctx, `
			SELECT COUNT(*), COUNT(CASE WHEN c.pos < (SELECT COALESCE(MAX(j.pos), 1) FROM journal AS j WHERE j.grp = c.grp) THEN 1 END)
			FROM journal_cursor AS c`).Scan(&followers, &behind)
		if err != nil {
			return fmt.Errorf("wait for the journal's followers: %w", err)
		}
		still++
		if followers == 0 || behind > 0 {
			still = 0
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for the journal's followers: %w", ctx.Err())
		}
	}
	return nil
}

// progressf prints the progress; figures go to standard output.
func progressf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// randomContact returns the number of any contact.
func (s *instance) randomContact(r *rand.Rand) int { return r.IntN(s.extent.contacts) }
