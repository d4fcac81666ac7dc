package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Keep says that an upload is there for other jobs, besides the one that reads it.
type Keep struct {
	Until time.Time
	About any        // what Kept returns; encodes to a JSON object
	By    auth.Actor // who creates the job; of its uploads the last one is kept
}

// Assign assigns an upload to a job: a new one, or one that is kept for other jobs, whatever job has read it or still does.
// Unless keep says otherwise, it goes when this job has ended. The error is ErrNoFile if no job may read it any more.
func (f *File) Assign(ctx context.Context, tx *sqldb.DB, job id.Job, keep *Keep, now time.Time) error {
	var until, about any
	if keep != nil {
		text, err := json.Marshal(keep.About)
		if err != nil {
			return fmt.Errorf("assign an upload: %w", err)
		}
		until, about = sqldb.Micros(keep.Until), string(text)
		if err := f.replaceKept(ctx, tx, keep.By); err != nil {
			return err
		}
	}
	// An upload that was created at 0 is being removed: see EraseFiles.
	n, err := tx.Exec(ctx, `
		UPDATE job_file SET job_id = $3, kept_until = $4, about = $5
		WHERE tenant_id = $1 AND id = $2 AND (job_id IS NULL AND created_at > 0 OR kept_until > $6)`,
		f.Tenant, f.ID, job, until, about, sqldb.Micros(now))
	if err != nil {
		return fmt.Errorf("assign an upload: %w", err)
	}
	if n == 0 {
		return ErrNoFile
	}
	f.Job = job
	return nil
}

// replaceKept has the other uploads of the creator's jobs go when these have ended.
func (f *File) replaceKept(ctx context.Context, tx *sqldb.DB, by auth.Actor) error {
	creator, err := json.Marshal(map[string]string{"type": by.Type, "id": by.ID})
	if err == nil {
		_, err = tx.Exec(ctx, `
			UPDATE job_file SET kept_until = NULL WHERE tenant_id = $1 AND kept_until IS NOT NULL AND id <> $2 AND EXISTS (
				SELECT 1 FROM job j WHERE j.tenant_id = $1 AND j.id = job_file.job_id AND`+tx.JSONContains("j.created_by", 3)+`)`,
			f.Tenant, f.ID, string(creator))
	}
	if err != nil {
		return fmt.Errorf("replace an upload that is kept: %w", err)
	}
	return nil
}

// Kept returns an upload that is kept for other jobs, and what was said about it. The error is ErrNoFile if there is none.
func Kept(ctx context.Context, db *sqldb.DB, tenant id.Tenant, file id.JobFile, now time.Time) (File, json.RawMessage, error) {
	var about sql.NullString
	err := db.QueryRow(ctx, `SELECT about FROM job_file WHERE tenant_id = $1 AND id = $2 AND kept_until > $3`,
		tenant, file, sqldb.Micros(now)).Scan(&about)
	if errors.Is(err, sqldb.ErrNoRows) {
		return File{}, nil, ErrNoFile
	}
	if err != nil {
		return File{}, nil, fmt.Errorf("find an upload that is kept: %w", err)
	}
	f, err := FileByID(ctx, db, tenant, file)
	return f, json.RawMessage(about.String), err
}

// FileByID returns a file by its id.
func FileByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, file id.JobFile) (File, error) {
	f, err := scanFile(db.QueryRow(ctx, `SELECT `+fileColumns+` FROM job_file WHERE tenant_id = $1 AND id = $2`, tenant, file).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return File{}, ErrNoFile
	}
	if err != nil {
		return File{}, fmt.Errorf("find a file: %w", err)
	}
	return f, nil
}
