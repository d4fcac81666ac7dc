package notify

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestAdminsAreMailedOnceAboutADisabledEndpoint(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, r := newSite(t, db), newReceiver(t, status(http.StatusGone))
		another, err := tenant.Create(t.Context(), db, "other", "Other", "", s.clock())
		if err != nil {
			t.Fatal(err)
		}
		for email, role := range map[string]auth.Role{"owner@a.example": auth.Owner, "admin@a.example": auth.Admin, "editor@a.example": auth.Editor, "theirs@a.example": auth.Owner, "claimed@a.example": auth.Owner} {
			u, err := auth.CreateUser(t.Context(), db, email, "Ann", "", s.clock())
			if err != nil {
				t.Fatal(err)
			}
			of := s.tenant
			if email == "theirs@a.example" {
				of = another.ID
			}
			if err := auth.AddMember(t.Context(), db, of, u.ID, role, auth.BySystem, s.clock()); err != nil {
				t.Fatal(err)
			}
		}
		// Somebody signed up with this address, and has not proven that it is theirs.
		if _, err := db.Exec(t.Context(), `UPDATE app_user SET proven_at = NULL WHERE email = 'claimed@a.example' /* all tenants: a user belongs to the installation */`); err != nil {
			t.Fatal(err)
		}
		e, _ := s.endpoint(s.tenant, r.URL+"/secret-path?token=abc")
		s.test(e)
		s.tick()
		var to []string
		broken := true
		n := &DisabledEndpoints{DB: db, Log: s.engine.Log, Mail: func(_ context.Context, address, subject, text string) error {
			if broken {
				return errors.New("no relay")
			}
			if strings.Contains(subject+text, "secret") || strings.Contains(text, "abc") || !strings.Contains(text, "410") {
				t.Errorf("mail: %s\n%s", subject, text)
			}
			to = append(to, address)
			return nil
		}}
		if err := n.Tick(t.Context()); err == nil {
			t.Error("a mail that failed is no error")
		}
		broken = false
		for range 2 {
			if err := n.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(to)
		if !slices.Equal(to, []string{"admin@a.example", "owner@a.example"}) {
			t.Errorf("mailed were %v", to)
		}
	})
}
