package segment

import (
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

// With any number of callers, one count runs and at most one waits; no caller joins a count that
// has begun.
func TestCallersShareTheNextCount(t *testing.T) {
	t.Parallel()
	var c Counter
	k := countKey{idtest.TenantNamed("t"), idtest.Named[id.Segment]("s")}
	first, mine := c.join(k)
	if !mine {
		t.Fatal("the first caller must not wait")
	}
	if same, mine := c.join(k); mine || same != first {
		t.Error("the second caller does not share a count that has not begun")
	}
	if other, mine := c.join(countKey{idtest.TenantNamed("t"), idtest.Named[id.Segment]("another")}); !mine || other == first {
		t.Error("another segment's count is shared")
	}
	first.begun = true
	next, mine := c.join(k)
	if !mine || next == first || next.before != first {
		t.Error("a caller that arrives during a count does not wait for the next one")
	}
	for range 5 {
		if same, mine := c.join(k); mine || same != next {
			t.Error("more than one count is waiting")
		}
	}
}
