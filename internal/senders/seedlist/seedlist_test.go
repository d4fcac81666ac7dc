package seedlist_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	acme  = id.Tenant(101)
	other = id.Tenant(102)
	by    = auth.Actor{Type: "user", ID: "u", Name: "Ann"}
)

// harness is a database with a list of acme, and one of another tenant that must not change.
type harness struct {
	*testing.T
	db   *sqldb.DB
	list id.SeedList
}

func each(t *testing.T, f func(h harness)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := harness{T: t, db: db}
		theirs := h.create(other, "Vendor")
		h.update(other, theirs, seedlist.Request{Kind: seedlist.Replace, Add: entries("a@gmail.com", "ann@example.org")}, noon)
		before := h.seeds(other, theirs)
		h.list = h.create(acme, "Vendor")
		f(h)
		if diff := cmp.Diff(before, h.seeds(other, theirs)); diff != "" {
			t.Errorf("the other tenant's seeds changed:\n%s", diff)
		}
	})
}

func (h harness) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h harness) create(tenant id.Tenant, name string) id.SeedList {
	h.Helper()
	l, err := seedlist.Create(h.Context(), h.db, tenant, seedlist.Change{Name: &name}, noon)
	h.must(err)
	return l.ID
}

func (h harness) update(tenant id.Tenant, list id.SeedList, r seedlist.Request, now time.Time) seedlist.Result {
	h.Helper()
	r.RequestedBy = by
	result, err := seedlist.Update(h.Context(), h.db, tenant, list, r, now)
	h.must(err)
	return result
}

func (h harness) replace(addrs ...string) seedlist.Result {
	h.Helper()
	return h.update(acme, h.list, seedlist.Request{Kind: seedlist.Replace, Add: entries(addrs...), AllowLarge: true}, noon)
}

func (h harness) seeds(tenant id.Tenant, list id.SeedList) []seedlist.Seed {
	h.Helper()
	seeds, _, err := seedlist.Seeds(h.Context(), h.db, tenant, list, seedlist.Filter{Limit: 1000})
	h.must(err)
	return seeds
}

// states returns the seeds of the list as "address status reason".
func (h harness) states() []string {
	h.Helper()
	var list []string
	for _, s := range h.seeds(acme, h.list) {
		list = append(list, strings.TrimSpace(fmt.Sprint(s.Email, " ", s.Status, " ", s.Reason)))
	}
	return list
}

func (h harness) wantStates(want ...string) {
	h.Helper()
	if diff := cmp.Diff(want, h.states()); diff != "" {
		h.Errorf("the seeds differ (-want +got):\n%s", diff)
	}
}

func (h harness) seed(email string) id.Seed {
	h.Helper()
	for _, s := range h.seeds(acme, h.list) {
		if s.Email == email {
			return s.ID
		}
	}
	h.Fatalf("there is no seed %s", email)
	return id.Seed{}
}

func (h harness) apply(a seedlist.Action, email string) error {
	h.Helper()
	_, err := a.Apply(h.Context(), h.db, acme, h.list, h.seed(email), noon)
	return err
}

func (h harness) contact(email string) contact.Contact {
	h.Helper()
	c, err := contact.Create(h.Context(), h.db, acme, email, contact.Change{}, contact.Rules{Listed: suppression.QueueListed}, noon)
	h.must(err)
	return c
}

// follow passes the journal to the follower.
func (h harness) follow() {
	h.Helper()
	engine := &journal.Engine{DB: h.db, Followers: []journal.Follower{seedlist.Follower()}, Log: slog.New(slog.DiscardHandler)}
	for {
		more, err := engine.Tick(h.Context())
		h.must(err)
		if !more {
			return
		}
	}
}

// recheck makes a complete round through the seeds.
func (h harness) recheck() {
	h.Helper()
	r := &seedlist.Recheck{DB: h.db, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }}
	for {
		more, err := r.Tick(h.Context())
		h.must(err)
		if !more {
			return
		}
	}
}

func entries(addrs ...string) []seedlist.Entry {
	list := make([]seedlist.Entry, len(addrs))
	for i, a := range addrs {
		list[i].Email = a
	}
	return list
}

func TestFreshnessFollowsTheRotation(t *testing.T) {
	days := func(n float64) time.Time { return noon.Add(time.Duration(n * 24 * float64(time.Hour))) }
	for _, tt := range []struct {
		rotation, grace int // rotation 0: none
		at              float64
		want            seedlist.Freshness
	}{
		{0, 0, 1000, seedlist.NoRotation},
		{30, 5, 0, seedlist.Fresh},
		{30, 5, 24.9, seedlist.Fresh},
		{30, 5, 25, seedlist.DueSoon},
		{30, 5, 29.9, seedlist.DueSoon},
		{30, 5, 30, seedlist.Grace},
		{30, 5, 34.9, seedlist.Grace},
		{30, 5, 35, seedlist.Stale},
		{30, 0, 30, seedlist.Stale},
		{10, 0, 4.9, seedlist.Fresh},
		{10, 0, 5, seedlist.DueSoon},
		{6, 1, 2.9, seedlist.Fresh},
		{6, 1, 3, seedlist.DueSoon},
		{1, 0, 0.5, seedlist.DueSoon},
		{1, 0, 0.4, seedlist.Fresh},
	} {
		l := seedlist.List{SeedsUpdatedAt: &noon, GraceDays: tt.grace}
		if tt.rotation > 0 {
			l.RotationDays = &tt.rotation
		}
		if got := l.Freshness(days(tt.at)); got != tt.want {
			t.Errorf("a list of %d and %d days is %s after %v days, want %s", tt.rotation, tt.grace, got, tt.at, tt.want)
		}
		l.SeedsUpdatedAt = nil
		if got := l.Freshness(days(tt.at)); got != seedlist.NeverUpdated || l.RotatesAt() != nil || l.StaleAt() != nil {
			t.Errorf("a list that was never updated is %s", got)
		}
	}
}

func TestListsHaveUniqueNamesAndValidFields(t *testing.T) {
	each(t, func(h harness) {
		ctx := h.Context()
		if _, err := seedlist.Create(ctx, h.db, acme, seedlist.Change{Name: new(" Vendor ")}, noon); !errors.Is(err, seedlist.ErrDuplicate) {
			h.Errorf("Create with a taken name: %v", err)
		}
		second, err := seedlist.Create(ctx, h.db, acme, seedlist.Change{
			Name: new("Boxes"), VendorURL: new(new("https://vendor.example/x")), RotationDays: new(new(30)), GraceDays: new(5), IncludeByDefault: new(true),
		}, noon)
		h.must(err)
		if second.Name != "Boxes" || *second.RotationDays != 30 || second.GraceDays != 5 || !second.IncludeByDefault || second.SeedsUpdatedAt != nil {
			h.Errorf("Create = %+v", second)
		}
		if _, err := seedlist.Edit(ctx, h.db, acme, second.ID, seedlist.Change{Name: new("Vendor")}, noon); !errors.Is(err, seedlist.ErrDuplicate) {
			h.Errorf("Edit to a taken name: %v", err)
		}
		edited, err := seedlist.Edit(ctx, h.db, acme, second.ID, seedlist.Change{RotationDays: new((*int)(nil)), VendorURL: new((*string)(nil))}, noon.Add(time.Hour))
		h.must(err)
		if edited.RotationDays != nil || edited.VendorURL != nil || edited.GraceDays != 5 || !edited.UpdatedAt.After(edited.CreatedAt) {
			h.Errorf("Edit = %+v", edited)
		}
		all, err := seedlist.All(ctx, h.db, acme)
		h.must(err)
		if len(all) != 2 || all[0].Name != "Boxes" {
			h.Errorf("All = %+v", all)
		}
		bad := seedlist.Change{
			Name: new(""), VendorURL: new(new("javascript:alert(1)")), VendorLabel: new(new(strings.Repeat("x", 201))),
			RotationDays: new(new(366)), GraceDays: new(-1), Identities: &[]id.Identity{id.New[id.Identity]()},
		}
		_, err = seedlist.Create(ctx, h.db, acme, bad, noon)
		f, ok := fault.As(err)
		if !ok || len(f.Details.(fault.Fields).Fields) != 6 {
			h.Errorf("a bad list: %+v", f)
		}
		if _, err := seedlist.Edit(ctx, h.db, other, second.ID, seedlist.Change{}, noon); !errors.Is(err, seedlist.ErrNotFound) {
			h.Errorf("another tenant edits the list: %v", err)
		}
		if err := seedlist.Delete(ctx, h.db, other, second.ID); !errors.Is(err, seedlist.ErrNotFound) {
			h.Errorf("another tenant deletes the list: %v", err)
		}
		h.replace("a@gmail.com")
		h.must(seedlist.Delete(ctx, h.db, acme, h.list))
		if _, err := seedlist.Find(ctx, h.db, acme, h.list); !errors.Is(err, seedlist.ErrNotFound) {
			h.Errorf("a deleted list: %v", err)
		}
		var left int
		h.must(h.db.QueryRow(ctx, `SELECT COUNT(*) FROM seed WHERE tenant_id = $1 /* reads the tenant: a test */`, acme).Scan(&left))
		if left != 0 {
			h.Errorf("%d seeds of a deleted list remain", left)
		}
		for i := range seedlist.MaxLists - 1 {
			h.create(acme, fmt.Sprint("List ", i))
		}
		if _, err := seedlist.Create(ctx, h.db, acme, seedlist.Change{Name: new("One more")}, noon); !errors.Is(err, seedlist.ErrLimit) {
			h.Errorf("Create beyond the limit: %v", err)
		}
	})
}

func TestAReplacementRetiresWhatItDoesNotName(t *testing.T) {
	each(t, func(h harness) {
		first := h.replace("A@Gmail.com", "a@gmail.com", "b@outlook.de", "nope", "c@example.net")
		if first.Added != 3 || first.Invalid.Count != 1 || first.Invalid.Sample[0] != "nope" || first.SendableAfter != 3 || !first.Applied || first.SyncID == nil {
			h.Errorf("the first update = %+v", first)
		}
		again := h.replace("a@gmail.com", "b@outlook.de", "c@example.net")
		if again.Unchanged != 3 || again.Added+again.Retired+again.Reactivated != 0 {
			h.Errorf("the same update again = %+v", again)
		}
		second := h.replace("b@outlook.de", "d@aol.com")
		if second.Added != 1 || second.Retired != 2 || second.Unchanged != 1 || second.SendableBefore != 3 || second.SendableAfter != 2 || second.LargeChange {
			h.Errorf("the second update = %+v", second)
		}
		h.wantStates("a@gmail.com retired removed_by_sync", "b@outlook.de active", "c@example.net retired removed_by_sync", "d@aol.com active")
		h.must(h.apply(seedlist.Retire, "c@example.net"))
		back := h.replace("a@gmail.com", "b@outlook.de", "c@example.net", "d@aol.com")
		if back.Reactivated != 1 || back.HandRetired.Count != 1 || back.Unchanged != 2 {
			h.Errorf("the third update = %+v", back)
		}
		h.wantStates("a@gmail.com active", "b@outlook.de active", "c@example.net retired retired_by_user", "d@aol.com active")
		seeds := h.seeds(acme, h.list)
		if seeds[0].RetiredAt != nil || seeds[2].RetiredAt == nil || seeds[0].Provider != seedlist.Gmail || seeds[1].Provider != seedlist.Outlook {
			h.Errorf("the seeds are %+v", seeds)
		}
	})
}

func TestChangesConcernOnlyWhatTheyName(t *testing.T) {
	each(t, func(h harness) {
		h.replace("a@gmail.com", "b@gmail.com", "c@gmail.com")
		h.must(h.apply(seedlist.Pause, "c@gmail.com"))
		r := h.update(acme, h.list, seedlist.Request{
			Kind: seedlist.Changes, Add: []seedlist.Entry{{Email: "b@gmail.com"}, {Email: "d@corp.example", Provider: "Outlook"}, {Email: "e@gmail.com", Provider: "unheard"}, {Email: "a@gmail.com", Provider: "other"}},
			Remove: []string{"b@gmail.com", "C@gmail.com", "unknown@gmail.com", "bad"},
		}, noon)
		want := seedlist.Result{
			Applied: true, SyncID: r.SyncID, Added: 2, Unchanged: 2, Retired: 1, RemovedUnknown: 1, SendableBefore: 3, SendableAfter: 4,
			Invalid:             seedlist.Sample{Count: 1, Sample: []string{"bad"}},
			ProviderCorrections: seedlist.Sample{Count: 2, Sample: []string{"e@gmail.com", "a@gmail.com"}},
			HeldAsContact:       seedlist.Sample{Sample: []string{}}, HandRetired: seedlist.Sample{Sample: []string{}},
		}
		if diff := cmp.Diff(want, r); diff != "" {
			h.Errorf("the result differs:\n%s", diff)
		}
		h.wantStates("a@gmail.com active", "b@gmail.com active", "c@gmail.com retired removed_by_sync", "d@corp.example active", "e@gmail.com active")
		seeds := h.seeds(acme, h.list)
		if seeds[0].Provider != seedlist.Other || seeds[3].Provider != seedlist.Outlook || seeds[4].Provider != seedlist.Gmail {
			h.Errorf("the providers are %s, %s, %s", seeds[0].Provider, seeds[3].Provider, seeds[4].Provider)
		}
	})
}

func TestALargeChangeMustBeAllowed(t *testing.T) {
	each(t, func(h harness) {
		h.replace("a@gmail.com", "b@gmail.com", "c@gmail.com", "d@gmail.com")
		h.must(h.apply(seedlist.Pause, "d@gmail.com"))
		request := seedlist.Request{Kind: seedlist.Replace, Add: entries("a@gmail.com"), RequestedBy: by}
		_, err := seedlist.Update(h.Context(), h.db, acme, h.list, request, noon)
		f, ok := fault.As(err)
		if !ok || !errors.Is(err, seedlist.ErrLargeChange) {
			h.Fatalf("a large change: %v", err)
		}
		if r := f.Details.(seedlist.Result); !r.LargeChange || r.Applied || r.SyncID != nil || r.SendableBefore != 4 || r.SendableAfter != 1 || r.Retired != 3 {
			h.Errorf("the details are %+v", r)
		}
		request.DryRun = true
		if r := h.update(acme, h.list, request, noon); !r.LargeChange || r.Applied || r.SyncID != nil {
			h.Errorf("the dry run = %+v", r)
		}
		h.wantStates("a@gmail.com active", "b@gmail.com active", "c@gmail.com active", "d@gmail.com paused")
		for _, addrs := range [][]string{{"a@gmail.com", "b@gmail.com"}, {"x@gmail.com", "y@gmail.com"}} { // half, and a full rotation
			if r := h.update(acme, h.list, seedlist.Request{Kind: seedlist.Replace, Add: entries(addrs...)}, noon); r.LargeChange {
				h.Errorf("%v is a large change: %+v", addrs, r)
			}
		}
		request.DryRun, request.AllowLarge, request.Add = false, true, nil
		if r := h.update(acme, h.list, request, noon); !r.LargeChange || !r.Applied || r.SendableAfter != 0 {
			h.Errorf("an allowed large change = %+v", r)
		}
	})
}

func TestAnUpdateRestartsTheRotationAndIsInTheHistory(t *testing.T) {
	each(t, func(h harness) {
		ctx := h.Context()
		_, err := seedlist.Edit(ctx, h.db, acme, h.list, seedlist.Change{RotationDays: new(new(10))}, noon)
		h.must(err)
		h.contact("ann@example.org")
		h.replace("a@gmail.com", "bad", "ann@example.org")
		later := noon.Add(20 * 24 * time.Hour)
		l, err := seedlist.Find(ctx, h.db, acme, h.list)
		h.must(err)
		if l.Freshness(later) != seedlist.Stale || l.Counts != (seedlist.Counts{Active: 1, Conflict: 1}) {
			h.Errorf("the list is %s with %+v", l.Freshness(later), l.Counts)
		}
		same := seedlist.Request{Kind: seedlist.Changes, Add: entries("a@gmail.com")}
		same.DryRun = true
		h.update(acme, h.list, same, later)
		same.DryRun = false
		h.update(acme, h.list, same, later)
		l, err = seedlist.Find(ctx, h.db, acme, h.list)
		h.must(err)
		if !l.SeedsUpdatedAt.Equal(later) || l.Freshness(later) != seedlist.Fresh {
			h.Errorf("after the update the list is %s, of %s", l.Freshness(later), l.SeedsUpdatedAt)
		}
		syncs, err := seedlist.History(ctx, h.db, acme, h.list)
		h.must(err)
		if len(syncs) != 2 || syncs[0].Kind != seedlist.Changes || syncs[1].Kind != seedlist.Replace || syncs[0].Actor != by || !syncs[0].At.Equal(later) {
			h.Fatalf("the history is %+v", syncs)
		}
		if r := syncs[1].Result; !r.Applied || r.SyncID == nil || !slices.Equal(r.Invalid.Sample, []string{"bad"}) || !slices.Equal(r.HeldAsContact.Sample, []string{"ann@example.org"}) {
			h.Errorf("the first update in the history is %+v", r)
		}
		if _, err := seedlist.History(ctx, h.db, other, h.list); !errors.Is(err, seedlist.ErrNotFound) {
			h.Errorf("another tenant reads the history: %v", err)
		}
	})
}

func TestAnAddressOfAContactIsInConflict(t *testing.T) {
	each(t, func(h harness) {
		ctx := h.Context()
		ann := h.contact("ann@example.org")
		r := h.replace("ann@example.org", "bob@example.org", "eve@example.org")
		if r.HeldAsContact.Count != 1 || r.Added != 2 || r.SendableAfter != 2 {
			h.Errorf("the update = %+v", r)
		}
		h.must(h.apply(seedlist.Retire, "eve@example.org"))
		h.contact("bob@example.org")
		h.contact("eve@example.org")
		h.follow()
		h.wantStates("ann@example.org conflict contact", "bob@example.org conflict contact", "eve@example.org retired retired_by_user")
		if err := h.apply(seedlist.Resume, "bob@example.org"); !errors.Is(err, seedlist.ErrTransition) {
			h.Errorf("a seed in conflict is resumed: %v", err)
		}
		h.must(h.apply(seedlist.Reactivate, "eve@example.org"))
		h.wantStates("ann@example.org conflict contact", "bob@example.org conflict contact", "eve@example.org conflict contact")

		_, err := suppression.Anonymize(ctx, h.db, acme, []id.Contact{ann.ID}, false, []contact.PersonalData{seedlist.PersonalData()}, noon)
		h.must(err)
		h.wantStates("ann@example.org active", "bob@example.org conflict contact", "eve@example.org conflict contact")
		syncs, err := seedlist.History(ctx, h.db, acme, h.list)
		h.must(err)
		if r := syncs[0].HeldAsContact; r.Count != 1 || len(r.Sample) != 0 {
			h.Errorf("the history of an anonymised contact is %+v", r)
		}
		_, err = h.db.Exec(ctx, `UPDATE contact SET email = 'else@example.org' WHERE tenant_id = $1 AND email = 'bob@example.org' /* reads the tenant: a test */`, acme)
		h.must(err)
		_, err = h.db.Exec(ctx, `UPDATE seed SET status = 'active', status_reason = NULL WHERE tenant_id = $1 AND email = 'eve@example.org'`, acme)
		h.must(err)
		h.recheck()
		h.wantStates("ann@example.org active", "bob@example.org active", "eve@example.org conflict contact")
		if r := h.replace("ann@example.org"); r.Retired != 2 {
			h.Errorf("the last update = %+v", r)
		}
	})
}

func TestActionsChangeOneSeed(t *testing.T) {
	each(t, func(h harness) {
		h.replace("a@gmail.com")
		const a = "a@gmail.com"
		for _, step := range []struct {
			action seedlist.Action
			want   string // empty: refused
		}{
			{seedlist.Resume, "a@gmail.com active"}, {seedlist.Pause, "a@gmail.com paused"}, {seedlist.Pause, "a@gmail.com paused"},
			{seedlist.Reactivate, ""}, {seedlist.Resume, "a@gmail.com active"}, {seedlist.Reactivate, "a@gmail.com active"},
			{seedlist.Retire, "a@gmail.com retired retired_by_user"}, {seedlist.Retire, "a@gmail.com retired retired_by_user"},
			{seedlist.Pause, ""}, {seedlist.Resume, ""}, {seedlist.Reactivate, "a@gmail.com active"},
		} {
			before := h.states()
			err := h.apply(step.action, a)
			switch {
			case step.want == "" && !errors.Is(err, seedlist.ErrTransition):
				h.Errorf("%s of %v: %v", step.action, before, err)
			case step.want != "" && (err != nil || !slices.Equal(h.states(), []string{step.want})):
				h.Errorf("%s of %v = %v, %v; want %s", step.action, before, h.states(), err, step.want)
			}
		}
		if _, err := seedlist.Pause.Apply(h.Context(), h.db, other, h.list, h.seed(a), noon); !errors.Is(err, seedlist.ErrNotFound) {
			h.Errorf("another tenant pauses a seed: %v", err)
		}
	})
}

func TestABounceRetiresTheSeedForGood(t *testing.T) {
	each(t, func(h harness) {
		h.replace("a@gmail.com", "b@gmail.com")
		h.must(h.db.InTx(h.Context(), func(tx *sqldb.DB) error {
			return journal.Append(h.Context(), tx, journal.Entry{
				Tenant: acme, Type: journal.SeedBounced, At: noon, Data: seedlist.Bounced{Seed: h.seed("a@gmail.com")},
			})
		}))
		h.follow()
		h.wantStates("a@gmail.com retired hard_bounce", "b@gmail.com active")
		if r := h.replace("a@gmail.com", "b@gmail.com"); r.Reactivated != 0 || r.HandRetired.Count != 0 || r.Unchanged != 2 {
			h.Errorf("an update with a bounced seed = %+v", r)
		}
		h.wantStates("a@gmail.com retired hard_bounce", "b@gmail.com active")
	})
}

func TestSeedsAreFoundByPartAndStatus(t *testing.T) {
	each(t, func(h harness) {
		h.replace("a_1@gmail.com", "a%1@gmail.com", "ab1@gmail.com", "z@yahoo.co.jp")
		h.must(h.apply(seedlist.Pause, "ab1@gmail.com"))
		for _, tt := range []struct {
			f     seedlist.Filter
			want  []string
			total int
		}{
			{seedlist.Filter{Search: " A_1", Limit: 10}, []string{"a_1@gmail.com"}, 1},
			{seedlist.Filter{Search: "%", Limit: 10}, []string{"a%1@gmail.com"}, 1},
			{seedlist.Filter{Search: "gmail", Limit: 1, Offset: 1}, []string{"a_1@gmail.com"}, 3},
			{seedlist.Filter{Statuses: []seedlist.Status{seedlist.Paused, seedlist.Retired}, Limit: 10}, []string{"ab1@gmail.com"}, 1},
			{seedlist.Filter{Search: "\x00", Limit: 10}, nil, 0},
			{seedlist.Filter{Limit: 10, Offset: 10}, nil, 4},
		} {
			list, total, err := seedlist.Seeds(h.Context(), h.db, acme, h.list, tt.f)
			h.must(err)
			var got []string
			for _, s := range list {
				got = append(got, s.Email)
			}
			if !slices.Equal(got, tt.want) || total != tt.total {
				h.Errorf("Seeds(%+v) = %v of %d, want %v of %d", tt.f, got, total, tt.want, tt.total)
			}
		}
	})
}

func TestAListHasALimitOfSeeds(t *testing.T) {
	each(t, func(h harness) {
		addrs := make([]string, seedlist.MaxSeeds+1)
		for i := range addrs {
			addrs[i] = fmt.Sprintf("s%d@gmail.com", i)
		}
		if _, err := seedlist.Update(h.Context(), h.db, acme, h.list, seedlist.Request{Kind: seedlist.Replace, Add: entries(addrs...)}, noon); !errors.Is(err, seedlist.ErrLimit) {
			h.Fatalf("an update of too many: %v", err)
		}
		if r := h.replace(addrs[1:]...); r.Added != seedlist.MaxSeeds {
			h.Fatalf("the update = %+v", r)
		}
		one := seedlist.Request{Kind: seedlist.Changes, Add: entries(addrs[0])}
		if _, err := seedlist.Update(h.Context(), h.db, acme, h.list, one, noon); !errors.Is(err, seedlist.ErrLimit) {
			h.Errorf("one more: %v", err)
		}
		one.Remove = addrs[1:2]
		if r := h.update(acme, h.list, one, noon); r.Added != 1 || r.Retired != 1 {
			h.Errorf("an exchange in a full list = %+v", r)
		}
		if _, err := seedlist.Reactivate.Apply(h.Context(), h.db, acme, h.list, h.retired(), noon); !errors.Is(err, seedlist.ErrLimit) {
			h.Errorf("a seed of a full list is reactivated: %v", err)
		}
	})
}

// retired returns a retired seed.
func (h harness) retired() id.Seed {
	h.Helper()
	list, _, err := seedlist.Seeds(h.Context(), h.db, acme, h.list, seedlist.Filter{Statuses: []seedlist.Status{seedlist.Retired}, Limit: 1})
	h.must(err)
	return list[0].ID
}
