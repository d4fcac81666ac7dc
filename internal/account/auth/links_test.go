package auth_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const day = 24 * time.Hour

// A link is described as long as it is valid, an invitation for a month longer, with those who can send a new
// one. Describing it does not redeem it.
func TestLinksAreDescribed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		want := func(what string, kind auth.LinkKind, token string, now time.Time, want auth.Link) {
			t.Helper()
			for range 2 {
				got, err := d.LinkOf(t.Context(), kind, token, now)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v %s", what, err, diff)
				}
			}
		}
		refused := func(what string, kind auth.LinkKind, token string, now time.Time) {
			t.Helper()
			_, err := d.LinkOf(t.Context(), kind, token, now)
			wantFault(t, what, err, auth.ErrInvalidToken)
		}
		setup, err := auth.SetupToken(t.Context(), db, noon)
		if err != nil {
			t.Fatal(err)
		}
		want("a set-up link", auth.LinkSignUp, setup, noon, auth.Link{Kind: auth.LinkSignUp, Password: auth.PasswordNew})
		refused("no set-up token", auth.LinkSignUp, "", noon)
		refused("a set-up token as an invitation", auth.LinkInvitation, setup, noon)
		refused("another kind", "x", setup, noon)

		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann, olga := makeMember(t, db, acme, "ann", auth.Admin), makeMember(t, db, acme, "olga", auth.Owner)
		makeMember(t, db, acme, "edith", auth.Editor)
		makeMember(t, db, other, "oscar", auth.Owner)
		_, err = d.LinkOf(t.Context(), auth.LinkSignUp, setup, noon)
		wantFault(t, "sign-up when there are users", err, auth.ErrSignupDisabled)
		d.SignupEnabled = true
		want("an open sign-up", auth.LinkSignUp, "", noon, auth.Link{Kind: auth.LinkSignUp, Password: auth.PasswordNew})

		reset, err := auth.ResetToken(t.Context(), db, ann.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		want("a reset", auth.LinkReset, reset, noon, auth.Link{Kind: auth.LinkReset, Email: ann.Email, Name: "ann", Password: auth.PasswordNew})
		refused("an expired reset", auth.LinkReset, reset, noon.Add(time.Hour))

		invite := func(email string, role auth.Role) string {
			t.Helper()
			_, link, err := d.Invite(t.Context(), principal(acme, olga, auth.Owner), email, role, noon)
			if err != nil {
				t.Fatal(err)
			}
			return tokenOf(t, link)
		}
		late := noon.Add(7 * day)
		bob := invite("bob@example.org", auth.Editor)
		link := auth.Link{Kind: auth.LinkInvitation, Email: "bob@example.org", Tenant: "acme", Role: auth.Editor, Password: auth.PasswordNew}
		want("an invitation", auth.LinkInvitation, bob, late.Add(-time.Second), link)
		link.Expired, link.Senders = true, []string{"ann", "olga"}
		want("an expired one", auth.LinkInvitation, bob, late, link)
		if _, err := d.Accept(t.Context(), bob, "Bob", ownPassword, auth.Client{IP: home}, late); err == nil {
			t.Error("an expired invitation is accepted")
		}
		owner := invite("zoe@example.org", auth.Owner)
		want("an expired invitation of an owner", auth.LinkInvitation, owner, late, auth.Link{
			Kind: auth.LinkInvitation, Email: "zoe@example.org", Tenant: "acme", Role: auth.Owner, Password: auth.PasswordNew, Expired: true, Senders: []string{"olga"},
		})
		want("one for a proven login", auth.LinkInvitation, invite("oscar@example.org", auth.Viewer), noon, auth.Link{
			Kind: auth.LinkInvitation, Email: "oscar@example.org", Tenant: "acme", Role: auth.Viewer, Password: auth.PasswordCurrent,
		})
		if err := auth.DeleteExpired(t.Context(), db, late.Add(30*day-time.Second)); err != nil {
			t.Fatal(err)
		}
		want("an old invitation", auth.LinkInvitation, bob, late, link)
		if err := auth.DeleteExpired(t.Context(), db, late.Add(30*day)); err != nil {
			t.Fatal(err)
		}
		refused("a deleted invitation", auth.LinkInvitation, bob, noon)
	})
}

// A signed-in user accepts an invitation to their own address without a password, once, unless it was mailed to an
// address that they have not proven.
func TestASignedInUserJoinsATenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newFixture(t, db)
		d := w.login
		ann := makeMember(t, db, w.evil, "ann", auth.Viewer)
		signIn := func(email, password string) auth.Principal {
			t.Helper()
			e, err := d.SignIn(t.Context(), email, password, auth.Client{IP: home}, noon)
			if err != nil {
				t.Fatal(err)
			}
			u := e.Session.User
			return auth.Principal{Kind: auth.KindSession, User: u.ID, UserName: u.Name, Email: u.Email, Session: e.Session.ID, IP: home}
		}
		invite := func(email string) string {
			t.Helper()
			_, link, err := d.Invite(t.Context(), w.boss, email, auth.Editor, noon)
			if err != nil {
				t.Fatal(err)
			}
			return tokenOf(t, link)
		}
		self, boss := signIn(ann.Email, testPassword), signIn("boss@example.org", testPassword)
		token := invite(ann.Email)
		_, err := d.Join(t.Context(), boss, token, noon)
		wantFault(t, "another user", err, auth.ErrForbidden)
		_, err = d.Join(t.Context(), self, token, noon.Add(7*day))
		wantFault(t, "an expired link", err, auth.ErrInvalidToken)
		e, err := d.Join(t.Context(), self, token, noon)
		if err != nil || len(e.Memberships) != 2 || e.Memberships[0].Slug != "corp" || e.Memberships[0].Role != auth.Editor || e.Token != "" || e.Session.ID != self.Session {
			t.Errorf("Join = %+v, %v; want a second membership in the same session", e, err)
		}
		_, err = d.Join(t.Context(), self, token, noon)
		wantFault(t, "the link again", err, auth.ErrInvalidToken)

		// A session takes the place of the password of a login that is not proven, too.
		claimed := signIn(w.cfo, ownPassword)
		if e, err := d.Join(t.Context(), claimed, invite(w.cfo), noon); err != nil || len(e.Memberships) != 2 {
			t.Errorf("Join = %+v, %v; want a second membership", e, err)
		}
		third := makeTenant(t, db, "third")
		tina := principal(third, makeMember(t, db, third, "tina", auth.Admin), auth.Admin)
		_, mailed, err := auth.Invite(t.Context(), db, tina, w.cfo, auth.Editor, true, noon)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Join(t.Context(), claimed, mailed, noon)
		wantFault(t, "a mailed link for a login that is not proven", err, auth.ErrForbidden)
		w.wantTenants(ownPassword, "corp", "evil")
		if got := w.statusIn(third); got != auth.MemberInvited {
			t.Errorf("the membership is %s, want invited", got)
		}
	})
}
