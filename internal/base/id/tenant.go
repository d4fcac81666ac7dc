package id

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"
)

// Tenant is the key of a tenant: a number from 1, counted up in each installation.
// Callers see it as a version 8 UUID (RFC 9562 section 5.8) that holds the number in
// its last four bytes. Zero is none.
type Tenant int32

// tenantSpace is the part of the UUID that all tenants share.
var tenantSpace = uuid.MustParse("7061636b-6574-8626-8f61-740000000000")

// ParseTenant reads the UUID that String returns, in either case.
func ParseTenant(s string) (Tenant, bool) {
	if len(s) != 36 {
		return 0, false
	}
	u, err := uuid.Parse(s)
	if err != nil || [12]byte(u[:12]) != [12]byte(tenantSpace[:12]) {
		return 0, false
	}
	n := Tenant(binary.BigEndian.Uint32(u[12:]))
	return n, n > 0
}

// ReadTenant returns the tenant that text spells; zero when it spells none.
func ReadTenant(s string) Tenant {
	t, _ := ParseTenant(s)
	return t
}

// IsZero reports whether t is none.
func (t Tenant) IsZero() bool { return t == 0 }

// String returns the tenant's UUID; of none, the empty string.
func (t Tenant) String() string {
	if t == 0 {
		return ""
	}
	u := tenantSpace
	binary.BigEndian.PutUint32(u[12:], uint32(t))
	return u.String()
}

// MarshalText returns what String returns.
func (t Tenant) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Tenant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = 0
		return nil
	}
	v, ok := ParseTenant(string(text))
	if !ok {
		return fmt.Errorf("%q is not the id of a tenant", text)
	}
	*t = v
	return nil
}

// Scan reads the number that a column holds; NULL is none.
func (t *Tenant) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = 0
	case int64:
		if v < 0 || v > math.MaxInt32 {
			return fmt.Errorf("id: %d is not a tenant's number", v)
		}
		*t = Tenant(v)
	default:
		return fmt.Errorf("id: a column holds %T, not a tenant's number", src)
	}
	return nil
}

// Value returns the number for the database.
func (t Tenant) Value() (driver.Value, error) { return int64(t), nil }

// ByTenant yields the parts of a list by tenant, whose elements keep their order. Tenants are in the
// order of their numbers, so that transactions that write their rows do not deadlock.
func ByTenant[T any](list []T, of func(T) Tenant) iter.Seq2[Tenant, []T] {
	return func(yield func(Tenant, []T) bool) {
		parts := map[Tenant][]T{}
		for _, v := range list {
			parts[of(v)] = append(parts[of(v)], v)
		}
		for _, tenant := range slices.Sorted(maps.Keys(parts)) {
			if !yield(tenant, parts[tenant]) {
				return
			}
		}
	}
}
