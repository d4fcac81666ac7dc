package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

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

func TestAnInvitationRevokesAnEarlierClaimOfTheAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		token := w.invite(w.boss)
		w.wantTenants(ownPassword, "evil") // nothing changes until the link is followed
		if got := w.statusIn(w.corp); got != auth.MemberInvited {
			t.Errorf("before it is followed the membership is %s", got)
		}
		e := w.accept(token, newPassword)
		if len(e.Memberships) != 1 || e.Memberships[0].Slug != "corp" {
			t.Errorf("the link opens %v, want corp alone", e.Memberships)
		}
		w.wantNoAccess()
		w.wantTenants(newPassword, "corp")
		_, err := w.login.Accept(t.Context(), token, "CFO", newPassword, auth.Client{IP: home}, noon)
		wantFault(t, "the link again", err, auth.ErrInvalidToken)
	})
}

// For the same reason an inviter cannot take over the tenants of the people they invite.
func TestAnInviterGainsNoAccessToTheInvitedLogin(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		d.SignupEnabled = true
		evil := makeTenant(t, db, "evil")
		mallory := principal(evil, makeMember(t, db, evil, "mallory", auth.Admin), auth.Admin)
		up := auth.SignUp{TenantName: "Shop", TenantSlug: "shop", Name: "Ann", Email: "ann@shop.example", Password: ownPassword}
		if _, err := d.SignUp(t.Context(), up, auth.Client{IP: home}, noon); err != nil {
			t.Fatal(err)
		}
		w := &fixture{T: t, db: db, login: d, evil: evil, mallory: mallory, cfo: up.Email}
		shop, err := tenant.BySlug(t.Context(), db, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if e := w.accept(w.invite(mallory), newPassword); len(e.Memberships) != 1 || e.Memberships[0].Slug != "evil" {
			t.Fatalf("Mallory's own link opens %v, want evil alone", e.Memberships)
		}
		if got := w.statusIn(shop); got != auth.MemberInvited {
			t.Errorf("in shop the membership is %s, want it to wait for a new invitation", got)
		}
		var noted int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM audit WHERE tenant_id = $1 AND action = 'member.withhold'`, shop.ID).Scan(&noted); err != nil || noted != 1 {
			t.Errorf("shop's audit log holds %d entries of it, %v", noted, err)
		}
		// Ann proves her login and regains everything; Mallory regains nothing.
		u, err := auth.UserByEmail(t.Context(), db, up.Email)
		if err != nil {
			t.Fatal(err)
		}
		token, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		const third = "nineteen calm windmills"
		if err := d.Reset(t.Context(), token, third, home, noon); err != nil {
			t.Fatal(err)
		}
		w.wantTenants(third, "evil", "shop")
		_, err = w.tenantsOf(newPassword)
		wantFault(t, "Mallory's password", err, auth.ErrCredentials)
	})
}

func TestAClaimedLoginKeepsItsTenantsWithItsPassword(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db) // the same person is a member of both
		if e := w.accept(w.invite(w.boss), ownPassword); len(e.Memberships) != 2 {
			t.Errorf("the link opens %v, want both", e.Memberships)
		}
		_, err := auth.FindSession(t.Context(), db, w.oldCookie, noon)
		wantFault(t, "the old session", err, auth.ErrNoSession)
		w.wantTenants(ownPassword, "corp", "evil")
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
		w.accept(token, newPassword)
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
