package sequence

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// watch has package trigger watch what the sequence reacts to, if that changed since old. Existing
// members of a segment are enrolled when the trigger becomes active, not when a pause ends.
func (s Sequence) watch(ctx context.Context, tx *sqldb.DB, old Sequence, now time.Time) error {
	if !s.entered() && !old.entered() {
		return nil
	}
	w := s.watched()
	w.Existing = old.Status != Paused && (old.Status != Active || !reflect.DeepEqual(old.Trigger, s.Trigger))
	return trigger.Watch(ctx, tx, s.Tenant, trigger.SequenceHolder(s.ID), w, now)
}

// entered reports whether contacts may be in the sequence.
func (s Sequence) entered() bool { return s.Status == Active || s.Status == Paused }

// watched returns what the sequence needs to have watched: nothing unless it is active. A trigger by
// date is watched during a pause too, without effect, so that what was due then is not due after it.
func (s Sequence) watched() trigger.Watched {
	if s.Status == Paused && s.Trigger != nil && s.Trigger.Type == trigger.Date {
		return trigger.Watched{Trigger: s.Trigger}
	}
	if s.Status != Active {
		return trigger.Watched{}
	}
	w := trigger.Watched{Trigger: s.Trigger}
	if s.Exits != nil && s.Exits.SegmentLeft != "" {
		w.Segments = append(w.Segments, s.Exits.SegmentLeft)
	}
	for _, n := range s.Graph.Nodes {
		if n.Type != WaitNode {
			continue
		}
		if step, err := parseStep(n); err == nil {
			if wait, ok := step.(WaitStep); ok && wait.Mode == UntilSegment {
				w.Segments = append(w.Segments, wait.Segment)
			}
		}
	}
	return w
}

// WatchAll has package trigger watch what active sequences react to. It runs at the start of the
// program, because earlier versions watched less.
func WatchAll(ctx context.Context, db *sqldb.DB, now time.Time) error {
	type place struct {
		tenant id.Tenant
		id     id.Sequence
	}
	rows, err := db.Query(ctx, `SELECT tenant_id, id FROM sequence WHERE status = 'active' ORDER BY tenant_id, id /* all tenants: each may have active sequences */`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (place, error) {
		var p place
		err := scan(&p.tenant, &p.id)
		return p, err
	})
	if err != nil {
		return fmt.Errorf("find active sequences: %w", err)
	}
	for _, p := range list {
		err := db.InTx(ctx, func(tx *sqldb.DB) error {
			s, err := load(ctx, tx, p.tenant, p.id, tx.ForUpdate())
			if err != nil {
				return err
			}
			w := s.watched()
			w.Active = true
			return trigger.Watch(ctx, tx, p.tenant, trigger.SequenceHolder(p.id), w, now)
		})
		if err != nil {
			return fmt.Errorf("watch what sequence %s reacts to: %w", p.id, err)
		}
	}
	return nil
}
