package transfer_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a tenant with fields of each type, and an engine for imports and exports.
type fixture struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	now    time.Time
	e      *job.Engine
}

// each runs f on both databases.
func each(t *testing.T, f func(d *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(newFixture(t, db)) })
}

func newFixture(t *testing.T, db *sqldb.DB) *fixture {
	t.Helper()
	d := &fixture{T: t, db: db, now: noon}
	d.e = &job.Engine{
		DB: db, Owner: "here", Now: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler),
		Runners: map[job.Kind]job.Runner{job.Import: transfer.Import, job.ImportUndo: transfer.UndoImport},
	}
	d.newTenant("acme")
	return d
}

// newTenant continues in a new tenant with the same fields and email types.
func (d *fixture) newTenant(slug string) {
	d.Helper()
	t, db := d.T, d.db
	in, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon, sender.Newsletter, contact.CreateDefaultStages)
	d.ok(err)
	d.tenant = in.ID
	_, err = sender.CreateEmailType(t.Context(), db, in.ID, sender.EmailTypeFields{Key: new("offers"), DisplayName: new("Offers")}, noon)
	d.ok(err)
	for _, f := range []field.Draft{
		{Name: "Plan", Type: field.String}, {Name: "Seats", Type: field.Number}, {Name: "Vip", Type: field.Boolean},
		{Name: "Born", Type: field.Date}, {Name: "Seen", Type: field.DateTime}, {Name: "Likes", Type: field.Tags},
		{Name: "Size", Type: field.Enum, EnumValues: []string{"S", "M"}},
	} {
		_, err := field.Create(t.Context(), db, in.ID, f, noon)
		d.ok(err)
	}
}

func (d *fixture) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) upload(text string) transfer.Received {
	d.Helper()
	f, err := transfer.Upload(d.Context(), d.db, d.tenant, strings.NewReader(text), d.now)
	d.ok(err)
	return f
}

// start queues an import.
func (d *fixture) start(text string, o transfer.Options) (job.Job, error) {
	d.Helper()
	file, err := transfer.Unpack(d.Context(), d.db, d.upload(text), o.Sheet, d.now)
	if err != nil {
		return job.Job{}, err
	}
	return transfer.StartImport(d.Context(), d.db, d.tenant, file, o, auth.Principal{}, d.now)
}

// load imports a file, and returns the job when it has ended.
func (d *fixture) load(text string, o transfer.Options) job.Job {
	d.Helper()
	j, err := d.start(text, o)
	d.ok(err)
	for !j.Status.Ended() {
		d.run()
		d.now = d.now.Add(time.Hour) // longer than every pause
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
	}
	return j
}

// run runs the engine until no job is left.
func (d *fixture) run() {
	d.Helper()
	for {
		more, err := d.e.Tick(d.Context())
		d.ok(err)
		if !more {
			return
		}
	}
}

func (d *fixture) result(j job.Job) transfer.ImportResult {
	d.Helper()
	r, _, err := transfer.ImportResultOf(j)
	d.ok(err)
	return r
}

// report returns the report of a completed import.
func (d *fixture) report(j job.Job) transfer.Report {
	d.Helper()
	r, err := transfer.ReportOf(d.Context(), d.db, j, d.now)
	d.ok(err)
	if r == nil {
		d.Fatalf("the import is %s and has no report", j.Status)
	}
	return *r
}

// resultText returns the counts of an import: rows, created, updated, skipped, invalid.
func (d *fixture) resultText(j job.Job) string {
	d.Helper()
	r := d.result(j)
	return fmt.Sprintf("%s %d: %d+%d+%d+%d", j.Status, r.Rows, r.Created, r.Updated, r.Skipped, r.Invalid)
}

// errors returns the rows of a job's errors file, each with what is wrong before its cells; nil without one.
func (d *fixture) errors(j job.Job) [][]string {
	d.Helper()
	text, marked := strings.CutPrefix(d.file(j, transfer.ErrorsFile), "\ufeff")
	if text == "" {
		return nil
	}
	before, _, found := strings.Cut(text, "error_row")
	if !marked || !found || before == "" {
		d.Fatalf("the errors file begins with %.200q", text)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = rune(before[len(before)-1])
	rows, err := r.ReadAll()
	d.ok(err)
	for i, row := range rows {
		n := len(row) - 4
		rows[i] = slices.Concat(row[n:], row[:n])
	}
	return rows
}

func (d *fixture) file(j job.Job, name string) string {
	d.Helper()
	f, err := job.FileOf(d.Context(), d.db, d.tenant, j.ID, name)
	if err == job.ErrNoFile {
		return ""
	}
	d.ok(err)
	text, err := io.ReadAll(f.Reader(d.Context(), d.db, 0))
	d.ok(err)
	return string(text)
}

func (d *fixture) contact(email string) contact.Contact {
	d.Helper()
	c, err := contact.ByEmail(d.Context(), d.db, d.tenant, email)
	d.ok(err)
	return c
}

func (d *fixture) count() int {
	d.Helper()
	n, err := contact.Count(d.Context(), d.db, d.tenant, contact.Selector{Statuses: contact.Statuses()})
	d.ok(err)
	return n
}

func (d *fixture) list(name string) segment.Segment {
	d.Helper()
	s, err := segment.CreateList(d.Context(), d.db, d.tenant, segment.Change{Name: &name}, d.now)
	d.ok(err)
	return s
}

func (d *fixture) save(email string, ch contact.Change) contact.Contact {
	d.Helper()
	rules, err := sender.ContactRules(d.Context(), d.db, d.tenant)
	d.ok(err)
	c, _, err := contact.Upsert(d.Context(), d.db, d.tenant, email, ch, rules, d.now)
	d.ok(err)
	return c
}

// interruptedRunner returns a runner that is interrupted repeatedly, each time a little later: within a step,
// or between two.
func (d *fixture) interruptedRunner(run job.Runner, died *int) job.Runner {
	return func(ctx context.Context, w *job.Work) error {
		ctx, die := context.WithCancel(ctx)
		defer die()
		left := 2 + *died%7
		now := w.Now
		w.Now = func() time.Time {
			if left--; left == 0 {
				*died++
				die()
			}
			return now()
		}
		return run(ctx, w)
	}
}
