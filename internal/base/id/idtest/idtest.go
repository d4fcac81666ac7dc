// Package idtest makes identifiers for tests.
package idtest

import (
	"crypto/sha256"
	"hash/crc32"
	"sync/atomic"

	"github.com/packetboat/packetboat/internal/base/id"
)

var tenants atomic.Int32

// Tenant returns a key that no tenant of this process has had.
func Tenant() id.Tenant { return id.Tenant(1_000_000 + tenants.Add(1)) }

// TenantNamed returns the key that stands for a name: always the same.
func TenantNamed(name string) id.Tenant {
	if name == "" {
		return 0
	}
	return id.Tenant(crc32.ChecksumIEEE([]byte(name))>>2 + 2_000_000)
}

// Named returns the identifier that stands for a name: always the same, and of
// short names (16 bytes) sorted as the names are.
func Named[T ~[16]byte](name string) T {
	var u T
	copy(u[:], name)
	if len(name) > len(u) {
		sum := sha256.Sum256([]byte(name))
		copy(u[8:], sum[:])
	}
	return u
}

// Must returns the identifier that text spells, and panics when it spells none.
func Must[T ~[16]byte](text string) T {
	u, ok := id.Parse[T](text)
	if !ok {
		panic("idtest: not a UUID: " + text)
	}
	return u
}
