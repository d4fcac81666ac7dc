package transfer

import (
	"hash/maphash"
	"math/bits"

	"github.com/packetboat/packetboat/internal/mail/address"
)

// hashSeed is that of the hashes of addresses, which nobody can choose addresses for.
var hashSeed = maphash.MakeSeed()

// hashOf returns a hash of a valid address, never 0. It is another one in each process.
func hashOf(email string) uint64 {
	if normal, err := address.Normalize(email); err == nil {
		email = normal
	}
	return max(maphash.String(hashSeed, email), 1)
}

// hashSet is a set of hashes other than 0. It takes 10 to 13 bytes for each, a third of what a map does: the addresses of a
// file are most of what an import has in memory. Its parts grow by themselves, so that little is copied at a time.
type hashSet struct {
	parts [256]hashPart
	size  int
}

// hashPart is a table with linear probing. An empty slot is 0.
type hashPart struct {
	slots []uint64
	used  int
}

func (s *hashSet) has(hash uint64) bool {
	p := &s.parts[hash>>56]
	return len(p.slots) > 0 && p.slots[p.find(hash)] == hash
}

func (s *hashSet) add(hash uint64) {
	p := &s.parts[hash>>56]
	if 5*p.used >= 4*len(p.slots) {
		p.grow()
	}
	if at := p.find(hash); p.slots[at] == 0 {
		p.slots[at] = hash
		p.used++
		s.size++
	}
}

// find returns the slot that has a hash, or the one to put it in.
func (p *hashPart) find(hash uint64) int {
	high, _ := bits.Mul64(hash<<8, uint64(len(p.slots)))
	at := int(high)
	for p.slots[at] != 0 && p.slots[at] != hash {
		if at++; at == len(p.slots) {
			at = 0
		}
	}
	return at
}

func (p *hashPart) grow() {
	old := p.slots
	p.slots = make([]uint64, 8+len(old)+len(old)/4)
	for _, hash := range old {
		if hash != 0 {
			p.slots[p.find(hash)] = hash
		}
	}
}
