package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/mail/address"
	"packetboat/internal/sqldb"
)

// ErrDuplicateEmail says that a user with the address exists.
var ErrDuplicateEmail = fault.New(fault.Conflict, "DUPLICATE_EMAIL", "a user with this address exists")

// ErrNoUser says that there is no such user, or none in this tenant.
var ErrNoUser = fault.New(fault.NotFound, "NOT_FOUND", "there is no such user")

// User is a person with a login, in however many tenants.
type User struct {
	ID          id.User
	Email       string
	Name        string
	CreatedAt   time.Time
	LastLoginAt *time.Time

	passwordHash string // empty until a password is chosen
}

// checkEmail returns the address as it is stored, or adds a problem.
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

// checkPersonName returns the name as it is stored, or adds a problem.
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

const userColumns = ` id, email, name, COALESCE(password_hash, ''), created_at, last_login_at `

func scanUser(scan func(...any) error) (User, error) {
	var u User
	var created int64
	var login sql.NullInt64
	if err := scan(&u.ID, &u.Email, &u.Name, &u.passwordHash, &created, &login); err != nil {
		return User{}, err
	}
	u.CreatedAt, u.LastLoginAt = sqldb.Time(created), sqldb.NullTime(login)
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

// UserByEmail returns the user with an address in stored form, or ErrNoUser.
func UserByEmail(ctx context.Context, db *sqldb.DB, email string) (User, error) {
	return oneUser(db.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE email = $1 /* all tenants: a user belongs to the installation */`, email))
}

// UserByID returns the user, or ErrNoUser.
func UserByID(ctx context.Context, db *sqldb.DB, user id.User) (User, error) {
	return oneUser(db.QueryRow(ctx, `
		SELECT`+userColumns+`FROM app_user WHERE id = $1 /* all tenants: a user belongs to the installation */`, user))
}

// AnyUser reports whether the installation has been set up: a user exists.
func AnyUser(ctx context.Context, db *sqldb.DB) (bool, error) {
	var some bool
	err := db.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM app_user) /* all tenants: the first start is the installation's */`).Scan(&some)
	if err != nil {
		return false, fmt.Errorf("look for users: %w", err)
	}
	return some, nil
}

// CreateUser makes a user. Without a password they cannot sign in until they
// redeem a link; see ResetLink. An empty hash means that.
func CreateUser(ctx context.Context, db *sqldb.DB, email, name, passwordHash string, now time.Time) (User, error) {
	var p fault.Problems
	email = checkEmail(&p, "email", email)
	name = checkPersonName(&p, "name", name)
	if err := p.Err(); err != nil {
		return User{}, err
	}
	return insertUser(ctx, db, email, name, passwordHash, now)
}

func insertUser(ctx context.Context, db *sqldb.DB, email, name, passwordHash string, now time.Time) (User, error) {
	u := User{ID: id.New[id.User](), Email: email, Name: name, CreatedAt: sqldb.Time(now.UnixMicro()), passwordHash: passwordHash}
	n, err := db.Exec(ctx, `
		INSERT INTO app_user (id, email, name, password_hash, created_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (email) DO NOTHING /* all tenants: a user belongs to the installation */`,
		u.ID, u.Email, u.Name, sqldb.Null(u.passwordHash), now.UnixMicro())
	if err != nil {
		return User{}, fmt.Errorf("create user: %w", err)
	}
	if n == 0 {
		return User{}, ErrDuplicateEmail
	}
	return u, nil
}

// setPassword stores a new hash and ends the user's other sessions and links.
func setPassword(ctx context.Context, tx *sqldb.DB, user id.User, passwordHash string, keep id.Session) error {
	_, err := tx.Exec(ctx, `
		UPDATE app_user SET password_hash = $2 WHERE id = $1 /* all tenants: a user belongs to the installation */`, user, passwordHash)
	if err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	if err := endSessions(ctx, tx, user, keep); err != nil {
		return err
	}
	return revokeTokens(ctx, tx, forReset, user)
}

// SetPassword replaces a user's password; all their sessions end.
func SetPassword(ctx context.Context, db *sqldb.DB, user id.User, passwordHash string) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error { return setPassword(ctx, tx, user, passwordHash, "") })
}

// ResetToken makes a token with which the user may choose a password, once,
// within the hour.
func ResetToken(ctx context.Context, db *sqldb.DB, user id.User, now time.Time) (string, error) {
	return issue(ctx, db, oneTime{purpose: forReset, user: user}, resetAge, now)
}

// SetupToken makes a token with which the first user may sign up.
func SetupToken(ctx context.Context, db *sqldb.DB, now time.Time) (string, error) {
	return issue(ctx, db, oneTime{purpose: forSetup}, setupAge, now)
}
