package id_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestWhatIsMadeSortsByTimeAndThenAsMade(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var last id.Contact
	for i := range 3000 { // three milliseconds, microsecond by microsecond
		now := at.Add(time.Duration(i) * time.Microsecond)
		for range 3 {
			u := id.Made[id.Contact](now)
			if id.Compare(last, u) >= 0 {
				t.Fatalf("%s at %v does not sort behind %s", u, now, last)
			}
			if got := id.Time(u); !got.Equal(now.Truncate(time.Millisecond)) {
				t.Fatalf("%s was made at %v, want %v", u, got, now)
			}
			if first := id.FirstAt[id.Contact](now); id.Compare(first, u) > 0 {
				t.Fatalf("%s sorts before %s", u, first)
			}
			if u[6]>>4 != 7 || u[8]>>6 != 2 {
				t.Fatalf("%s is no UUIDv7", u)
			}
			last = u
		}
	}
}

// Not beside others, who might crowd out the counter of its microsecond.
func TestWhatIsMadeAtOneTimeIsMadeOnce(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	var last id.Contact
	for range 100_000 {
		u := id.Made[id.Contact](at)
		if id.Compare(last, u) >= 0 {
			t.Fatalf("%s does not sort behind %s", u, last)
		}
		last = u
	}
	if last[8]>>6 != 2 {
		t.Errorf("%s is no UUIDv7", last)
	}
}
