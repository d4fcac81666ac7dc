package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// jobParams are the stored parameters of a job.
type jobParams struct {
	Request  Request               `json:"request"`
	Selector segment.SelectorInput `json:"selector"`
}

// checkpoint is the progress of a job: the last contact that was processed.
type checkpoint struct {
	After id.Contact `json:"after"`
	Done  bool       `json:"done"`
}

// jobResult is the result of a job so far.
type jobResult struct {
	Result
	Truncated bool `json:"errors_truncated"` // there were more errors or results than are stored
}

const (
	jobPage   = 500
	maxStored = 100 // maximum number of errors, and of results, stored with a job
)

// Start queues a job that applies the request to the contacts that the selector matches.
func (d Runner) Start(ctx context.Context, db *sqldb.DB, p auth.Principal, r Request, in segment.SelectorInput, now time.Time) (job.Job, error) {
	return job.Create(ctx, db, job.Draft{
		Tenant: p.Tenant, Kind: job.Bulk, Title: "Bulk action: " + strings.ReplaceAll(string(r.Action), "_", " "), Scope: auth.ContactsWrite, Params: jobParams{r, in}, By: p.Actor(),
	}, now)
}

// Run executes a bulk job from its checkpoint on. It is a job.Runner.
func (d Runner) Run(ctx context.Context, w *job.Work) error {
	var e jobParams
	if err := w.Params(&e); err != nil {
		return err
	}
	for {
		var at checkpoint
		if err := w.State(&at); err != nil || at.Done {
			return err
		}
		sum := jobResult{Result: Result{Action: e.Request.Action, Errors: []Refusal{}}}
		if w.Job.Result != nil {
			if err := json.Unmarshal(w.Job.Result, &sum); err != nil {
				return fmt.Errorf("the result of job %s: %w", w.Job.ID, err)
			}
		}
		// Contacts are found before the step begins, because a step's transaction occupies SQLite's
		// only writing connection.
		found, err := findPage(ctx, w.DB, w.Job, e, at)
		if err != nil {
			return err
		}
		err = w.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
			return d.applyPage(ctx, tx, w.Job, e, at, sum, found, w.Now())
		})
		if err != nil {
			return err
		}
	}
}

// contactPage is a page of contacts, and the total number if it was not known yet.
type contactPage struct {
	ids   []id.Contact
	total *int64
}

// findPage returns the next page of contacts after the checkpoint.
func findPage(ctx context.Context, db *sqldb.DB, j job.Job, e jobParams, at checkpoint) (contactPage, error) {
	sel, err := segment.SelectQueued(ctx, db, j.Tenant, e.Selector, j.CreatedAt)
	if err != nil {
		return contactPage{}, err
	}
	sel.Where = append(sel.Where, createdBy(j.CreatedAt))
	f := contactPage{total: j.Total}
	if j.Total == nil {
		n, err := contact.Count(ctx, db, j.Tenant, sel)
		if err != nil {
			return contactPage{}, err
		}
		f.total = new(int64(n))
	}
	f.ids, err = contact.Matching(ctx, db, j.Tenant, sel, at.After, jobPage)
	return f, err
}

// applyPage applies the request to the contacts found, and returns the new checkpoint and result.
func (d Runner) applyPage(ctx context.Context, tx *sqldb.DB, j job.Job, e jobParams, at checkpoint, sum jobResult, f contactPage, now time.Time) (job.Progress, error) {
	p, ids := job.Progress{Total: f.total}, f.ids
	if len(ids) > 0 {
		r, err := d.Apply(ctx, tx, j.Tenant, e.Request, ids, now)
		if err != nil {
			return p, err
		}
		sum = sum.plus(r)
		at.After = ids[len(ids)-1]
	}
	at.Done = len(ids) < jobPage
	p.Processed = int64(sum.Affected + sum.Skipped)
	if at.Done { // contacts that stopped matching since they were counted were not processed
		p.Total = new(p.Processed)
	}
	p.State, p.Result = at, sum
	return p, nil
}

// plus returns t with the result of one page added.
func (t jobResult) plus(r Result) jobResult {
	t.Matched += r.Matched
	t.Affected += r.Affected
	t.Skipped += r.Skipped
	t.Truncated = t.Truncated || len(t.Errors)+len(r.Errors) > maxStored || len(t.Results)+len(r.Results) > maxStored
	t.Errors = append(slices.Clip(t.Errors), r.Errors[:min(len(r.Errors), maxStored-len(t.Errors))]...)
	t.Results = append(slices.Clip(t.Results), r.Results[:min(len(r.Results), maxStored-len(t.Results))]...)
	return t
}

// createdBy is the condition that a contact was created at or before t.
func createdBy(t time.Time) contact.Condition {
	return contact.Condition{Text: func(arg func(any) string) string { return `c.created_at <= ` + arg(sqldb.Micros(t)) }}
}
