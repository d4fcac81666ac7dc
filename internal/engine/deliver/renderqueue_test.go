package deliver

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

// Tenants with waiting workers are served in turns, however many workers each has, and the workers
// of a tenant in order.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFairQueue(1)
		f.acquire(idtest.TenantNamed("holder"))
		var served []string
		arrive := func(worker string) {
			go func() {
				f.acquire(idtest.TenantNamed(worker[:1]))
				served = append(served, worker) // one at a time: there is one place
				f.release()
			}()
			synctest.Wait()
		}
		for _, worker := range []string{"a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"} {
			arrive(worker)
		}
		f.release()
		synctest.Wait()
		if want := []string{"a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"}; !slices.Equal(served, want) {
			t.Errorf("served %v, want %v", served, want)
		}
		f.acquire(idtest.TenantNamed("a"))
		if f.free != 0 || len(f.turns) != 0 || len(f.queues) != 0 {
			t.Errorf("%d places are free and %d tenants wait, want none", f.free, len(f.turns))
		}
	})
}
