package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrUnknownSession means that the user has no session with the id.
var ErrUnknownSession = fault.New(fault.NotFound, "NOT_FOUND", "there is no such session")

// OpenSession is a session of a user as the user sees it, without its token.
type OpenSession struct {
	ID         id.Session
	CreatedAt  time.Time
	LastSeenAt time.Time // within a minute
	ExpiresAt  time.Time
	IP, Agent  string // of the sign-in; empty: not known
}

// maxListed is how many sessions are listed.
const maxListed = 200

// Sessions returns the sessions of a user that have not ended, those that were used last first, at most 200.
func Sessions(ctx context.Context, db *sqldb.DB, user id.User, now time.Time) ([]OpenSession, error) {
	rows, err := db.Query(ctx, `
		SELECT id, created_at, seen_at, expires_at, ip, agent FROM session
		WHERE user_id = $1 AND expires_at > $2 /* all tenants: a session belongs to a user */
		ORDER BY seen_at DESC, id DESC LIMIT $3`, user, now.UnixMicro(), maxListed)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (OpenSession, error) {
		var s OpenSession
		err := scan(&s.ID, sqldb.ToTime(&s.CreatedAt), sqldb.ToTime(&s.LastSeenAt), sqldb.ToTime(&s.ExpiresAt), sqldb.ToText(&s.IP), sqldb.ToText(&s.Agent))
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// EndOwnSession ends a session of a user, or returns ErrUnknownSession.
func EndOwnSession(ctx context.Context, db *sqldb.DB, user id.User, s id.Session) error {
	n, err := db.Exec(ctx, `
		DELETE FROM session WHERE id = $1 AND user_id = $2 /* all tenants: a session belongs to a user */`, s, user)
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	if n == 0 {
		return ErrUnknownSession
	}
	return nil
}
