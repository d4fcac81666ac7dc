package columnar

import (
	"context"
	"math/bits"

	"github.com/packetboat/packetboat/internal/audience/rule"
)

// Counts are the numbers of contacts for which a formula holds.
type Counts struct {
	All      int // pending and anonymized ones too
	Members  int // those that rules are evaluated on
	Sendable int // of the members, those that could be mailed
}

// maxCompared is the size of the values that the tests of a formula compare in memory, in bytes as in column.size, each
// for each test: some seconds of work.
const maxCompared = 256 << 20

// checkEvery is the number of values that are compared before a context is looked at again.
const checkEvery = 1024

// count evaluates a formula until ctx ends. ok is false if a value is not of its attribute's type, or if there are too
// many values.
func (t *table) count(ctx context.Context, f rule.Formula) (n Counts, ok bool, err error) {
	if t.compared(f) > maxCompared {
		return Counts{}, false, nil
	}
	set, ok, err := t.evaluate(ctx, f)
	if !ok || err != nil {
		return Counts{}, false, err
	}
	for w, word := range set {
		n.All += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			flags := t.flags[w*64+bits.TrailingZeros64(word)]
			n.Members += int(flags & member)
			if flags&(member|reachable|listed) == member|reachable {
				n.Sendable++
			}
		}
	}
	return n, true, nil
}

// compared returns the size of the values that a formula compares.
func (t *table) compared(f rule.Formula) (n int) {
	if f.Test != nil && f.Test.Attribute != rule.OnList {
		n = t.columns[f.Test.Attribute].valuesSize()
	}
	for _, part := range f.Parts {
		n += t.compared(part)
	}
	return n
}

// evaluate returns the set of contacts for which a formula holds, a bit for each.
func (t *table) evaluate(ctx context.Context, f rule.Formula) (set []uint64, ok bool, err error) {
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case f.Test != nil:
		set, ok, err = t.test(ctx, f.Test)
	default:
		set, ok, err = t.combine(ctx, f)
	}
	if ok && f.Negate {
		for w := range set {
			set[w] = ^set[w]
		}
		if rest := len(t.flags) % 64; rest > 0 {
			set[len(set)-1] &= 1<<rest - 1
		}
	}
	return set, ok, err
}

func (t *table) newSet() []uint64 { return make([]uint64, (len(t.flags)+63)/64) }

func (t *table) combine(ctx context.Context, f rule.Formula) (set []uint64, ok bool, err error) {
	if len(f.Parts) == 0 {
		set = t.newSet()
		if !f.Any {
			for i := range t.flags {
				set[i/64] |= 1 << (i % 64)
			}
		}
		return set, true, nil
	}
	for i, part := range f.Parts {
		other, ok, err := t.evaluate(ctx, part)
		switch {
		case !ok:
			return nil, false, err
		case i == 0:
			set = other
		case f.Any:
			for w := range set {
				set[w] |= other[w]
			}
		default:
			for w := range set {
				set[w] &= other[w]
			}
		}
	}
	return set, true, nil
}

// test evaluates a test on the distinct values, and then looks up the code of each contact.
func (t *table) test(ctx context.Context, test *rule.Test) (set []uint64, ok bool, err error) {
	set = t.newSet()
	if test.Attribute == rule.OnList {
		for i, flags := range t.flags {
			set[i/64] |= uint64(flags&listed/listed) << (i % 64)
		}
		return set, true, nil
	}
	c := t.columns[test.Attribute]
	holds := make([]uint64, len(c.texts))
	for code := 1; code < len(c.texts); code++ {
		if code%checkEvery == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		yes, ok := test.Holds(c.texts[code])
		if !ok {
			return nil, false, nil
		}
		if yes {
			holds[code] = 1
		}
	}
	for i, code := range c.codes {
		set[i/64] |= holds[code] << (i % 64)
	}
	return set, true, nil
}
