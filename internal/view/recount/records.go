package recount

import (
	"context"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/asset"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// statuses compares the numbers of a tenant's contacts by status.
func (r *Recount) statuses(ctx context.Context, tenant id.Tenant, total *Result) error {
	var stored, counted contact.ByStatus
	err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
		if stored, err = contact.CountByStatus(ctx, db, tenant); err != nil {
			return err
		}
		counted, err = contact.RecountByStatus(ctx, db, tenant)
		return err
	})
	if err != nil {
		return err
	}
	fields := func(n contact.ByStatus) map[string]int64 {
		m := map[string]int64{}
		for i, s := range contact.Statuses() {
			m[string(s)] = n[i]
		}
		return m
	}
	if !r.reportAs(total, tenant, Contacts, tenant.String(), fields(stored), fields(counted)) || !r.Repair {
		return nil
	}
	return contact.AddCounts(ctx, r.DB, tenant, counted.Minus(stored))
}

// lists compares the numbers of members of a tenant's static lists. A correction counts a list again, as the
// Refresher does, and stores the result unless members were added or removed meanwhile.
func (r *Recount) lists(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Segment
	for more := true; more; {
		var list []segment.ListCount
		err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
			list, err = segment.ListCountsAfter(ctx, db, tenant, after, r.page())
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range list {
			after = c.Segment
			if !r.reportAs(total, tenant, List, c.Segment.String(), map[string]int64{"member_count_total": c.Stored}, map[string]int64{"member_count_total": c.Counted}) || !r.Repair {
				continue
			}
			if _, err := segment.Recount(ctx, r.DB, tenant, c.Segment, r.Now()); err != nil && !errors.Is(err, segment.ErrNotFound) {
				return err
			}
		}
		more = len(list) == r.page()
	}
	return nil
}

// forms compares the numbers of submissions of a tenant's forms.
func (r *Recount) forms(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Form
	for more := true; more; {
		var list []form.Count
		err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
			list, err = form.CountAfter(ctx, db, tenant, after, r.page())
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range list {
			after = c.Form
			if !r.reportAs(total, tenant, Form, c.Form.String(), map[string]int64{"submission_count": c.Stored}, map[string]int64{"submission_count": c.Counted}) || !r.Repair {
				continue
			}
			if err := form.Correct(ctx, r.DB, tenant, c); err != nil {
				return err
			}
		}
		more = len(list) == r.page()
	}
	return nil
}

// sequences compares the numbers of enrollments of a tenant's sequences.
func (r *Recount) sequences(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Sequence
	for more := true; more; {
		list, err := sequence.After(ctx, r.DB, tenant, after, r.page())
		if err != nil {
			return err
		}
		for _, s := range list {
			after = s
			if err := r.sequence(ctx, tenant, s, total); err != nil {
				return err
			}
		}
		more = len(list) == r.page()
	}
	return nil
}

func (r *Recount) sequence(ctx context.Context, tenant id.Tenant, s id.Sequence, total *Result) error {
	var stored, counted sequence.Tally
	err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
		if stored, err = sequence.StoredTally(ctx, db, tenant, s); err != nil {
			return err
		}
		counted, err = sequence.CountEnrollments(ctx, db, tenant, s)
		return err
	})
	if err != nil {
		return err
	}
	if !r.reportAs(total, tenant, Sequence, s.String(), enrollmentFields(stored), enrollmentFields(counted)) || !r.Repair {
		return nil
	}
	return sequence.Correct(ctx, r.DB, tenant, s, stored, counted)
}

// enrollmentFields returns the numbers of enrollments, in all and by the beginning of an interval, by name.
func enrollmentFields(t sequence.Tally) map[string]int64 {
	all := map[string]int64{}
	add := func(n sequence.NodeCount, when string) {
		for name, v := range map[string]int{"entered": n.Entered, "completed": n.Completed, "exited": n.Exited, "converted": n.Converted, "failed": n.Failed} {
			all[name+when] = int64(v)
		}
	}
	add(t.All, "")
	for at, n := range t.Times {
		add(n, " at "+at.Format(time.RFC3339))
	}
	return all
}

// automations compares the numbers of runs of a tenant's automations.
func (r *Recount) automations(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Automation
	for more := true; more; {
		var list []automation.Count
		err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
			list, err = automation.CountAfter(ctx, db, tenant, after, r.page())
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range list {
			after = c.Automation
			if !r.reportAs(total, tenant, Automation, c.Automation.String(), map[string]int64{"run_count": c.Stored}, map[string]int64{"run_count": c.Counted}) || !r.Repair {
				continue
			}
			if err := automation.Correct(ctx, r.DB, tenant, c); err != nil {
				return err
			}
		}
		more = len(list) == r.page()
	}
	return nil
}

// visitors compares the numbers of a tenant's visitors.
func (r *Recount) visitors(ctx context.Context, tenant id.Tenant, total *Result) error {
	var stored, counted visitor.Totals
	err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
		if stored, err = visitor.StoredTotals(ctx, db, tenant); err != nil {
			return err
		}
		counted, err = visitor.CountTotals(ctx, db, tenant)
		return err
	})
	if err != nil {
		return err
	}
	fields := func(t visitor.Totals) map[string]int64 {
		return map[string]int64{"visitors": t.Visitors, "kept": t.Kept, "kept_bytes": t.Bytes}
	}
	if !r.reportAs(total, tenant, Visitors, tenant.String(), fields(stored), fields(counted)) || !r.Repair {
		return nil
	}
	return visitor.Correct(ctx, r.DB, tenant, stored, counted)
}

// assets compares the numbers of a tenant's images.
func (r *Recount) assets(ctx context.Context, tenant id.Tenant, total *Result) error {
	var stored, counted asset.Totals
	err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
		if stored, err = asset.StoredTotals(ctx, db, tenant); err != nil {
			return err
		}
		counted, err = asset.CountTotals(ctx, db, tenant)
		return err
	})
	if err != nil {
		return err
	}
	fields := func(t asset.Totals) map[string]int64 { return map[string]int64{"files": t.Files, "bytes": t.Bytes} }
	if !r.reportAs(total, tenant, Assets, tenant.String(), fields(stored), fields(counted)) || !r.Repair {
		return nil
	}
	return asset.Correct(ctx, r.DB, tenant, stored, counted)
}

// quota compares the numbers of bytes that a tenant stores.
func (r *Recount) quota(ctx context.Context, tenant id.Tenant, total *Result) error {
	for kind, count := range map[quota.Kind]func(context.Context, *sqldb.DB, id.Tenant) (int64, error){
		quota.JobFiles: job.CountBytes, quota.WorkingCopies: workingcopy.CountBytes,
	} {
		var stored, counted int64
		err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
			if stored, err = quota.Used(ctx, db, tenant, kind); err != nil {
				return err
			}
			counted, err = count(ctx, db, tenant)
			return err
		})
		if err != nil {
			return err
		}
		if !r.reportAs(total, tenant, Quota, tenant.String(), map[string]int64{string(kind): stored}, map[string]int64{string(kind): counted}) || !r.Repair {
			continue
		}
		if err := quota.Correct(ctx, r.DB, tenant, kind, counted-stored); err != nil {
			return err
		}
	}
	return nil
}

// reportAs reports the differences between the stored and the counted values of a record.
func (r *Recount) reportAs(total *Result, tenant id.Tenant, kind Kind, of string, stored, counted map[string]int64) bool {
	return r.report(total, tenant, kind, of, outbox.DiffFields(stored, counted))
}
