package transfer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/transfer"
)

// startKept queues an import of a file that is kept.
func (d *fixture) startKept(file, sheet string, o transfer.Options) (job.Job, error) {
	d.Helper()
	in, err := transfer.Kept(d.Context(), d.db, d.tenant, file, sheet, d.now)
	if err != nil {
		return job.Job{}, err
	}
	o.Sheet = sheet
	return transfer.StartImport(d.Context(), d.db, d.tenant, in, o, auth.Principal{}, d.now)
}

// ended runs the jobs, and returns one of them.
func (d *fixture) ended(j job.Job) job.Job {
	d.Helper()
	d.run()
	j, err := job.ByID(d.Context(), d.db, d.tenant, j.ID)
	d.ok(err)
	return j
}

// fileID returns the id of the file of an import that has not ended.
func (d *fixture) fileID(j job.Job) string {
	d.Helper()
	var in struct {
		FileID id.JobFile `json:"file_id"`
	}
	d.ok(json.Unmarshal(j.Params, &in))
	return in.FileID.String()
}

func TestTheFileOfADryRunIsImportedOnceMore(t *testing.T) {
	each(t, func(d *fixture) {
		text := "E-Mail;Ort\nann@example.org;K\xf6ln\nbob;Bonn\n"
		file := d.upload(text)
		first, err := transfer.StartImport(d.Context(), d.db, d.tenant, file, transfer.Options{DryRun: true, FileName: "people.txt", Mapping: map[string]string{"E-Mail": "email"}}, auth.Principal{}, d.now)
		d.ok(err)
		// A second dry run of it, while the first one waits.
		second, err := d.startKept(d.fileID(first), "", transfer.Options{DryRun: true, Mapping: map[string]string{"E-Mail": "email", "Ort": "city"}})
		d.ok(err)
		for _, j := range []job.Job{first, second} {
			if j = d.ended(j); d.resultText(j) != "completed 2: 1+0+0+1" || j.Title != "Import of people.txt (dry run)" {
				d.Errorf("%s: %s", j.Title, d.resultText(j))
			}
		}
		if r := d.report(d.ended(second)); r.File.Encoding != "windows-1252" || mappedText(r) != "E-Mail:email:mapping: Ort:city:mapping: " {
			d.Errorf("the second dry run read %s as %s", mappedText(r), r.File.Encoding)
		}
		_, err = job.Prune(d.Context(), d.db, d.now.Add(time.Minute))
		d.ok(err)
		// Options that are refused leave the file as it is.
		if _, err := d.startKept(file.ID.String(), "", transfer.Options{Mapping: map[string]string{"E-Mail": "email", "Nope": "city"}}); err == nil {
			d.Error("a column that the file lacks is accepted")
		}
		third, err := d.startKept(file.ID.String(), "", transfer.Options{Mapping: map[string]string{"E-Mail": "email", "Ort": "city"}})
		d.ok(err)
		if third = d.ended(third); d.resultText(third) != "completed 2: 1+0+0+1" || third.Title != "Import of people.txt" {
			d.Errorf("%s: %s", third.Title, d.resultText(third))
		}
		if c := d.contact("ann@example.org"); c.City == nil || *c.City != "Köln" {
			d.Errorf("Ann is %+v", c)
		}
		_, err = d.startKept(file.ID.String(), "", transfer.Options{})
		d.expectNotKept("that was imported", err)
		_, err = job.Prune(d.Context(), d.db, d.now.Add(time.Minute))
		d.ok(err)
		if _, err := job.FileByID(d.Context(), d.db, d.tenant, file.ID); !errors.Is(err, job.ErrNoFile) {
			d.Errorf("the file of an import that has ended: %v", err)
		}
	})
}

// A file goes with the job that took it last, also from a dry run that has not ended.
func TestADryRunWhoseFileIsGoneSaysSo(t *testing.T) {
	each(t, func(d *fixture) {
		first, err := d.start("email\nann@example.org\n", transfer.Options{DryRun: true})
		d.ok(err)
		second, err := d.startKept(d.fileID(first), "", transfer.Options{})
		d.ok(err)
		_, err = job.Cancel(d.Context(), d.db, d.tenant, second.ID, d.now)
		d.ok(err)
		_, err = job.Prune(d.Context(), d.db, d.now.Add(time.Minute))
		d.ok(err)
		first = d.ended(first)
		if first.Status != job.Failed || first.Error.Message != "the file is not kept any more; send it again" || d.count() != 0 {
			d.Errorf("the dry run is %s, %+v", first.Status, first.Error)
		}
	})
}

func (d *fixture) expectNotKept(what string, err error) {
	d.Helper()
	f, ok := fault.As(err)
	if details, _ := f.Details.(fault.Fields); !ok || f.Kind != fault.NotFound || len(details.Fields) != 1 || details.Fields[0].Path != "options.file_id" {
		d.Errorf("a file %s: %v", what, err)
	}
}

func TestFilesThatAreNotKept(t *testing.T) {
	each(t, func(d *fixture) {
		sent := d.upload("email\nann@example.org\n")
		j, err := transfer.StartImport(d.Context(), d.db, d.tenant, sent, transfer.Options{}, auth.Principal{}, d.now)
		d.ok(err)
		dry, err := d.start("email\nann@example.org\n", transfer.Options{DryRun: true})
		d.ok(err)
		for what, file := range map[string]string{
			"of an import": sent.ID.String(), "of no job": d.upload("email\n").ID.String(), "that is a job": j.ID.String(),
			"without an id": strings.Repeat("x", 100_000), "of another format": "../../input",
		} {
			_, err := d.startKept(file, "", transfer.Options{})
			d.expectNotKept(what, err)
		}
		file := d.fileID(dry)
		tenant := d.tenant
		d.newTenant("other")
		_, err = d.startKept(file, "", transfer.Options{})
		d.expectNotKept("of another tenant", err)
		d.tenant = tenant
		if _, err := d.startKept(file, "People", transfer.Options{}); err == nil {
			d.Error("a sheet of a file that has none is accepted")
		}
		d.now = d.now.Add(time.Hour)
		_, err = d.startKept(file, "", transfer.Options{})
		d.expectNotKept("of an hour ago", err)
	})
}

func TestTheSheetOfAKeptWorkbookIsTheOneThatWasRead(t *testing.T) {
	each(t, func(d *fixture) {
		j, err := d.start(workbook(d), transfer.Options{DryRun: true})
		d.ok(err)
		file := d.fileID(j)
		read := d.report(d.ended(j)).File
		for _, sheet := range []string{"", read.Sheet} {
			j, err := d.startKept(file, sheet, transfer.Options{DryRun: true})
			d.ok(err)
			if got := d.report(d.ended(j)).File; got.Sheet != read.Sheet || len(got.Sheets) != len(read.Sheets) {
				d.Errorf("with sheet %q: %+v, want %+v", sheet, got, read)
			}
		}
		_, err = d.startKept(file, read.Sheets[1], transfer.Options{DryRun: true})
		if f, ok := fault.As(err); !ok || f.Code != fault.ErrInput.Code {
			d.Errorf("another sheet: %v", err)
		}
	})
}
