package job

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// abandoned is the age from which an upload that no job has taken is nobody's any
// more: the request that brought it has ended.
const abandoned = 10 * time.Minute

// Forget takes away every file of the tenant in which people may be named, in the
// caller's transaction: what jobs made, what ended jobs read, uploads that were
// left behind. Which people are named in a file is not known, so all files go.
// They are out of reach at once, and Prune removes what is in them within a minute.
//
// Running jobs of the kinds in anew have read people already whom their file is
// not to hold: they begin anew. What other jobs that wait or run still read stays
// until they end.
func Forget(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, anew []Kind, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE job SET state = NULL, result = NULL, processed = 0, total = NULL, owner = '', lease_until = 0, epoch = epoch + 1
		WHERE tenant_id = $1 AND status = 'running' AND kind`+tx.In(2), tenant, sqldb.List(tx, anew))
	if err != nil {
		return fmt.Errorf("let jobs begin anew: %w", err)
	}
	// An upload of long ago that no job took is what Prune removes.
	_, err = tx.Exec(ctx, `
		UPDATE job_file SET job_id = NULL, created_at = 0
		WHERE tenant_id = $1 AND (job_id IS NULL AND created_at < $2 OR job_id IS NOT NULL AND (name <> '`+Input+`' OR EXISTS (
			SELECT 1 FROM job j WHERE j.tenant_id = $1 AND j.id = job_file.job_id AND j.finished_at IS NOT NULL)))`,
		tenant, now.Add(-abandoned).UnixMicro())
	if err != nil {
		return fmt.Errorf("take files of jobs away: %w", err)
	}
	return nil
}
