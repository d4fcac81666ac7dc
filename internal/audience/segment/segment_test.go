package segment_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	acme  = id.Tenant(101)
	other = id.Tenant(102)
)

// each runs f on both databases, and checks that it does not change another tenant's list of the same
// name with a member of the same address.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		theirs := list(t, db, other, "VIP")
		add(t, db, other, theirs, person(t, db, other, "c0@example.org"))
		before, err := segment.Find(t.Context(), db, other, theirs.Key)
		if err != nil {
			t.Fatal(err)
		}
		f(t, db)
		after, err := segment.Find(t.Context(), db, other, theirs.Key)
		if err != nil {
			t.Fatal(err)
		}
		recounted, err := segment.Recount(t.Context(), db, other, theirs.ID, *before.EvaluatedAt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after) + cmp.Diff(before, recounted); diff != "" {
			t.Errorf("the other tenant's list changed:\n%s", diff)
		}
	})
}

func list(t *testing.T, db *sqldb.DB, tenant id.Tenant, name string) segment.Segment {
	t.Helper()
	s, err := segment.CreateList(t.Context(), db, tenant, segment.Change{Name: &name}, noon)
	if err != nil {
		t.Fatalf("CreateList(%q): %v", name, err)
	}
	return s
}

func person(t *testing.T, db *sqldb.DB, tenant id.Tenant, email string) id.Contact {
	t.Helper()
	c, err := contact.Create(t.Context(), db, tenant, email, contact.Change{}, contact.Rules{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func crowd(t *testing.T, db *sqldb.DB, n int) []id.Contact {
	t.Helper()
	ids := make([]id.Contact, n)
	for i := range ids {
		ids[i] = person(t, db, acme, fmt.Sprintf("c%d@example.org", i))
	}
	slices.SortFunc(ids, id.Compare)
	return ids
}

func add(t *testing.T, db *sqldb.DB, tenant id.Tenant, s segment.Segment, ids ...id.Contact) segment.Added {
	t.Helper()
	r, err := segment.Add(t.Context(), db, tenant, s.ID, segment.People{IDs: ids}, noon)
	if err != nil {
		t.Fatalf("Add: %v", err)
	}
	return r
}

func counts(t *testing.T, db *sqldb.DB, s segment.Segment) [2]int {
	t.Helper()
	got, err := segment.Find(t.Context(), db, acme, s.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	return [2]int{*got.Members, *got.MembersAll}
}

func TestKeysAreDerivedAndStay(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		first, second := list(t, db, acme, "Café Gäste!"), list(t, db, acme, "cafe gaste")
		if first.Key != "cafe_gaste" || second.Key != "cafe_gaste_2" {
			t.Errorf("keys %q and %q", first.Key, second.Key)
		}
		if s := list(t, db, acme, "Engaged 30 days"); s.Key == "engaged_30_days" {
			t.Error("a list has the key of a built-in segment")
		}
		up, err := segment.Update(t.Context(), db, acme, first.ID, segment.Change{Name: new("Guests"), Tags: new([]string{"a", "a", "b"}), Definition: json.RawMessage(`{"x": 1}`)}, noon)
		if err != nil || up.Key != "cafe_gaste" || up.Name != "Guests" || !slices.Equal(up.Tags, []string{"a", "b"}) {
			t.Errorf("Update = %+v, %v", up, err)
		}
		for _, name := range []string{"", strings.Repeat("x", 201), "a\x00"} {
			if _, err := segment.CreateList(t.Context(), db, acme, segment.Change{Name: &name}, noon); !errors.Is(err, fault.ErrInput) {
				t.Errorf("CreateList(%.10q) = %v", name, err)
			}
		}
		found, err := segment.ByKeys(t.Context(), db, acme, []string{second.Key, first.Key, second.Key})
		if err != nil || len(found) != 2 || found[0].ID != second.ID {
			t.Errorf("ByKeys = %v, %v", found, err)
		}
		if _, err := segment.ByKeys(t.Context(), db, acme, []string{first.Key, "nobody", "a\x00"}); !errors.Is(err, segment.ErrInvalid) || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("ByKeys of an unknown key = %v", err)
		}
		if _, err := segment.ByIDs(t.Context(), db, other, []id.Segment{first.ID}); !errors.Is(err, segment.ErrInvalid) {
			t.Errorf("another tenant's ByIDs = %v", err)
		}
		all, err := segment.List(t.Context(), db, acme, segment.Filter{Tags: []string{"b", "z"}, Search: "GUE"})
		if err != nil || len(all) != 1 || all[0].ID != first.ID {
			t.Errorf("List = %v, %v", all, err)
		}
	})
}

func TestMembersAreCounted(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		people, vip := crowd(t, db, 4), list(t, db, acme, "VIP")
		if _, err := suppression.Add(t.Context(), db, acme, "c1@example.org", "", noon); err != nil {
			t.Fatal(err)
		}
		r, err := segment.Add(t.Context(), db, acme, vip.ID, segment.People{
			IDs:    append([]id.Contact{people[0], people[0]}, id.New[id.Contact]()),
			Emails: []string{"C1@example.org", "c2@example.org", "nobody@example.org", "nope"},
		}, noon)
		if err != nil || r.Added != 3 || r.Already != 0 || len(r.NotFound) != 3 {
			t.Fatalf("Add = %+v, %v", r, err)
		}
		if got := counts(t, db, vip); got != [2]int{2, 3} {
			t.Errorf("counts %v, want 2 of 3: one is suppressed", got)
		}
		if again := add(t, db, acme, vip, people[0], people[3]); again.Added != 1 || again.Already != 1 {
			t.Errorf("adding again = %+v", again)
		}
		gone, err := segment.Remove(t.Context(), db, acme, vip.ID, segment.People{IDs: []id.Contact{people[0], people[0], id.New[id.Contact]()}, Emails: []string{"c3@example.org"}}, noon)
		if err != nil || gone.Removed != 2 || gone.NotMembers != 1 {
			t.Errorf("Remove = %+v, %v", gone, err)
		}
		if got := counts(t, db, vip); got != [2]int{1, 2} {
			t.Errorf("counts %v, want 1 of 2", got)
		}
		if err := contact.Unsubscribe(t.Context(), db, acme, people[2], contact.UnsubscribeScope{Everything: true}, noon); err != nil {
			t.Fatal(err)
		}
		if s, err := segment.Recount(t.Context(), db, acme, vip.ID, noon); err != nil || *s.Members != 0 || *s.MembersAll != 2 {
			t.Errorf("Recount = %v of %v, %v; want 0 of 2", *s.Members, *s.MembersAll, err)
		}
		if lists, err := segment.Memberships(t.Context(), db, acme, people[2]); err != nil || len(lists) != 1 || lists[0].Segment.ID != vip.ID {
			t.Errorf("Memberships = %v, %v", lists, err)
		}
		_, err = segment.Add(t.Context(), db, acme, vip.ID, segment.People{IDs: make([]id.Contact, 1001)}, noon)
		if !errors.Is(err, segment.ErrLimit) {
			t.Errorf("1001 members at once = %v", err)
		}
		if _, err := segment.Add(t.Context(), db, other, vip.ID, segment.People{IDs: people}, noon); !errors.Is(err, segment.ErrNotFound) {
			t.Errorf("another tenant's Add = %v", err)
		}
	})
}

func TestConcurrentWritersCountEachMember(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		people, vip := crowd(t, db, 24), list(t, db, acme, "VIP")
		var wg sync.WaitGroup
		for part := range slices.Chunk(people, 6) {
			wg.Go(func() {
				for _, c := range part {
					if _, err := segment.Add(context.Background(), db, acme, vip.ID, segment.People{IDs: []id.Contact{c, people[0]}}, noon); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 2 { // and a concurrent recount
			wg.Go(func() {
				for range 8 {
					if _, err := segment.Recount(context.Background(), db, acme, vip.ID, noon); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if got := counts(t, db, vip); got != [2]int{24, 24} {
			t.Errorf("counts %v, want 24", got)
		}
	})
}

func TestAudienceIsUnionLessExclusions(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		people := crowd(t, db, 12)
		a, b, out := list(t, db, acme, "A"), list(t, db, acme, "B"), list(t, db, acme, "Out")
		add(t, db, acme, a, people[:8]...)
		add(t, db, acme, b, people[5:]...)
		add(t, db, acme, out, people[0], people[1], people[2], people[3], people[6], people[11])
		want := []id.Contact{people[4], people[5], people[7], people[8], people[9], people[10]}
		for limit := 1; limit < 14; limit++ {
			var got []id.Contact
			after := id.Contact{}
			audience := segment.Audience{Tenant: acme, Include: []id.Segment{a.ID, b.ID}, Exclude: []id.Segment{out.ID}}
			for {
				page, err := audience.After(t.Context(), db, after, limit, noon)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				after = page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: %d contacts, want %d", limit, len(got), len(want))
			}
		}
		if _, err := contact.Delete(t.Context(), db, acme, people[:2], noon); err != nil { // they stay members
			t.Fatal(err)
		}
		for _, l := range []segment.Segment{a, b, out, list(t, db, acme, "Nobody")} {
			audience := segment.Audience{Tenant: acme, Include: []id.Segment{l.ID}}
			page, err := audience.After(t.Context(), db, id.Contact{}, 100, noon)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := audience.Count(t.Context(), db, noon); err != nil || n != len(page) {
				t.Errorf("the audience of the list %s has %d contacts, %d are counted, %v", l.Name, len(page), n, err)
			}
		}
		for _, empty := range []segment.Audience{
			{Tenant: other, Include: []id.Segment{a.ID}}, {Tenant: acme}, {Tenant: acme, Exclude: []id.Segment{a.ID}},
		} {
			if page, err := empty.After(t.Context(), db, id.Contact{}, 5, noon); err != nil || len(page) != 0 {
				t.Errorf("the audience %+v = %v, %v", empty, page, err)
			}
			if any, err := empty.Any(t.Context(), db, noon); err != nil || any {
				t.Errorf("Any of %+v = %v, %v", empty, any, err)
			}
		}
	})
}

func TestDeleteRefusesSegmentsInUse(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		vip := list(t, db, acme, "VIP")
		c := person(t, db, acme, "ann@example.org")
		add(t, db, acme, vip, c)
		found := usage.Subject{}
		used := usage.Func(func(_ context.Context, _ *sqldb.DB, _ id.Tenant, s usage.Subject) (usage.Holders, error) {
			found = s
			return usage.Holders{"broadcasts": {{ID: "b1", Name: "Spring", Status: "draft"}}}, nil
		})
		err := segment.Delete(t.Context(), db, acme, vip.ID, usage.Finders{used})
		f, _ := fault.As(err)
		if !errors.Is(err, segment.ErrInUse) || !strings.Contains(fmt.Sprint(f.Details), "Spring") || !strings.Contains(fmt.Sprint(f.Details), "forms") {
			t.Errorf("Delete of a used list = %v with %v", err, f)
		}
		if found.ID != vip.ID.String() || found.Key != vip.Key {
			t.Errorf("the finder was called with %+v", found)
		}
		if err := segment.Delete(t.Context(), db, acme, vip.ID, usage.Finders{}); err != nil {
			t.Fatal(err)
		}
		if lists, err := segment.Memberships(t.Context(), db, acme, c); err != nil || len(lists) != 0 {
			t.Errorf("Memberships after Delete = %v, %v", lists, err)
		}
		if err := segment.Delete(t.Context(), db, acme, vip.ID, usage.Finders{}); !errors.Is(err, segment.ErrNotFound) {
			t.Errorf("Delete again = %v", err)
		}
	})
}

func TestMembersComeNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		people, vip := crowd(t, db, 5), list(t, db, acme, "VIP")
		for i, c := range people {
			if _, err := segment.Add(t.Context(), db, acme, vip.ID, segment.People{IDs: []id.Contact{c}}, noon.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		var got []id.Contact
		q := contact.Query{Sort: contact.ByMemberAdded, Limit: 2}
		for {
			page, err := segment.Members(t.Context(), db, acme, vip, q, noon)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page.Contacts {
				got = append(got, c.ID)
				if c.MemberAddedAt == nil {
					t.Error("a member without member_added_at")
				}
			}
			if page.Next == nil {
				break
			}
			q.After = page.Next
		}
		slices.Reverse(got)
		if !slices.Equal(got, people) {
			t.Errorf("members %v, want %v", got, people)
		}
	})
}
