package destination_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/senders/destination"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key  = destination.Key{Source: netip.MustParseAddr("2001:db8::25"), Name: "gmail"}
)

func read(t *testing.T, db *sqldb.DB, since time.Time) []destination.State {
	t.Helper()
	list, err := destination.Changed(t.Context(), db, since)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheLaterOfTwoTimesCounts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		save := func(s destination.State, at time.Time) {
			t.Helper()
			if err := destination.Save(t.Context(), db, []destination.State{s}, at); err != nil {
				t.Fatal(err)
			}
		}
		first := destination.State{
			Key: key, Suspended: noon.Add(time.Hour), Reason: "too much", Slow: noon.Add(time.Hour), Hint: noon,
			Down: noon, Retry: noon.Add(time.Minute), Backoff: time.Minute,
		}
		save(first, noon)
		if got := read(t, db, noon); !slices.Equal(got, []destination.State{first}) {
			t.Errorf("%+v, want %+v", got, first)
		}
		// Another process has not seen the suspension, and reaches the servers.
		save(destination.State{Key: key, Suspended: noon.Add(time.Minute), Reason: "other", TLSRequired: noon.Add(time.Minute)}, noon.Add(2*time.Minute))
		want := first
		want.TLSRequired = noon.Add(time.Minute)
		want.Down, want.Retry, want.Backoff = time.Time{}, time.Time{}, 0
		if got := read(t, db, noon.Add(time.Minute)); !slices.Equal(got, []destination.State{want}) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got := read(t, db, noon.Add(3*time.Minute)); len(got) != 0 {
			t.Errorf("changed since: %+v", got)
		}
		if err := destination.Sweep(t.Context(), db, noon.Add(destination.Keep)); err != nil || len(read(t, db, noon)) != 1 {
			t.Errorf("a state was deleted too early, or %v", err)
		}
		if err := destination.Sweep(t.Context(), db, noon.Add(destination.Keep+time.Hour)); err != nil || len(read(t, db, noon)) != 0 {
			t.Errorf("a state was not deleted, or %v", err)
		}
	})
}

func TestServersWithBrokenTLS(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i, hosts := range [][]string{{"a.test", "b.test", "a.test"}, {"b.test"}, nil} {
			if err := destination.SaveBrokenTLS(t.Context(), db, hosts, noon.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := destination.BrokenTLS(t.Context(), db, noon)
		if err != nil || len(got) != 2 || !got["a.test"].Equal(noon) || !got["b.test"].Equal(noon.Add(time.Hour)) {
			t.Errorf("BrokenTLS = %v, %v", got, err)
		}
		if err := destination.Sweep(t.Context(), db, noon.Add(destination.Keep+time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got, err := destination.BrokenTLS(t.Context(), db, noon); err != nil || len(got) != 1 {
			t.Errorf("after Sweep: %v, %v", got, err)
		}
	})
}
