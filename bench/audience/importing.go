package audience

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/site"
)

// importing measures how many rows of a file become contacts in a second: the
// first import into a fresh database, which PostgreSQL has no statistics of; the
// same file again, when all rows are known; another file of new rows; and one whose rows
// are new and join a list.
func importing(ctx context.Context, o options, dialect string) (err error) {
	o.KeepIn = "" // it is written to
	s, err := open(ctx, o, dialect, extent{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	fmt.Printf("\n%-9s %-20s %8s %8s %8s %8s %8s %11s %11s %8s\n", dialect, "import", "rows", "rows/s", "target", "s", "upload s", "CPU s/1000", "server", "peak MB")
	for _, name := range []string{"first, all new", "all known", "more, all new"} {
		if err := s.importOnce(ctx, name, `{"mode":"upsert"}`, o.Rows); err != nil {
			return err
		}
	}
	if _, err := s.Keyed().Must(ctx, http.MethodPost, "/segments", object{"key": "imported", "name": "Imported", "type": "static"}); err != nil {
		return err
	}
	return s.importOnce(ctx, "listed, all new", `{"mode":"upsert","segment_key":"imported"}`, o.Rows)
}

func (s *instance) importOnce(ctx context.Context, name, options string, rows int) error {
	var uploaded time.Duration
	var done site.Job
	cost, err := site.During(ctx, s.Program, func() error {
		began := time.Now()
		job, err := site.Upload(ctx, s.Program, options, func(w io.Writer) error { return s.write(w, name, rows) })
		if err != nil {
			return err
		}
		uploaded = time.Since(began)
		done, err = site.AwaitJob(ctx, s.Program, job)
		return err
	})
	if err != nil {
		return err
	}
	perThousand := "-"
	if cost.Server > 0 {
		perThousand = fmt.Sprintf("%.3f", cost.Server.Seconds()*1000/float64(rows))
	}
	if done.Status != "completed" || done.Result.Created+done.Result.Updated != rows {
		return fmt.Errorf("import: %s, %+v %s", done.Status, done.Result, done.Error)
	}
	fmt.Printf("%-9s %-20s %8d %8.0f %8d %8.2f %8.2f %11.3f %11s %8.0f\n", s.dialect, name, rows, float64(rows)/cost.Took.Seconds(), 50_000,
		cost.Took.Seconds(), uploaded.Seconds(), cost.CPU.Seconds()*1000/float64(rows), perThousand, float64(cost.Peak)/(1<<20))
	return nil
}

// write writes a file of so many rows.
func (s *instance) write(to io.Writer, name string, rows int) error {
	w := bufio.NewWriterSize(to, 64<<10)
	fmt.Fprintln(w, "email,first_name,last_name,company,country,city,custom_fields.plan,custom_fields.age,tags")
	prefix := name[:1]
	if name == "all known" {
		prefix = "f"
	}
	from := people{n: rows, now: s.people.now}
	for i := range rows {
		p := from.person(i)
		age := ""
		if p.age > 0 {
			age = fmt.Sprint(p.age)
		}
		fmt.Fprintf(w, "%s%s,%s,%s,%s,%s,%s,%s,%s,%q\n", prefix, p.email, p.first, p.last, p.company, p.country, p.city, p.plan, age, strings.Join(p.tags, ","))
	}
	return w.Flush()
}
