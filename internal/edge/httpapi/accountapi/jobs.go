package accountapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Jobs serves jobs.
type Jobs struct {
	db      *sqldb.DB
	cursors *endpoint.Cursors
	baseURL *url.URL
	now     func() time.Time
}

// NewJobs returns the operations on jobs.
func NewJobs(e wire.Env) Jobs {
	return Jobs{db: e.DB, cursors: e.Cursors, baseURL: e.BaseURL, now: e.Now}
}

// On returns the operations on another handle.
func (api Jobs) On(db *sqldb.DB) Jobs { api.db = db; return api }

// Register adds the operations on jobs.
func (api Jobs) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{
			Name: name, Summary: summary, Tag: "jobs", Mode: endpoint.ByJob,
			Scopes: []auth.Scope{auth.ContactsRead, auth.ContactsWrite}, Faults: append(faults, job.ErrNotFound),
		}
	}
	get := op("getJob", "Get a job with its progress and result.")
	get.Description = "progress.total is absent while it is unknown. result exists from the first step on, also for a job that failed or was cancelled, because its changes stay."
	endpoint.Handle(r, "GET /t/{tenant}/api/jobs", endpoint.Op{
		Name: "listJobs", Summary: "List jobs, newest first.", Tag: "jobs", Session: true, Pagination: "cursor", Faults: []*fault.Error{endpoint.ErrCursor},
	}.ExampleQuery("type=import,export&limit=2"), api.listJobs)
	endpoint.Handle(r, "GET /t/{tenant}/api/jobs/{id}", get, api.getJob)
	endpoint.Handle(r, "POST /t/{tenant}/api/jobs/{id}/cancel",
		op("cancelJob", "Cancel a job that has not ended; its changes so far stay.", job.ErrTransition), api.cancelJob)
	undo := op("undoImport", "Undo an import, in a job.", job.ErrTransition, job.ErrLimit, transfer.ErrNotUndoable, transfer.ErrUndone, transfer.ErrUndoExpired)
	undo.Status = http.StatusAccepted
	undo.Description = `For seven days after an import has ended, also one that failed or was cancelled: undo in its result says until when. The answer names a job of type import_undo, which can be cancelled and then started again. An undo needs the scopes of the import.

Contacts that the import created are deleted, except for those that since got a mail, have an event, a form submission, an enrollment or a change. A deleted contact whose address comes again is a new contact with the same id. Of other contacts, the fields, tags, lists, subscriptions and stages that the import changed go back unless they have another value since. A refusal stays: a worse status, do_not_contact, and subscriptions that the import turned off.

The job's result has deleted, restored and, by reason, kept: contacts of which something stays as the import left it (changed, mailed, event, submitted, enrolled, refusal, deleted, anonymized, invalid).`
	endpoint.Handle(r, "POST /t/{tenant}/api/jobs/{id}/undo", undo.Once(), wire.Once(api, api.db, Jobs.undoImport))
	download := op("downloadJobFile", "Download a file that a job wrote.")
	download.Description = "The file of a completed export, or with file=errors the rows that an ended import refused or of which it left out values, for 7 days. " +
		"Texts that a spreadsheet would evaluate (they begin with = + - @, a tab or a carriage return) are prefixed with an apostrophe, which an import removes."
	download.Produces = []string{"text/csv", "application/x-ndjson"}
	endpoint.Handle(r, "GET /t/{tenant}/api/jobs/{id}/download", download.ExampleQuery("file=$FILE"), api.downloadJobFile)
}

// Job is an import, its undo, an export or a bulk action with its progress and result.
type Job struct {
	ID         id.Job          `json:"id" format:"uuid"`
	Type       job.Kind        `json:"type" enum:"import,export,bulk,import_undo"`
	Status     job.Status      `json:"status" enum:"queued,running,completed,failed,cancelled"`
	Progress   jobProgress     `json:"progress"`
	Result     any             `json:"result,omitempty" doc:"An import: rows, created, updated, skipped, invalid, unfit, errors_url (null without invalid and unfit rows), dry_run if it was one, and of a single completed import for 7 days its report: how the file was read, the options that are not about columns, its columns with samples, where each went, and the faults of rows in groups; undo (until, and job_id once it is undone) if it can be undone or was. repeated counts rows with the address of an earlier row. An export: rows, what (recipients or bounces of a broadcast, or audit_log; absent: contacts), download_url (null until it is completed, and for those who may not have the file). A bulk action: what POST /contacts/bulk answers with. The undo of an import: deleted, restored, and kept by reason."`
	Error      *jobError       `json:"error,omitempty"`
	CreatedAt  endpoint.Stamp  `json:"created_at"`
	FinishedAt *endpoint.Stamp `json:"finished_at,omitempty"`
}

// JobSession is the session form of a job.
type JobSession struct {
	Job
	Title      string          `json:"title" doc:"Such as \"Import of contacts.csv\"."`
	CreatedBy  auth.Actor      `json:"created_by"`
	FilesUntil *endpoint.Stamp `json:"files_until" doc:"Until when its files can be downloaded; null if there are none."`
}

// jobAnswer is the answer with a single job.
type jobAnswer = wire.Form[Job, JobSession]

type jobProgress struct {
	Processed int64  `json:"processed"`
	Total     *int64 `json:"total,omitempty"`
}

type jobError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type listJobsRequest struct {
	Type   string `query:"type" as:"list" enum:"import,export,bulk,import_undo" doc:"Of any of these types; all when absent."`
	Status string `query:"status" as:"list" enum:"queued,running,completed,failed,cancelled" doc:"With any of these statuses; all when absent."`
	Mine   string `query:"mine" as:"boolean" default:"false" doc:"true: only jobs that the user has created."`
	endpoint.CursorQuery
}

func (api Jobs) listJobs(ctx context.Context, p auth.Principal, in *listJobsRequest) (endpoint.List[JobSession], error) {
	var none endpoint.List[JobSession]
	f, err := job.ParseFilter(endpoint.CommaList(in.Type), endpoint.CommaList(in.Status))
	if err != nil {
		return none, err
	}
	if endpoint.Flag(in.Mine) {
		f.By = p.User
	}
	var after *job.Position
	if in.Cursor != "" {
		at, err := wire.DecodeTimePosition[id.Job](api.cursors, in.Cursor, "created_at")
		if err != nil {
			return none, err
		}
		after = &job.Position{At: at.At, ID: at.ID}
	}
	list, more, err := job.List(ctx, api.db, p.Tenant, f, after, endpoint.Limit(in.Limit))
	if err != nil {
		return none, err
	}
	rows, err := api.SessionRows(ctx, p, list...)
	if err != nil {
		return none, err
	}
	next := ""
	if more {
		last := list[len(list)-1]
		next = wire.TimePosition[id.Job]{At: last.CreatedAt, ID: last.ID}.Encode(api.cursors, "created_at")
	}
	return endpoint.Page(rows, next), nil
}

// SessionRows returns the session form of jobs.
func (api Jobs) SessionRows(ctx context.Context, p auth.Principal, list ...job.Job) ([]JobSession, error) {
	until, err := job.FilesUntil(ctx, api.db, p.Tenant, list)
	if err != nil {
		return nil, err
	}
	public, err := api.rowsOfJobs(ctx, p, list...)
	if err != nil {
		return nil, err
	}
	rows := make([]JobSession, len(list))
	for i, j := range list {
		rows[i] = JobSession{Job: public[i], Title: cmp.Or(j.Title, defaultTitles[j.Kind]), CreatedBy: j.CreatedBy}
		if at, ok := until[j.ID]; ok && p.Need(j.Scope) == nil {
			rows[i].FilesUntil = new(endpoint.At(at))
		}
	}
	return rows, nil
}

// defaultTitles are the titles of jobs of earlier versions.
var defaultTitles = map[job.Kind]string{job.Import: "Import of contacts", job.Export: "Export of contacts", job.Bulk: "Bulk action", job.ImportUndo: "Undo of an import"}

// answer returns the form of a job for p.
func (api Jobs) answer(ctx context.Context, p auth.Principal, j job.Job) (jobAnswer, error) {
	if p.IsKey() {
		rows, err := api.rowsOfJobs(ctx, p, j)
		if err != nil {
			return jobAnswer{}, err
		}
		return jobAnswer{Public: &rows[0]}, nil
	}
	rows, err := api.SessionRows(ctx, p, j)
	if err != nil {
		return jobAnswer{}, err
	}
	return jobAnswer{Session: &rows[0]}, nil
}

func (api Jobs) getJob(ctx context.Context, p auth.Principal, in *wire.RecordPath) (jobAnswer, error) {
	j, err := api.job(ctx, p, *in)
	if err != nil {
		return jobAnswer{}, err
	}
	out, err := api.answer(ctx, p, j)
	if err != nil {
		return jobAnswer{}, err
	}
	row := out.Public
	if out.Session != nil {
		row = &out.Session.Job
	}
	if r, ok := row.Result.(importResult); ok {
		r.Report, err = transfer.ReportOf(ctx, api.db, j, api.now())
		row.Result = r
	}
	return out, err
}

// job returns the job that a path names, if p has the scope of the request that created it.
func (api Jobs) job(ctx context.Context, p auth.Principal, in wire.RecordPath) (job.Job, error) {
	named, err := wire.RecordID[id.Job](in.ID, job.ErrNotFound)
	if err != nil {
		return job.Job{}, err
	}
	j, err := job.ByID(ctx, api.db, p.Tenant, named)
	if err != nil {
		return job.Job{}, err
	}
	return j, p.Need(j.Scope)
}

type importResult struct {
	transfer.ImportResult
	ErrorsURL *string          `json:"errors_url"`
	Undo      *importUndo      `json:"undo,omitempty"`
	Report    *transfer.Report `json:"report,omitempty"`
}

// importUndo is until when an import can be undone, and the job that undoes it or has.
type importUndo struct {
	Until endpoint.Stamp `json:"until"`
	JobID *id.Job        `json:"job_id"`
}

type exportResult struct {
	transfer.ExportResult
	DownloadURL *string `json:"download_url"`
}

// rowsOfJobs returns the rows of jobs.
func (api Jobs) rowsOfJobs(ctx context.Context, p auth.Principal, list ...job.Job) ([]Job, error) {
	undos, err := transfer.UndosOf(ctx, api.db, p.Tenant, list, api.now())
	if err != nil {
		return nil, err
	}
	rows := make([]Job, len(list))
	for i, j := range list {
		if rows[i], err = api.rowOfJob(p, j); err != nil {
			return nil, err
		}
		r, imported := rows[i].Result.(importResult)
		undo, can := undos[j.ID]
		if !imported || !can {
			continue
		}
		r.Undo = &importUndo{Until: endpoint.At(undo.Until)}
		if !undo.Job.IsZero() {
			r.Undo.JobID = &undo.Job
		}
		rows[i].Result = r
	}
	return rows, nil
}

// rowOfJob returns the row of j with its URLs.
func (api Jobs) rowOfJob(p auth.Principal, j job.Job) (Job, error) {
	row := Job{
		ID: j.ID, Type: j.Kind, Status: j.Status, Progress: jobProgress{j.Processed, j.Total},
		CreatedAt: endpoint.At(j.CreatedAt), FinishedAt: endpoint.AtOr(j.FinishedAt),
	}
	if j.Error != nil {
		row.Error = &jobError{j.Error.Code, j.Error.Message}
	}
	if j.Result == nil {
		return row, nil
	}
	// Downloads need the credential of the request: the URL has no token.
	download := strings.TrimSuffix(api.baseURL.String(), "/") + "/t/" + p.TenantSlug + "/api/jobs/" + j.ID.String() + "/download"
	switch j.Kind {
	case job.Import:
		var r importResult
		if err := json.Unmarshal(j.Result, &r.ImportResult); err != nil {
			return row, err
		}
		if r.Invalid+r.Unfit > 0 {
			r.ErrorsURL = new(download + "?file=" + transfer.ErrorsFile)
		}
		row.Result = r
	case job.Export:
		var r exportResult
		if err := json.Unmarshal(j.Result, &r.ExportResult); err != nil {
			return row, err
		}
		if j.Status == job.Completed && p.Need(j.Scope) == nil {
			r.DownloadURL = &download
		}
		row.Result = r
	default:
		row.Result = j.Result
	}
	return row, nil
}

func (api Jobs) cancelJob(ctx context.Context, p auth.Principal, in *wire.RecordPath) (jobAnswer, error) {
	j, err := api.job(ctx, p, *in)
	if err != nil {
		return jobAnswer{}, err
	}
	if j, err = job.Cancel(ctx, api.db, p.Tenant, j.ID, api.now()); err != nil {
		return jobAnswer{}, err
	}
	return api.answer(ctx, p, j)
}

func (api Jobs) undoImport(ctx context.Context, p auth.Principal, in *wire.RecordPath) (wire.Accepted, error) {
	j, err := api.job(ctx, p, *in)
	if err != nil {
		return wire.Accepted{}, err
	}
	undo, err := transfer.StartUndo(ctx, api.db, j, p, api.now())
	return wire.Accepted{JobID: undo.ID}, err
}

type downloadJobFileRequest struct {
	wire.RecordPath
	File string `query:"file" enum:"export,errors" doc:"Which file; when absent, the only one that the job writes."`
}

func (api Jobs) downloadJobFile(ctx context.Context, p auth.Principal, in *downloadJobFileRequest) (endpoint.Download, error) {
	j, err := api.job(ctx, p, in.RecordPath)
	if err != nil {
		return endpoint.Download{}, err
	}
	f, err := transfer.FileOf(ctx, api.db, j, in.File, api.now())
	if err != nil {
		return endpoint.Download{}, err
	}
	return endpoint.Download{Name: fileName(j, f), MediaType: f.MediaType, Size: f.Size, Content: f.Reader(ctx, api.db, 0)}, nil
}

// fileName returns the name of a download.
func fileName(j job.Job, f job.File) string {
	what := "contacts"
	var r transfer.ExportResult
	switch {
	case f.Name == transfer.ErrorsFile:
		what = "import-errors"
	case json.Unmarshal(j.Result, &r) == nil && r.Subject != "":
		what = strings.ReplaceAll(string(r.Subject), "_", "-")
	}
	name := what + "-" + j.CreatedAt.UTC().Format("2006-01-02")
	if strings.HasPrefix(f.MediaType, "application/x-ndjson") {
		return name + ".ndjson"
	}
	return name + ".csv"
}
