package segment

import "github.com/packetboat/packetboat/internal/id"
import "github.com/packetboat/packetboat/internal/id/idtest"
import "testing"

// With any number of callers, one count runs and at most one waits; no caller joins a count that
// has begun.
func TestCallersShareTheNextCount(t *testing.T) {
	t.Parallel()
	var c Counter
	k := counted{idtest.TenantNamed("t"), idtest.Named[id.Segment]("s")}
	first, mine := c.join(k)
	if !mine {
		t.Fatal("the first caller must not wait")
	}
	if same, mine := c.join(k); mine || same != first {
		t.Error("the second does not share a count that has not begun")
	}
	if other, mine := c.join(counted{idtest.TenantNamed("t"), idtest.Named[id.Segment]("another")}); !mine || other == first {
		t.Error("another segment's count is shared")
	}
	first.begun = true
	next, mine := c.join(k)
	if !mine || next == first || next.before != first {
		t.Error("who comes while it is being counted does not wait for the next count")
	}
	for range 5 {
		if same, mine := c.join(k); mine || same != next {
			t.Error("there is more than one count to come")
		}
	}
}
