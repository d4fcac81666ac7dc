package sequence

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when enrollments become due.
const Wake sqldb.Signal = "sequence"

// resumeSpread is the time over which enrollments continue that became due while their sequence was
// paused.
const resumeSpread = 15 * time.Minute

func (s *Sequence) need(what string, from ...Status) error {
	if !slices.Contains(from, s.Status) {
		return ErrTransition.Sayf("a sequence that is %s cannot be %s", s.Status, what)
	}
	return nil
}

// Activate opens a draft to contacts. The graph must be valid, and every mail resolvable.
func Activate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	return change(ctx, db, tenant, seq, now, func(tx *sqldb.DB, s *Sequence) error {
		if err := s.need("activated", Draft); err != nil {
			return err
		}
		c, err := newChecker(ctx, tx, tenant, seq)
		if err != nil {
			return err
		}
		_, issues, err := c.check(ctx, s.Graph)
		if err != nil {
			return err
		}
		more, err := c.unready(ctx, *s)
		if err != nil {
			return err
		}
		if issues = append(issues, more...); len(issues) > 0 {
			return ErrGraph.Sayf("the sequence cannot be activated: %s", describe(issues)).With(Issues{issues})
		}
		s.Status = Active
		if s.ActivatedAt == nil {
			s.ActivatedAt = new(now.UTC().Truncate(time.Microsecond))
		}
		return nil
	})
}

// Pause stops a sequence. The waits of the contacts in it stand still.
func Pause(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	return change(ctx, db, tenant, seq, now, func(tx *sqldb.DB, s *Sequence) error {
		if err := s.need("paused", Active); err != nil {
			return err
		}
		s.Status, s.PausedAt = Paused, new(now.UTC().Truncate(time.Microsecond))
		return s.pend(tx, pendingChange{Kind: pausing, At: now})
	})
}

// Resume continues a paused sequence. Waits continue with the time that was left of them. What
// became due before the pause continues over a quarter of an hour.
func Resume(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	return change(ctx, db, tenant, seq, now, func(tx *sqldb.DB, s *Sequence) error {
		if err := s.need("resumed", Paused); err != nil {
			return err
		}
		c, err := newChecker(ctx, tx, tenant, seq)
		if err != nil {
			return err
		}
		_, issues, err := c.check(ctx, s.Graph)
		if err == nil && len(issues) > 0 {
			err = ErrGraph.Sayf("the sequence cannot be resumed: %s", describe(issues)).With(Issues{issues})
		}
		if err != nil {
			return err
		}
		s.Status, s.PausedAt = Active, nil
		open, err := s.open(ctx, tx)
		if err != nil {
			return err
		}
		change := pendingChange{Kind: resuming, At: now, Look: Compile(*s, rule.Env{}).watches()}
		if open > 1 { // a single contact continues at once
			change.Spread = resumeSpread - resumeSpread/time.Duration(open)
		}
		return s.pend(tx, change)
	})
}

// open returns how many contacts are in the sequence.
func (s Sequence) open(ctx context.Context, db *sqldb.DB) (int, error) {
	all, err := Counts(ctx, db, s.Tenant, s.ID)
	n := all[""]
	return n.Entered - n.Completed - n.Exited - n.Failed, err
}

// Archive ends a sequence for all contacts in it.
func Archive(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	return change(ctx, db, tenant, seq, now, func(tx *sqldb.DB, s *Sequence) error {
		if err := s.need("archived", Draft, Active, Paused); err != nil {
			return err
		}
		s.Status, s.PausedAt = Archived, nil
		return s.pend(tx, pendingChange{Kind: archiving, At: now})
	})
}

// Unarchive makes an archived sequence a draft.
func Unarchive(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	return change(ctx, db, tenant, seq, now, func(_ *sqldb.DB, s *Sequence) error {
		if err := s.need("unarchived", Archived); err != nil {
			return err
		}
		s.Status = Draft
		return nil
	})
}

// Duplicate creates a draft with the name, graph, trigger and exits of a sequence.
func Duplicate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, now time.Time) (Sequence, error) {
	var s Sequence
	now = now.UTC().Truncate(time.Microsecond)
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if s, err = Load(ctx, tx, tenant, seq); err != nil {
			return err
		}
		s.ID, s.Revision, s.Status, s.ActivatedAt, s.PausedAt, s.CreatedAt, s.UpdatedAt = id.New[id.Sequence](), 1, Draft, nil, nil, now, now
		s.Epoch, s.pending = 0, nil
		if s.Name += " (copy)"; len([]rune(s.Name)) > maxName {
			s.Name = string([]rune(s.Name)[:maxName])
		}
		s.Graph.keepTimes(Graph{}, now)
		return s.insert(ctx, tx)
	})
	if err != nil {
		return Sequence{}, fmt.Errorf("duplicate a sequence: %w", err)
	}
	return s, nil
}
