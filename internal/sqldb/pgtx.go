package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// pgTx is a transaction on PostgreSQL. It begins with its first statement, so that a Batch can send
// BEGIN in the same round trip.
type pgTx struct {
	conn      *sql.Conn
	begun     bool
	committed bool // by Batch.Commit
}

// errRolledBack means that PostgreSQL answered COMMIT with ROLLBACK, as it does after an error in
// the transaction.
var errRolledBack = errors.New("the transaction had failed and was rolled back")

// errCommitted is the error of a statement after Batch.Commit. It would run outside of the transaction.
var errCommitted = errors.New("the transaction has been committed")

// rollbackWithin is the time limit of a rollback. After it the connection is closed, which rolls
// back too.
const rollbackWithin = 5 * time.Second

func (t *pgTx) start(ctx context.Context) error {
	if t.committed {
		return errCommitted
	}
	if t.begun {
		return nil
	}
	t.begun = true
	_, err := t.conn.ExecContext(ctx, `BEGIN`)
	return err
}

// ExecContext runs a statement.
func (t *pgTx) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if err := t.start(ctx); err != nil {
		return nil, err
	}
	return t.conn.ExecContext(ctx, text, args...)
}

// QueryContext runs a statement that returns rows.
func (t *pgTx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := t.start(ctx); err != nil {
		return nil, err
	}
	return t.conn.QueryContext(ctx, text, args...)
}

// pgx calls do with the connection of the driver.
func (t *pgTx) pgx(do func(conn *pgx.Conn) error) error {
	return t.conn.Raw(func(c any) error { return do(c.(*stdlib.Conn).Conn()) })
}

// rolledBack returns errRolledBack if that is what the server answered to COMMIT.
func rolledBack(tag pgconn.CommandTag) error {
	if tag.String() == "ROLLBACK" {
		return errRolledBack
	}
	return nil
}

// commit commits the transaction and releases the connection.
func (t *pgTx) commit(ctx context.Context) error {
	if t.committed {
		return t.conn.Close()
	}
	if err := ctx.Err(); err != nil {
		t.rollback(ctx)
		return err
	}
	defer t.conn.Close()
	if !t.begun {
		return nil
	}
	return t.pgx(func(conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, `COMMIT`)
		if err != nil {
			return err
		}
		return rolledBack(tag)
	})
}

// rollback rolls the transaction back and releases the connection.
func (t *pgTx) rollback(ctx context.Context) {
	defer t.conn.Close()
	if !t.begun || t.committed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
	defer cancel()
	_ = t.conn.Raw(func(c any) error {
		if _, err := c.(*stdlib.Conn).Conn().Exec(ctx, `ROLLBACK`); err != nil {
			return driver.ErrBadConn // not to be used again
		}
		return nil
	})
}
