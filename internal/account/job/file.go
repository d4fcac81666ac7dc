package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ChunkSize is the maximum number of bytes in one row of a file.
const ChunkSize = 256 << 10

// The names of files that are not for download. Input is what a job reads; it is removed when the job has ended, unless it
// is kept for others (Keep). Other files are kept for KeepFor. Report is what a job says about its input, which may hold people's data.
const (
	Input  = "input"
	Report = "report"
)

// File is a file that a job reads or writes.
type File struct {
	ID        id.JobFile
	Tenant    id.Tenant
	Job       id.Job // zero: an upload that belongs to no job yet
	Name      string // its role in the job, such as Input
	MediaType string
	Size      int64
	CreatedAt time.Time
}

const fileColumns = `tenant_id, id, job_id, name, media_type, size, created_at`

func scanFile(row func(...any) error) (File, error) {
	var f File
	var created int64
	err := row(&f.Tenant, &f.ID, &f.Job, &f.Name, &f.MediaType, &f.Size, &created)
	f.CreatedAt = sqldb.Time(created)
	return f, err
}

// NewFile creates an empty file. Without a job it is an upload, which is removed after keepStray
// unless it is assigned to a job (Assign).
func NewFile(ctx context.Context, db *sqldb.DB, tenant id.Tenant, job id.Job, name, mediaType string, now time.Time) (File, error) {
	f, err := scanFile(db.QueryRow(ctx, `
		INSERT INTO job_file (tenant_id, id, job_id, name, media_type, size, created_at)
		VALUES ($1, $2, $3, $4, $5, 0, $6)
		RETURNING `+fileColumns, tenant, id.New[id.JobFile](), sqldb.Null(job), name, mediaType, sqldb.Micros(now)).Scan)
	if err != nil {
		return File{}, fmt.Errorf("begin a file: %w", err)
	}
	return f, nil
}

// FileOf returns a file of a job by its name.
func FileOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, job id.Job, name string) (File, error) {
	f, err := scanFile(db.QueryRow(ctx, `
		SELECT `+fileColumns+` FROM job_file WHERE tenant_id = $1 AND job_id = $2 AND name = $3`, tenant, job, name).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return File{}, ErrNoFile
	}
	if err != nil {
		return File{}, fmt.Errorf("find a file: %w", err)
	}
	return f, nil
}

// Append adds p to the end of the file, in chunks. Within Step, it is rolled back with the step.
func (f *File) Append(ctx context.Context, db *sqldb.DB, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		var size int64
		err := tx.QueryRow(ctx, `
			UPDATE job_file SET size = size + $3 WHERE tenant_id = $1 AND id = $2 RETURNING size`,
			f.Tenant, f.ID, len(p)).Scan(&size)
		if errors.Is(err, sqldb.ErrNoRows) {
			return ErrNoFile
		}
		if err != nil {
			return fmt.Errorf("append to a file: %w", err)
		}
		if err := quota.Add(ctx, tx, f.Tenant, quota.JobFiles, int64(len(p))); err != nil {
			return err
		}
		for at, rest := size-int64(len(p)), p; len(rest) > 0; {
			part := rest[:min(len(rest), ChunkSize)]
			_, err := tx.Exec(ctx, `INSERT INTO job_file_chunk (tenant_id, file_id, at, data) VALUES ($1, $2, $3, $4)`,
				f.Tenant, f.ID, at, part)
			if err != nil {
				return fmt.Errorf("append to a file: %w", err)
			}
			at, rest = at+int64(len(part)), rest[len(part):]
		}
		f.Size = size
		return nil
	})
}

// Delete removes the file.
func (f File) Delete(ctx context.Context, db *sqldb.DB) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := tx.Exec(ctx, `DELETE FROM job_file_chunk WHERE tenant_id = $1 AND file_id = $2`, f.Tenant, f.ID); err != nil {
			return err
		}
		var size int64
		err := tx.QueryRow(ctx, `DELETE FROM job_file WHERE tenant_id = $1 AND id = $2 RETURNING size`, f.Tenant, f.ID).Scan(&size)
		if errors.Is(err, sqldb.ErrNoRows) {
			return nil // another process was first
		}
		if err != nil {
			return err
		}
		return quota.Add(ctx, tx, f.Tenant, quota.JobFiles, -size)
	})
	if err != nil {
		return fmt.Errorf("delete a file: %w", err)
	}
	return nil
}

// CountBytes returns how many bytes the files of a tenant have.
func CountBytes(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (n int64, err error) {
	err = db.QueryRow(ctx, `SELECT COALESCE(SUM(size), 0) FROM job_file WHERE tenant_id = $1 /* reads the tenant: counts it */`, tenant).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the bytes of files: %w", err)
	}
	return n, nil
}

// Writer writes to the end of a file, one chunk at a time. Close writes the last chunk; without it
// the end of the file is missing.
func (f *File) Writer(ctx context.Context, db *sqldb.DB) io.WriteCloser {
	return &writer{ctx: ctx, db: db, file: f, buffered: make([]byte, 0, ChunkSize)}
}

type writer struct {
	ctx      context.Context
	db       *sqldb.DB
	file     *File
	buffered []byte
}

// Write buffers p until a chunk is full.
func (w *writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), ChunkSize-len(w.buffered))]
		w.buffered, p = append(w.buffered, part...), p[len(part):]
		if len(w.buffered) == ChunkSize {
			if err := w.Close(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// Close writes the buffered bytes.
func (w *writer) Close() error {
	err := w.file.Append(w.ctx, w.db, w.buffered)
	w.buffered = w.buffered[:0]
	return err
}

// Reader reads the file from an offset on, one chunk at a time.
func (f File) Reader(ctx context.Context, db *sqldb.DB, from int64) io.Reader {
	return &reader{ctx: ctx, db: db, file: f, at: from}
}

type reader struct {
	ctx      context.Context
	db       *sqldb.DB
	file     File
	at       int64 // offset of the next byte
	buffered []byte
}

// Read returns the rest of the current chunk, or the next one.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.buffered) == 0 {
		if r.at >= r.file.Size {
			return 0, io.EOF
		}
		var at int64
		err := r.db.QueryRow(r.ctx, `
			SELECT at, data FROM job_file_chunk
			WHERE tenant_id = $1 AND file_id = $2 AND at <= $3 ORDER BY at DESC LIMIT 1`,
			r.file.Tenant, r.file.ID, r.at).Scan(&at, &r.buffered)
		if errors.Is(err, sqldb.ErrNoRows) || err == nil && r.at-at >= int64(len(r.buffered)) {
			return 0, fmt.Errorf("read file %s: %w", r.file.ID, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return 0, fmt.Errorf("read file %s: %w", r.file.ID, err)
		}
		r.buffered = r.buffered[r.at-at:]
		if left := r.file.Size - r.at; int64(len(r.buffered)) > left {
			r.buffered = r.buffered[:left] // appended after f was loaded
		}
	}
	n := copy(p, r.buffered)
	r.buffered, r.at = r.buffered[n:], r.at+int64(n)
	return n, nil
}
