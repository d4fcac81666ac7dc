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

// batch is how many entries are followed in one transaction.
const batch = 1000

// breath is the least time between two rounds that found all there was: under a
// stream of small writes, each round then has more to do.
const breath = 40 * time.Millisecond

// glance is how long Drain waits for transactions that append.
const glance = 2 * time.Millisecond

// Follower is somebody who reacts to what happened.
type Follower struct {
	Name  string // of the cursor; never changes
	Types []Type // what it cares for; none: everything
	// Follow takes effect of entries, in order, inside tx. Every entry that it
	// cares for is passed once and only once; others may be passed, too.
	Follow func(ctx context.Context, tx *sqldb.DB, entries []Entry) error
}

// Engine shows entries to the followers. Its methods are called one at a time, but
// any number of processes may have one: they take turns by rows in journal_cursor.
type Engine struct {
	DB        *sqldb.DB
	Followers []Follower
	Log       *slog.Logger
	Wake      <-chan struct{} // somebody appended; may be nil
	Every     time.Duration   // how often to look without being woken; 0 means 250 ms

	horizon horizon
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
		var again chan struct{}
		if e.horizon.behind() { // for those who have committed behind somebody slow, too
			again = make(chan struct{})
			close(again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			clear(failed)
		case <-e.Wake:
		case <-again:
		}
	}
}

// Tick lets every follower read one batch of what is committed, as far as nobody
// slow has places in it. It reports whether there was a full batch somewhere, so
// that it is worth calling again at once. A follower that fails is left behind and
// does not hold up the others.
func (e *Engine) Tick(ctx context.Context) (more bool, err error) {
	return e.round(ctx, map[string]bool{})
}

// round is Tick without those that failed before, and it adds to them.
func (e *Engine) round(ctx context.Context, failed map[string]bool) (more bool, err error) {
	at, err := e.look(ctx)
	if err != nil {
		return false, err
	}
	head := e.horizon.at
	var errs []error
	var passed []string // they may go to the head at once
	for _, f := range e.Followers {
		from, known := at[f.Name]
		if failed[f.Name] || known && from >= head {
			continue
		}
		cares := true
		if known && len(f.Types) > 0 {
			cares, err = wanted(ctx, e.DB, f, from, head)
		}
		n := 0
		switch {
		case err == nil && !cares:
			passed = append(passed, f.Name)
		case err == nil:
			n, err = advance(ctx, e.DB, f, head)
		}
		if err != nil {
			failed[f.Name] = true
			errs = append(errs, fmt.Errorf("follower %s: %w", f.Name, err))
			err = nil
		}
		more = more || n == batch
	}
	errs = append(errs, pass(ctx, e.DB, passed, head))
	return more, errors.Join(errs...)
}

// look learns how far the journal may be read, and returns how far it was.
func (e *Engine) look(ctx context.Context) (map[string]int64, error) {
	const end = "" // no follower's name
	names := make([]string, len(e.Followers))
	for i, f := range e.Followers {
		names[i] = f.Name
	}
	rows, err := e.DB.Query(ctx, `
		SELECT follower, pos FROM journal_cursor WHERE follower`+e.DB.In(1)+`
		UNION ALL SELECT '', COALESCE((SELECT MAX(pos) FROM journal), 0) /* all tenants: one order */`, sqldb.List(e.DB, names))
	at := map[string]int64{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (name string, err error) {
		var pos int64
		err = scan(&name, &pos)
		at[name] = pos
		return name, err
	})
	if err != nil {
		return nil, fmt.Errorf("look how far the journal was read: %w", err)
	}
	return at, e.horizon.reach(ctx, e.DB, at[end])
}

// pass moves followers past entries that none of them cares for.
func pass(ctx context.Context, db *sqldb.DB, names []string, to int64) error {
	if len(names) == 0 {
		return nil
	}
	_, err := db.Exec(ctx, `UPDATE journal_cursor SET pos = $1 WHERE pos < $1 AND follower`+db.In(2), to, sqldb.List(db, names))
	if err != nil {
		return fmt.Errorf("pass entries that nobody cares for: %w", err)
	}
	return nil
}

// Drain ticks until everything is followed that was committed before, or somebody
// fails. It waits for transactions whose entries come before that.
func (e *Engine) Drain(ctx context.Context) error {
	for goal := int64(-1); ; {
		more, err := e.Tick(ctx)
		if err != nil {
			return err
		}
		if goal < 0 {
			goal = e.horizon.last
		}
		if more {
			continue
		}
		if e.horizon.at >= min(goal, e.horizon.last) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(glance):
		}
	}
}

// sequencer is the name of the cursor that holds, on SQLite, the last place given.
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

// advance shows a follower its next entries, up to head, and returns how many there
// were. Places may be empty, because who drew them was rolled back.
func advance(ctx context.Context, db *sqldb.DB, f Follower, head int64) (n int, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		n = 0
		pos, err := cursor(ctx, tx, f.Name)
		if err != nil || pos >= head {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT tenant_id, id, pos, type, name, contact_id, send_id, message_id, occurred_at, data
			FROM journal WHERE pos > $1 AND pos <= $2 ORDER BY pos LIMIT $3 /* all tenants: one order */`, pos, head, batch)
		entries, err := sqldb.Collect(rows, err, scan)
		if err != nil {
			return err
		}
		to := head
		if n = len(entries); n == batch {
			to = entries[n-1].Position // the follower may do with the slice what it likes
		}
		if n > 0 {
			if err := f.Follow(ctx, tx, entries); err != nil {
				return err
			}
		}
		return move(ctx, tx, f.Name, to)
	})
	if err != nil { // keep the cursor, at least, by which Lag knows of the follower
		return 0, errors.Join(err, begin(ctx, db, f.Name))
	}
	return n, nil
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

// Lag returns how many places the slowest follower is behind the last entry.
func Lag(ctx context.Context, db *sqldb.DB) (int64, error) {
	var lag int64
	err := db.QueryRow(ctx, `
		SELECT COALESCE((SELECT MAX(pos) FROM journal), 0)
			- COALESCE((SELECT MIN(pos) FROM journal_cursor WHERE follower <> $1), 0) /* all tenants: one order */`, sequencer).Scan(&lag)
	if err != nil {
		return 0, fmt.Errorf("measure the journal's lag: %w", err)
	}
	return max(lag, 0), nil
}
