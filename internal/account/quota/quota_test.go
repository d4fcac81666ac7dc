package quota_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestATenantStoresAtMostItsLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := idtest.Tenant(), idtest.Tenant()
		ctx := quota.With(t.Context(), quota.Limits{JobFiles: 10})
		add := func(tenant id.Tenant, k quota.Kind, n int64) error {
			return db.InTx(ctx, func(tx *sqldb.DB) error { return quota.Add(ctx, tx, tenant, k, n) })
		}
		used := func(tenant id.Tenant, k quota.Kind) int64 {
			t.Helper()
			n, err := quota.Used(ctx, db, tenant, k)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, step := range []struct {
			add  int64
			want error
			used int64
		}{{0, nil, 0}, {4, nil, 4}, {7, quota.ErrFull, 4}, {6, nil, 10}, {1, quota.ErrFull, 10}, {-3, nil, 7}, {3, nil, 10}, {11, quota.ErrFull, 10}} {
			if err := add(acme, quota.JobFiles, step.add); !errors.Is(err, step.want) || used(acme, quota.JobFiles) != step.used {
				t.Errorf("%+d: %v, %d are used; want %v, %d", step.add, err, used(acme, quota.JobFiles), step.want, step.used)
			}
		}
		if err := add(other, quota.JobFiles, 10); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		if err := add(acme, quota.WorkingCopies, quota.DefaultWorkingCopies); err != nil {
			t.Errorf("another kind, with the default: %v", err)
		}
		if err := add(acme, quota.WorkingCopies, 1); !errors.Is(err, quota.ErrFull) {
			t.Errorf("beyond the default: %v", err)
		}
		if err := add(acme, quota.JobFiles, -10); err != nil {
			t.Fatal(err)
		}
		var full sync.WaitGroup
		for range 8 {
			full.Go(func() { _ = add(acme, quota.JobFiles, 3) }) // five of them have no room
		}
		full.Wait()
		if n := used(acme, quota.JobFiles); n != 9 {
			t.Errorf("after eight writers of 3 bytes %d are used, want 9", n)
		}
		if n := used(other, quota.JobFiles); n != 10 {
			t.Errorf("the other tenant uses %d", n)
		}
	})
}
