package sequence

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// changeKind is what a change of a sequence means for the contacts in it.
type changeKind string

// The kinds of changes.
const (
	pausing   changeKind = "pause"
	resuming  changeKind = "resume"
	archiving changeKind = "archive"
	removing  changeKind = "remove" // of nodes
)

// pendingChange is a change of a sequence that concerns the contacts in it. The change itself is one
// row and holds at once. The enrollments follow page by page (SettleSome), or earlier when they are
// read or due (Settle); Enrollment.Epoch is the last change that an enrollment has followed.
type pendingChange struct {
	Epoch  int           `json:"epoch"`
	Kind   changeKind    `json:"kind"`
	At     time.Time     `json:"at"`
	Nodes  []string      `json:"nodes,omitempty"`  // of removing
	Spread time.Duration `json:"spread,omitempty"` // of resuming: over which overdue enrollments continue
	Look   bool          `json:"look,omitempty"`   // of resuming: rules may hold that did not when it was paused
}

// maxPending is how many changes the enrollments of a sequence may have yet to follow.
const maxPending = 100

// pend adds a change that the enrollments are to follow, and makes the engine work on it.
func (s *Sequence) pend(tx *sqldb.DB, c pendingChange) error {
	if len(s.pending) >= maxPending {
		return ErrTransition.Sayf("the contacts in the sequence have yet to follow %d earlier changes of it; try again in a minute", len(s.pending))
	}
	s.Epoch++
	c.Epoch, c.At = s.Epoch, c.At.UTC().Truncate(time.Microsecond)
	s.pending = append(slices.Clip(s.pending), c)
	tx.Notify(Wake)
	return nil
}

// Settle makes an enrollment follow the changes of its sequence that it has not followed, and reports
// whether there were some.
func (s Sequence) Settle(e *Enrollment) bool {
	behind := false
	for _, c := range s.pending {
		if c.Epoch <= e.Epoch {
			continue
		}
		e.Epoch, behind = c.Epoch, true
		if e.ExitedAt == nil {
			c.apply(e)
		}
	}
	return behind
}

// apply makes an open enrollment follow the change.
func (c pendingChange) apply(e *Enrollment) {
	switch c.Kind {
	case pausing:
		e.Hold(c.At)
	case resuming:
		if e.Status == Waiting || e.DueAt == nil {
			c.resume(e)
		}
	case archiving:
		e.Finish(Exited, ReasonArchived, c.At)
	case removing:
		if slices.Contains(c.Nodes, e.Node) {
			e.Finish(Exited, ReasonNodeRemoved, c.At)
		}
	}
}

// Hold stops the timer of an enrollment whose sequence was paused at a time.
func (e *Enrollment) Hold(at time.Time) {
	if e.Status != InProgress {
		return
	}
	var left time.Duration
	if !e.Met && e.TimerAt != nil {
		left = max(0, e.TimerAt.Sub(at))
	}
	e.Status, e.Left, e.DueAt, e.TimerAt = Waiting, &left, nil, nil
}

// resume continues a paused enrollment: its wait with the time that was left of it. One that was
// overdue continues at its place in the spread.
func (c pendingChange) resume(e *Enrollment) {
	var left time.Duration
	if e.Left != nil {
		left = *e.Left
	}
	high, _ := bits.Mul64(uint64(c.Spread.Microseconds()), binary.BigEndian.Uint64(e.ID[8:])<<2) // the bits below the variant are random
	soon := c.At.Add(time.Duration(high) * time.Microsecond)
	e.Status, e.Left, e.TimerAt, e.DueAt = InProgress, nil, &soon, &soon
	if left > 0 {
		end := c.At.Add(left)
		e.TimerAt = &end
		if !c.Look || end.Before(soon) {
			e.DueAt = &end
		}
	}
}

// Unsettled is a sequence with enrollments that have yet to follow changes of it.
type Unsettled struct {
	Tenant   id.Tenant
	Sequence id.Sequence
}

// ListUnsettled returns some of the sequences with enrollments that have yet to follow changes, one of
// each tenant before the second of any.
func ListUnsettled(ctx context.Context, db *sqldb.DB) ([]Unsettled, error) {
	rows, err := db.Query(ctx, `/* all tenants: one index has the sequences whose enrollments are behind */
		SELECT tenant_id, id FROM (
			SELECT tenant_id, id, ROW_NUMBER() OVER (PARTITION BY tenant_id ORDER BY id) AS n FROM sequence WHERE pending IS NOT NULL
		) AS s ORDER BY n, tenant_id LIMIT 100`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Unsettled, error) {
		var u Unsettled
		err := scan(&u.Tenant, &u.Sequence)
		return u, err
	})
	if err != nil {
		return nil, fmt.Errorf("find sequences whose enrollments are behind: %w", err)
	}
	return list, nil
}

// SettleSome makes the next page of a sequence's enrollments follow its changes, in one transaction
// with the position. It does nothing while another process does.
func SettleSome(ctx context.Context, db *sqldb.DB, tenant id.Tenant, seq id.Sequence, limit int, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := load(ctx, tx, tenant, seq, tx.SkipLocked())
		if errors.Is(err, ErrNotFound) || err == nil && len(s.pending) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		list, next, err := s.behind(ctx, tx, limit)
		if err != nil {
			return err
		}
		if next.IsZero() {
			_, err = tx.Exec(ctx, `UPDATE sequence SET pending = NULL, pending_after = NULL WHERE tenant_id = $1 AND id = $2`, tenant, seq)
		} else {
			_, err = tx.Exec(ctx, `UPDATE sequence SET pending_after = $3 WHERE tenant_id = $1 AND id = $2`, tenant, seq, next)
		}
		if err != nil {
			return err
		}
		for i := range list {
			s.Settle(&list[i])
		}
		tx.Notify(Wake) // for the next page, and for what became due
		return SaveSteps(ctx, tx, tenant, Steps{Enrollments: list}, now)
	})
	if err != nil {
		return fmt.Errorf("settle enrollments: %w", err)
	}
	return nil
}

// behind returns and locks the open enrollments of the page that follows the sequence's position,
// and the last id of the page; zero if no more pages follow. A page is a number of enrollments of
// which any may have ended, so that its cost is bounded.
func (s Sequence) behind(ctx context.Context, tx *sqldb.DB, limit int) (list []Enrollment, next id.Enrollment, err error) {
	where, args := ``, []any{s.Tenant, s.ID}
	err = tx.QueryRow(ctx, `SELECT pending_after FROM sequence WHERE tenant_id = $1 AND id = $2 AND pending_after IS NOT NULL`, s.Tenant, s.ID).Scan(&next)
	if err == nil {
		where, args = ` AND id > $3`, append(args, next)
	} else if !errors.Is(err, sqldb.ErrNoRows) {
		return nil, next, err
	}
	err = tx.QueryRow(ctx, fmt.Sprintf(`
		SELECT id FROM enrollment WHERE tenant_id = $1 AND sequence_id = $2`+where+` ORDER BY id LIMIT 1 OFFSET %d`, limit-1), args...).Scan(&next)
	if err == nil {
		args = append(args, next)
		where += fmt.Sprintf(` AND id <= $%d`, len(args))
	} else if next = (id.Enrollment{}); !errors.Is(err, sqldb.ErrNoRows) {
		return nil, next, err
	}
	rows, err := tx.Query(ctx, `SELECT `+enrollmentColumns+` FROM enrollment
		WHERE tenant_id = $1 AND sequence_id = $2`+where+` AND exited_at IS NULL ORDER BY id`+tx.ForUpdate(), args...)
	list, err = sqldb.Collect(rows, err, scanEnrollment(s.Tenant))
	list = slices.DeleteFunc(list, func(e Enrollment) bool { return e.Epoch >= s.Epoch })
	return list, next, err
}

// settleContacts makes the open enrollments of contacts follow the changes of their sequence.
func (s Sequence) settleContacts(ctx context.Context, tx *sqldb.DB, contacts []id.Contact, now time.Time) error {
	rows, err := tx.Query(ctx, `SELECT `+enrollmentColumns+` FROM enrollment
		WHERE tenant_id = $1 AND sequence_id = $2 AND contact_id`+tx.In(3)+` AND exited_at IS NULL ORDER BY id`+tx.ForUpdate(),
		s.Tenant, s.ID, sqldb.List(tx, contacts))
	list, err := sqldb.Collect(rows, err, scanEnrollment(s.Tenant))
	if err != nil {
		return fmt.Errorf("settle the enrollments of contacts: %w", err)
	}
	list = slices.DeleteFunc(list, func(e Enrollment) bool { return e.Epoch >= s.Epoch })
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		s.Settle(&list[i])
	}
	return SaveSteps(ctx, tx, s.Tenant, Steps{Enrollments: list}, now)
}

// settleRead makes enrollments that were read, of any sequences, show the changes that they have yet
// to follow.
func settleRead(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Enrollment) error {
	var open []id.Sequence
	for _, e := range list {
		if e.ExitedAt == nil && !slices.Contains(open, e.Sequence) {
			open = append(open, e.Sequence)
		}
	}
	if len(open) == 0 {
		return nil
	}
	loaded, err := ByID(ctx, db, tenant, open)
	if err != nil {
		return err
	}
	for i := range list {
		loaded[list[i].Sequence].Settle(&list[i])
	}
	return nil
}

// selects returns the condition of the enrollments that have one of the states, or will have one when
// they have followed the sequence's changes; the caller checks the latter. The parameters begin with
// number n.
func (s Sequence) selects(db *sqldb.DB, statuses []EnrollmentStatus, n int) (string, []any) {
	has := `status` + db.In(n)
	args := []any{sqldb.List(db, statuses)}
	if len(s.pending) == 0 {
		return has, args
	}
	if slices.Contains(statuses, InProgress) && s.Status == Active || slices.Contains(statuses, Waiting) && s.Status == Paused {
		return `(exited_at IS NULL OR ` + has + `)`, args
	}
	if !slices.Contains(statuses, Exited) {
		return has, args
	}
	var removed []string
	for _, c := range s.pending {
		if c.Kind == archiving {
			return `(exited_at IS NULL OR ` + has + `)`, args
		}
		removed = append(removed, c.Nodes...)
	}
	return `(exited_at IS NULL AND node_id` + db.In(n+1) + ` OR ` + has + `)`, append(args, sqldb.List(db, removed))
}
