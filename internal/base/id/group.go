package id

import "math/bits"

// Groups is how many groups tenants fall into.
const Groups = 64

// groups are the names of the groups, by number.
var groups = representatives()

// Group returns the group of a tenant, in which its journal is ordered.
//
// The number of a group, from 0 to 63, is the top six bits of what PostgreSQL's
// hashint4 says of the tenant's key. A group goes by another name, which this
// returns: the smallest positive key that falls into it. So a table that is
// distributed by hash of the group lies where its tenants' tables lie.
func (t Tenant) Group() int32 { return groups[groupNumber(int32(t))] }

// AllGroups returns the names of all groups, by number.
func AllGroups() []int32 {
	list := groups
	return list[:]
}

func representatives() (list [Groups]int32) {
	for key, missing := int32(1), Groups; missing > 0; key++ {
		if g := &list[groupNumber(key)]; *g == 0 {
			*g = key
			missing--
		}
	}
	return list
}

// groupNumber returns the number of the group that a key falls into. As an
// unsigned number hashint4 begins in the middle of its range.
func groupNumber(key int32) uint32 { return (hash(uint32(key)) ^ 1<<31) >> 26 }

// hash is PostgreSQL's hash_bytes_uint32 (src/common/hashfn.c), Bob Jenkins' hash
// of four bytes. Hash partitions on disk rest on it, so it does not change.
func hash(key uint32) uint32 {
	const start = 0x9e3779b9 + 4 + 3923095
	a, b, c := start+key, uint32(start), uint32(start)
	mix := func(x *uint32, y uint32, by int) {
		*x ^= y
		*x -= bits.RotateLeft32(y, by)
	}
	mix(&c, b, 14)
	mix(&a, c, 11)
	mix(&b, a, 25)
	mix(&c, b, 16)
	mix(&a, c, 4)
	mix(&b, a, 14)
	mix(&c, b, 24)
	return c
}
