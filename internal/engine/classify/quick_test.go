package classify

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Between full passes only hits of finished sends are judged; the result is the same as after their
// neighbours have arrived.
func TestAQuickPassLeavesLiveSendsAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		m := w.send(t, 5, 1)[0]
		first, rest := act{time.Hour, 1, chrome, home, "human"}, []act{
			{time.Hour + 2*sec, 2, chrome, home, "bot R6"}, {time.Hour + 4*sec, 3, chrome, home, "bot R6"}}
		quick := func(at time.Duration) {
			t.Helper()
			w.now = noon.Add(at)
			if err := w.engine.pass(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			if last, err := LastRun(t.Context(), db); err != nil || last != nil {
				t.Errorf("a quick pass counts as a run: %v, %v", last, err)
			}
		}
		w.record(t, m, first)
		quick(2 * time.Hour)
		pending := first
		pending.want = "pending"
		w.expect(t, m, []act{pending})
		w.live = false
		quick(time.Hour + sec)
		w.expect(t, m, []act{first})
		w.record(t, m, rest...)
		quick(time.Hour + 5*sec)
		first.want = "bot R6"
		w.expect(t, m, append(rest, first))
	})
}
