package sqldb

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	awaitPause = time.Second / 2  // between two tries to connect
	awaitTry   = 10 * time.Second // how long one may take
	awaitSay   = 5 * time.Second  // between two words about it
)

// await connects to PostgreSQL. While the server is not there yet it tries again,
// for as long as o.Patience; any other failure is final.
func (db *DB) await(ctx context.Context, o Options) error {
	begun := time.Now()
	var said time.Time
	for {
		err := db.try(ctx)
		if err == nil || ctx.Err() != nil || !notUpYet(err) || time.Since(begun) >= o.Patience {
			return err
		}
		if o.Waiting != nil && time.Since(said) >= awaitSay {
			o.Waiting(err)
			said = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(awaitPause):
		}
	}
}

func (db *DB) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTry)
	defer cancel()
	return db.Ping(ctx)
}

// notUpYet reports whether a failed attempt to connect is one that a server's
// start explains: its name is not in the DNS yet, nothing listens, it says that it
// is starting. A server that answers and refuses (a wrong password, no such
// database) will not change its mind.
func notUpYet(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "57P03" // cannot_connect_now
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok { // refused, reset, unreachable, timed out
		return true
	}
	for _, cause := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, fs.ErrNotExist, // the last one: no socket yet
		io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
