package id_test

import (
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestPartsOfTenantsAreInOrder(t *testing.T) {
	t.Parallel()
	type row struct {
		tenant id.Tenant
		n      int
	}
	list := []row{{3, 1}, {1, 2}, {3, 3}, {2, 4}, {1, 5}}
	var got []row
	for tenant, own := range id.ByTenant(list, func(r row) id.Tenant { return r.tenant }) {
		for _, r := range own {
			if r.tenant != tenant {
				t.Errorf("%v is in the part of tenant %d", r, tenant)
			}
		}
		got = append(got, own...)
	}
	if want := []row{{1, 2}, {1, 5}, {2, 4}, {3, 1}, {3, 3}}; !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
	for tenant := range id.ByTenant(list, func(r row) id.Tenant { return r.tenant }) {
		if tenant != 1 {
			t.Errorf("tenant %d comes after the loop ended", tenant)
		}
		break
	}
}
