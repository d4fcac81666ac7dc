package sqldb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Batch is a list of statements of a transaction that do not depend on each other's results. They
// are sent to PostgreSQL in one round trip. On SQLite, which has no round trips, they run one after
// another.
type Batch struct {
	tx   *DB
	list []queuedStatement
	last bool // of the transaction
}

// queuedStatement is a statement, or a function to call between statements.
type queuedStatement struct {
	text string
	args []any
	read func(scan func(dest ...any) error) error
	call func(ctx context.Context) error
}

// Batch returns an empty batch of the transaction db.
func (db *DB) Batch() *Batch { return &Batch{tx: db} }

// Queue adds a statement. Run calls read for each row of its result; read may be nil for a
// statement without one.
func (b *Batch) Queue(text string, read func(scan func(dest ...any) error) error, args ...any) {
	b.list = append(b.list, queuedStatement{text: text, args: args, read: read})
}

// Call adds a function, which Run calls when the statements before it have run. It may use their
// results.
func (b *Batch) Call(do func(ctx context.Context) error) {
	b.list = append(b.list, queuedStatement{call: do})
}

// Commit is Run for the last statements of a transaction that the caller began itself, with InTx: on PostgreSQL,
// COMMIT goes with them in one round trip. No statement may follow, nor may the function that InTx runs then return an
// error, since what it did is durable.
func (b *Batch) Commit(ctx context.Context) error {
	b.last = true
	return b.Run(ctx)
}

// Run runs the batch in order, up to the first error.
func (b *Batch) Run(ctx context.Context) error {
	list := b.list
	b.list = nil
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n].call == nil && !hasCustomPlan(list[n].text) {
			n++
		}
		var err error
		switch {
		case n > 0 && b.tx.tx != nil && b.tx.tx.pipe != nil:
			err = b.tx.runPipelined(ctx, list[:n], b.last && n == len(list))
		default:
			n = 1
			err = b.tx.runOne(ctx, list[0])
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// runOne runs one element of a batch.
func (db *DB) runOne(ctx context.Context, q queuedStatement) error {
	if q.call != nil {
		return q.call(ctx)
	}
	if q.read == nil {
		_, err := db.Exec(ctx, q.text, q.args...)
		return err
	}
	rows, err := db.Query(ctx, q.text, q.args...)
	return Each(rows, err, q.read)
}

// runPipelined sends statements to PostgreSQL together, with COMMIT if they are the last of the transaction, and reads
// their results afterwards.
func (db *DB) runPipelined(ctx context.Context, list []queuedStatement, last bool) error {
	for i, q := range list {
		db.Wrote(db.writesOf(q.text, q.args)...)
		args, err := db.driverArgs(q.args)
		if err != nil {
			return err
		}
		list[i].args = args
		if err := db.requireHome(ctx, q.text, args); err != nil {
			return err
		}
	}
	batch, pipe := &pgx.Batch{}, db.tx.pipe
	if pipe.committed {
		return errCommitted
	}
	begins := !pipe.begun
	if begins {
		pipe.begun = true
		batch.Queue(`BEGIN`)
	}
	for _, q := range list {
		db.traceQuery(ctx, q.text, q.args)
		batch.Queue(q.text, q.args...)
	}
	if last { // after a statement that fails the server skips it
		batch.Queue(`COMMIT`)
	}
	return pipe.pgx(func(conn *pgx.Conn) (err error) {
		results := conn.SendBatch(ctx, batch)
		defer func() {
			if end := results.Close(); err == nil {
				err = end
			}
		}()
		if begins {
			if _, err := results.Exec(); err != nil {
				return err
			}
		}
		for _, q := range list {
			if err := db.readResult(results, q); err != nil {
				return err
			}
		}
		if !last {
			return nil
		}
		tag, err := results.Exec()
		if err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		pipe.committed = true
		return rolledBack(tag)
	})
}

// readResult reads the result of one statement of a pipeline.
func (db *DB) readResult(results pgx.BatchResults, q queuedStatement) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if q.read == nil {
			continue
		}
		if err := q.read(rows.Scan); err != nil {
			return err
		}
	}
	rows.Close()
	db.growth.wrote(rows.CommandTag().RowsAffected())
	return rows.Err()
}
