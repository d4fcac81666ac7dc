package library_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/sqldb"
)

func TestAList(t *testing.T) {
	each(t, func(s *fixture) {
		var made []library.Entry
		for _, tt := range []struct {
			name   string
			status library.Status
		}{
			{"Spring sale", library.Published}, {"100% off", library.Draft}, {"a_b", library.Draft}, {"Old SPRING", library.Archived}, {"Übung", library.Published},
			{`back\slash`, library.Draft},
		} {
			s.later()
			made = append(made, s.create(library.Change{Name: &tt.name, Status: &tt.status, Content: withSubject("x")}))
		}
		s.later()
		s.update(made[0].ID, library.Change{Tags: new([]string{"x"})}) // which makes it the first of the list
		for _, tt := range []struct {
			what  string
			f     library.Filter
			want  string
			total int
		}{
			{"all that are not archived", library.Filter{Limit: 10}, `Spring sale, back\slash, Übung, a_b, 100% off`, 5},
			{"a page", library.Filter{Offset: 1, Limit: 2}, `back\slash, Übung`, 5},
			{"behind the end", library.Filter{Offset: 9, Limit: 2}, "", 5},
			{"far behind the end", library.Filter{Offset: 1 << 62, Limit: 2, Search: "a"}, "", 3},
			{"a status", library.Filter{Statuses: []library.Status{library.Draft}, Limit: 10}, `back\slash, a_b, 100% off`, 3},
			{"statuses", library.Filter{Statuses: []library.Status{library.Archived, library.Published}, Limit: 10}, "Spring sale, Übung, Old SPRING", 3},
			{"a part of the name", library.Filter{Search: " sPrinG", Limit: 10}, "Spring sale", 1},
			{"and a status", library.Filter{Search: "spring", Statuses: library.Statuses(), Limit: 10}, "Spring sale, Old SPRING", 2},
			{"a letter beyond ASCII", library.Filter{Search: "üBUNG", Limit: 10}, "Übung", 1},
			{"what LIKE means otherwise", library.Filter{Search: "%", Limit: 10}, "100% off", 1},
			{"what LIKE means otherwise", library.Filter{Search: "_", Limit: 10}, "a_b", 1},
			{"what LIKE means otherwise", library.Filter{Search: `\`, Limit: 10}, `back\slash`, 1},
			{"nothing", library.Filter{Search: "' OR 1=1", Limit: 10}, "", 0},
			{"a page of found ones", library.Filter{Search: "a", Offset: 1, Limit: 1}, `back\slash`, 3},
		} {
			list, total, err := library.List(s.Context(), s.db, s.tenant, tt.f)
			s.ok(err)
			var names []string
			for _, e := range list {
				names = append(names, e.Name)
				if e.Content != nil || e.Version != 1 {
					s.Errorf("%s: %+v", tt.what, e)
				}
			}
			if got := strings.Join(names, ", "); got != tt.want || total != tt.total {
				s.Errorf("%s: %q of %d, want %q of %d", tt.what, got, total, tt.want, tt.total)
			}
		}
		for names, ok := range map[string]bool{"draft archived": true, "": true, "draft gone": false, "Draft": false} {
			if _, err := library.ParseStatuses(strings.Fields(names)); (err == nil) != ok || err != nil && !errors.Is(err, library.ErrStatus) {
				s.Errorf("ParseStatuses(%q): %v", names, err)
			}
		}
	})
}

func TestAnEntryIsDeletedUnlessItIsInUse(t *testing.T) {
	each(t, func(s *fixture) {
		e := s.create(library.Change{Name: new("News"), Content: withSubject("one")})
		s.update(e.ID, library.Change{Content: withSubject("two")})
		var asked []usage.Subject
		who := usage.Func(func(_ context.Context, _ *sqldb.DB, tenant id.Tenant, about usage.Subject) (usage.Holders, error) {
			if tenant != s.tenant {
				return nil, fmt.Errorf("asked for tenant %s", tenant)
			}
			asked = append(asked, about)
			return usage.Holders{
				"sequences":  {{ID: "s", Name: "Welcome", Status: "active"}},
				"broadcasts": {{ID: "b", Name: "March", Status: "draft", Version: 1}, {ID: "c", Name: "May", Status: "scheduled", Version: 2}, {ID: "d", Name: "Sent", Status: "completed", Version: 1}},
				"forms":      {},
			}, nil
		})
		march := library.Use{Version: new(1), Kind: "broadcast", Name: "March", Status: "draft"}
		may := library.Use{Version: new(2), Kind: "broadcast", Name: "May", Status: "scheduled"}
		sent := library.Use{Version: new(1), Kind: "broadcast", Name: "Sent", Status: "completed"}
		welcome := library.Use{Kind: "sequence", Name: "Welcome", Status: "active"}

		err := library.Delete(s.Context(), s.db, s.tenant, e.ID, who)
		f, _ := fault.As(err)
		if f == nil || !f.Is(library.ErrInUse) {
			s.Fatalf("an entry in use is deleted: %v", err)
		}
		if diff := cmp.Diff(library.InUse{Usage: []library.Use{march, may, welcome}}, f.Details); diff != "" {
			s.Errorf("details:\n%s", diff)
		}
		if diff := cmp.Diff([]usage.Subject{{Kind: usage.Library, ID: e.ID.String(), Key: "news"}}, asked); diff != "" {
			s.Errorf("asked about:\n%s", diff)
		}
		want := map[int][]library.Use{1: {march, sent}, 2: {may, welcome}} // uses without a version are of the current one
		for v, err := range library.Versions(s.Context(), s.db, s.tenant, e.ID, who) {
			s.ok(err)
			if diff := cmp.Diff(want[v.Number], v.Usage); diff != "" {
				s.Errorf("who uses version %d:\n%s", v.Number, diff)
			}
			again, err := library.VersionOf(s.Context(), s.db, s.tenant, e.ID, v.Number, who)
			s.ok(err)
			if diff := cmp.Diff(v, again); diff != "" {
				s.Errorf("version %d alone:\n%s", v.Number, diff)
			}
		}
		for _, n := range []int{0, -1, 3} {
			if _, err := library.VersionOf(s.Context(), s.db, s.tenant, e.ID, n, who); !errors.Is(err, library.ErrNoVersion) {
				s.Errorf("version %d: %v", n, err)
			}
		}

		silent := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
			return nil, errors.New("the line is dead")
		})
		for what, err := range map[string]error{
			"lookup fails":      library.Delete(s.Context(), s.db, s.tenant, e.ID, silent),
			"no lookup":         library.Delete(s.Context(), s.db, s.tenant, e.ID, nil),
			"a version of such": second(library.VersionOf(s.Context(), s.db, s.tenant, e.ID, 1, silent)),
		} {
			if !errors.Is(err, library.ErrUnavailable) {
				s.Errorf("%s: %v", what, err)
			}
		}
		s.load(e.ID)
		past := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
			return usage.Holders{"broadcasts": {{Status: "completed"}, {Status: "failed"}, {Status: "cancelled"}}, "sequences": {{Status: "archived"}}}, nil
		})
		s.ok(library.Delete(s.Context(), s.db, s.tenant, e.ID, past))
		if err := library.Delete(s.Context(), s.db, s.tenant, e.ID, unused); !errors.Is(err, library.ErrNotFound) {
			s.Errorf("deleted twice: %v", err)
		}
	})
}
