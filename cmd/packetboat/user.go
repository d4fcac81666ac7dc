package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
)

type userCommands struct {
	Create        userCreate        `cmd:"" help:"Make a user, or make one a member of a tenant."`
	ResetPassword userResetPassword `cmd:"" name:"reset-password" help:"Let a user choose a new password."`
	LoginLink     userLoginLink     `cmd:"" name:"login-link" help:"Print a link that signs a user in, once, within ten minutes."`
}

// userView is a user as the operator sees one.
type userView struct {
	ID        id.User        `json:"id"`
	Email     string         `json:"email"`
	Name      string         `json:"name"`
	Tenant    string         `json:"tenant_slug,omitempty"`
	Role      auth.Role      `json:"role,omitempty"`
	CreatedAt endpoint.Stamp `json:"created_at"`
	Token     string         `json:"token,omitempty"` // chooses a password or signs in, once
	Link      string         `json:"link,omitempty"`
}

type userCreate struct {
	Email         string `required:"" help:"Address the user signs in with."`
	Name          string `required:"" help:"The user's name."`
	Tenant        string `help:"Slug of a tenant to work in."`
	Role          string `help:"viewer, editor, admin or owner. Default: owner of a tenant that has none yet, else viewer."`
	PasswordStdin bool   `help:"Read the password from the standard input; otherwise a one-time link is printed."`
}

// Run makes the user where there is none, and the membership.
func (cmd userCreate) Run(c *console) error {
	if cmd.Role != "" && cmd.Tenant == "" {
		return usageError("--role says what the user is in a tenant; name it with --tenant")
	}
	if cmd.Role != "" && !auth.Role(cmd.Role).Valid() {
		return usageError("--role takes viewer, editor, admin or owner")
	}
	return c.with(func(s *app.Store) error {
		passwordHash, err := c.password(cmd.PasswordStdin, cmd.Email, cmd.Name)
		if err != nil {
			return err
		}
		var v userView
		var ended bool
		err = s.DB.InTx(c.ctx, func(tx *sqldb.DB) (err error) {
			v, ended, err = cmd.create(c, tx, passwordHash)
			return err
		})
		if err != nil {
			return err
		}
		if ended {
			fmt.Fprintf(c.err, "%s had a login of which nothing proved that it is theirs: its sessions have ended and its password is void\n", v.Email)
		}
		if v.Link == "" {
			return c.show(v, "user %s is there\n", v.Email)
		}
		fmt.Fprintf(c.err, "user %s is there; %s\n", v.Email, c.howToChoose())
		return c.show(v, "%s\n", v.Link)
	})
}

// howToChoose returns the purpose of the link that is printed after it.
func (c *console) howToChoose() string {
	return fmt.Sprintf("within an hour a password may be chosen with this link, or by POST of its token and the password to %s, once:",
		c.cfg.BaseURL.JoinPath("/api/auth/password/reset"))
}

// create makes the user and the membership. It reports whether the user was there
// with a login that was not proven, which has ended.
func (cmd userCreate) create(c *console, tx *sqldb.DB, passwordHash string) (v userView, ended bool, err error) {
	u, ended, err := cmd.user(c, tx, passwordHash)
	if err != nil {
		return v, false, err
	}
	v = userView{ID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: endpoint.At(u.CreatedAt)}
	if cmd.Tenant != "" {
		t, err := tenant.BySlug(c.ctx, tx, cmd.Tenant)
		if err != nil {
			return v, false, err
		}
		if v.Role, err = cmd.role(c, tx, t); err != nil {
			return v, false, err
		}
		v.Tenant = t.Slug
		if err := auth.AddMember(c.ctx, tx, t.ID, u.ID, v.Role, auth.BySystem, c.now()); err != nil {
			return v, false, err
		}
	}
	if !u.HasPassword() {
		if v.Token, err = auth.ResetToken(c.ctx, tx, u.ID, c.now()); err != nil {
			return v, false, err
		}
		v.Link = auth.ResetLink(c.cfg.BaseURL, v.Token)
	}
	return v, ended, nil
}

// user returns the user, created if there is none. An existing user only gets a
// membership, for one person has one login. A login that is not proven becomes
// the operator's own.
func (cmd userCreate) user(c *console, tx *sqldb.DB, passwordHash string) (u auth.User, ended bool, err error) {
	u, err = auth.CreateUser(c.ctx, tx, cmd.Email, cmd.Name, passwordHash, c.now())
	if !errors.Is(err, auth.ErrDuplicateEmail) || cmd.Tenant == "" {
		return u, false, err
	}
	email, _ := address.Normalize(cmd.Email)
	if u, err = auth.UserByEmail(c.ctx, tx, email); err != nil {
		return u, false, err
	}
	if u.Proven() && passwordHash != "" {
		return u, false, auth.ErrDuplicateEmail
	}
	had := u.HasPassword()
	vouched, err := auth.ConfirmEmail(c.ctx, tx, u.ID, passwordHash, c.now())
	if err != nil {
		return u, false, err
	}
	u, err = auth.UserByID(c.ctx, tx, u.ID)
	return u, vouched && had, err
}

func (cmd userCreate) role(c *console, tx *sqldb.DB, t tenant.Tenant) (auth.Role, error) {
	if cmd.Role != "" {
		return auth.Role(cmd.Role), nil
	}
	members, err := auth.Members(c.ctx, tx, t.ID)
	if err != nil {
		return "", err
	}
	for _, m := range members {
		if m.Role == auth.Owner {
			return auth.Viewer, nil
		}
	}
	return auth.Owner, nil
}

// password reads a password from the standard input, if it is to come from
// there, and returns its hash.
func (c *console) password(fromStdin bool, about ...string) (string, error) {
	if !fromStdin {
		return "", nil
	}
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if line == "" && err != nil {
		return "", usageError("--password-stdin: the standard input holds no password")
	}
	line = strings.TrimRight(line, "\r\n")
	var p fault.Problems
	auth.CheckNewPassword(&p, "password", line, about...)
	if err := p.Err(); err != nil {
		return "", err
	}
	return auth.NewPasswords().Hash(c.ctx, line)
}

type userResetPassword struct {
	Email         string `required:"" help:"Address the user signs in with."`
	PasswordStdin bool   `help:"Read the new password from the standard input; otherwise a one-time link is printed."`
}

// Run sets the password, or prints a link by which the user chooses one.
func (cmd userResetPassword) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		u, err := c.user(s, cmd.Email)
		if err != nil {
			return err
		}
		v := userView{ID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: endpoint.At(u.CreatedAt)}
		passwordHash, err := c.password(cmd.PasswordStdin, u.Email, u.Name)
		if err != nil {
			return err
		}
		if passwordHash != "" {
			if err := auth.SetPassword(c.ctx, s.DB, u.ID, passwordHash, c.now()); err != nil {
				return err
			}
			return c.show(v, "user %s has a new password\n", u.Email)
		}
		if v.Token, err = auth.ResetToken(c.ctx, s.DB, u.ID, c.now()); err != nil {
			return err
		}
		v.Link = auth.ResetLink(c.cfg.BaseURL, v.Token)
		fmt.Fprintf(c.err, "user %s keeps the password of today until then; %s\n", u.Email, c.howToChoose())
		return c.show(v, "%s\n", v.Link)
	})
}

// user returns the user with an address.
func (c *console) user(s *app.Store, text string) (auth.User, error) {
	email, err := address.Normalize(text)
	if err != nil {
		return auth.User{}, usageError("--email: " + err.Error())
	}
	u, err := auth.UserByEmail(c.ctx, s.DB, email)
	if errors.Is(err, auth.ErrNoUser) {
		return auth.User{}, fmt.Errorf("there is no user %s", email)
	}
	return u, err
}

type userLoginLink struct {
	Email string `required:"" help:"Address the user signs in with."`
}

// Run prints a link that signs the user in.
func (cmd userLoginLink) Run(c *console) error {
	return c.with(func(s *app.Store) error {
		u, err := c.user(s, cmd.Email)
		if err != nil {
			return err
		}
		v := userView{ID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: endpoint.At(u.CreatedAt)}
		if v.Token, err = auth.LoginLinkToken(c.ctx, s.DB, u.ID, c.now()); err != nil {
			return err
		}
		v.Link = auth.LoginLink(c.cfg.BaseURL, v.Token)
		fmt.Fprintf(c.err, "whoever opens this link within ten minutes is signed in as %s, once:\n", u.Email)
		return c.show(v, "%s\n", v.Link)
	})
}
