package auth_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// A login link signs its user in, once, within ten minutes and as long as the password stays; only its hash is stored,
// and each link and sign-in is in the audit log.
func TestALoginLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		acme := makeTenant(t, db, "acme")
		ann, bob := makeMember(t, db, acme, "ann", auth.Admin), makeMember(t, db, acme, "bob", auth.Viewer)
		link := func() string {
			t.Helper()
			token, err := auth.LoginLinkToken(t.Context(), db, ann.ID, noon)
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		from := auth.Client{IP: home}
		refused := func(what, token string, now time.Time) {
			t.Helper()
			_, err := d.SignInByLink(t.Context(), token, from, now)
			wantFault(t, what, err, auth.ErrInvalidToken)
		}
		token := link()
		var stored int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM login_link WHERE token_hash = $1 /* all tenants: the test counts */`, token).Scan(&stored); err != nil || stored != 0 {
			t.Errorf("the token is stored as it is: %d, %v", stored, err)
		}
		if l, err := d.LinkOf(t.Context(), auth.LinkLogin, token, noon); err != nil || l.Email != ann.Email || l.Password != auth.PasswordNone {
			t.Errorf("the link is described as %+v, %v", l, err)
		}
		refused("a link that is forged", token+"x", noon)
		refused("a link after ten minutes", token, noon.Add(10*time.Minute))
		e, err := d.SignInByLink(t.Context(), token, from, noon.Add(9*time.Minute))
		if err != nil || e.Session.User.ID != ann.ID || e.Token == "" || len(e.Memberships) != 1 {
			t.Fatalf("the link begins %+v, %v", e, err)
		}
		if s, err := auth.FindSession(t.Context(), db, e.Token, noon.Add(9*time.Minute)); err != nil || s.User.ID != ann.ID {
			t.Errorf("the session is of %+v, %v", s.User, err)
		}
		refused("a used link", token, noon)
		_, err = d.LinkOf(t.Context(), auth.LinkLogin, token, noon)
		wantFault(t, "the description of a used link", err, auth.ErrInvalidToken)
		reset, err := auth.ResetToken(t.Context(), db, ann.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		refused("a link for choosing a password", reset, noon)

		old := link()
		if err := auth.SetPassword(t.Context(), db, bob.ID, "", noon); err != nil {
			t.Fatal(err)
		}
		if _, err := d.LinkOf(t.Context(), auth.LinkLogin, old, noon); err != nil {
			t.Errorf("the password of another user ends the link: %v", err)
		}
		if err := auth.SetPassword(t.Context(), db, ann.ID, "", noon); err != nil {
			t.Fatal(err)
		}
		refused("a link from before the password changed", old, noon)

		var actions []string
		rows, err := db.Query(t.Context(), `SELECT action FROM audit WHERE tenant_id = $1 AND target_id = $2 ORDER BY created_at, id`, acme.ID, ann.ID.String())
		actions, err = sqldb.Collect(rows, err, func(scan func(...any) error) (a string, err error) { return a, scan(&a) })
		if got := strings.Join(actions, " "); err != nil || !strings.HasSuffix(got, "login_link.create login_link.create login") {
			t.Errorf("the audit log has %q, %v", got, err)
		}
	})
}

// A user whom the operator made, and who has not chosen a password yet, is signed in by a link.
func TestALoginLinkNeedsNoPassword(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		u, err := auth.CreateUser(t.Context(), db, "new@example.org", "New", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		if err := auth.AddMember(t.Context(), db, makeTenant(t, db, "acme").ID, u.ID, auth.Viewer, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		token, err := auth.LoginLinkToken(t.Context(), db, u.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := d.SignInByLink(t.Context(), token, auth.Client{IP: home}, noon); err != nil || len(e.Memberships) != 1 {
			t.Errorf("the link begins %+v, %v", e, err)
		}
		_, err = d.SignIn(t.Context(), u.Email, "", auth.Client{IP: home}, noon)
		wantFault(t, "an empty password", err, auth.ErrCredentials)
	})
}

// One of several requests with the same link at the same time begins a session.
func TestALoginLinkBeginsOneSession(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		ann := makeMember(t, db, makeTenant(t, db, "acme"), "ann", auth.Admin)
		token, err := auth.LoginLinkToken(t.Context(), db, ann.ID, noon)
		if err != nil {
			t.Fatal(err)
		}
		var begun atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := d.SignInByLink(t.Context(), token, auth.Client{IP: home}, noon); err == nil {
					begun.Add(1)
				}
			})
		}
		all.Wait()
		if begun.Load() != 1 {
			t.Errorf("the link began %d sessions, want 1", begun.Load())
		}
	})
}

func TestLoginLinksAreLimited(t *testing.T) {
	t.Parallel()
	d := newLogin(t, dbtest.One(t))
	for range 20 {
		_, err := d.SignInByLink(t.Context(), "x", auth.Client{IP: home}, noon)
		wantFault(t, "a forged link", err, auth.ErrInvalidToken)
	}
	_, err := d.SignInByLink(t.Context(), "x", auth.Client{IP: home}, noon)
	wantFault(t, "forged link 21", err, auth.ErrTooOften)
}
