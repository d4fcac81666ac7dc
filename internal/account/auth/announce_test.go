package auth_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// What is written of a user who works in several tenants is reported for the memberships that show it: also where
// the statement names no tenant.
func TestWritesOfMembersAreReported(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		d := newLogin(t, db)
		acme, second, other := makeTenant(t, db, "acme"), makeTenant(t, db, "second"), makeTenant(t, db, "other")
		ann := principal(acme, makeMember(t, db, acme, "ann", auth.Owner), auth.Owner)
		boss := principal(other, makeMember(t, db, other, "boss", auth.Owner), auth.Owner)
		hash, err := auth.NewPasswords().Hash(t.Context(), ownPassword)
		if err != nil {
			t.Fatal(err)
		}
		bob, err := auth.CreateUser(t.Context(), db, "bob@example.org", "Bob", hash, noon)
		if err != nil {
			t.Fatal(err)
		}
		var got []sqldb.Write
		db.WatchWrites(map[string]sqldb.IDParam{"membership": sqldb.ParamOf[id.User]()}, func(list []sqldb.Write) { got = append(got, list...) })
		asBob := principal(acme, bob, auth.Editor)
		var e auth.SignedIn
		token := ""
		for _, tt := range []struct {
			what string
			do   func() error
			want []id.Tenant
		}{
			{"becoming a member", func() error {
				return auth.AddMember(t.Context(), db, acme.ID, bob.ID, auth.Editor, auth.BySystem, noon)
			}, []id.Tenant{acme.ID}},
			{"becoming one of another tenant", func() error {
				return auth.AddMember(t.Context(), db, second.ID, bob.ID, auth.Editor, auth.BySystem, noon)
			}, []id.Tenant{second.ID}},
			{"being invited", func() error {
				_, link, err := d.Invite(t.Context(), boss, bob.Email, auth.Viewer, noon)
				token = tokenOf(t, link)
				return err
			}, []id.Tenant{other.ID}},
			{"signing in", func() (err error) {
				e, err = d.SignIn(t.Context(), bob.Email, ownPassword, auth.Client{IP: home}, noon)
				return err
			}, []id.Tenant{acme.ID, second.ID}},
			{"a new name", func() error {
				asBob.Session = e.Session.ID
				_, err := d.Rename(t.Context(), asBob, "Robert")
				return err
			}, []id.Tenant{acme.ID, second.ID}},
			{"a proof", func() error { return auth.SetPassword(t.Context(), db, bob.ID, hash, noon) }, []id.Tenant{acme.ID, second.ID}},
			{"accepting", func() error {
				_, err := d.Accept(t.Context(), token, "Bob", ownPassword, auth.Client{IP: home}, noon)
				return err
			}, []id.Tenant{acme.ID, second.ID, other.ID}},
			{"another role", func() error {
				_, err := auth.ChangeMember(t.Context(), db, ann, bob.ID, auth.MemberChange{Role: new(auth.Viewer)}, noon)
				return err
			}, []id.Tenant{acme.ID}},
			{"leaving", func() error { return auth.RemoveMember(t.Context(), db, ann, bob.ID, noon) }, []id.Tenant{acme.ID}},
			{"a refused sign-in", func() error {
				_, err := d.SignIn(t.Context(), bob.Email, newPassword, auth.Client{IP: home}, noon)
				if !errors.Is(err, auth.ErrCredentials) {
					return errors.New("it succeeds")
				}
				return nil
			}, nil},
		} {
			got = nil
			if err := tt.do(); err != nil {
				t.Fatalf("%s: %v", tt.what, err)
			}
			var tenants []id.Tenant
			for _, w := range got {
				if w.ID != [16]byte(bob.ID) {
					t.Errorf("%s reports another user", tt.what)
				}
				tenants = append(tenants, w.Tenant)
			}
			slices.Sort(tenants)
			if tenants = slices.Compact(tenants); !slices.Equal(tenants, tt.want) {
				t.Errorf("%s is reported for %v, want %v", tt.what, tenants, tt.want)
			}
		}
	})
}
