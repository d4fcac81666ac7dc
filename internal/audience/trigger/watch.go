package trigger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind is the kind of a Holder.
type Kind string

// The kinds.
const (
	Sequence   Kind = "sequence"
	Automation Kind = "automation"
)

// Holder is what has a trigger.
type Holder struct {
	Kind Kind
	ID   id.Holder
}

// SequenceHolder returns the holder that is a sequence.
func SequenceHolder(s id.Sequence) Holder { return Holder{Sequence, id.ToHolder(s)} }

// AutomationHolder returns the holder that is an automation.
func AutomationHolder(a id.Automation) Holder { return Holder{Automation, id.ToHolder(a)} }

// Watched is what an active holder needs to have watched: some triggers depend on more than entries
// that others append.
type Watched struct {
	Trigger  *Trigger // nil: none
	Segments []string // keys of segments to whose entries the holder reacts besides its trigger
	Existing bool     // report existing members, if the trigger wants them; set when the trigger is new
	Active   bool     // the holder was active before, so that no limit ends it
}

// maxWatched is how many segments of a tenant may be watched: each has a row for each member, and each is evaluated
// for every contact that changes.
const maxWatched = 100

// ErrLimit means that a holder would follow one segment too many.
var ErrLimit = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf(
	"automations and sequences of a tenant may follow %d segments at most; deactivate some, or let several follow the same segment", maxWatched))

// Wake is notified when there is something to watch.
const Wake sqldb.Signal = "trigger"

// Watch records, within tx, what a holder needs from now on, in place of what it needed before. It is called in
// each transaction that makes a holder active or inactive, or changes its trigger; a holder that is
// not active needs nothing.
func Watch(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, h Holder, w Watched, now time.Time) error {
	if err := watchSegments(ctx, tx, tenant, h, w, now); err != nil {
		return fmt.Errorf("watch segments: %w", err)
	}
	if err := watchDates(ctx, tx, tenant, h, w.Trigger, now); err != nil {
		return fmt.Errorf("watch dates: %w", err)
	}
	tx.Notify(Wake)
	return nil
}

// watchSegments replaces the segments that a holder follows.
func watchSegments(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, h Holder, w Watched, now time.Time) error {
	keys := slices.Clone(w.Segments)
	if w.Trigger != nil && w.Trigger.onSegment() {
		keys = append(keys, w.Trigger.Config.Segment)
	}
	list, err := segment.Known(ctx, tx, tenant, keys)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT segment_id FROM segment_watcher WHERE tenant_id = $1 AND holder_id = $2`, tenant, h.ID)
	old, err := sqldb.Collect(rows, err, scanSegment)
	if err != nil {
		return err
	}
	var wanted []id.Segment
	fresh := false
	for _, s := range list {
		wanted = append(wanted, s.ID)
		var existing any
		if w.Existing && w.Trigger != nil && w.Trigger.Config.Existing && s.Key == w.Trigger.Config.Segment {
			existing = sqldb.Micros(now)
		}
		if slices.Contains(old, s.ID) && existing == nil {
			continue
		}
		fresh = fresh || !slices.Contains(old, s.ID)
		_, err := tx.Exec(ctx, `
			INSERT INTO segment_watcher (tenant_id, segment_id, holder_id, kind, since, existing_since) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (tenant_id, segment_id, holder_id) DO UPDATE
			SET since = excluded.since, existing_since = excluded.existing_since, existing_after = NULL`,
			tenant, s.ID, h.ID, h.Kind, sqldb.Micros(now), existing)
		if err != nil {
			return err
		}
		// A watch that is ending begins again, once its members are deleted.
		_, err = tx.Exec(ctx, `
			INSERT INTO segment_watch (tenant_id, segment_id, since, next_at, state) VALUES ($1, $2, $3, $3, 'filling')
			ON CONFLICT (tenant_id, segment_id) DO UPDATE
			SET since = excluded.since, next_at = excluded.next_at WHERE segment_watch.state = 'ending'`,
			tenant, s.ID, sqldb.Micros(now))
		if err != nil {
			return err
		}
	}
	gone := slices.DeleteFunc(old, func(s id.Segment) bool { return slices.Contains(wanted, s) })
	if err := unwatch(ctx, tx, tenant, h, gone, now); err != nil || !fresh || w.Active {
		return err
	}
	var watched int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM segment_watch WHERE tenant_id = $1 AND state <> 'ending'`, tenant).Scan(&watched)
	if err == nil && watched > maxWatched {
		return ErrLimit
	}
	return err
}

// unwatch records that a holder does not follow segments any more.
func unwatch(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, h Holder, gone []id.Segment, now time.Time) error {
	if len(gone) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `
		DELETE FROM segment_watcher WHERE tenant_id = $1 AND holder_id = $2 AND segment_id`+tx.In(3), tenant, h.ID, sqldb.List(tx, gone)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE segment_watch SET state = 'ending', passed = NULL, next_at = $3
		WHERE tenant_id = $1 AND segment_id`+tx.In(2)+` AND NOT EXISTS (
			SELECT 1 FROM segment_watcher AS w WHERE w.tenant_id = segment_watch.tenant_id AND w.segment_id = segment_watch.segment_id)`,
		tenant, sqldb.List(tx, gone), sqldb.Micros(now))
	return err
}

func scanSegment(scan func(...any) error) (id.Segment, error) {
	var s id.Segment
	err := scan(&s)
	return s, err
}
