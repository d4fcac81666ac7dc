package dispatch

import (
	"fmt"
	"math"
	"testing"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
)

func TestSendersGetTheirShareAndKeepTheirContacts(t *testing.T) {
	t.Parallel()
	shares := []share{}
	for i, w := range []float64{1, 2, 5} {
		shares = append(shares, share{broadcast.Route{Identity: id.Identity(fmt.Sprint("i", i)), Lane: "l"}, w})
	}
	const n = 20_000
	count, moved := map[id.Identity]int{}, 0
	for i := range n {
		c := id.Contact(fmt.Sprint("c", i))
		got := pick(c, shares)
		count[got.Identity]++
		if got != pick(c, shares) {
			t.Fatal("the same contact has two senders")
		}
		if without := pick(c, shares[1:]); got.Identity != "i0" && without != got {
			moved++
		}
	}
	for _, s := range shares {
		if want := s.Weight / 8; math.Abs(float64(count[s.Identity])/n-want) > 0.02 {
			t.Errorf("%s has %d of %d contacts, want a share of %.3f", s.Identity, count[s.Identity], n, want)
		}
	}
	if moved > 0 {
		t.Errorf("%d contacts changed their sender when another left, want none", moved)
	}
}
