package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestRolesLimitChangesOfMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		actor, target, to auth.Role
		want              error
	}{
		{auth.Admin, auth.Viewer, auth.Admin, nil},
		{auth.Admin, auth.Admin, auth.Editor, nil},
		{auth.Admin, auth.Editor, auth.Owner, auth.ErrForbidden},
		{auth.Admin, auth.Owner, auth.Viewer, auth.ErrForbidden},
		{auth.Owner, auth.Owner, auth.Viewer, nil},
		{auth.Owner, auth.Viewer, auth.Owner, nil},
		{auth.Owner, auth.Viewer, "king", fault.ErrInput},
	} {
		t.Run(fmt.Sprintf("%s makes %s %s", tt.actor, tt.target, tt.to), func(t *testing.T) {
			t.Parallel()
			db := dbtest.One(t)
			acme := makeTenant(t, db, "acme")
			makeMember(t, db, acme, "olga", auth.Owner)
			actor := principal(acme, makeMember(t, db, acme, "actor", tt.actor), tt.actor)
			target := makeMember(t, db, acme, "target", tt.target)
			m, err := auth.ChangeMember(t.Context(), db, actor, target.ID, auth.MemberChange{Role: &tt.to}, noon)
			if !errors.Is(err, tt.want) || err == nil && m.Role != tt.to {
				t.Errorf("ChangeMember = %v, %v; want %v", m.Role, err, tt.want)
			}
			if err := auth.RemoveMember(t.Context(), db, actor, target.ID, noon); (err != nil) != (tt.actor == auth.Admin && tt.target == auth.Owner) {
				t.Errorf("RemoveMember: %v", err)
			}
		})
	}
}

func TestATenantKeepsAnOwner(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		a, b := makeMember(t, db, acme, "ann", auth.Owner), makeMember(t, db, acme, "bob", auth.Owner)
		// Both resign concurrently: one must remain.
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, u := range []auth.User{a, b} {
			wg.Go(func() {
				_, errs[i] = auth.ChangeMember(t.Context(), db, principal(acme, u, auth.Owner), u.ID, auth.MemberChange{Role: new(auth.Viewer)}, noon)
			})
		}
		wg.Wait()
		if errors.Is(errs[0], auth.ErrLastOwner) == errors.Is(errs[1], auth.ErrLastOwner) {
			t.Fatalf("two owners stepped down with %v and %v, want IN_USE for one", errs[0], errs[1])
		}
		last := a
		if errs[0] == nil {
			last = b
		}
		p := principal(acme, last, auth.Owner)
		wantFault(t, "removing the last owner", auth.RemoveMember(t.Context(), db, p, last.ID, noon), auth.ErrLastOwner)
		_, err := auth.ChangeMember(t.Context(), db, p, last.ID, auth.MemberChange{Status: new(auth.MemberDisabled)}, noon)
		wantFault(t, "disabling the last owner", err, auth.ErrLastOwner)
	})
}

func TestMembersBelongToOneTenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann, vic := makeMember(t, db, acme, "ann", auth.Owner), makeMember(t, db, other, "vic", auth.Viewer)
		p := principal(acme, ann, auth.Owner)
		_, err := auth.ChangeMember(t.Context(), db, p, vic.ID, auth.MemberChange{Role: new(auth.Owner)}, noon)
		wantFault(t, "changing another tenant's member", err, auth.ErrNoUser)
		wantFault(t, "removing them", auth.RemoveMember(t.Context(), db, p, vic.ID, noon), auth.ErrNoUser)
		if list, err := auth.Members(t.Context(), db, acme.ID); err != nil || len(list) != 1 || list[0].User != ann.ID {
			t.Errorf("Members = %v, %v", list, err)
		}
		if err := auth.AddMember(t.Context(), db, acme.ID, vic.ID, auth.Editor, auth.BySystem, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.ChangeMember(t.Context(), db, p, vic.ID, auth.MemberChange{Status: new(auth.MemberDisabled)}, noon); err != nil {
			t.Fatal(err)
		}
		list, err := auth.Memberships(t.Context(), db, vic.ID)
		if err != nil || len(list) != 1 || list[0].Slug != "other" || list[0].Role != auth.Viewer {
			t.Errorf("Memberships = %v, %v; want only where they are not disabled", list, err)
		}
	})
}

func TestTheAuditLogPagesThroughEveryEntryOfATenant(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		by := auth.By{Actor: auth.Actor{Type: "user", ID: "u", Name: "Ann"}, IP: home}
		want := map[string]bool{}
		for i := range 7 {
			at := noon.Add(time.Duration(i/3) * time.Second) // several at one time
			target := fmt.Sprint(i)
			want[target] = true
			if err := errors.Join(
				auth.Audit(t.Context(), db, by.Did(acme.ID, "stage.create", "stage", target, at)),
				auth.Audit(t.Context(), db, by.Did(other.ID, "stage.create", "stage", "foreign", at)),
			); err != nil {
				t.Fatal(err)
			}
		}
		var at time.Time
		var last id.AuditEntry
		for page := 0; ; page++ {
			list, err := auth.AuditLog(t.Context(), db, acme.ID, auth.AuditFilter{}, at, last, 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if !want[e.TargetID] || e.Actor != by.Actor || e.IP != home {
					t.Errorf("entry %+v is foreign, or came twice", e)
				}
				delete(want, e.TargetID)
				if !at.IsZero() && e.At.After(at) {
					t.Errorf("%v comes after %v", e.At, at)
				}
				at, last = e.At, e.ID
			}
			if len(list) < 3 {
				break
			}
		}
		if len(want) > 0 {
			t.Errorf("entries %v never came", want)
		}
	})
}

// A part of actions before the dot selects them all, and an action that has no dot.
func TestTheAuditLogIsSelectedByAction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme := makeTenant(t, db, "acme")
		for _, action := range []string{"login", "login_link.create", "api_key.create", "api_key.revoke"} {
			if err := auth.Audit(t.Context(), db, auth.BySystem.Did(acme.ID, action, "user", "u", noon)); err != nil {
				t.Fatal(err)
			}
		}
		for action, want := range map[string]int{"": 4, "login": 1, "api_key": 2, "api_key.create": 1, "api": 0, "log%": 0, "login_link": 1, "loginxlink": 0} {
			list, err := auth.AuditLog(t.Context(), db, acme.ID, auth.AuditFilter{Action: action}, time.Time{}, id.AuditEntry{}, 10)
			if err != nil || len(list) != want {
				t.Errorf("%q selects %d entries, %v; want %d", action, len(list), err, want)
			}
		}
	})
}

func TestCommonPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for password, ok := range map[string]bool{
		"purple otter skates home":  true,
		"Tr0ub4dor&3 and more":      true,
		"žluťoučký kůň pěl ódy":     true,
		strings.Repeat("ab cd", 40): true,
		"":                          false,
		"short":                     false,
		"ninechars":                 false,
		strings.Repeat("x1y2 ", 41): false,
		"Password123!":              false,
		"p@ssw0rd2026":              false,
		"1234567890":                false,
		"qwertyuiop1":               false,
		"aaaaaaaaaaaaaa":            false,
		"abababababab":              false,
		"passwordpassword":          false,
		"ann.smith@example.org":     false,
		"purple\x00otter skates":    false,
		"\xff\xfe not text at all":  false,
	} {
		var p fault.Problems
		auth.CheckNewPassword(&p, "password", password, "ann.smith@example.org", "Ann Smith")
		if p.Any() == ok {
			t.Errorf("CheckNewPassword(%q): %v, want it accepted: %v", password, p.Err(), ok)
		}
	}
}

func TestAPasswordHashIsArgon2id(t *testing.T) {
	t.Parallel()
	p := auth.NewPasswords()
	if h := passwordHash(); !strings.HasPrefix(h, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash begins %.40q", h)
	}
	for _, tt := range []struct {
		password, hash string
		want           bool
	}{{testPassword, passwordHash(), true}, {testPassword + " ", passwordHash(), false}, {"", "", false}, {testPassword, "", false}} {
		if got, err := p.Check(t.Context(), tt.password, tt.hash); err != nil || got != tt.want {
			t.Errorf("Check(%q) = %v, %v; want %v", tt.password, got, err, tt.want)
		}
	}
}

// What a user has not saved is deleted with their membership, in this tenant only.
func TestRemovedMembersLeaveNoWorkingCopies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := makeTenant(t, db, "acme"), makeTenant(t, db, "other")
		ann, bob := makeMember(t, db, acme, "ann", auth.Owner), makeMember(t, db, acme, "bob", auth.Editor)
		key := workingcopy.Key{Kind: "form", Record: "new-" + id.New[id.Form]().String()}
		count := func(tenant id.Tenant, user id.User) int {
			list, err := workingcopy.List(t.Context(), db, tenant, user, "", noon)
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		for _, tenant := range []id.Tenant{acme.ID, other.ID} {
			for _, user := range []id.User{ann.ID, bob.ID} {
				if err := workingcopy.Store(t.Context(), db, tenant, user, key, workingcopy.Input{Data: []byte(`{}`)}, noon); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := auth.RemoveMember(t.Context(), db, principal(acme, ann, auth.Owner), bob.ID, noon); err != nil {
			t.Fatal(err)
		}
		if a, b, elsewhere := count(acme.ID, ann.ID), count(acme.ID, bob.ID), count(other.ID, bob.ID); a != 1 || b != 0 || elsewhere != 1 {
			t.Errorf("working copies: Ann %d, Bob %d, Bob elsewhere %d; want 1, 0, 1", a, b, elsewhere)
		}
	})
}
