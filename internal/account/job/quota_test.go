package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestFilesOfATenantAreBounded counts the bytes of files through writing, deletion, erasure and expiry.
func TestFilesOfATenantAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := quota.With(t.Context(), quota.Limits{JobFiles: 25 << 20})
		acme, other := idtest.Tenant(), idtest.Tenant()
		used := func(tenant id.Tenant, want int64) {
			t.Helper()
			var size int64
			if err := db.QueryRow(ctx, `SELECT COALESCE(SUM(LENGTH(data)), 0) FROM job_file_chunk WHERE tenant_id = $1`, tenant).Scan(&size); err != nil {
				t.Fatal(err)
			}
			if n, err := quota.Used(ctx, db, tenant, quota.JobFiles); err != nil || n != want || size != want {
				t.Errorf("%d bytes are counted and %d stored, %v; want %d", n, size, err, want)
			}
		}
		file := func(tenant id.Tenant, j id.Job, name string, size int) *job.File {
			t.Helper()
			f, err := job.NewFile(ctx, db, tenant, j, name, "text/csv", noon)
			if err == nil {
				err = f.Append(ctx, db, make([]byte, size))
			}
			if err != nil {
				t.Fatal(err)
			}
			return &f
		}
		create := func(kind job.Kind, status job.Status) id.Job {
			t.Helper()
			j, err := job.Create(ctx, db, job.Draft{Tenant: acme, Kind: kind, Params: struct{}{}}, noon)
			if err == nil {
				_, err = db.Exec(ctx, `UPDATE job SET status = $3, finished_at = $4 WHERE tenant_id = $1 AND id = $2`, acme, j.ID, status, noon.UnixMicro())
			}
			if err != nil {
				t.Fatal(err)
			}
			return j.ID
		}
		file(other, id.Job{}, job.Input, 20<<20)
		upload := file(acme, id.Job{}, job.Input, 9<<20)
		file(acme, create(job.Export, job.Completed), "export", 10<<20)
		failed := file(acme, create(job.Export, job.Failed), "export", 5<<20)
		file(acme, create(job.Import, job.Failed), "errors", 1<<20)
		used(acme, 25<<20)
		if err := failed.Append(ctx, db, []byte("x")); !errors.Is(err, quota.ErrFull) {
			t.Errorf("beyond the limit: %v", err)
		}
		used(acme, 25<<20)
		for range 2 { // the second time it is gone
			if err := upload.Delete(ctx, db); err != nil {
				t.Fatal(err)
			}
			used(acme, 16<<20)
		}
		prune := func(at time.Time) {
			t.Helper()
			if _, err := job.Prune(ctx, db, at); err != nil {
				t.Fatal(err)
			}
		}
		prune(noon.Add(time.Minute)) // what an export wrote that did not complete
		used(acme, 11<<20)
		if err := db.InTx(ctx, func(tx *sqldb.DB) error { return job.EraseFiles(ctx, tx, acme, []job.Kind{job.Export}, noon) }); err != nil {
			t.Fatal(err)
		}
		prune(noon.Add(time.Minute))
		used(acme, 0)
		used(other, 20<<20)
		prune(noon.Add(24 * time.Hour))
		used(other, 0)
	})
}
