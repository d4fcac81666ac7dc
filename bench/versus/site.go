package versus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/press"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/e2e/harness"
)

// instance is a program that runs on a fresh database.
type instance struct {
	*harness.Program
	dialect string
	beside  []*harness.Program // further workers
	last    string             // broadcast that was timed
	drop    func() error
}

func open(ctx context.Context, o options, p program, dialect string) (s *instance, err error) {
	s = &instance{dialect: dialect, drop: func() error { return nil }}
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
	if !o.Keep {
		s.drop = func() error { return os.RemoveAll(dir) }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if dialect == "postgres" {
		address, drop, err := site.NewDatabase(ctx, o.Postgres)
		if err != nil {
			return s, err
		}
		files := s.drop
		s.Database, s.drop = address, func() error { return errors.Join(drop(), files()) }
	}
	return s, s.Start(ctx)
}

func (s *instance) close() error {
	var errs []error
	for _, w := range s.beside {
		errs = append(errs, w.Stop())
	}
	return errors.Join(append(errs, s.Stop(), s.drop())...)
}

// spent is processor time: of the program in all its processes, and of PostgreSQL.
type spent struct{ program, server time.Duration }

// during returns how long do took, and what was spent meanwhile.
func (s *instance) during(ctx context.Context, do func() error) (time.Duration, spent, error) {
	var workers time.Duration
	cost, err := site.During(ctx, s.Program, func() error {
		before, err := s.workers()
		if err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
		after, err := s.workers()
		workers = after - before
		return err
	})
	return cost.Took, spent{cost.CPU + workers, cost.Server}, err
}

// workers returns the processor time of the workers beside the program.
func (s *instance) workers() (sum time.Duration, err error) {
	for _, w := range s.beside {
		u, err := w.Usage()
		if err != nil {
			return 0, err
		}
		sum += u.CPU
	}
	return sum, nil
}

// spent adds what was spent on a thousand of n things.
func (f *figures) spent(when string, t spent, n int) {
	f.add("CPU s/1000"+when, t.program.Seconds()*1000/float64(n), 3)
	if t.server > 0 {
		f.add("PostgreSQL s/1000"+when, t.server.Seconds()*1000/float64(n), 3)
	}
}

func (f *figures) peak(s *instance) error {
	u, err := s.Usage()
	f.add("peak MB", float64(u.PeakMemory)/(1<<20), 0)
	return err
}

// idle waits until neither the program nor PostgreSQL has anything left to do:
// what follows the journal and what indexes have been brought up to date.
func (s *instance) idle(ctx context.Context) error {
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
func (s *instance) account() press.Account {
	return press.Account{Address: strings.TrimPrefix(s.BaseURL, "http://"), Prefix: "/t/" + harness.Tenant + "/api", Key: s.Key}
}

// declare makes the custom fields that people have.
func (s *instance) declare(ctx context.Context) error {
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
func (s *instance) people(ctx context.Context, list string, n int) error {
	return s.peopleFrom(ctx, list, 0, n)
}

func (s *instance) peopleFrom(ctx context.Context, list string, first, n int) error {
	options := `{"mode":"upsert"}`
	if list != "" {
		options = fmt.Sprintf(`{"mode":"upsert","segment_key":%q}`, list)
	}
	job, err := site.Upload(ctx, s.Program, options, func(w io.Writer) error {
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
	done, err := site.AwaitJob(ctx, s.Program, job)
	if err == nil && (done.Status != "completed" || done.Result.Created+done.Result.Updated != n) {
		err = fmt.Errorf("import: %s, %+v %s", done.Status, done.Result, done.Error)
	}
	return err
}
