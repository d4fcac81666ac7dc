package usage_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// TestHoldersHaveAListForEachSource shows sources without holders as empty lists, also those that are not named.
func TestHoldersHaveAListForEachSource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		have usage.Holders
		any  bool
		want usage.Holders
	}{
		{nil, false, usage.Holders{"broadcasts": {}, "forms": {}}},
		{usage.Holders{"forms": nil, "sequences": {}}, false, usage.Holders{"broadcasts": {}, "forms": {}}},
		{usage.Holders{"forms": {{Name: "f"}}, "sequences": {{Name: "s"}}}, true, usage.Holders{"broadcasts": {}, "forms": {{Name: "f"}}, "sequences": {{Name: "s"}}}},
	} {
		if got := tt.have.With("broadcasts", "forms"); !cmp.Equal(got, tt.want) || tt.have.Any() != tt.any {
			t.Errorf("%v: %v, any %v; want %v, %v", tt.have, got, tt.have.Any(), tt.want, tt.any)
		}
	}
}

// TestFindersAreAskedTogether combines finders that look up one subject at a time and all at once.
func TestFindersAreAskedTogether(t *testing.T) {
	t.Parallel()
	const tenant = id.Tenant(7)
	var asked []string
	one := usage.Func(func(_ context.Context, _ *sqldb.DB, of id.Tenant, s usage.Subject) (usage.Holders, error) {
		asked = append(asked, s.ID)
		if of != tenant || s.Kind != usage.Segment {
			t.Errorf("asked about %+v of %v", s, of)
		}
		return usage.Holders{"forms": {{Name: "form of " + s.Key}}}, nil
	})
	many := usage.Many(func(_ context.Context, _ *sqldb.DB, _ id.Tenant, kind usage.Kind, list []usage.Subject) (map[string]usage.Holders, error) {
		if kind != usage.Segment {
			t.Errorf("asked about the kind %s", kind)
		}
		asked = append(asked, "all")
		return map[string]usage.Holders{list[0].ID: {"forms": {{Name: "another"}}, "broadcasts": {{Name: "b"}}}}, nil // others have none
	})
	subjects := []usage.Subject{{Kind: usage.Segment, ID: "1", Key: "vip"}, {Kind: usage.Segment, ID: "2", Key: "all"}}
	finders := usage.Finders{one, many}
	got, err := finders.FindAll(t.Context(), nil, tenant, usage.Segment, subjects)
	want := map[string]usage.Holders{
		"1": {"forms": {{Name: "form of vip"}, {Name: "another"}}, "broadcasts": {{Name: "b"}}},
		"2": {"forms": {{Name: "form of all"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v:\n%s", err, diff)
	}
	if want := []string{"1", "2", "all"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v: the statements of Many do not depend on the number of subjects", asked, want)
	}
	single, err := finders.Find(t.Context(), nil, tenant, subjects[0])
	if err != nil || !cmp.Equal(single, want["1"]) {
		t.Errorf("%v, %v", single, err)
	}
	none, err := usage.Finders(nil).FindAll(t.Context(), nil, tenant, usage.Segment, subjects)
	if ids := slices.Sorted(maps.Keys(none)); err != nil || !slices.Equal(ids, []string{"1", "2"}) || none["1"].Any() {
		t.Errorf("no finders: %v, %v", none, err)
	}
}

// TestFailuresOfFindersAreReturned never reports a record as unused because a look-up failed.
func TestFailuresOfFindersAreReturned(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	broken := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) { return nil, failed })
	works := usage.Many(func(context.Context, *sqldb.DB, id.Tenant, usage.Kind, []usage.Subject) (map[string]usage.Holders, error) {
		return nil, nil
	})
	for _, f := range []usage.Finder{broken, usage.Finders{works, broken}} {
		if _, err := f.Find(t.Context(), nil, 1, usage.Subject{ID: "1"}); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
		if _, err := f.FindAll(t.Context(), nil, 1, usage.Lane, []usage.Subject{{ID: "1"}}); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
	}
	if (usage.Sends{}).Any() || !(usage.Sends{ActiveDrafts: 1}).Any() || !(usage.Sends{RecentBroadcasts: 1}).Any() {
		t.Error("uses are counted wrongly")
	}
}
