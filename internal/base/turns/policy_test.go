package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// scene takes turns at random and keeps count of who holds one and who waits.
type scene struct {
	*testing.T
	turns *Turns[string]
	held  map[string]int
	tries []*try // that wait, in the order of arrival
}

// try is a call of Acquire.
type try struct {
	owner  string
	leave  context.CancelFunc
	result error
	ended  bool
	passed map[string]int // turns that other owners had while it waited
}

func (s *scene) arrive(owner string) {
	ctx, leave := context.WithCancel(s.Context())
	y := &try{owner: owner, leave: leave, passed: map[string]int{}}
	s.tries = append(s.tries, y)
	go func() {
		y.result = s.turns.Acquire(ctx, owner)
		y.ended = true
	}()
	s.settle()
}

func (s *scene) release(owner string) {
	s.held[owner]--
	s.turns.Release(owner)
	s.settle()
}

// settle waits until nothing moves, and checks who got a turn, which is one at most.
func (s *scene) settle() {
	s.Helper()
	synctest.Wait()
	var got *try
	before := slices.Clone(s.tries)
	s.tries = slices.DeleteFunc(s.tries, func(y *try) bool {
		if y.ended && y.result == nil {
			if got != nil {
				s.Error("two got a turn at once")
			}
			got = y
		} else if y.ended && !errors.Is(y.result, context.Canceled) {
			s.Errorf("Acquire = %v", y.result)
		}
		return y.ended
	})
	if got != nil {
		s.checkChoice(got, before)
		s.held[got.owner]++
	}
	sum := 0
	for owner, n := range s.held {
		if sum += n; s.turns.OwnerSlots > 0 && n > s.turns.OwnerSlots {
			s.Errorf("%s has %d turns", owner, n)
		}
	}
	if sum > s.turns.Slots || sum != s.turns.Held() || len(s.tries) != s.turns.Waiting() {
		s.Errorf("%d turns of %d are held and %d wait; Held = %d, Waiting = %d", sum, s.turns.Slots, len(s.tries), s.turns.Held(), s.turns.Waiting())
	}
	for _, y := range s.tries {
		if sum < s.turns.Slots && s.mayHold(y.owner) {
			s.Errorf("%s waits, but a turn is free", y.owner)
		}
	}
}

func (s *scene) mayHold(owner string) bool {
	return s.turns.OwnerSlots == 0 || s.held[owner] < s.turns.OwnerSlots
}

// checkChoice checks that it was the turn of got, by the policy.
func (s *scene) checkChoice(got *try, waiting []*try) {
	s.Helper()
	for _, y := range waiting {
		if y == got {
			continue
		}
		switch {
		case y.owner == got.owner:
			if slices.Index(waiting, y) < slices.Index(waiting, got) && !y.ended {
				s.Errorf("%s had a turn before earlier work of its own", got.owner)
			}
		case s.turns.Policy == RoundRobin:
			if y.passed[got.owner]++; y.passed[got.owner] > 1 && first(waiting, y) && s.mayHold(y.owner) {
				s.Errorf("%s had two turns while %s waited", got.owner, y.owner)
			}
		case s.mayHold(y.owner) && s.held[y.owner] < s.held[got.owner]:
			s.Errorf("%s with %d turns came before %s with %d", got.owner, s.held[got.owner], y.owner, s.held[y.owner])
		case s.mayHold(y.owner) && s.held[y.owner] == s.held[got.owner] && slices.Index(waiting, y) < slices.Index(waiting, got):
			s.Errorf("%s came before %s, which waited longer with as many turns", got.owner, y.owner)
		}
	}
	for _, y := range waiting { // what its owner's next work has waited for begins now
		if y.owner == got.owner {
			clear(y.passed)
		}
	}
}

// first reports whether y is the first of its owner's tries.
func first(list []*try, y *try) bool {
	return list[slices.IndexFunc(list, func(o *try) bool { return o.owner == y.owner })] == y
}

// Whatever arrives, leaves and ends in which order: each turn goes to the owner that the policy says,
// no turn is lost, none is unused while work waits that may have it.
func TestTurnsFollowTheirPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []*Turns[string]{
		{Policy: RoundRobin, Slots: 1}, {Policy: RoundRobin, Slots: 3},
		{Policy: FewestTurns, Slots: 3}, {Policy: FewestTurns, Slots: 3, OwnerSlots: 2}, {Policy: FewestTurns, Slots: 1, OwnerSlots: 2},
	} {
		t.Run(fmt.Sprintf("policy %d, %d of %d slots", c.Policy, c.OwnerSlots, c.Slots), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 0))
					s := &scene{T: t, held: map[string]int{}, turns: &Turns[string]{Policy: c.Policy, Slots: c.Slots, OwnerSlots: c.OwnerSlots}}
					for range 60 {
						owner := string(rune('a' + min(random.IntN(8), 3))) // the last one has most work
						switch random.IntN(5) {
						case 0:
							if len(s.tries) > 0 {
								s.tries[random.IntN(len(s.tries))].leave()
								s.settle()
							}
						case 1, 2:
							if s.held[owner] > 0 {
								s.release(owner)
							}
						default:
							s.arrive(owner)
						}
					}
					for s.turns.Held() > 0 {
						for _, owner := range slices.Sorted(maps.Keys(s.held)) {
							if s.held[owner] > 0 {
								s.release(owner)
							}
						}
					}
					if q := s.turns; q.held != 0 || q.waiting != 0 || len(q.owned)+len(q.queues)+len(q.order) != 0 {
						t.Errorf("after all turns: %+v", q)
					}
					if t.Failed() {
						t.Fatalf("seed %d", seed)
					}
				})
			}
		})
	}
}

// A turn may be granted in the moment in which its waiter leaves.
func TestATurnThatIsGrantedToAWaiterThatLeavesIsPassedOn(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{RoundRobin, FewestTurns} {
		q := &Turns[string]{Policy: policy, Slots: 1}
		if err := q.Acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ready, err := q.enqueue("b")
		if ready == nil || err != nil {
			t.Fatalf("b got %v, %v", ready, err)
		}
		q.Release("a")
		q.cancel("b", ready)
		if !q.TryAcquire("c") {
			t.Errorf("policy %d: the turn is lost", policy)
		}
	}
}

func BenchmarkFreeTurn(b *testing.B) {
	for _, q := range []*Turns[int32]{{Slots: 1}, {Policy: FewestTurns, Slots: 3, OwnerSlots: 2}} {
		b.Run(fmt.Sprint("policy ", q.Policy), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = q.Acquire(context.Background(), 1)
				q.Release(1)
			}
		})
	}
}

func BenchmarkContendedTurns(b *testing.B) {
	for _, q := range []*Turns[int32]{{Slots: 2}, {Policy: FewestTurns, Slots: 3, OwnerSlots: 2}} {
		b.Run(fmt.Sprint("policy ", q.Policy), func(b *testing.B) {
			b.ReportAllocs()
			var all sync.WaitGroup
			for w := range int32(64) {
				all.Go(func() {
					for range b.N {
						_ = q.Acquire(context.Background(), w%8)
						q.Release(w % 8)
					}
				})
			}
			all.Wait()
		})
	}
}
