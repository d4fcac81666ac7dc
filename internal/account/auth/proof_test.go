package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const ownPassword, newPassword = "seven violet tractors", "eleven quiet harbours"

// fixture is an installation in which Mallory, an admin of evil, invited the address
// of another company's CFO and followed the link herself.
type fixture struct {
	*testing.T
	db             *sqldb.DB
	login          *auth.Login
	evil, corp     tenant.Tenant
	mallory, boss  auth.Principal
	cfo, oldCookie string
}

func newFixture(t *testing.T, db *sqldb.DB) *fixture {
	w := &fixture{T: t, db: db, login: newLogin(t, db), cfo: "cfo@corp.example"}
	w.evil, w.corp = makeTenant(t, db, "evil"), makeTenant(t, db, "corp")
	w.mallory = principal(w.evil, makeMember(t, db, w.evil, "mallory", auth.Admin), auth.Admin)
	w.boss = principal(w.corp, makeMember(t, db, w.corp, "boss", auth.Owner), auth.Owner)
	e := w.accept(w.invite(w.mallory), ownPassword)
	if len(e.Memberships) != 1 || e.Memberships[0].Tenant != w.evil.ID {
		t.Fatalf("the first invitation opens %v", e.Memberships)
	}
	w.oldCookie = e.Token
	return w
}

func (w *fixture) invite(by auth.Principal) string {
	w.Helper()
	_, link, err := w.login.Invite(w.Context(), by, w.cfo, auth.Admin, noon)
	if err != nil {
		w.Fatal(err)
	}
	return tokenOf(w.T, link)
}

func (w *fixture) accept(token, password string) auth.SignedIn {
	w.Helper()
	e, err := w.login.Accept(w.Context(), token, "CFO", password, auth.Client{IP: home}, noon)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// tenantsOf returns the slugs of the tenants that a sign-in gives access to.
func (w *fixture) tenantsOf(password string) (slugs []string, err error) {
	e, err := w.login.SignIn(w.Context(), w.cfo, password, auth.Client{IP: home}, noon)
	for _, m := range e.Memberships {
		slugs = append(slugs, m.Slug)
	}
	return slugs, err
}

// wantNoAccess fails unless the login as Mallory created it has no access left.
func (w *fixture) wantNoAccess() {
	w.Helper()
	_, err := auth.FindSession(w.Context(), w.db, w.oldCookie, noon)
	wantFault(w.T, "the old session", err, auth.ErrNoSession)
	_, err = w.login.SignIn(w.Context(), w.cfo, ownPassword, auth.Client{IP: home}, noon)
	wantFault(w.T, "the old password", err, auth.ErrCredentials)
}

func (w *fixture) wantTenants(password string, want ...string) {
	w.Helper()
	if got, err := w.tenantsOf(password); err != nil || !slices.Equal(got, want) {
		w.Errorf("signing in opens %v, %v; want %v", got, err, want)
	}
}

func (w *fixture) statusIn(in tenant.Tenant) auth.MemberStatus {
	w.Helper()
	u, err := auth.UserByEmail(w.Context(), w.db, w.cfo)
	if err != nil {
		w.Fatal(err)
	}
	m, err := auth.MemberOf(w.Context(), w.db, in.ID, u.ID)
	if err != nil {
		w.Fatal(err)
	}
	return m.Status
}

func TestTheOperatorNeverAddsAClaimedLoginToATenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil || u.Proven() {
			t.Fatalf("the login is %+v, %v; want one that is not proven", u, err)
		}
		if err := auth.AddMember(t.Context(), db, w.corp.ID, u.ID, auth.Owner, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		w.wantNoAccess()
		again := w.mallory // a link that Mallory gets no longer gives access to anything
		if err := auth.RemoveMember(t.Context(), db, again, u.ID, noon); err != nil {
			t.Fatal(err)
		}
		_, err = w.login.Accept(t.Context(), w.invite(again), "CFO", ownPassword, auth.Client{IP: home}, noon)
		wantFault(t, "accepting before a password is chosen", err, auth.ErrCredentials)
		token, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.login.Reset(t.Context(), token, newPassword, home, noon); err != nil {
			t.Fatal(err)
		}
		w.wantTenants(newPassword, "corp")
		_, err = w.login.Accept(t.Context(), w.invite(again), "CFO", ownPassword, auth.Client{IP: home}, noon)
		wantFault(t, "accepting without the password", err, auth.ErrCredentials)
		w.wantTenants(newPassword, "corp")
	})
}

func TestAProvenLoginKeepsItsPasswordWhenItIsAdded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann := makeMember(t, db, acme, "ann", auth.Admin)
		e, err := d.SignIn(t.Context(), ann.Email, testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if needed, err := auth.ConfirmEmail(t.Context(), db, ann.ID, "", noon); err != nil || needed {
			t.Errorf("Vouch = %v, %v; want nothing to be done", needed, err)
		}
		if err := auth.AddMember(t.Context(), db, other.ID, ann.ID, auth.Viewer, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.FindSession(t.Context(), db, e.Token, noon); err != nil {
			t.Errorf("the session: %v", err)
		}
		if e, err := d.SignIn(t.Context(), ann.Email, testPassword, auth.Client{IP: home}, noon); err != nil || len(e.Memberships) != 2 {
			t.Errorf("SignIn = %v, %v; want both tenants", e.Memberships, err)
		}
	})
}

func TestAShownInvitationReplacesNoPassword(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		made func(w *fixture) // makes the login of ann@shop.example with a membership in shop, of its own
	}{
		{"the first user", func(w *fixture) {
			token, err := auth.SetupToken(w.Context(), w.db, noon)
			if err != nil {
				w.Fatal(err)
			}
			w.signUp(token)
		}},
		{"a signed-up user", func(w *fixture) {
			w.evil = makeTenant(w.T, w.db, "evil")
			w.mallory = principal(w.evil, makeMember(w.T, w.db, w.evil, "mallory", auth.Admin), auth.Admin)
			w.login.SignupEnabled = true
			w.signUp("")
		}},
		{"an invited user", func(w *fixture) {
			shop := makeTenant(w.T, w.db, "shop")
			w.accept(w.invite(principal(shop, makeMember(w.T, w.db, shop, "olga", auth.Owner), auth.Owner)), ownPassword)
		}},
		{"a removed member", func(w *fixture) {
			shop := makeTenant(w.T, w.db, "shop")
			owner := principal(shop, makeMember(w.T, w.db, shop, "olga", auth.Owner), auth.Owner)
			e := w.accept(w.invite(owner), ownPassword)
			if err := auth.RemoveMember(w.Context(), w.db, owner, e.Session.User.ID, noon); err != nil {
				w.Fatal(err)
			}
		}},
		{"one that the operator made", func(w *fixture) {
			shop := makeTenant(w.T, w.db, "shop")
			hash, err := w.login.Passwords.Hash(w.Context(), ownPassword)
			if err != nil {
				w.Fatal(err)
			}
			u, err := auth.CreateUser(w.Context(), w.db, w.cfo, "Ann", hash, noon)
			if err != nil {
				w.Fatal(err)
			}
			if err := auth.AddMember(w.Context(), w.db, shop.ID, u.ID, auth.Owner, auth.BySystem, noon); err != nil {
				w.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := &fixture{T: t, db: db, login: newLogin(t, db), cfo: "ann@shop.example"}
				tt.made(w)
				if w.mallory.User.IsZero() {
					w.evil = makeTenant(t, db, "evil")
					w.mallory = principal(w.evil, makeMember(t, db, w.evil, "mallory", auth.Admin), auth.Admin)
				}
				before, err := w.login.SignIn(t.Context(), w.cfo, ownPassword, auth.Client{IP: home}, noon)
				if err != nil {
					t.Fatal(err)
				}
				token := w.invite(w.mallory)
				if l, err := w.login.LinkOf(t.Context(), auth.LinkInvitation, token, noon); err != nil || l.Password != auth.PasswordCurrent || l.Name != "" {
					t.Errorf("LinkOf = %+v, %v; want it to ask for the current password, without the name", l, err)
				}
				_, err = w.login.Accept(t.Context(), token, "gone", newPassword, auth.Client{IP: home}, noon)
				wantFault(t, "the inviter", err, auth.ErrCredentials)
				s, err := auth.FindSession(t.Context(), db, before.Token, noon)
				if err != nil || s.User.Name == "gone" {
					t.Errorf("the session is %+v, %v; want it as it was", s.User, err)
				}
				after, err := w.login.SignIn(t.Context(), w.cfo, ownPassword, auth.Client{IP: home}, noon)
				if diff := cmp.Diff(before.Memberships, after.Memberships); err != nil || diff != "" {
					t.Errorf("signing in again: %v %s", err, diff)
				}
				if got := w.statusIn(w.evil); got != auth.MemberInvited {
					t.Errorf("the membership is %s, want invited", got)
				}
				// With the password the person joins, and keeps session and name.
				if e := w.accept(token, ownPassword); len(e.Memberships) != len(before.Memberships)+1 || e.Session.User.Name != s.User.Name {
					t.Errorf("accepting with the password = %+v; want one more membership of %s", e, s.User.Name)
				}
				if _, err := auth.FindSession(t.Context(), db, before.Token, noon); err != nil {
					t.Errorf("the session: %v", err)
				}
			})
		})
	}
}

// signUp makes the login with a tenant of its own.
func (w *fixture) signUp(setup string) {
	w.Helper()
	up := auth.SignUp{TenantName: "Shop", TenantSlug: "shop", Name: "Ann", Email: w.cfo, Password: ownPassword, SetupToken: setup}
	if _, err := w.login.SignUp(w.Context(), up, auth.Client{IP: home}, noon); err != nil {
		w.Fatal(err)
	}
}

func TestAShownInvitationSetsAFirstPasswordOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		w.cfo = "new@corp.example"
		first, second := w.invite(w.mallory), w.invite(w.boss)
		if e := w.accept(first, ownPassword); e.Session.User.Name != "new" {
			t.Errorf("the name is %q, want the one of the address, since nothing was proven", e.Session.User.Name)
		}
		_, err := w.login.Accept(t.Context(), second, "CFO", newPassword, auth.Client{IP: home}, noon)
		wantFault(t, "a second first password", err, auth.ErrCredentials)
		w.wantTenants(ownPassword, "evil")

		// A login without a password that is an active member of another tenant cannot get one either.
		w.cfo = "another@corp.example"
		token := w.invite(w.boss)
		w.invite(w.mallory)
		if _, err := db.Exec(t.Context(), `UPDATE membership SET status = 'active' WHERE tenant_id = $1 AND status = 'invited'`, w.evil.ID); err != nil {
			t.Fatal(err)
		}
		_, err = w.login.Accept(t.Context(), token, "CFO", newPassword, auth.Client{IP: home}, noon)
		wantFault(t, "a first password of a member of another tenant", err, auth.ErrCredentials)
	})
}

// Otherwise, enabling them would make them a member without having accepted.
func TestInvitedPeopleAreNotDisabled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		w.invite(w.boss)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []auth.MemberStatus{auth.MemberDisabled, auth.MemberActive} {
			_, err = auth.ChangeMember(t.Context(), db, w.boss, u.ID, auth.MemberChange{Status: new(to)}, noon)
			wantFault(t, string(to), err, fault.ErrInput)
		}
		if got := w.statusIn(w.corp); got != auth.MemberInvited {
			t.Errorf("the membership is %s, want invited", got)
		}
	})
}

// Memberships that former versions withheld come back when the login is proven.
func TestProvingALoginRestoresWithheldMemberships(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		w.accept(w.invite(w.boss), ownPassword)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `UPDATE membership SET withheld = true WHERE tenant_id = $1 AND user_id = $2`, w.corp.ID, u.ID); err != nil {
			t.Fatal(err)
		}
		w.wantTenants(ownPassword, "evil")
		if got := w.statusIn(w.corp); got != auth.MemberInvited {
			t.Errorf("the membership is %s, want it to wait for a new invitation", got)
		}
		token, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.login.Reset(t.Context(), token, newPassword, home, noon); err != nil {
			t.Fatal(err)
		}
		w.wantTenants(newPassword, "corp", "evil")
	})
}

func TestAMailedInvitationProvesALoginAndIsNotShown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		var mu sync.Mutex
		var mail string
		w.login.Mail = func(_ context.Context, to, _, text string) error {
			mu.Lock()
			defer mu.Unlock()
			mail = to + "\n" + text
			return nil
		}
		_, link, err := w.login.Invite(t.Context(), w.boss, w.cfo, auth.Editor, noon)
		if err != nil || link != "" {
			t.Fatalf("Invite shows %q, %v; want nothing shown", link, err)
		}
		w.login.Wait()
		at := strings.Index(mail, "https://")
		if !strings.HasPrefix(mail, w.cfo+"\n") || at < 0 {
			t.Fatalf("the mail is %q", mail)
		}
		token := tokenOf(t, strings.Fields(mail[at:])[0])
		if l, err := w.login.LinkOf(t.Context(), auth.LinkInvitation, token, noon); err != nil || l.Password != auth.PasswordEither || l.Name != "cfo" {
			t.Errorf("LinkOf = %+v, %v; want a new password or the current one", l, err)
		}
		if e := w.accept(token, newPassword); e.Session.User.Name != "CFO" {
			t.Errorf("the name is %q, want that of the person who proved the address", e.Session.User.Name)
		}
		w.wantNoAccess()
		w.wantTenants(newPassword, "corp", "evil")
		if u, err := auth.UserByEmail(t.Context(), db, w.cfo); err != nil || !u.Proven() {
			t.Errorf("the login is %+v, %v; want it proven", u, err)
		}
		// From now on a link only adds a membership.
		w.login.Mail = nil
		third := makeTenant(t, db, "third")
		admin := principal(third, makeMember(t, db, third, "tina", auth.Admin), auth.Admin)
		next := w.invite(admin)
		_, err = w.login.Accept(t.Context(), next, "CFO", ownPassword, auth.Client{IP: home}, noon)
		wantFault(t, "another password", err, auth.ErrCredentials)
		w.accept(next, newPassword)
		w.wantTenants(newPassword, "corp", "evil", "third")
	})
}

func TestANewUserChoosesAPasswordByEitherLink(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		w.cfo = "new@corp.example"
		token := w.invite(w.boss)
		in, err := w.login.LinkOf(t.Context(), auth.LinkInvitation, token, noon)
		if in.Password != auth.PasswordNew {
			t.Errorf("LinkOf = %+v, %v; want a new password", in, err)
		}
		_, err = w.login.LinkOf(t.Context(), auth.LinkInvitation, token+"x", noon)
		wantFault(t, "another link", err, auth.ErrInvalidToken)
		_, err = w.login.Accept(t.Context(), token, "", newPassword, auth.Client{IP: home}, noon)
		wantFault(t, "without a name", err, fault.ErrInput)
		w.accept(token, newPassword)
		w.wantTenants(newPassword, "corp")
		// A login created by the operator can only get its password by the operator's link.
		u, err := auth.CreateUser(t.Context(), db, "made@corp.example", "Made", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		w.cfo = u.Email
		_, err = w.login.Accept(t.Context(), w.invite(w.mallory), "Made", ownPassword, auth.Client{IP: home}, noon)
		wantFault(t, "a link shown to the inviter", err, auth.ErrCredentials)
		reset, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.login.Reset(t.Context(), reset, newPassword, home, noon); err != nil {
			t.Fatal(err)
		}
		if got, err := w.tenantsOf(newPassword); err != nil || len(got) != 0 {
			t.Errorf("signing in opens %v, %v; want no tenant", got, err)
		}
	})
}

// A sign-in whose password was checked before the operator voided it does not get a session.
func TestASignInFailsIfItsPasswordIsVoidedConcurrently(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, err := w.login.SignIn(t.Context(), w.cfo, ownPassword, auth.Client{IP: home}, noon)
				if err != nil && !errors.Is(err, auth.ErrCredentials) {
					t.Error(err)
				}
			})
		}
		if _, err := auth.ConfirmEmail(t.Context(), db, u.ID, "", noon); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		var left int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM session WHERE user_id = $1 /* all tenants: a session belongs to a user */`, u.ID).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d sessions remain, %v", left, err)
		}
	})
}
