package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"packetboat/internal/sqldb"
)

// batch is how many entries are placed or followed in one transaction.
const batch = 1000

// breath is the least time between two rounds that found all there was: under a
// stream of small writes, each round then has more to do.
const breath = 40 * time.Millisecond

// Follower is somebody who reacts to what happened.
type Follower struct {
	Name  string // of the cursor; never changes
	Types []Type // what it cares for; none: everything
	// Follow takes effect of entries, in order, inside tx. Every entry that it
	// cares for is passed once and only once; others may be passed, too.
	Follow func(ctx context.Context, tx *sqldb.DB, entries []Entry) error
}

// Engine places entries and shows them to the followers.
// Any number of processes may run one: rows in journal_cursor take turns.
type Engine struct {
	DB        *sqldb.DB
	Followers []Follower
	Log       *slog.Logger
	Wake      <-chan struct{} // somebody appended; may be nil
	Every     time.Duration   // how often to look without being woken; 0 means 250 ms
}

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	every := e.Every
	if every == 0 {
		every = 250 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed := map[string]bool{} // these wait for the clock
	for {
		more, err := e.round(ctx, failed)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			e.Log.Error("journal is not followed", "err", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(breath):
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			clear(failed)
		case <-e.Wake:
		}
	}
}

// Tick places one batch and lets every follower read one. It reports whether
// there was a full batch somewhere, so that it is worth calling again at once.
// A follower that fails is left behind and does not hold up the others.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	return e.round(ctx, map[string]bool{})
}

// round is Tick without those that failed before, and it adds to them.
func (e *Engine) round(ctx context.Context, failed map[string]bool) (more bool, err error) {
	n, err := Place(ctx, e.DB)
	if err != nil {
		return false, err
	}
	more = n == batch
	var errs []error
	passed := map[int64][]string{} // positions, and who may go there at once
	for _, f := range e.Followers {
		if failed[f.Name] {
			continue
		}
		n, to, err := advance(ctx, e.DB, f)
		if err != nil {
			failed[f.Name] = true
			errs = append(errs, fmt.Errorf("follower %s: %w", f.Name, err))
		}
		if to > 0 {
			passed[to] = append(passed[to], f.Name)
		}
		more = more || n == batch
	}
	for to, names := range passed {
		errs = append(errs, pass(ctx, e.DB, names, to))
	}
	return more, errors.Join(errs...)
}

// pass moves followers past entries that none of them cares for.
func pass(ctx context.Context, db *sqldb.DB, names []string, to int64) error {
	_, err := db.Exec(ctx, `UPDATE journal_cursor SET pos = $1 WHERE pos < $1 AND follower`+db.In(2), to, sqldb.List(db, names))
	if err != nil {
		return fmt.Errorf("pass entries that nobody cares for: %w", err)
	}
	return nil
}

// Drain ticks until nothing is left to place or follow, or somebody fails.
func (e *Engine) Drain(ctx context.Context) error {
	for {
		more, err := e.Tick(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// sequencer is the name of the cursor that holds the last position given.
const sequencer = "sequencer"

// cursor locks and returns a cursor, made at 0 when it is new.
func cursor(ctx context.Context, tx *sqldb.DB, name string) (int64, error) {
	var pos int64
	err := tx.QueryRow(ctx, `SELECT pos FROM journal_cursor WHERE follower = $1`+tx.ForUpdate(), name).Scan(&pos)
	if !errors.Is(err, sql.ErrNoRows) {
		return pos, err
	}
	if err := begin(ctx, tx, name); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT pos FROM journal_cursor WHERE follower = $1`+tx.ForUpdate(), name).Scan(&pos)
	return pos, err
}

func begin(ctx context.Context, db *sqldb.DB, name string) error {
	_, err := db.Exec(ctx, `INSERT INTO journal_cursor (follower, pos) VALUES ($1, 0) ON CONFLICT DO NOTHING`, name)
	return err
}

func move(ctx context.Context, tx *sqldb.DB, name string, pos int64) error {
	_, err := tx.Exec(ctx, `UPDATE journal_cursor SET pos = $2 WHERE follower = $1`, name, pos)
	return err
}

// Place gives up to a batch of committed entries their positions: in the order in
// which they were appended, so that one comes before whatever was appended after
// it had been committed, on whichever machine.
func Place(ctx context.Context, db *sqldb.DB) (int, error) {
	var waiting bool // asked first, so that an idle program does not write
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM journal WHERE pos IS NULL) /* all tenants: one order */`).Scan(&waiting)
	if err != nil || !waiting {
		return 0, err
	}
	var placed int64
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		head, err := cursor(ctx, tx, sequencer)
		if err != nil {
			return err
		}
		placed, err = tx.Exec(ctx, `
			WITH fresh AS (
				SELECT tenant_id, id, ROW_NUMBER() OVER (ORDER BY appended NULLS FIRST, id) AS n
				FROM (SELECT tenant_id, id, appended FROM journal WHERE pos IS NULL
					ORDER BY appended NULLS FIRST, id LIMIT $2) AS unplaced)
			UPDATE journal SET pos = $1 + fresh.n
			FROM fresh WHERE journal.tenant_id = fresh.tenant_id AND journal.id = fresh.id /* all tenants: one order */`, head, batch)
		if err != nil {
			return err
		}
		return move(ctx, tx, sequencer, head+placed)
	})
	if err != nil {
		return 0, fmt.Errorf("place journal entries: %w", err)
	}
	return int(placed), nil
}

// advance shows a follower its next entries and returns how many there were.
// When it cares for none of them, nothing is written: to is where it may go.
func advance(ctx context.Context, db *sqldb.DB, f Follower) (n int, to int64, err error) {
	var at, head int64
	err = db.QueryRow(ctx, `
		SELECT COALESCE((SELECT pos FROM journal_cursor WHERE follower = $1), -1),
			COALESCE((SELECT pos FROM journal_cursor WHERE follower = $2), 0)`, f.Name, sequencer).Scan(&at, &head)
	if err != nil || at >= head {
		return 0, 0, err
	}
	if len(f.Types) > 0 && at >= 0 {
		cares, err := wanted(ctx, db, f, at, head)
		if err != nil {
			return 0, 0, err
		}
		if !cares {
			return 0, head, nil
		}
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n = 0
		pos, err := cursor(ctx, tx, f.Name)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT tenant_id, id, pos, type, name, contact_id, broadcast_id, message_id, occurred_at, data
			FROM journal WHERE pos > $1 ORDER BY pos LIMIT $2 /* all tenants: one order */`, pos, batch)
		entries, err := sqldb.Collect(rows, err, scan)
		if err != nil || len(entries) == 0 {
			return err
		}
		last := entries[len(entries)-1].Position // the follower may do with the slice what it likes
		if err := f.Follow(ctx, tx, entries); err != nil {
			return err
		}
		n = len(entries)
		return move(ctx, tx, f.Name, last)
	})
	if err != nil { // keep the cursor, at least, by which Lag knows of the follower
		return 0, 0, errors.Join(err, begin(ctx, db, f.Name))
	}
	return n, 0, nil
}

// wanted reports whether a follower cares for any entry behind one position and
// up to another.
func wanted(ctx context.Context, db *sqldb.DB, f Follower, at, head int64) (bool, error) {
	var yes bool
	err := db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM journal WHERE pos > $1 AND pos <= $2 AND type`+db.In(3)+`) /* all tenants: one order */`,
		at, head, sqldb.List(db, f.Types)).Scan(&yes)
	return yes, err
}

// Lag returns how many placed entries the slowest follower has not yet seen.
func Lag(ctx context.Context, db *sqldb.DB) (int64, error) {
	var lag int64
	err := db.QueryRow(ctx, `
		SELECT COALESCE((SELECT pos FROM journal_cursor WHERE follower = $1), 0)
			- COALESCE((SELECT MIN(pos) FROM journal_cursor WHERE follower <> $1), 0)`, sequencer).Scan(&lag)
	if err != nil {
		return 0, fmt.Errorf("measure the journal's lag: %w", err)
	}
	return max(lag, 0), nil
}
