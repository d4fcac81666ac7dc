package auth_test

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"testing"
	"time"

	"log/slog"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTheFirstUserSignsUpWithASetupToken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		token, err := auth.SetupToken(t.Context(), db, noon)
		if err != nil {
			t.Fatal(err)
		}
		spare, err := auth.SetupToken(t.Context(), db, noon)
		if err != nil {
			t.Fatal(err)
		}
		s := auth.SignUp{TenantName: "Acme", TenantSlug: "acme", Name: "Ann", Email: "Ann@Example.org", Password: testPassword}
		_, err = d.SignUp(t.Context(), s, auth.Client{IP: home}, noon)
		wantFault(t, "without a token", err, auth.ErrInvalidToken)
		s.SetupToken = token
		e, err := d.SignUp(t.Context(), s, auth.Client{IP: home}, noon)
		if err != nil || len(e.Memberships) != 1 || e.Memberships[0].Role != auth.Owner || e.Session.User.Email != "ann@example.org" {
			t.Fatalf("SignUp = %+v, %v; want an owner of acme", e, err)
		}
		if u, err := auth.UserByID(t.Context(), db, e.Session.User.ID); err != nil || !u.Proven() {
			t.Errorf("the first user is %+v, %v; want them proven", u, err)
		}
		s.SetupToken, s.TenantSlug, s.Email = spare, "other", "bob@example.org"
		_, err = d.SignUp(t.Context(), s, auth.Client{IP: home}, noon)
		wantFault(t, "a second sign-up", err, auth.ErrSignupDisabled)
		d.SignupEnabled = true
		s.TenantSlug = "acme"
		_, err = d.SignUp(t.Context(), s, auth.Client{IP: home}, noon)
		wantFault(t, "a taken slug", err, tenant.ErrDuplicateSlug)
		s.TenantSlug = "other"
		if e, err = d.SignUp(t.Context(), s, auth.Client{IP: home}, noon); err != nil {
			t.Fatalf("an enabled sign-up: %v", err)
		}
		if u, err := auth.UserByID(t.Context(), db, e.Session.User.ID); err != nil || u.Proven() {
			t.Errorf("the second user is %+v, %v; want them not proven", u, err)
		}
		_, err = d.SignUp(t.Context(), auth.SignUp{Password: "password123"}, auth.Client{IP: home}, noon)
		wantFault(t, "an empty sign-up", err, fault.ErrInput)
		if f, _ := fault.As(err); len(f.Details.(fault.Fields).Fields) != 5 {
			t.Errorf("an empty sign-up has problems %v, want one for each field", f.Details)
		}
	})
}

func TestSigningInBeginsASessionThatSlidesAndEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		e, err := d.SignIn(t.Context(), " ANN@example.org", testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		day := 24 * time.Hour
		for _, tt := range []struct {
			at   time.Duration
			ends time.Duration // zero: it has ended
		}{{0, 7 * day}, {6 * day, 13 * day}, {12 * day, 19 * day}, {18 * day, 25 * day}, {24 * day, 30 * day}, {29 * day, 30 * day}, {30 * day, 0}} {
			s, err := auth.FindSession(t.Context(), db, e.Token, noon.Add(tt.at))
			if tt.ends == 0 {
				wantFault(t, "after 30 days", err, auth.ErrNoSession)
			} else if err != nil || !s.ExpiresAt.Equal(noon.Add(tt.ends)) {
				t.Errorf("at %v it ends %v, %v; want %v", tt.at, s.ExpiresAt, err, noon.Add(tt.ends))
			}
		}
		e, err = d.SignIn(t.Context(), "ann@example.org", testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		_, err = auth.FindSession(t.Context(), db, e.Token, noon.Add(8*day))
		wantFault(t, "after a week away", err, auth.ErrNoSession)
		_, err = auth.FindSession(t.Context(), db, "x"+e.Token, noon)
		wantFault(t, "another cookie", err, auth.ErrNoSession)
		if err := auth.EndSession(t.Context(), db, e.Session.ID); err != nil {
			t.Fatal(err)
		}
		_, err = auth.FindSession(t.Context(), db, e.Token, noon)
		wantFault(t, "after signing out", err, auth.ErrNoSession)
		if err := auth.DeleteExpired(t.Context(), db, noon.Add(500*day)); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		var left int
		if err := db.QueryRow(t.Context(), `SELECT (SELECT COUNT(*) FROM session) + (SELECT COUNT(*) FROM audit) /* all tenants: the test counts */`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d old rows remain, %v", left, err)
		}
	})
}

func TestGuessingPasswordsIsLimited(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	d := newLogin(t, db)
	makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
	for range 3 { // success costs nothing
		if _, err := d.SignIn(t.Context(), "ann@example.org", testPassword, auth.Client{IP: home}, noon); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		_, err := d.SignIn(t.Context(), "ann@example.org", "wrong horse battery", auth.Client{IP: home}, noon)
		wantFault(t, "a wrong password", err, auth.ErrCredentials)
	}
	_, err := d.SignIn(t.Context(), "ANN@example.org", testPassword, auth.Client{IP: home}, noon.Add(14*time.Minute))
	wantFault(t, "attempt 6", err, auth.ErrTooOften)
	if f, _ := fault.As(err); f.Details.(auth.Wait).RetryAfter() != time.Minute {
		t.Errorf("it says to wait %v, want a minute", f.Details)
	}
	_, err = d.SignIn(t.Context(), "unknown@example.org", "wrong horse battery", auth.Client{IP: home}, noon)
	wantFault(t, "an unknown user", err, auth.ErrCredentials)
	if _, err := d.SignIn(t.Context(), "ann@example.org", testPassword, auth.Client{IP: home}, noon.Add(15*time.Minute)); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

func TestAResetLinkWorksOnceForAnHour(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		mails := make(chan string, 10)
		d.Mail = func(_ context.Context, to, _, text string) error {
			mails <- to + "\n" + text
			return nil
		}
		e, err := d.SignIn(t.Context(), "ann@example.org", testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"ann@example.org", "unknown@example.org"} {
			if err := d.Forgot(t.Context(), address, home, noon); err != nil {
				t.Errorf("Forgot(%s): %v", address, err)
			}
		}
		d.Wait()
		if len(mails) != 1 {
			t.Fatalf("%d mails went out, want one", len(mails))
		}
		link := regexp.MustCompile(`https://mail\.example\.org/\S+`).FindString(<-mails)
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		token := u.Query().Get("token")
		fresh := "seven violet tractors"
		wantFault(t, "a weak password", d.Reset(t.Context(), token, "Password123!", home, noon), fault.ErrInput)
		wantFault(t, "a forged link", d.Reset(t.Context(), token+"x", fresh, home, noon), auth.ErrInvalidToken)
		wantFault(t, "an old link", d.Reset(t.Context(), token, fresh, home, noon.Add(time.Hour)), auth.ErrInvalidToken)
		if err := d.Reset(t.Context(), token, fresh, home, noon); err != nil {
			t.Fatalf("Reset: %v", err)
		}
		wantFault(t, "the link again", d.Reset(t.Context(), token, fresh, home, noon), auth.ErrInvalidToken)
		_, err = auth.FindSession(t.Context(), db, e.Token, noon)
		wantFault(t, "the old session", err, auth.ErrNoSession)
		_, err = d.SignIn(t.Context(), "ann@example.org", testPassword, auth.Client{IP: home}, noon)
		wantFault(t, "the old password", err, auth.ErrCredentials)
		if _, err := d.SignIn(t.Context(), "ann@example.org", fresh, auth.Client{IP: home}, noon); err != nil {
			t.Errorf("the new password: %v", err)
		}
	})
}

func TestChangingAPasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	d := newLogin(t, db)
	acme := makeTenant(t, db, "acme")
	u := makeMember(t, db, acme, "ann", auth.Viewer)
	var tokens [2]string
	p := principal(acme, u, auth.Viewer)
	for i := range tokens {
		e, err := d.SignIn(t.Context(), u.Email, testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		tokens[i], p.Session = e.Token, e.Session.ID
	}
	wantFault(t, "the wrong current password", d.Change(t.Context(), p, "wrong horse battery", "seven violet tractors", noon), auth.ErrCredentials)
	if err := d.Change(t.Context(), p, testPassword, "seven violet tractors", noon); err != nil {
		t.Fatal(err)
	}
	_, err := auth.FindSession(t.Context(), db, tokens[0], noon)
	wantFault(t, "the other session", err, auth.ErrNoSession)
	if _, err := auth.FindSession(t.Context(), db, tokens[1], noon); err != nil {
		t.Errorf("the session that changed it: %v", err)
	}
}

func TestAnInvitationMakesANewcomerAMemberOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		acme := makeTenant(t, db, "acme")
		admin := principal(acme, makeMember(t, db, acme, "ann", auth.Admin), auth.Admin)
		_, _, err := d.Invite(t.Context(), admin, "bob@example.org", auth.Owner, noon)
		wantFault(t, "an admin inviting an owner", err, auth.ErrForbidden)
		_, old, err := d.Invite(t.Context(), admin, "bob@example.org", auth.Viewer, noon)
		if err != nil {
			t.Fatal(err)
		}
		m, link, err := d.Invite(t.Context(), admin, "Bob@Example.org", auth.Editor, noon)
		if err != nil || m.Status != auth.MemberInvited || m.Role != auth.Editor {
			t.Fatalf("Invite = %+v, %v", m, err)
		}
		_, err = d.Accept(t.Context(), tokenOf(t, old), "Bob", testPassword, auth.Client{IP: home}, noon)
		wantFault(t, "the first link", err, auth.ErrInvalidToken)
		_, err = d.Accept(t.Context(), tokenOf(t, link), "", "short", auth.Client{IP: home}, noon)
		wantFault(t, "no name and a short password", err, fault.ErrInput)
		_, err = d.Accept(t.Context(), tokenOf(t, link), "Bob", testPassword, auth.Client{IP: home}, noon.Add(7*24*time.Hour))
		wantFault(t, "after a week", err, auth.ErrInvalidToken)
		e, err := d.Accept(t.Context(), tokenOf(t, link), "Bob", testPassword, auth.Client{IP: home}, noon)
		if err != nil || len(e.Memberships) != 1 || e.Memberships[0].Role != auth.Editor || e.Session.User.Name != "bob" {
			t.Fatalf("Accept = %+v, %v", e, err)
		}
		_, err = d.Accept(t.Context(), tokenOf(t, link), "Bob", testPassword, auth.Client{IP: home}, noon)
		wantFault(t, "the link again", err, auth.ErrInvalidToken)
		_, _, err = d.Invite(t.Context(), admin, "bob@example.org", auth.Viewer, noon)
		wantFault(t, "inviting a member", err, auth.ErrMember)
	})
}

func TestAnInvitationLinkAloneDoesNotOpenAnotherPersonsLogin(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	d := newLogin(t, db)
	acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
	victim := makeMember(t, db, other, "vic", auth.Owner)
	admin := principal(acme, makeMember(t, db, acme, "ann", auth.Admin), auth.Admin)
	_, link, err := d.Invite(t.Context(), admin, victim.Email, auth.Viewer, noon)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Accept(t.Context(), tokenOf(t, link), "Mallory", "seven violet tractors", auth.Client{IP: home}, noon)
	wantFault(t, "the inviter", err, auth.ErrCredentials)
	e, err := d.Accept(t.Context(), tokenOf(t, link), "Ignored", testPassword, auth.Client{IP: home}, noon)
	if err != nil || len(e.Memberships) != 2 || e.Session.User.Name != "vic" {
		t.Errorf("the person themselves = %+v, %v; want both memberships and their own name", e, err)
	}
}

func tokenOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("token")
}

func TestAccountLinksAreLimited(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	d := newLogin(t, db)
	for i := range 5 {
		if err := d.Forgot(t.Context(), "ann@example.org", netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), noon); err != nil {
			t.Fatal(err)
		}
	}
	wantFault(t, "the sixth mail to one address", d.Forgot(t.Context(), "ann@example.org", home, noon), auth.ErrTooOften)
	visitor := netip.MustParseAddr("198.51.100.9")
	for range 20 {
		wantFault(t, "a forged link", d.Reset(t.Context(), "x", testPassword, visitor, noon), auth.ErrInvalidToken)
	}
	wantFault(t, "forged link 21", d.Reset(t.Context(), "x", testPassword, visitor, noon), auth.ErrTooOften)
}

func TestGateAuthenticatesKeysAndMembers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		now := noon
		g := auth.NewGate(db, func() time.Time { return now }, slog.New(slog.DiscardHandler))
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		u := makeMember(t, db, acme, "ann", auth.Editor)
		_, key := makeKey(t, db, acme, auth.NewKey{})
		e, err := d.SignIn(t.Context(), u.Email, testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(in tenant.Tenant, key, cookie string) (auth.Principal, error) {
			r, err := http.NewRequest("GET", "/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if key != "" {
				r.Header.Set(auth.KeyHeader, key)
			}
			if cookie != "" {
				r.AddCookie(&http.Cookie{Name: auth.CookieName, Value: cookie})
			}
			return g.Authenticate(t.Context(), in.ID, in.Slug, r)
		}
		if p, err := ask(acme, key, e.Token); err != nil || !p.IsKey() || p.Tenant != acme.ID || !p.Has(auth.ContactsRead) {
			t.Errorf("key and cookie = %+v, %v; want the key to win", p, err)
		}
		if p, err := ask(acme, "", e.Token); err != nil || p.Kind != auth.KindSession || p.Role != auth.Editor || p.User != u.ID {
			t.Errorf("a member's cookie = %+v, %v", p, err)
		}
		if p, err := ask(tenant.Tenant{}, "", e.Token); err != nil || p.User != u.ID || p.Role != "" {
			t.Errorf("a cookie without a tenant = %+v, %v", p, err)
		}
		_, err = ask(other, "", e.Token)
		wantFault(t, "a stranger's cookie", err, tenant.ErrNotFound)
		for name, try := range map[string]struct{ key, cookie, reason string }{
			"missing": {"", "", "missing"},
			"forged":  {"", "abc", "expired"},
			"bad key": {"pbk_x", e.Token, "invalid"},
		} {
			if _, err := ask(acme, try.key, try.cookie); reasonOf(err) != try.reason {
				t.Errorf("%s: %v (%s), want %s", name, err, reasonOf(err), try.reason)
			}
		}
		if got, err := g.Tenant(t.Context(), "acme"); err != nil || got != acme.ID {
			t.Errorf("Tenant = %v, %v", got, err)
		}
		if err := tenant.Delete(t.Context(), db, acme.ID, noon); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
		_, err = g.Tenant(t.Context(), "acme")
		wantFault(t, "a tenant deleted a second ago", err, tenant.ErrNotFound)
	})
}
