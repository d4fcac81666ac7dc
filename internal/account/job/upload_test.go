package job_test

import (
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// uploads is a tenant whose jobs read uploads.
type uploads struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	now    time.Time
}

func (u *uploads) ok(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

func (u *uploads) upload() job.File {
	u.Helper()
	f, err := job.NewFile(u.Context(), u.db, u.tenant, id.Job{}, job.Input, "text/csv", u.now)
	u.ok(err)
	u.ok(f.Append(u.Context(), u.db, make([]byte, 1000)))
	return f
}

// assign assigns a file to a new job of somebody, and keeps it for an hour or not.
func (u *uploads) assign(f job.File, who string, kept bool) (id.Job, error) {
	u.Helper()
	by := auth.Actor{Type: "user", ID: who, Name: "Name of " + u.now.String()}
	j, err := job.Create(u.Context(), u.db, job.Draft{Tenant: u.tenant, Kind: job.Import, Params: struct{}{}, By: by}, u.now)
	u.ok(err)
	var keep *job.Keep
	if kept {
		keep = &job.Keep{Until: u.now.Add(time.Hour), About: map[string]string{"name": who}, By: by}
	}
	return j.ID, f.Assign(u.Context(), u.db, j.ID, keep, u.now)
}

// end ends a job, and removes what is to go a minute later.
func (u *uploads) end(j id.Job) {
	u.Helper()
	_, err := job.Cancel(u.Context(), u.db, u.tenant, j, u.now)
	u.ok(err)
	_, err = job.Prune(u.Context(), u.db, u.now.Add(time.Minute))
	u.ok(err)
}

// state says for whom a file is kept, or whether it is at least there.
func (u *uploads) state(f job.File) string {
	u.Helper()
	if _, _, err := job.Kept(u.Context(), u.db, idtest.Tenant(), f.ID, u.now); !errors.Is(err, job.ErrNoFile) {
		u.Errorf("another tenant finds the upload: %v", err)
	}
	_, about, err := job.Kept(u.Context(), u.db, u.tenant, f.ID, u.now)
	if err == nil {
		var said struct{ Name string }
		u.ok(json.Unmarshal(about, &said))
		return "kept for " + said.Name
	}
	if !errors.Is(err, job.ErrNoFile) {
		u.Fatal(err)
	}
	found, err := job.FileByID(u.Context(), u.db, u.tenant, f.ID)
	if errors.Is(err, job.ErrNoFile) {
		return "gone"
	}
	u.ok(err)
	text, err := io.ReadAll(found.Reader(u.Context(), u.db, 0))
	if err != nil || len(text) != 1000 {
		u.Errorf("%d bytes of an upload, %v", len(text), err)
	}
	return "there"
}

func (u *uploads) expect(when string, f job.File, want string) {
	u.Helper()
	if got := u.state(f); got != want {
		u.Errorf("%s: the upload is %q, want %q", when, got, want)
	}
}

func TestAnUploadIsKeptForOtherJobs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		u := &uploads{T: t, db: db, tenant: idtest.Tenant(), now: noon}
		f := u.upload()
		u.expect("without a job", f, "there")
		first, err := u.assign(f, "ann", true)
		u.ok(err)
		second, err := u.assign(f, "ann", true) // while the first may read it
		u.ok(err)
		u.end(first)
		u.end(second)
		u.expect("after two jobs", f, "kept for ann")
		u.now = u.now.Add(59 * time.Minute)
		third, err := u.assign(f, "bob", true)
		u.ok(err)
		u.end(third)
		u.now = u.now.Add(59 * time.Minute)
		u.expect("an hour after the last job", f, "kept for bob")
		if n, err := quota.Used(t.Context(), db, u.tenant, quota.JobFiles); err != nil || n != 1000 {
			t.Errorf("%d bytes are counted, %v; want 1000", n, err)
		}
		last, err := u.assign(f, "ann", false)
		u.ok(err)
		u.expect("for a job that uses it up", f, "there")
		if _, err := u.assign(f, "ann", true); !errors.Is(err, job.ErrNoFile) {
			t.Errorf("an upload that is used up: %v", err)
		}
		u.end(last)
		u.expect("used up", f, "gone")

		f = u.upload()
		j, err := u.assign(f, "ann", true)
		u.ok(err)
		u.end(j)
		u.now = u.now.Add(time.Hour)
		u.expect("after an hour", f, "there") // a request may just have found it
		if _, err := u.assign(f, "ann", true); !errors.Is(err, job.ErrNoFile) {
			t.Errorf("an upload that has expired: %v", err)
		}
		_, err = job.Prune(t.Context(), db, u.now.Add(time.Hour))
		u.ok(err)
		u.expect("after two hours", f, "gone")
		if n, err := quota.Used(t.Context(), db, u.tenant, quota.JobFiles); err != nil || n != 0 {
			t.Errorf("in the end %d bytes are counted, %v", n, err)
		}
	})
}

// Each user or key has one upload that is kept, and the anonymisation of a contact ends them all.
func TestKeptUploadsAreReplacedAndErased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		u := &uploads{T: t, db: db, tenant: idtest.Tenant(), now: noon}
		start := func(who string) (job.File, id.Job) {
			t.Helper()
			f := u.upload()
			j, err := u.assign(f, who, true)
			u.ok(err)
			return f, j
		}
		other := &uploads{T: t, db: db, tenant: idtest.Tenant(), now: noon}
		theirs := other.upload()
		_, err := other.assign(theirs, "ann", true)
		u.ok(err)
		old, oldJob := start("ann")
		bobs, bobJob := start("bob")
		fresh, freshJob := start("ann")
		u.expect("replaced, with an open job", old, "there")
		u.end(oldJob)
		u.expect("replaced", old, "gone")
		u.end(freshJob)
		u.expect("the last", fresh, "kept for ann")
		u.expect("of another user", bobs, "kept for bob")

		u.ok(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return job.EraseFiles(t.Context(), tx, u.tenant, []job.Kind{job.Export}, u.now)
		}))
		for _, f := range []job.File{fresh, bobs} {
			if _, err := u.assign(f, "ann", true); !errors.Is(err, job.ErrNoFile) {
				t.Errorf("after an anonymisation an upload can be taken: %v", err)
			}
		}
		u.expect("that an open job reads", bobs, "there")
		u.end(bobJob)
		u.expect("erased", fresh, "gone")
		u.expect("erased when its job ended", bobs, "gone")
		other.expect("of another tenant", theirs, "kept for ann")
	})
}
