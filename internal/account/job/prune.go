package job

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Retention times.
const (
	KeepFor   = 7 * 24 * time.Hour  // files, after their job has ended
	keepJobs  = 90 * 24 * time.Hour // jobs, after they have ended
	keepStray = 6 * time.Hour       // uploads that belong to no job
)

// pruneBatch is how many rows of each kind one Prune removes.
const pruneBatch = 100

// Prune removes a batch of files and jobs past their retention time; more reports whether there may
// be others. The file of an export that did not complete cannot be downloaded, so it only takes room.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) (more bool, err error) {
	rows, err := db.Query(ctx, `
		/* all tenants: files go by age */
		SELECT `+fileColumns+` FROM job_file WHERE job_id IS NULL AND created_at < $1
		UNION ALL
		SELECT f.tenant_id, f.id, f.job_id, f.name, f.media_type, f.size, f.created_at
		FROM job_file f JOIN job j ON j.tenant_id = f.tenant_id AND j.id = f.job_id
		WHERE j.finished_at IS NOT NULL AND (f.name = 'input' AND (f.kept_until IS NULL OR f.kept_until < $4)
			OR j.kind = 'export' AND j.status <> 'completed' OR j.finished_at < $2)
		LIMIT $3`, now.Add(-keepStray).UnixMicro(), now.Add(-KeepFor).UnixMicro(), pruneBatch, now.Add(-uploadMaxAge).UnixMicro())
	files, err := sqldb.Collect(rows, err, scanFile)
	if err != nil {
		return false, fmt.Errorf("find old files: %w", err)
	}
	for _, f := range files {
		if err := f.erase(ctx, db); err != nil {
			return false, err
		}
	}
	n, err := db.Exec(ctx, `
		/* all tenants: jobs go by age */
		DELETE FROM job WHERE (tenant_id, id) IN (
			SELECT tenant_id, id FROM job WHERE finished_at < $1 LIMIT $2)`, now.Add(-keepJobs).UnixMicro(), pruneBatch)
	if err != nil {
		return false, fmt.Errorf("remove old jobs: %w", err)
	}
	return len(files) == pruneBatch || n == pruneBatch, nil
}

// eraseStep is how many bytes of a file one transaction removes, so that large files do not block
// other writers.
const eraseStep = 8 << 20

// erase removes the file piece by piece, its own row last.
func (f File) erase(ctx context.Context, db *sqldb.DB) error {
	for at := f.Size; at > eraseStep; at -= eraseStep {
		_, err := db.Exec(ctx, `DELETE FROM job_file_chunk WHERE tenant_id = $1 AND file_id = $2 AND at >= $3`,
			f.Tenant, f.ID, at-eraseStep)
		if err != nil {
			return fmt.Errorf("remove an old file: %w", err)
		}
	}
	return f.Delete(ctx, db)
}

// uploadMaxAge is the age from which the request that created an upload without a job has certainly
// ended, or one that takes an upload that was kept until then.
const uploadMaxAge = 10 * time.Minute

// EraseFiles removes every file of the tenant that may contain personal data, in the caller's
// transaction: files that jobs wrote, input of ended jobs, and uploads without a job. It removes
// all files, since the persons in a file are unknown. Files become inaccessible at once, and Prune
// deletes their contents within a minute.
//
// Uploads are not kept for other jobs any more. Running jobs of the kinds in restart, which may have read the data of a person that their file
// must not contain, start over. The input of other jobs that are queued or running remains until
// they end.
func EraseFiles(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, restart []Kind, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE job SET state = NULL, result = NULL, processed = 0, total = NULL, owner = '', lease_until = 0, epoch = epoch + 1
		WHERE tenant_id = $1 AND status = 'running' AND kind`+tx.In(2), tenant, sqldb.List(tx, restart))
	if err != nil {
		return fmt.Errorf("restart jobs: %w", err)
	}
	if _, err = tx.Exec(ctx, `UPDATE job_file SET kept_until = NULL WHERE tenant_id = $1 AND kept_until IS NOT NULL`, tenant); err != nil {
		return fmt.Errorf("remove kept uploads of jobs: %w", err)
	}
	// Prune removes old uploads that belong to no job.
	_, err = tx.Exec(ctx, `
		UPDATE job_file SET job_id = NULL, created_at = 0
		WHERE tenant_id = $1 AND (job_id IS NULL AND created_at < $2 OR job_id IS NOT NULL AND (name <> '`+Input+`' OR EXISTS (
			SELECT 1 FROM job j WHERE j.tenant_id = $1 AND j.id = job_file.job_id AND j.finished_at IS NOT NULL)))`,
		tenant, now.Add(-uploadMaxAge).UnixMicro())
	if err != nil {
		return fmt.Errorf("remove files of jobs: %w", err)
	}
	return nil
}
