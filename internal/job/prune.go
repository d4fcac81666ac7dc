package job

import (
	"context"
	"fmt"
	"time"

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
// be others.
func Prune(ctx context.Context, db *sqldb.DB, now time.Time) (more bool, err error) {
	rows, err := db.Query(ctx, `
		/* all tenants: files go by age */
		SELECT `+fileColumns+` FROM job_file WHERE job_id IS NULL AND created_at < $1
		UNION ALL
		SELECT f.tenant_id, f.id, f.job_id, f.name, f.media_type, f.size, f.created_at
		FROM job_file f JOIN job j ON j.tenant_id = f.tenant_id AND j.id = f.job_id
		WHERE j.finished_at IS NOT NULL AND (f.name = 'input' OR j.finished_at < $2)
		LIMIT $3`, now.Add(-keepStray).UnixMicro(), now.Add(-KeepFor).UnixMicro(), pruneBatch)
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
