package columnar

import (
	"math/bits"

	"github.com/packetboat/packetboat/internal/audience/rule"
)

// Counts are the numbers of contacts for which a formula holds.
type Counts struct {
	All      int // pending and anonymized ones too
	Members  int // those that rules are evaluated on
	Sendable int // of the members, those that could be mailed
}

// count evaluates a formula; ok is false if a value is not of its attribute's type.
func (t *table) count(f rule.Formula) (n Counts, ok bool) {
	set, ok := t.evaluate(f)
	if !ok {
		return Counts{}, false
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
	return n, true
}

// evaluate returns the set of contacts for which a formula holds, a bit for each.
func (t *table) evaluate(f rule.Formula) (set []uint64, ok bool) {
	switch {
	case f.Test != nil:
		set, ok = t.test(f.Test)
	default:
		set, ok = t.combine(f)
	}
	if ok && f.Negate {
		for w := range set {
			set[w] = ^set[w]
		}
		if rest := len(t.flags) % 64; rest > 0 {
			set[len(set)-1] &= 1<<rest - 1
		}
	}
	return set, ok
}

func (t *table) newSet() []uint64 { return make([]uint64, (len(t.flags)+63)/64) }

func (t *table) combine(f rule.Formula) (set []uint64, ok bool) {
	if len(f.Parts) == 0 {
		set = t.newSet()
		if !f.Any {
			for i := range t.flags {
				set[i/64] |= 1 << (i % 64)
			}
		}
		return set, true
	}
	for i, part := range f.Parts {
		other, ok := t.evaluate(part)
		switch {
		case !ok:
			return nil, false
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
	return set, true
}

// test evaluates a test on the distinct values, and then looks up the code of each contact.
func (t *table) test(test *rule.Test) (set []uint64, ok bool) {
	set = t.newSet()
	if test.Attribute == rule.OnList {
		for i, flags := range t.flags {
			set[i/64] |= uint64(flags&listed/listed) << (i % 64)
		}
		return set, true
	}
	c := t.columns[test.Attribute]
	holds := make([]uint64, len(c.texts))
	for code := 1; code < len(c.texts); code++ {
		yes, ok := test.Holds(c.texts[code])
		if !ok {
			return nil, false
		}
		if yes {
			holds[code] = 1
		}
	}
	for i, code := range c.codes {
		set[i/64] |= holds[code] << (i % 64)
	}
	return set, true
}
