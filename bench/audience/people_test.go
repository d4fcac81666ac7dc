package audience

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// TestUUIDsOfThePastAreInOrder makes ids of moments, as the program would have.
func TestUUIDsOfThePastAreInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	at, last := time.Now().Add(-past), id.Contact{}
	for range 1000 {
		at = at.Add(time.Duration(1+r.IntN(2000)) * time.Microsecond)
		u := uuidAt[id.Contact](r, at)
		if u[6]>>4 != 7 || u[8]>>6 != 2 || id.Compare(u, last) <= 0 {
			t.Fatalf("uuidAt(%s) = %s after %s", at, u, last)
		}
		last = u
	}
}

// TestPeopleStayThemselves holds a person to a number.
func TestPeopleStayThemselves(t *testing.T) {
	all := people{n: 100, now: time.Now()}
	for i := range all.n {
		a, b := all.person(i), all.person(i)
		if a.email != b.email || a.fields() != b.fields() || !strings.HasPrefix(a.searchText(), a.email) {
			t.Errorf("person %d is %+v and %+v", i, a, b)
		}
	}
}
