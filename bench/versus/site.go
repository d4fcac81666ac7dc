package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes the databases measured on

	"github.com/packetboat/packetboat/bench/meter"
	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/upload"
	"github.com/packetboat/packetboat/e2e/harness"
)

// site is a program that runs on a fresh database.
type site struct {
	*harness.Program
	dialect string
	beside  []*harness.Program // further workers
	last    string             // broadcast that was timed
	drop    func() error
}

func open(ctx context.Context, o options, p program, dialect string) (s *site, err error) {
	s = &site{dialect: dialect, drop: func() error { return nil }}
	dir, err := os.MkdirTemp("", "packetboat-versus")
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(p.path)
	if err != nil {
		return nil, err
	}
	s.Program = &harness.Program{Path: path, Dir: dir, Env: []string{
		"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32", // the addresses are in X-Forwarded-For
		"PACKETBOAT_DNS_RESOLVER=127.0.0.1:9",     // no DNS is asked about the contacts
	}}
	if !o.keep {
		s.drop = func() error { return os.RemoveAll(dir) }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dialect == "postgres" {
		address, drop, err := database(ctx, o.postgres, "")
		if err != nil {
			return s, err
		}
		files := s.drop
		s.Database, s.drop = address, func() error { return errors.Join(drop(), files()) }
	}
	return s, s.Start(ctx)
}

func (s *site) close() error {
	var errs []error
	for _, w := range s.beside {
		errs = append(errs, w.Stop())
	}
	return errors.Join(append(errs, s.Stop(), s.drop())...)
}

// database makes a database on a server, as a copy of template if that is not
// empty, and returns its address and what drops it.
func database(ctx context.Context, server, template string) (string, func() error, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("versusbench_%d_%d", os.Getpid(), time.Now().UnixNano())
	text := `CREATE DATABASE ` + name
	if template != "" {
		text += ` TEMPLATE ` + template
	}
	if _, err := admin.ExecContext(ctx, text); err != nil {
		return "", nil, errors.Join(err, admin.Close())
	}
	u.Path = "/" + name
	return u.String(), func() error {
		_, err := admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`)
		return errors.Join(err, admin.Close())
	}, nil
}

// spent is processor time: of the program in all its processes, and of PostgreSQL.
type spent struct{ program, server time.Duration }

func (s *site) spent(ctx context.Context) (t spent, err error) {
	for _, p := range append([]*harness.Program{s.Program}, s.beside...) {
		u, err := p.Usage()
		if err != nil {
			return t, err
		}
		t.program += u.CPU
	}
	t.server, err = meter.Server(ctx, s.Database)
	return t, err
}

// during returns how long do took, and what was spent meanwhile.
func (s *site) during(ctx context.Context, do func() error) (took time.Duration, t spent, err error) {
	before, err := s.spent(ctx)
	if err != nil {
		return 0, t, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return 0, t, err
	}
	took = time.Since(began)
	after, err := s.spent(ctx)
	return took, spent{after.program - before.program, after.server - before.server}, err
}

// spent adds what was spent on a thousand of n things.
func (f *figures) spent(when string, t spent, n int) {
	f.add("CPU s/1000"+when, t.program.Seconds()*1000/float64(n), 3)
	if t.server > 0 {
		f.add("PostgreSQL s/1000"+when, t.server.Seconds()*1000/float64(n), 3)
	}
}

func (f *figures) peak(s *site) error {
	u, err := s.Usage()
	f.add("peak MB", float64(u.PeakMemory)/(1<<20), 0)
	return err
}

// idle waits until neither the program nor PostgreSQL has anything left to do:
// what follows the journal and what indexes have been brought up to date.
func (s *site) idle(ctx context.Context) error {
	const look, share = 500 * time.Millisecond, 25 // a twenty-fifth of a processor is idle
	began := time.Now()
	for quiet := 0; quiet < 4; {
		took, t, err := s.during(ctx, func() error {
			select {
			case <-time.After(look):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return err
		}
		quiet++
		if t.program+t.server > took/share {
			quiet = 0
		}
		if time.Since(began) > 5*time.Minute {
			fmt.Fprintln(os.Stderr, "still busy after five minutes; going on")
			return nil
		}
	}
	return nil
}

// account is where requests go to.
func (s *site) account() press.Account {
	return press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: s.Key}
}

// declare makes the custom fields that people have.
func (s *site) declare(ctx context.Context) error {
	owner, err := s.SignIn(ctx)
	for name, typ := range map[string]string{"plan": "string", "age": "number"} {
		if err != nil {
			return err
		}
		_, err = owner.Must(ctx, "POST", "/settings/custom-fields", map[string]any{"name": name, "field_key": name, "field_type": typ})
	}
	return err
}

// people imports n of them, into a list if that is not empty.
func (s *site) people(ctx context.Context, list string, n int) error {
	return s.peopleFrom(ctx, list, 0, n)
}

func (s *site) peopleFrom(ctx context.Context, list string, first, n int) error {
	options := `{"mode":"upsert"}`
	if list != "" {
		options = fmt.Sprintf(`{"mode":"upsert","segment_key":%q}`, list)
	}
	job, err := upload.Send(ctx, s.Program, options, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		fmt.Fprintln(b, "email,first_name,last_name,company,country,city,custom_fields.plan,custom_fields.age,tags")
		for i := range n {
			p := person(first + i)
			fmt.Fprintf(b, "%s,%s,%s,%s,%s,%s,%s,%d,%q\n", p.email, p.first, p.last, p.company, p.country, p.city, p.plan, p.age, strings.Join(p.tags, ","))
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	done, err := upload.Await(ctx, s.Program, job)
	if err == nil && (done.Status != "completed" || done.Result.Created+done.Result.Updated != n) {
		err = fmt.Errorf("import: %s, %+v %s", done.Status, done.Result, done.Error)
	}
	return err
}
