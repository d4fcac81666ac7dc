package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// anonymize anonymizes the contact.
func (d *fixture) anonymize(email string) {
	d.Helper()
	holdings := []contact.PersonalData{transfer.PersonalData(func() time.Time { return d.now })}
	moved, err := suppression.Anonymize(d.Context(), d.db, d.tenant, []id.Contact{d.contact(email).ID}, true, holdings, d.now)
	d.ok(err)
	if len(moved) != 1 || !moved[0].Changed {
		d.Fatalf("anonymised: %+v", moved)
	}
}

// prune deletes removed files.
func (d *fixture) prune() {
	d.Helper()
	for more := true; more; {
		var err error
		more, err = job.Prune(d.Context(), d.db, d.now)
		d.ok(err)
	}
}

// mentions counts the rows of job tables that contain a text.
func (d *fixture) mentions(tenant id.Tenant, text string) int {
	d.Helper()
	n := 0
	for _, query := range []string{
		`SELECT CAST(params AS TEXT) || COALESCE(CAST(state AS TEXT), '') || COALESCE(CAST(result AS TEXT), '') || COALESCE(CAST(error AS TEXT), '') FROM job WHERE tenant_id = $1`,
		`SELECT data FROM job_file_chunk WHERE tenant_id = $1`,
	} {
		rows, err := d.db.Query(d.Context(), query, tenant)
		list, err := sqldb.Collect(rows, err, func(row func(...any) error) ([]byte, error) {
			var b []byte
			err := row(&b)
			return b, err
		})
		d.ok(err)
		for _, b := range list {
			n += strings.Count(string(b), text)
		}
	}
	return n
}

func TestAnonymizingRemovesPeopleFromJobsAndFiles(t *testing.T) {
	each(t, func(d *fixture) {
		d.e.Runners[job.Export] = exporter().Run
		ours := d.tenant
		other, err := tenant.Create(d.Context(), d.db, "other", "Other", "UTC", noon, sender.Newsletter, contact.CreateDefaultStages)
		d.ok(err)
		var last job.Job
		for _, d.tenant = range []id.Tenant{other.ID, ours} {
			d.save("ann@example.org", contact.Change{Texts: map[contact.Text]*string{"first_name": new("Ann")}})
			d.save("bob@example.org", contact.Change{})
			d.load("email,custom\nann@example.org,x\nann at example.org,Ann\n", transfer.Options{})
			last = d.export(transfer.ExportRequest{Selector: segment.SelectorInput{
				Filters: json.RawMessage(`[{"field": "email", "operator": "equals", "value": "ann@example.org"}]`),
			}})
			d.export(transfer.ExportRequest{Fields: []string{"first_name"}}) // contains her name but no address
			_, err = transfer.Upload(d.Context(), d.db, d.tenant, strings.NewReader("email\nann@example.org\n"), d.now.Add(-time.Hour))
			d.ok(err)
			waits, err := transfer.StartExport(d.Context(), d.db, d.tenant, transfer.ExportRequest{Selector: segment.SelectorInput{Search: "ann@example.org"}}, auth.System, d.now)
			d.ok(err)
			if _, err := job.Cancel(d.Context(), d.db, d.tenant, waits.ID, d.now); err != nil {
				d.Fatal(err)
			}
		}
		d.prune()
		before := d.mentions(other.ID, "ann")
		d.anonymize("ann@example.org")
		if _, err := job.FileOf(d.Context(), d.db, d.tenant, last.ID, transfer.ExportFile); !errors.Is(err, job.ErrNoFile) {
			d.Errorf("the export can still be read: %v", err)
		}
		d.prune()
		for _, word := range []string{"ann@example.org", "Ann"} {
			if n := d.mentions(ours, word); n > 0 {
				d.Errorf("%d places still hold %q", n, word)
			}
		}
		after := d.mentions(other.ID, "ann")
		if before == 0 || after != before {
			d.Errorf("the files of another tenant name its own Ann %d times, %d before", after, before)
		}
	})
}

// A running export has already read the person, and may be about to write.
func TestAnonymizingRestartsRunningExports(t *testing.T) {
	each(t, func(d *fixture) {
		d.save("ann@example.org", contact.Change{})
		d.save("bob@example.org", contact.Change{})
		x, once := exporter(), false
		encode := x.Encode
		x.Encode = func(ctx context.Context, tenant id.Tenant, list []contact.Contact) ([][]byte, error) {
			docs, err := encode(ctx, tenant, list)
			if !once { // after reading, before writing
				once = true
				d.anonymize("ann@example.org")
			}
			return docs, err
		}
		d.e.Runners[job.Export] = x.Run
		j, err := transfer.StartExport(d.Context(), d.db, d.tenant, transfer.ExportRequest{Fields: []string{"email"}}, auth.System, d.now)
		d.ok(err)
		d.run()
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
		text := d.file(j, transfer.ExportFile)
		if j.Status != job.Completed || strings.Contains(text, "ann@") || !strings.Contains(text, "bob@example.org") {
			d.Errorf("the export is %s and holds\n%s", j.Status, text)
		}
		d.prune()
		if n := d.mentions(d.tenant, "ann@example.org"); n > 0 {
			d.Errorf("%d places still hold the address", n)
		}
	})
}
