package job_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestFilesReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, tenant := t.Context(), idtest.Tenant()
		f, err := job.NewFile(ctx, db, tenant, id.Job{}, job.Input, "text/csv", noon)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		w := f.Writer(ctx, db)
		for i := range 9 { // pieces shorter and longer than a chunk
			piece := strings.Repeat(string(rune('a'+i)), (i*i*i*1500)%(job.ChunkSize+70_000))
			want.WriteString(piece)
			if _, err := io.WriteString(w, piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Append(ctx, db, []byte("end")); err != nil {
			t.Fatal(err)
		}
		want.WriteString("end")
		j, err := job.Create(ctx, db, job.Draft{Tenant: tenant, Kind: job.Import, Params: struct{}{}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Assign(ctx, db, j.ID, nil, noon); err != nil {
			t.Fatal(err)
		}
		found, err := job.FileOf(ctx, db, tenant, j.ID, job.Input)
		if err != nil || found.Size != int64(want.Len()) {
			t.Fatalf("FileOf = %+v, %v; want %d bytes", found, err, want.Len())
		}
		for _, from := range []int{0, 1, job.ChunkSize - 1, job.ChunkSize, job.ChunkSize + 1, want.Len() - 2, want.Len()} {
			got, err := io.ReadAll(found.Reader(ctx, db, int64(from)))
			if err != nil || string(got) != want.String()[from:] {
				t.Errorf("from %d: %d bytes, %v; want the %d that were written", from, len(got), err, want.Len()-from)
			}
		}
		if _, err := job.FileOf(ctx, db, idtest.Tenant(), j.ID, job.Input); !errors.Is(err, job.ErrNoFile) {
			t.Errorf("another tenant finds the file: %v", err)
		}
		if got, err := io.ReadAll(job.File{ID: f.ID, Tenant: idtest.Tenant(), Size: 5}.Reader(ctx, db, 0)); err == nil {
			t.Errorf("another tenant reads the file: %q", got)
		}
	})
}

func TestOldFilesAreRemoved(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		b := newFixture(t, db, countingRunner(noHook))
		ctx, tenant := t.Context(), idtest.Tenant()
		stray, err := job.NewFile(ctx, db, tenant, id.Job{}, job.Input, "text/csv", noon)
		if err != nil {
			t.Fatal(err)
		}
		j := b.create(tenant, job.Import)
		for _, name := range []string{job.Input, "errors"} {
			f, err := job.NewFile(ctx, db, tenant, j.ID, name, "text/csv", noon)
			if err == nil {
				err = f.Append(ctx, db, make([]byte, 9<<20))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		files := func() string {
			t.Helper()
			if more, err := job.Prune(ctx, db, b.now); more || err != nil {
				t.Fatalf("Prune = %t, %v", more, err)
			}
			var n, chunks int
			err := db.QueryRow(ctx, `
				SELECT COUNT(DISTINCT file_id), COUNT(*) FROM job_file_chunk WHERE tenant_id = $1`, tenant).Scan(&n, &chunks)
			if err != nil {
				t.Fatal(err)
			}
			strays := 0
			if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM job_file WHERE tenant_id = $1 AND id = $2`, tenant, stray.ID).Scan(&strays); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%d files %d chunks %d strays %q", n, chunks, strays, b.steps(j))
		}
		for _, s := range []struct {
			after time.Duration
			run   bool
			want  string
		}{
			{time.Hour, false, `2 files 72 chunks 1 strays ["errors" "input"]`},
			{12 * time.Hour, true, `1 files 36 chunks 0 strays ["errors" "step1" "step2" "step3"]`},
			{7 * 24 * time.Hour, false, `1 files 36 chunks 0 strays ["errors" "step1" "step2" "step3"]`},
			{8 * 24 * time.Hour, false, `0 files 0 chunks 0 strays []`},
		} {
			b.now = noon.Add(s.after)
			if s.run {
				b.tick()
			}
			if got := files(); got != s.want {
				t.Errorf("after %s: %s, want %s", s.after, got, s.want)
			}
		}
		if s := b.load(j).Status; s != job.Completed {
			t.Errorf("the job is %s", s)
		}
		b.now = b.now.Add(100 * 24 * time.Hour)
		files()
		if _, err := job.ByID(ctx, db, tenant, j.ID); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("the job after 100 days: %v", err)
		}
	})
}
