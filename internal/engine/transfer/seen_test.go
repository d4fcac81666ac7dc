package transfer

import (
	"math/rand/v2"
	"testing"
)

func TestASetOfHashesHasWhatWasAdded(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	var s hashSet
	want := map[uint64]bool{}
	kinds := []func() uint64{
		random.Uint64,
		func() uint64 { return random.Uint64N(500) },              // in one part
		func() uint64 { return random.Uint64() | 0xFFFFFFFFFFF0 }, // close to the end of a part
	}
	for i := range 60_000 {
		hash := max(kinds[i%len(kinds)](), 1)
		if s.has(hash) != want[hash] {
			t.Fatalf("seed %d: after %d hashes has(%x) = %t", seed, i, hash, !want[hash])
		}
		s.add(hash)
		want[hash] = true
	}
	slots := 0
	for i := range s.parts {
		slots += len(s.parts[i].slots)
	}
	for hash := range want {
		if !s.has(hash) {
			t.Errorf("seed %d: %x is not there", seed, hash)
		}
	}
	if s.size != len(want) || slots > 2*len(want) {
		t.Errorf("seed %d: %d hashes in %d slots, want %d", seed, s.size, slots, len(want))
	}
}

func TestHashesOfAddressesIgnoreWhatAddressesIgnore(t *testing.T) {
	t.Parallel()
	if hashOf("Ann@Example.org") != hashOf("ann@example.ORG") || hashOf("ann@example.org") == hashOf("bob@example.org") || hashOf("") == 0 {
		t.Error("hashes of addresses differ from addresses")
	}
}
