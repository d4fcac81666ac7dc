package track_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/message/track"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const (
	browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	gmail   = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
)

func open(class track.Class, after time.Duration) track.Hit {
	return track.Hit{Class: class, At: noon.Add(after), SinceSent: new(after), Agent: browser}
}

func click(class track.Class, after time.Duration) track.Hit {
	h := open(class, after)
	h.Click = true
	return h
}

func proxied(h track.Hit) track.Hit {
	h.Agent = gmail
	return h
}

func unaccepted(h track.Hit) track.Hit {
	h.SinceSent = nil
	return h
}

func TestDerive(t *testing.T) {
	t.Parallel()
	const (
		human  = track.ApparentOpened | track.VerifiedOpened | track.HumanOpened
		second = time.Second
	)
	for _, tt := range []struct {
		name string
		hits []track.Hit
		want track.Flags
	}{
		{"nothing", nil, 0},
		{"a pending open", []track.Hit{open(track.Pending, second)}, track.ApparentOpened | track.PendingOpened},
		{"a machine's open", []track.Hit{open(track.Bot, second)}, track.ApparentOpened | track.BotOpened},
		{"a machine's and a pending one", []track.Hit{open(track.Bot, second), open(track.Pending, second)}, track.ApparentOpened | track.BotOpened},
		{"a privacy proxy's", []track.Hit{open(track.Privacy, second)}, track.ApparentOpened | track.VerifiedOpened},
		{"a privacy proxy's and a machine's", []track.Hit{open(track.Privacy, second), open(track.Bot, second)}, track.ApparentOpened | track.VerifiedOpened},
		{"a person's, at once", []track.Hit{open(track.Human, 30*second)}, human},
		{"a person's, later", []track.Hit{open(track.Human, 31*second)}, human | track.Confirmed},
		{"a person's by proxy", []track.Hit{proxied(open(track.Human, time.Hour))}, human},
		{"a person's, of unknown age", []track.Hit{unaccepted(open(track.Human, time.Hour))}, human},
		{"two by proxy, ten minutes apart", []track.Hit{proxied(open(track.Human, 0)), proxied(open(track.Human, 10*time.Minute))}, human | track.Confirmed},
		{"two by proxy, closer", []track.Hit{proxied(open(track.Human, 0)), proxied(open(track.Human, 10*time.Minute-1))}, human},
		{"by proxy, and a click", []track.Hit{proxied(open(track.Human, 0)), click(track.Human, 5*second)}, human | track.Confirmed | track.HumanClicked},
		{"by proxy, and a machine's click", []track.Hit{proxied(open(track.Human, 0)), click(track.Bot, 5*second)}, human | track.BotClicked},
		{"a click alone", []track.Hit{click(track.Human, 5*second)}, track.VerifiedOpened | track.HumanClicked},
		{"a click and a machine's open", []track.Hit{click(track.Human, 5*second), open(track.Bot, 0)}, track.ApparentOpened | track.VerifiedOpened | track.BotOpened | track.HumanClicked},
		{"a pending click", []track.Hit{click(track.Pending, 5*second)}, track.PendingClicked},
		{"a pending and a machine's click", []track.Hit{click(track.Pending, 5*second), click(track.Bot, 0)}, track.BotClicked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := track.Derive(tt.hits); got != tt.want {
				t.Errorf("Derive = %011b, want %011b", got, tt.want)
			}
		})
	}
}

func drawHit(r *rapid.T) track.Hit {
	after := time.Duration(rapid.IntRange(-2000, 3_000_000).Draw(r, "ms")) * time.Millisecond
	if rapid.Bool().Draw(r, "click") {
		return click(rapid.SampledFrom([]track.Class{track.Pending, track.Bot, track.Human}).Draw(r, "class"), after)
	}
	h := open(rapid.SampledFrom([]track.Class{track.Pending, track.Bot, track.Human, track.Privacy}).Draw(r, "class"), after)
	switch rapid.IntRange(0, 3).Draw(r, "agent") {
	case 0:
		return proxied(h)
	case 1:
		return unaccepted(h)
	}
	return h
}

// Invariants of the flags of any hits.
func TestFlagsAreConsistent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		hits := rapid.SliceOfN(rapid.Custom(drawHit), 0, 8).Draw(r, "hits")
		f := track.Derive(hits)
		has := func(flag track.Flags) bool { return f&flag != 0 }
		within := func(name string, inner, outer track.Flags) {
			if has(inner) && !has(outer) {
				r.Errorf("%s: %011b", name, f)
			}
		}
		within("confirmed without a person's open", track.Confirmed, track.HumanOpened)
		within("a person's open is not verified", track.HumanOpened, track.VerifiedOpened)
		within("a person's open is not apparent", track.HumanOpened, track.ApparentOpened)
		within("a person's click is not verified", track.HumanClicked, track.VerifiedOpened)
		shown, clicked := 0, 0
		if slices.ContainsFunc(hits, func(h track.Hit) bool {
			return !h.Click && (h.Class == track.Human || h.Class == track.Privacy)
		}) {
			shown++
		}
		for _, flag := range []track.Flags{track.BotOpened, track.PendingOpened} {
			if has(flag) {
				shown++
			}
		}
		if has(track.ApparentOpened) != (shown == 1) || shown > 1 {
			r.Errorf("an open is %d of a machine's, pending and a reader's: %011b", shown, f)
		}
		for _, flag := range []track.Flags{track.HumanClicked, track.BotClicked, track.PendingClicked} {
			if has(flag) {
				clicked++
			}
		}
		if any := slices.ContainsFunc(hits, func(h track.Hit) bool { return h.Click }); any != (clicked == 1) || clicked > 1 {
			r.Errorf("a click is %d of a person's, a machine's and pending: %011b", clicked, f)
		}
		if f&(track.Unsubscribed|track.Complained) != 0 {
			r.Errorf("Unsubscribed or Complained is derived from hits: %011b", f)
		}
		if again := track.Derive(rapid.Permutation(hits).Draw(r, "order")); again != f {
			r.Errorf("in another order: %011b, want %011b", again, f)
		}
	})
}
