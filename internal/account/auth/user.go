package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrDuplicateEmail means that a user with the address exists.
var ErrDuplicateEmail = fault.New(fault.Conflict, "DUPLICATE_EMAIL", "a user with this address exists")

// ErrNoUser means that there is no such user, or no such member of the tenant.
var ErrNoUser = fault.New(fault.NotFound, "NOT_FOUND", "there is no such user")

// User is a person with a login. A user may be a member of several tenants.
type User struct {
	ID          id.User
	Email       string
	Name        string
	CreatedAt   time.Time
	LastLoginAt *time.Time
	ProvenAt    *time.Time // when it was proven that the user owns the address; nil: not yet

	passwordHash string // empty until a password is set
}

// Proven reports whether it was proven that the user owns the address.
func (u User) Proven() bool { return u.ProvenAt != nil }

// HasPassword reports whether the user can sign in.
func (u User) HasPassword() bool { return u.passwordHash != "" }

// checkEmail returns the normalized address, or adds a problem.
func checkEmail(p *fault.Problems, path, email string) string {
	if email == "" {
		p.Add(path, "required")
		return ""
	}
	a, err := address.Normalize(email)
	if err != nil {
		p.Add(path, err.Error())
	}
	return a
}

// checkPersonName returns the normalized name, or adds a problem.
func checkPersonName(p *fault.Problems, path, name string) string {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		p.Add(path, "required")
	case utf8.RuneCountInString(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		p.Add(path, "must be at most 200 characters on one line")
	}
	return name
}

const userColumns = ` id, email, name, COALESCE(password_hash, ''), created_at, last_login_at, proven_at `

func scanUser(scan func(...any) error) (User, error) {
	var u User
	var created int64
	var login, proven sql.NullInt64
	if err := scan(&u.ID, &u.Email, &u.Name, &u.passwordHash, &created, &login, &proven); err != nil {
		return User{}, err
	}
	u.CreatedAt, u.LastLoginAt, u.ProvenAt = sqldb.Time(created), sqldb.NullTime(login), sqldb.NullTime(proven)
	return u, nil
}

func oneUser(row *sqldb.Row) (User, error) {
	u, err := scanUser(row.Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return User{}, ErrNoUser
	}
	if err != nil {
		return User{}, fmt.Errorf("load user: %w", err)
	}
	return u, nil
}

// UserByEmail returns the user with a normalized address, or ErrNoUser.
func UserByEmail(ctx context.Context, db *sqldb.DB, email string) (User, error) {
	return oneUser(db.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE email = $1 /* all tenants: a user belongs to the installation */`, email))
}

// UserByID returns the user, or ErrNoUser.
func UserByID(ctx context.Context, db *sqldb.DB, user id.User) (User, error) {
	return oneUser(db.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE id = $1 /* all tenants: a user belongs to the installation */`, user))
}

// AnyUser reports whether the installation has a user, which means that it has been set up.
func AnyUser(ctx context.Context, db *sqldb.DB) (bool, error) {
	var some bool
	err := db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM app_user) /* all tenants: the first start is the installation's */`).Scan(&some)
	if err != nil {
		return false, fmt.Errorf("look for users: %w", err)
	}
	return some, nil
}

// CreateUser creates a user on behalf of the operator, which proves the login. With an empty hash,
// the user must redeem a link (ResetLink) before they can sign in.
func CreateUser(ctx context.Context, db *sqldb.DB, email, name, passwordHash string, now time.Time) (User, error) {
	var p fault.Problems
	u := User{ID: id.New[id.User](), CreatedAt: sqldb.Time(now.UnixMicro()), passwordHash: passwordHash}
	u.Email = checkEmail(&p, "email", email)
	u.Name = checkPersonName(&p, "name", name)
	u.ProvenAt = &u.CreatedAt
	if err := p.Err(); err != nil {
		return User{}, err
	}
	return u, insertUser(ctx, db, u)
}

// newUser returns a user whose address is not proven.
func newUser(email, name, passwordHash string, now time.Time) User {
	return User{ID: id.New[id.User](), Email: email, Name: name, CreatedAt: sqldb.Time(now.UnixMicro()), passwordHash: passwordHash}
}

func insertUser(ctx context.Context, db *sqldb.DB, u User) error {
	n, err := db.Exec(ctx, `
		INSERT INTO app_user (id, email, name, password_hash, created_at, proven_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (email) DO NOTHING /* all tenants: a user belongs to the installation */`,
		u.ID, u.Email, u.Name, sqldb.Null(u.passwordHash), sqldb.Micros(u.CreatedAt), sqldb.NullMicros(u.ProvenAt))
	if err != nil {
		return fmt.Errorf("create user: %w", err)
	}
	if n == 0 {
		return ErrDuplicateEmail
	}
	return nil
}

// setPassword stores a new hash, or voids the password if it is empty, and ends the user's other
// sessions. It locks the user's row first, on which a concurrent sign-in waits; see startSession.
func setPassword(ctx context.Context, tx *sqldb.DB, user id.User, passwordHash string, keep id.Session) error {
	_, err := tx.Exec(ctx, `
		UPDATE app_user SET password_hash = $2 WHERE id = $1 /* all tenants: a user belongs to the installation */`, user, sqldb.Null(passwordHash))
	if err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	if err := revokeLoginLinks(ctx, tx, user); err != nil {
		return err
	}
	return endSessions(ctx, tx, user, keep)
}

// SetPassword replaces a user's password on behalf of the operator, which proves the login. All
// sessions, reset links and login links end.
func SetPassword(ctx context.Context, db *sqldb.DB, user id.User, passwordHash string, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := setPassword(ctx, tx, user, passwordHash, id.Session{}); err != nil {
			return err
		}
		if err := revokeTokens(ctx, tx, forReset, user); err != nil {
			return err
		}
		return setProven(ctx, tx, user, now)
	})
}

// ResetToken creates a token for choosing a password, valid once and for an hour.
func ResetToken(ctx context.Context, db *sqldb.DB, user id.User, now time.Time) (string, error) {
	return issueToken(ctx, db, oneTime{purpose: forReset, user: user, proves: true}, resetAge, now)
}

// SetupToken creates a token for the sign-up of the first user.
func SetupToken(ctx context.Context, db *sqldb.DB, now time.Time) (string, error) {
	return issueToken(ctx, db, oneTime{purpose: forSetup}, setupAge, now)
}

// CheckName validates the name of a user.
func CheckName(name string) error {
	var p fault.Problems
	checkPersonName(&p, "name", name)
	return p.Err()
}

// Rename changes the name of a signed-in user, and returns their session with it.
func (d *Login) Rename(ctx context.Context, p Principal, name string) (SignedIn, error) {
	var problems fault.Problems
	name = checkPersonName(&problems, "name", name)
	if err := problems.Err(); err != nil {
		return SignedIn{}, err
	}
	n, err := d.DB.Exec(ctx, `UPDATE app_user SET name = $2 WHERE id = $1 /* all tenants: a user belongs to the installation */`, p.User, name)
	if err != nil {
		return SignedIn{}, fmt.Errorf("rename a user: %w", err)
	}
	if n == 0 {
		return SignedIn{}, ErrNoSession
	}
	if err := announceUser(ctx, d.DB, p.User); err != nil {
		return SignedIn{}, err
	}
	p.UserName = name
	return d.Current(ctx, p)
}

// announceUser reports a change of the user's name or last sign-in as one of the memberships that show it; see
// memberQuery. The statement that writes it names no tenant.
func announceUser(ctx context.Context, db *sqldb.DB, user id.User) error {
	if !db.WatchesWrites() {
		return nil
	}
	rows, err := db.Query(ctx, `
		SELECT tenant_id FROM membership
		WHERE user_id = $1 AND status <> 'invited' AND NOT withheld /* all tenants: a person works in several */`, user)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (w sqldb.Write, err error) {
		w = sqldb.Write{Table: "membership", ID: user}
		err = scan(&w.Tenant)
		return w, err
	})
	if err != nil {
		return fmt.Errorf("find the tenants of a user: %w", err)
	}
	db.Wrote(list...)
	return nil
}
