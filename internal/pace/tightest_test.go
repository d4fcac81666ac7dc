package pace

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTightestIsTheLimitToWaitFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	p := New(dbtest.SQLite(t), "node", func() time.Time { return now })
	limits := []Limit{{"lane", 100, time.Second}, {"provider", 6, time.Minute}, {"send", 60, time.Minute}}
	if i := p.Tightest(limits); i != -1 {
		t.Errorf("before the first permit, limit %d is the tightest", i)
	}
	for _, want := range []int{1, 1} {
		if _, _, err := p.Take(t.Context(), 200, limits); err != nil {
			t.Fatal(err)
		}
		if i := p.Tightest(limits); i != want {
			t.Errorf("limit %d is waited for, want %d", i, want)
		}
		now = now.Add(2 * time.Second)
	}
	if i := p.Tightest(append(limits, Limit{"closed", 0, time.Hour})); i != 3 {
		t.Errorf("limit %d is waited for, want that which lets nothing through", i)
	}
}
