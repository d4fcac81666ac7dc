package segment_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
)

func TestSegmentsOfABroadcast(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		vip, out := list(t, o.db, o.acme, "VIP"), list(t, o.db, o.acme, "Out")
		people := o.createInCountry("DE", 3)
		o.createInCountry("FR", 2)
		add(t, o.db, o.acme, vip, people[0])
		add(t, o.db, o.acme, out, people[1])
		germans := o.createRule("Germans", german)
		m := segment.Mailing{
			Broadcast: id.New[id.Broadcast](), Name: strings.Repeat("ä", 198),
			Include: []id.Segment{vip.ID, germans.ID, id.New[id.Segment]()}, Exclude: []id.Segment{out.ID},
		}
		for _, c := range segment.Criteria() {
			s, err := segment.FromBroadcast(t.Context(), o.db, o.acme, m, c, segment.Change{}, noon)
			if err != nil {
				t.Errorf("%s: %v", c, err)
				continue
			}
			if !strings.HasSuffix(s.Name, " - "+string(c)) || !strings.Contains(string(s.Definition), m.Broadcast.String()) {
				t.Errorf("%s: name %q, definition %s", c, s.Name, s.Definition)
			}
			if _, err := segment.Parse(t.Context(), o.db, o.acme, s.Definition); err != nil {
				t.Errorf("%s: the definition is refused: %v", c, err)
			}
			want := [2]int{}
			if c == segment.NotReceived {
				want = [2]int{2, 2}
			}
			if got := o.recount(s); got != want {
				t.Errorf("%s: %v, want %v", c, got, want)
			}
		}
		m.Include = m.Include[2:]
		if _, err := segment.FromBroadcast(t.Context(), o.db, o.acme, m, segment.NotReceived, segment.Change{}, noon); !errors.Is(err, segment.ErrCriterion) {
			t.Errorf("not_received of no audience = %v", err)
		}
		if _, err := segment.ParseCriterion("unknown"); !errors.Is(err, segment.ErrCriterion) {
			t.Errorf("ParseCriterion = %v", err)
		}
	})
}
