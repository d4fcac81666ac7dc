package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// KeepFor is how long the file of a dry run is kept for other imports, from the start of the last dry run of it.
const KeepFor = time.Hour

// Received is a stored file to import.
type Received struct {
	job.File
	about about
}

// about is what is known of a file besides its bytes.
type about struct {
	Name   string   `json:"name,omitempty"`  // as the caller calls it
	Seen   census   `json:"seen"`            // what its bytes say about its encoding
	Sheet  string   `json:"sheet,omitempty"` // of the workbook that it was
	Sheets []string `json:"sheets,omitempty"`
}

// Upload stores a file to import, as it is received. A caller that does not continue with
// StartImport must delete it.
func Upload(ctx context.Context, db *sqldb.DB, tenant id.Tenant, file io.Reader, now time.Time) (Received, error) {
	return newUpload(ctx, db, tenant, now, func(_ *Received, w io.Writer) error {
		if _, err := io.Copy(w, file); err != nil {
			return fmt.Errorf("store an upload: %w", err)
		}
		return nil
	})
}

// errNotKept reports that a file that a caller names is not kept.
var errNotKept = job.ErrNoFile.Sayf("the file is not kept any more; send it again").With(fault.Fields{Fields: []fault.Field{
	{Path: "options.file_id", Message: "is no file that is kept; send the file again"},
}})

// Kept returns the file of a dry run by its id, to be imported once more. If it was a workbook, its rows are those of the
// sheet that the dry run has read. The error is job.ErrNoFile if the file is gone, or was imported.
func Kept(ctx context.Context, db *sqldb.DB, tenant id.Tenant, fileID, sheet string, now time.Time) (Received, error) {
	file, ok := id.Parse[id.JobFile](fileID)
	if !ok {
		return Received{}, errNotKept
	}
	var in Received
	f, text, err := job.Kept(ctx, db, tenant, file, now)
	if errors.Is(err, job.ErrNoFile) {
		return in, errNotKept
	}
	if err != nil {
		return in, err
	}
	in.File = f
	if err := json.Unmarshal(text, &in.about); err != nil {
		return in, fmt.Errorf("what is known of file %s: %w", file, err)
	}
	if in.about.Sheet != "" && sheet != "" && sheet != in.about.Sheet {
		return in, fault.Input(fault.Field{Path: "options.sheet", Message: "names no sheet that was read; send the file again for another one"})
	}
	return in, nil
}

// assign assigns the file to the job that imports it. That of a dry run is kept.
func (in *Received) assign(ctx context.Context, tx *sqldb.DB, j job.Job, dryRun bool, now time.Time) error {
	var keep *job.Keep
	if dryRun {
		keep = &job.Keep{Until: now.Add(KeepFor), About: in.about, By: j.CreatedBy}
	}
	err := in.Assign(ctx, tx, j.ID, keep, now)
	if errors.Is(err, job.ErrNoFile) {
		return errNotKept // another import has taken it meanwhile
	}
	return err
}

// inputOf returns the file of an import. That of a dry run may go before it has ended, with another job that was to read it.
func (in importParams) inputOf(ctx context.Context, db *sqldb.DB, j job.Job) (job.File, error) {
	if in.File.IsZero() {
		return job.FileOf(ctx, db, j.Tenant, j.ID, job.Input)
	}
	file, err := job.FileByID(ctx, db, j.Tenant, in.File)
	if errors.Is(err, job.ErrNoFile) {
		return file, errNotKept
	}
	return file, err
}
