package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// UndoImport is the job.Runner of undos. Each step undoes one step of the import, the last one first, and deletes what is
// stored of it: so an undo that is interrupted, or started again after it was cancelled, continues with the next one.
func UndoImport(ctx context.Context, w *job.Work) error {
	var p undoParams
	if err := w.Params(&p); err != nil {
		return err
	}
	for done := false; !done; {
		at, sum := undoCheckpoint{}, UndoResult{}
		if err := w.State(&at); err != nil {
			return err
		}
		if w.Job.Result != nil {
			if err := json.Unmarshal(w.Job.Result, &sum); err != nil {
				return fmt.Errorf("the result of job %s: %w", w.Job.ID, err)
			}
		}
		err := w.Step(ctx, func(tx *sqldb.DB) (job.Progress, error) {
			next := sum
			next.Kept = maps.Clone(sum.Kept)
			if next.Kept == nil {
				next.Kept = map[contact.Kept]int64{}
			}
			known := undoCheckpoint{maps.Clone(at.Verdicts)}
			if known.Verdicts == nil {
				known.Verdicts = map[id.Contact]contact.Verdict{}
			}
			progress := job.Progress{Processed: w.Job.Processed, Total: w.Job.Total, State: known}
			s, err := lastStep(ctx, tx, w.Job.Tenant, p.Import)
			if done = errors.Is(err, sqldb.ErrNoRows); done {
				progress.Result = next
				return progress, nil
			}
			if err == nil {
				err = undoStep(ctx, tx, w, s, known.Verdicts, &next)
			}
			progress.Processed, progress.Result = progress.Processed+s.contacts, next
			return progress, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// undoCheckpoint is the state of an undo: what its steps found out about contacts that earlier steps of the import may
// have changed too.
type undoCheckpoint struct {
	Verdicts map[id.Contact]contact.Verdict `json:"verdicts,omitempty"`
}

// maxVerdicts bounds the checkpoint. Of more contacts than that, a value is taken for what the import left also if
// somebody set one that an earlier row of the file has.
const maxVerdicts = 5000

// storedStep is a step of an import, as it is stored.
type storedStep struct {
	trace
	imported id.Job
	row, pos int64
	contacts int64
}

// lastStep reads the last step of an import that is not undone, or sqldb.ErrNoRows.
func lastStep(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, imported id.Job) (s storedStep, err error) {
	var created, listed, changed []byte
	s.imported = imported
	err = tx.QueryRow(ctx, `
		SELECT row_number, at, pos, contacts, segment_id, created, listed, changed FROM import_change
		WHERE tenant_id = $1 AND job_id = $2 ORDER BY row_number DESC LIMIT 1`+tx.ForUpdate(), tenant, imported).
		Scan(&s.row, sqldb.ToTime(&s.at), &s.pos, &s.contacts, &s.segment, &created, &listed, &changed)
	if err != nil {
		return s, err
	}
	var errs [3]error
	s.created, errs[0] = unpackContacts(created)
	s.listed, errs[1] = unpackContacts(listed)
	s.changes, errs[2] = unpackChanges(changed)
	return s, errors.Join(errs[:]...)
}

// undoStep undoes a step in one transaction, by the ways in which requests change contacts and lists.
func undoStep(ctx context.Context, tx *sqldb.DB, w *job.Work, s storedStep, verdicts map[id.Contact]contact.Verdict, sum *UndoResult) error {
	tenant, now := w.Job.Tenant, w.Now()
	free, off, err := s.unclaimed(ctx, tx, w, sum)
	if err != nil {
		return err
	}
	rules, err := sender.ContactRules(ctx, tx, tenant)
	if err != nil {
		return err
	}
	// Before the lists, since what the undo itself does is not what happened with a contact.
	back, err := contact.TakeBack(ctx, tx, tenant, s.changes.Changed, verdicts, s.pos, s.at, rules, now)
	if err != nil {
		return err
	}
	removed, err := segment.RemoveAdded(ctx, tx, tenant, s.segment, off, s.at, now)
	if err != nil {
		return err
	}
	if err := contact.Withdraw(ctx, tx, tenant, free, now); err != nil {
		return err
	}
	sum.Deleted += int64(len(free))
	restored := map[id.Contact]bool{}
	for _, c := range removed {
		if slices.Contains(s.listed, c) {
			restored[c] = true
		}
	}
	for i, b := range back {
		if b.Restored {
			restored[b.Contact] = true
		}
		for _, why := range b.Kept {
			sum.Kept[why]++
		}
		if s.changes.Changed[i].Again && len(verdicts) < maxVerdicts {
			verdicts[b.Contact] = b.Verdict
		}
	}
	sum.Restored += int64(len(restored))
	_, err = tx.Exec(ctx, `DELETE FROM import_change WHERE tenant_id = $1 AND job_id = $2 AND row_number = $3`, tenant, s.imported, s.row)
	if err != nil {
		return fmt.Errorf("delete what an import changed: %w", err)
	}
	return nil
}

// unclaimed returns the contacts that the import created and that are to be deleted with this step, and the contacts to
// take off the list. A contact that a later step changed too was deleted with that one, or has something since.
func (s storedStep) unclaimed(ctx context.Context, tx *sqldb.DB, w *job.Work, sum *UndoResult) (free, off []id.Contact, err error) {
	revisions := maps.Clone(s.changes.Revisions)
	if revisions == nil {
		revisions = map[id.Contact]int64{}
	}
	created := map[id.Contact]bool{}
	for _, c := range s.created {
		if created[c] = true; revisions[c] == 0 {
			revisions[c] = 1
		}
	}
	found, kept, err := contact.Unclaimed(ctx, tx, w.Job.Tenant, revisions, s.at, s.pos)
	if err != nil {
		return nil, nil, err
	}
	off = s.listed
	for _, c := range found {
		free = append(free, c.ID)
		if created[c.ID] {
			off = append(off, c.ID)
		}
	}
	for c, why := range kept {
		switch {
		case !created[c]: // counted with the step that created it
		case why == contact.KeptWithdrawn:
			off = append(off, c)
		default:
			sum.Kept[why]++
		}
	}
	return free, off, nil
}
