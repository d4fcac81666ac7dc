package sqldb

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Batch is statements of a transaction that do not depend on each other's answers.
// PostgreSQL is sent all of them in one round trip; on SQLite they run one after
// the other, too, but there is no trip to save.
type Batch struct {
	tx   *DB
	list []queuedStatement
}

// queuedStatement is a statement, or something to be done between statements.
type queuedStatement struct {
	text string
	args []any
	read func(scan func(dest ...any) error) error
	call func(ctx context.Context) error
}

// Batch begins a batch of the transaction that db is.
func (db *DB) Batch() *Batch { return &Batch{tx: db} }

// Queue adds a statement. Each row of its answer is given to read, which may be nil
// for a statement without one.
func (b *Batch) Queue(text string, read func(scan func(dest ...any) error) error, args ...any) {
	b.list = append(b.list, queuedStatement{text: text, args: args, read: read})
}

// Call adds what depends on answers of its own: it is called when what stands before
// it has run.
func (b *Batch) Call(do func(ctx context.Context) error) {
	b.list = append(b.list, queuedStatement{call: do})
}

// Run runs what was added, in order, up to the first error.
func (b *Batch) Run(ctx context.Context) error {
	list := b.list
	b.list = nil
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n].call == nil && !plannedAnew(list[n].text) {
			n++
		}
		var err error
		switch {
		case n > 0 && b.tx.tx != nil && b.tx.tx.pipe != nil:
			err = b.tx.runPipelined(ctx, list[:n])
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

// runOne runs one of a batch.
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

// runPipelined sends statements to PostgreSQL and reads their answers afterwards.
func (db *DB) runPipelined(ctx context.Context, list []queuedStatement) error {
	batch, pipe := &pgx.Batch{}, db.tx.pipe
	begins := !pipe.begun
	if begins {
		pipe.begun = true
		batch.Queue(`BEGIN`)
	}
	for _, q := range list {
		args, err := db.plain(q.args)
		if err != nil {
			return err
		}
		db.traceQuery(ctx, q.text, args)
		batch.Queue(q.text, args...)
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
			if err := db.answer(results, q); err != nil {
				return err
			}
		}
		return nil
	})
}

// answer reads what one statement of a pipeline was answered.
func (db *DB) answer(results pgx.BatchResults, q queuedStatement) error {
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
