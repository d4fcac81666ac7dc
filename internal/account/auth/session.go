package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// MaxSessionAge is the maximum lifetime of a session.
const MaxSessionAge = 30 * 24 * time.Hour

// idleAge is how long a session lives after its last use.
const idleAge = 7 * 24 * time.Hour

// seenEvery is the shortest interval between updates of a session's row.
const seenEvery = time.Minute

// ErrNoSession means that there is no session for the cookie, or that it has ended.
var ErrNoSession = fault.New(fault.Unauthenticated, "UNAUTHORIZED", "the session has ended; sign in again")

// Session is a signed-in browser of a user.
type Session struct {
	ID        id.Session
	User      User
	ExpiresAt time.Time
}

// startSession creates a session and returns the value of its cookie. The statement checks that the
// password is still the one that u was loaded with: a concurrent change ends all sessions, and
// would otherwise miss this one.
func startSession(ctx context.Context, tx *sqldb.DB, u User, from Client, now time.Time) (Session, string, error) {
	s := Session{ID: id.New[id.Session](), User: u, ExpiresAt: sqldb.Time(now.Add(idleAge).UnixMicro())}
	token := newToken()
	n, err := tx.Exec(ctx, `
		UPDATE app_user SET last_login_at = $2
		WHERE id = $1 AND COALESCE(password_hash, '') = $3 /* all tenants: a user belongs to the installation */`, u.ID, now.UnixMicro(), u.passwordHash)
	if err != nil {
		return Session{}, "", fmt.Errorf("note the login: %w", err)
	}
	if n == 0 {
		return Session{}, "", ErrCredentials
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO session (token_hash, id, user_id, created_at, seen_at, expires_at, ip, agent)
		VALUES ($1, $2, $3, $4, $4, $5, $6, $7)`,
		hashToken(token), s.ID, u.ID, now.UnixMicro(), s.ExpiresAt.UnixMicro(), sqldb.Null(from.ip()), sqldb.Null(from.agent())); err != nil {
		return Session{}, "", fmt.Errorf("start session: %w", err)
	}
	return s, token, nil
}

// FindSession returns the session of a cookie and extends it, or returns ErrNoSession.
func FindSession(ctx context.Context, db *sqldb.DB, token string, now time.Time) (Session, error) {
	var s Session
	var created, seen, expires int64
	u := &s.User
	err := db.QueryRow(ctx, `
		SELECT s.id, s.created_at, s.seen_at, s.expires_at, u.id, u.email, u.name
		FROM session s JOIN app_user u ON u.id = s.user_id
		WHERE s.token_hash = $1 AND s.expires_at > $2 /* all tenants: a session belongs to a user */`,
		hashToken(token), now.UnixMicro()).Scan(&s.ID, &created, &seen, &expires, &u.ID, &u.Email, &u.Name)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Session{}, ErrNoSession
	}
	if err != nil {
		return Session{}, fmt.Errorf("load session: %w", err)
	}
	s.ExpiresAt = sqldb.Time(expires)
	if now.Sub(sqldb.Time(seen)) < seenEvery {
		return s, nil
	}
	s.ExpiresAt = now.Add(idleAge)
	if last := sqldb.Time(created).Add(MaxSessionAge); s.ExpiresAt.After(last) {
		s.ExpiresAt = last
	}
	if _, err := db.Exec(ctx, `
		UPDATE session SET seen_at = $2, expires_at = $3 WHERE token_hash = $1 /* all tenants: a session belongs to a user */`,
		hashToken(token), now.UnixMicro(), s.ExpiresAt.UnixMicro()); err != nil {
		return Session{}, fmt.Errorf("extend session: %w", err)
	}
	return s, nil
}

// EndSession ends one session.
func EndSession(ctx context.Context, db *sqldb.DB, s id.Session) error {
	_, err := db.Exec(ctx, `DELETE FROM session WHERE id = $1 /* all tenants: a session belongs to a user */`, s)
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// endSessions ends all sessions of a user except one.
func endSessions(ctx context.Context, tx *sqldb.DB, user id.User, keep id.Session) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM session WHERE user_id = $1 AND id <> $2 /* all tenants: a session belongs to a user */`, user, keep)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

// SessionCookie returns the cookie that carries the token of a session of the installation at
// base. The browser keeps it for as long as a session can last; the server decides how long it does.
func SessionCookie(base *url.URL, token string) *http.Cookie {
	return &http.Cookie{
		Name: CookieName, Value: token, Path: "/", MaxAge: int(MaxSessionAge.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: base.Scheme == "https",
	}
}
