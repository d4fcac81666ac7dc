package id_test

import (
	"slices"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// PostgreSQL's own hash says which keys fall into one group, and the name of a group
// is the smallest of its keys. Each group has a sequence of places.
func TestGroupsAreThoseOfPostgreSQLsHash(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	const keys = 5000
	rows, err := db.Query(t.Context(), `
		WITH hashed AS (
			SELECT key, (hashint4(key::int)::bigint + 2147483648) >> 26 AS number FROM (
				SELECT generate_series(1, $1::bigint) UNION SELECT 2147483647 - generate_series(0, 99) UNION SELECT 0
			) AS k(key)
		), named AS (SELECT number, MIN(key) AS name FROM hashed WHERE key > 0 GROUP BY number)
		SELECT key, number, name, COALESCE(to_regclass('journal_place_' || name)::text, '') FROM hashed JOIN named USING (number) ORDER BY key`, keys)
	type row struct {
		key            id.Tenant
		number, name   int32
		placesSequence string
	}
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (r row, err error) {
		err = scan(&r.key, &r.number, &r.name, &r.placesSequence)
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != keys+101 {
		t.Fatalf("%d keys were hashed", len(list))
	}
	names := id.AllGroups()
	for _, r := range list {
		if got := r.key.Group(); got != r.name || names[r.number] != r.name {
			t.Fatalf("tenant %d is of group %d, and group %d is named %d; want %d", int32(r.key), got, r.number, names[r.number], r.name)
		}
		if r.placesSequence == "" {
			t.Fatalf("group %d has no sequence", r.name)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != id.Groups {
		t.Errorf("the groups are named %v", names)
	}
}

func TestAGroupsNameIsOfTheGroup(t *testing.T) {
	t.Parallel()
	count := map[int32]int{}
	for _, name := range id.AllGroups() {
		if got := id.Tenant(name).Group(); got != name {
			t.Errorf("tenant %d is of group %d", name, got)
		}
	}
	for key := range id.Tenant(6400) {
		count[(key+1).Group()]++
	}
	for name, n := range count {
		if n < 50 || n > 200 {
			t.Errorf("group %d has %d of 6400 tenants", name, n)
		}
	}
	for key, want := range map[id.Tenant]int32{1: 1, 2: 2} { // what is in databases must stay
		if got := key.Group(); got != want {
			t.Errorf("tenant %d is of group %d, want %d", key, got, want)
		}
	}
}
