package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/tenant"
)

const ownWord, newWord = "seven violet tractors", "eleven quiet harbours"

// world is an installation in which Mallory, an admin of evil, invited the address
// of another company's CFO and followed the link herself.
type world struct {
	*testing.T
	db             *sqldb.DB
	door           *auth.Login
	evil, corp     tenant.Tenant
	mallory, boss  auth.Principal
	cfo, oldCookie string
}

func newWorld(t *testing.T, db *sqldb.DB) *world {
	w := &world{T: t, db: db, door: newLogin(t, db), cfo: "cfo@corp.example"}
	w.evil, w.corp = makeTenant(t, db, "evil"), makeTenant(t, db, "corp")
	w.mallory = principal(w.evil, makeMember(t, db, w.evil, "mallory", auth.Admin), auth.Admin)
	w.boss = principal(w.corp, makeMember(t, db, w.corp, "boss", auth.Owner), auth.Owner)
	e := w.accept(w.invite(w.mallory), ownWord)
	if len(e.Memberships) != 1 || e.Memberships[0].Tenant != w.evil.ID {
		t.Fatalf("the first invitation opens %v", e.Memberships)
	}
	w.oldCookie = e.Token
	return w
}

func (w *world) invite(by auth.Principal) string {
	w.Helper()
	_, link, err := w.door.Invite(w.Context(), by, w.cfo, auth.Admin, noon)
	if err != nil {
		w.Fatal(err)
	}
	return tokenOf(w.T, link)
}

func (w *world) accept(token, password string) auth.SignedIn {
	w.Helper()
	e, err := w.door.Accept(w.Context(), token, "CFO", password, home, noon)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// opens returns the slugs of the tenants that a sign-in gives access to.
func (w *world) opens(password string) (slugs []string, err error) {
	e, err := w.door.SignIn(w.Context(), w.cfo, password, home, noon)
	for _, m := range e.Memberships {
		slugs = append(slugs, m.Slug)
	}
	return slugs, err
}

// wantOver fails unless the login as Mallory created it has no access left.
func (w *world) wantOver() {
	w.Helper()
	_, err := auth.FindSession(w.Context(), w.db, w.oldCookie, noon)
	wantFault(w.T, "the old session", err, auth.ErrNoSession)
	_, err = w.door.SignIn(w.Context(), w.cfo, ownWord, home, noon)
	wantFault(w.T, "the old password", err, auth.ErrCredentials)
}

func (w *world) wantOpens(password string, want ...string) {
	w.Helper()
	if got, err := w.opens(password); err != nil || !slices.Equal(got, want) {
		w.Errorf("signing in opens %v, %v; want %v", got, err, want)
	}
}

func (w *world) statusIn(in tenant.Tenant) auth.MemberStatus {
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
		w := newWorld(t, db)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil || u.Proven() {
			t.Fatalf("the login is %+v, %v; want one that is not proven", u, err)
		}
		if err := auth.AddMember(t.Context(), db, w.corp.ID, u.ID, auth.Owner, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		w.wantOver()
		again := w.mallory // a link that Mallory gets no longer gives access to anything
		if err := auth.RemoveMember(t.Context(), db, again, u.ID, noon); err != nil {
			t.Fatal(err)
		}
		_, err = w.door.Accept(t.Context(), w.invite(again), "CFO", ownWord, home, noon)
		wantFault(t, "accepting before a password is chosen", err, auth.ErrCredentials)
		token, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.door.Reset(t.Context(), token, newWord, home, noon); err != nil {
			t.Fatal(err)
		}
		w.wantOpens(newWord, "corp")
		_, err = w.door.Accept(t.Context(), w.invite(again), "CFO", ownWord, home, noon)
		wantFault(t, "accepting without the password", err, auth.ErrCredentials)
		w.wantOpens(newWord, "corp")
	})
}

func TestAProvenLoginKeepsItsPasswordWhenItIsAdded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann := makeMember(t, db, acme, "ann", auth.Admin)
		e, err := d.SignIn(t.Context(), ann.Email, secretWord, home, noon)
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
		if e, err := d.SignIn(t.Context(), ann.Email, secretWord, home, noon); err != nil || len(e.Memberships) != 2 {
			t.Errorf("SignIn = %v, %v; want both tenants", e.Memberships, err)
		}
	})
}

func TestAnInvitationRevokesAnEarlierClaimOfTheAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		token := w.invite(w.boss)
		w.wantOpens(ownWord, "evil") // nothing changes until the link is followed
		if got := w.statusIn(w.corp); got != auth.MemberInvited {
			t.Errorf("before it is followed the membership is %s", got)
		}
		e := w.accept(token, newWord)
		if len(e.Memberships) != 1 || e.Memberships[0].Slug != "corp" {
			t.Errorf("the link opens %v, want corp alone", e.Memberships)
		}
		w.wantOver()
		w.wantOpens(newWord, "corp")
		_, err := w.door.Accept(t.Context(), token, "CFO", newWord, home, noon)
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
		up := auth.SignUp{TenantName: "Shop", TenantSlug: "shop", Name: "Ann", Email: "ann@shop.example", Password: ownWord}
		if _, err := d.SignUp(t.Context(), up, home, noon); err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, db: db, door: d, evil: evil, mallory: mallory, cfo: up.Email}
		shop, err := tenant.BySlug(t.Context(), db, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if e := w.accept(w.invite(mallory), newWord); len(e.Memberships) != 1 || e.Memberships[0].Slug != "evil" {
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
		w.wantOpens(third, "evil", "shop")
		_, err = w.opens(newWord)
		wantFault(t, "Mallory's password", err, auth.ErrCredentials)
	})
}

func TestAClaimedLoginKeepsItsTenantsWithItsPassword(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db) // the same person is a member of both
		if e := w.accept(w.invite(w.boss), ownWord); len(e.Memberships) != 2 {
			t.Errorf("the link opens %v, want both", e.Memberships)
		}
		_, err := auth.FindSession(t.Context(), db, w.oldCookie, noon)
		wantFault(t, "the old session", err, auth.ErrNoSession)
		w.wantOpens(ownWord, "corp", "evil")
	})
}

func TestAMailedInvitationProvesALoginAndIsNotShown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		var mu sync.Mutex
		var mail string
		w.door.Mail = func(_ context.Context, to, _, text string) error {
			mu.Lock()
			defer mu.Unlock()
			mail = to + "\n" + text
			return nil
		}
		_, link, err := w.door.Invite(t.Context(), w.boss, w.cfo, auth.Editor, noon)
		if err != nil || link != "" {
			t.Fatalf("Invite shows %q, %v; want nothing shown", link, err)
		}
		w.door.Wait()
		at := strings.Index(mail, "https://")
		if !strings.HasPrefix(mail, w.cfo+"\n") || at < 0 {
			t.Fatalf("the mail is %q", mail)
		}
		token := tokenOf(t, strings.Fields(mail[at:])[0])
		w.accept(token, newWord)
		w.wantOver()
		w.wantOpens(newWord, "corp", "evil")
		if u, err := auth.UserByEmail(t.Context(), db, w.cfo); err != nil || !u.Proven() {
			t.Errorf("the login is %+v, %v; want it proven", u, err)
		}
		// From now on a link only adds a membership.
		w.door.Mail = nil
		third := makeTenant(t, db, "third")
		admin := principal(third, makeMember(t, db, third, "tina", auth.Admin), auth.Admin)
		next := w.invite(admin)
		_, err = w.door.Accept(t.Context(), next, "CFO", ownWord, home, noon)
		wantFault(t, "another password", err, auth.ErrCredentials)
		w.accept(next, newWord)
		w.wantOpens(newWord, "corp", "evil", "third")
	})
}

func TestANewUserChoosesAPasswordByEitherLink(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		w.cfo = "new@corp.example"
		token := w.invite(w.boss)
		in, err := w.door.InvitationOf(t.Context(), token, noon)
		if want := (auth.Invitation{Email: w.cfo, Name: "new", Tenant: "corp", Role: auth.Admin, NewPassword: true}); err != nil || in != want {
			t.Errorf("InvitationOf = %+v, %v; want %+v", in, err, want)
		}
		_, err = w.door.InvitationOf(t.Context(), token+"x", noon)
		wantFault(t, "another link", err, auth.ErrInvalidToken)
		_, err = w.door.Accept(t.Context(), token, "", newWord, home, noon)
		wantFault(t, "without a name", err, fault.ErrInput)
		w.accept(token, newWord)
		w.wantOpens(newWord, "corp")
		// A login created by the operator can only get its password by the operator's link.
		u, err := auth.CreateUser(t.Context(), db, "made@corp.example", "Made", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		w.cfo = u.Email
		_, err = w.door.Accept(t.Context(), w.invite(w.mallory), "Made", ownWord, home, noon)
		wantFault(t, "a link shown to the inviter", err, auth.ErrCredentials)
		reset, err := auth.ResetToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.door.ResetOf(t.Context(), reset, noon); err != nil || got != u.Email {
			t.Errorf("ResetOf = %q, %v", got, err)
		}
		if err := w.door.Reset(t.Context(), reset, newWord, home, noon); err != nil {
			t.Fatal(err)
		}
		if got, err := w.opens(newWord); err != nil || len(got) != 0 {
			t.Errorf("signing in opens %v, %v; want no tenant", got, err)
		}
	})
}

// A sign-in whose password was checked before the operator voided it does not get a session.
func TestASignInFailsIfItsPasswordIsVoidedConcurrently(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		u, err := auth.UserByEmail(t.Context(), db, w.cfo)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, err := w.door.SignIn(t.Context(), w.cfo, ownWord, home, noon)
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
