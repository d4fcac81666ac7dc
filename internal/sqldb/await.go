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
	connectPause   = time.Second / 2  // between attempts to connect
	connectTimeout = 10 * time.Second // of one attempt
	reportInterval = 5 * time.Second  // between calls of Options.OnServerWait
)

// awaitServer connects to PostgreSQL. It tries again for up to o.ServerWait while the server is not
// available yet. Any other failure is final.
func (db *DB) awaitServer(ctx context.Context, o Options) error {
	begun := time.Now()
	var reported time.Time
	for {
		err := db.try(ctx)
		if err == nil || ctx.Err() != nil || !serverMayStart(err) || time.Since(begun) >= o.ServerWait {
			return err
		}
		if o.OnServerWait != nil && time.Since(reported) >= reportInterval {
			o.OnServerWait(err)
			reported = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(connectPause):
		}
	}
}

func (db *DB) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return db.Ping(ctx)
}

// serverMayStart reports whether a failure to connect may end when the server has started: its name
// is not in the DNS yet, no process listens, or the server reports that it is starting. If a server
// refuses the connection (a wrong password, an unknown database), trying again is useless.
func serverMayStart(err error) bool {
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
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, fs.ErrNotExist, // the last one: no Unix socket yet
		io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
