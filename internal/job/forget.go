package job

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// abandoned is the age from which an upload without a job is left over: the request that created it
// has ended.
const abandoned = 10 * time.Minute

// Forget removes every file of the tenant that may contain personal data, in the caller's
// transaction: files that jobs wrote, input of ended jobs, and uploads left over. It is not known
// which people a file contains, so all files are removed. They become inaccessible at once, and
// Prune deletes their contents within a minute.
//
// Running jobs of the kinds in restart may have read the data of a person that their file must not
// contain: they start over. The input of other jobs that are queued or running remains until they
// end.
func Forget(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, restart []Kind, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE job SET state = NULL, result = NULL, processed = 0, total = NULL, owner = '', lease_until = 0, epoch = epoch + 1
		WHERE tenant_id = $1 AND status = 'running' AND kind`+tx.In(2), tenant, sqldb.List(tx, restart))
	if err != nil {
		return fmt.Errorf("restart jobs: %w", err)
	}
	// Prune removes old uploads that belong to no job.
	_, err = tx.Exec(ctx, `
		UPDATE job_file SET job_id = NULL, created_at = 0
		WHERE tenant_id = $1 AND (job_id IS NULL AND created_at < $2 OR job_id IS NOT NULL AND (name <> '`+Input+`' OR EXISTS (
			SELECT 1 FROM job j WHERE j.tenant_id = $1 AND j.id = job_file.job_id AND j.finished_at IS NOT NULL)))`,
		tenant, now.Add(-abandoned).UnixMicro())
	if err != nil {
		return fmt.Errorf("remove files of jobs: %w", err)
	}
	return nil
}
