package auth_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Users see their open sessions with the client that signed in, the last used first, and end one of them;
// sessions of others are not found.
func TestUsersEndTheirOwnSessions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		ann, bob := makeMember(t, db, acme, "ann", auth.Owner), makeMember(t, db, acme, "bob", auth.Viewer)
		d := newLogin(t, db)
		begin := func(u auth.User, from auth.Client, at time.Time) auth.SignedIn {
			t.Helper()
			e, err := d.SignIn(t.Context(), u.Email, testPassword, from, at)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		list := func(u auth.User, at time.Time) []auth.OpenSession {
			t.Helper()
			list, err := auth.Sessions(t.Context(), db, u.ID, at)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		laptop := begin(ann, auth.Client{IP: netip.MustParseAddr("::ffff:192.0.2.7"), Agent: "Firefox \x00\xff" + strings.Repeat("é", 400)}, noon)
		phone := begin(ann, auth.Client{}, noon.Add(time.Hour))
		other := begin(bob, auth.Client{IP: home, Agent: "curl"}, noon)

		for _, at := range []time.Duration{0, 59 * time.Second} { // the second use is not stored
			if _, err := auth.FindSession(t.Context(), db, laptop.Token, noon.Add(2*time.Hour+at)); err != nil {
				t.Fatal(err)
			}
		}
		got := list(ann, noon.Add(3*time.Hour))
		if len(got) != 2 || got[0].ID != laptop.Session.ID || got[1].ID != phone.Session.ID {
			t.Fatalf("sessions = %+v", got)
		}
		if s := got[0]; s.IP != "192.0.2.7" || !strings.HasPrefix(s.Agent, "Firefox \uFFFD\uFFFDé") || len(s.Agent) > 512 || !utf8.ValidString(s.Agent) || !s.CreatedAt.Equal(noon) || !s.LastSeenAt.Equal(noon.Add(2*time.Hour)) {
			t.Errorf("the laptop's session = %+v", s)
		}
		if s := got[1]; s.IP != "" || s.Agent != "" || !s.LastSeenAt.Equal(noon.Add(time.Hour)) || !s.ExpiresAt.Equal(noon.Add(time.Hour+7*24*time.Hour)) {
			t.Errorf("the phone's session = %+v", s)
		}
		for _, s := range []id.Session{other.Session.ID, id.New[id.Session]()} {
			if err := auth.EndOwnSession(t.Context(), db, ann.ID, s); !errors.Is(err, auth.ErrUnknownSession) {
				t.Errorf("ending a session that is not Ann's: %v", err)
			}
		}
		if err := auth.EndOwnSession(t.Context(), db, ann.ID, laptop.Session.ID); err != nil {
			t.Fatal(err)
		}
		_, err := auth.FindSession(t.Context(), db, laptop.Token, noon.Add(3*time.Hour))
		wantFault(t, "a session that was ended", err, auth.ErrNoSession)
		if a, b := list(ann, noon.Add(3*time.Hour)), list(bob, noon.Add(3*time.Hour)); len(a) != 1 || len(b) != 1 {
			t.Errorf("%d sessions of Ann and %d of Bob are left, want 1 and 1", len(a), len(b))
		}
		if a := list(ann, noon.Add(8*24*time.Hour)); len(a) != 0 {
			t.Errorf("after a week %d sessions are listed", len(a))
		}
	})
}

func TestUsersChangeTheirName(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		ann, bob := makeMember(t, db, acme, "ann", auth.Owner), makeMember(t, db, acme, "bob", auth.Viewer)
		d := newLogin(t, db)
		e, err := d.SignIn(t.Context(), ann.Email, testPassword, auth.Client{IP: home}, noon)
		if err != nil {
			t.Fatal(err)
		}
		p := auth.Principal{Kind: auth.KindSession, User: ann.ID, Session: e.Session.ID, Email: ann.Email, UserName: ann.Name}
		for _, name := range []string{"", "  ", "a\nb", strings.Repeat("x", 201)} {
			if _, err := d.Rename(t.Context(), p, name); err == nil || auth.CheckName(name) == nil {
				t.Errorf("the name %.20q is accepted", name)
			}
		}
		got, err := d.Rename(t.Context(), p, " Ann Bee ")
		if err != nil || got.Session.User.Name != "Ann Bee" || got.Session.ID != e.Session.ID || len(got.Memberships) != 1 {
			t.Errorf("renamed = %+v, %v", got, err)
		}
		for user, want := range map[id.User]string{ann.ID: "Ann Bee", bob.ID: bob.Name} {
			if u, err := auth.UserByID(t.Context(), db, user); err != nil || u.Name != want {
				t.Errorf("the name is %q, want %q; %v", u.Name, want, err)
			}
		}
	})
}
