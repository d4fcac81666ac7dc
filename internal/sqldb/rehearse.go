package sqldb

import (
	"context"
	"errors"
)

// ErrRehearsed says that a rehearsal got as far as writing: nothing of it stays.
var ErrRehearsed = errors.New("rehearsed, not done")

type rehearsal struct{}

// Rehearse returns a context under which nothing is written: a transaction runs
// and is rolled back, and a write outside of one does not run. Both answer with
// ErrRehearsed.
func Rehearse(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsal{}, true)
}

func rehearsed(ctx context.Context) bool { return ctx.Value(rehearsal{}) != nil }

// Rehearsed reports whether ctx is a rehearsal's. Who passes work on to another
// context asks, and does the work under ctx itself.
func Rehearsed(ctx context.Context) bool { return rehearsed(ctx) }

// rehearse runs fn in a transaction that never commits.
func (db *DB) rehearse(ctx context.Context, fn func(tx *DB) error) error {
	return db.attemptTx(ctx, func(tx *DB) error {
		if err := fn(tx); err != nil {
			return err
		}
		return ErrRehearsed
	})
}

// mayRun refuses a write of a rehearsal that no transaction would take back, and
// a statement that SQLite cannot hold.
func (db *DB) mayRun(ctx context.Context, text string) error {
	if db.dialect == SQLite && overlong(text) {
		return ErrOverlong
	}
	if db.tx == nil && rehearsed(ctx) && translated(text).writes {
		return ErrRehearsed
	}
	return nil
}
