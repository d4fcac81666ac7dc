package contactsearch

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"unicode"
)

// What is stored depends on these numbers, on hash and on encode: who changes
// one of them empties the index and fills contact_search_fresh anew, by a
// migration.
const (
	segmentSize = 8192 // contacts of a segment, at most
	blockSize   = 16   // ids in a row
	buckets     = 1024 // rows of postings, at most
)

// gram is up to three letters in a row, 21 bits each, the last one lowest.
type gram uint64

const (
	letterBits = 21
	gramMask   = 1<<(3*letterBits) - 1
	pairMask   = 1<<(2*letterBits) - 1
	oneMask    = 1<<letterBits - 1
)

// bucket is the row that a gram is written in.
func (g gram) bucket() int {
	return int(uint64(g) * 0x9E3779B97F4A7C15 >> 54) // by the golden ratio; ten bits are left
}

// eachGram passes the grams of a folded text to f, some of them more than once.
// No term holds a space, so none that does is asked for.
func eachGram(text string, f func(gram)) {
	var last gram
	run := 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			last, run = 0, 0
			continue
		}
		last = (last<<letterBits | gram(r)) & gramMask
		run++
		f(last & oneMask)
		if run >= 2 {
			f(last & pairMask)
		}
		if run >= 3 {
			f(last)
		}
	}
}

// asked bounds the grams that are looked up for one search.
const asked = 10

// gramsOfTerms returns grams that whoever holds all the terms holds: the
// longest there are, and of too many some from everywhere.
func gramsOfTerms(words []string) []gram {
	var all []gram
	for _, w := range words {
		var own []gram
		eachGram(w, func(g gram) { own = append(own, g) })
		longest := gram(oneMask)
		if n := len([]rune(w)); n == 2 {
			longest = pairMask
		} else if n >= 3 {
			longest = gramMask
		}
		all = append(all, slices.DeleteFunc(own, func(g gram) bool { return longest == gramMask && g <= pairMask || longest == pairMask && g <= oneMask })...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= asked {
		return all
	}
	some := make([]gram, asked)
	for i := range some {
		some[i] = all[i*len(all)/asked]
	}
	return some
}

// members are contacts of a segment, a bit for each number.
type members [segmentSize / 64]uint64

func (m *members) add(n int) { m[n/64] |= 1 << (n % 64) }

func (m *members) keep(other *members) {
	for i := range m {
		m[i] &= other[i]
	}
}

func (m *members) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// block returns the bits of the contacts whose ids are in one row.
func (m *members) block(b int) uint16 {
	return uint16(m[b*blockSize/64] >> (b * blockSize % 64))
}

// encode writes, for the grams of the texts of a segment's contacts, who holds
// them, into buckets: gram, length, and then either the differences between the
// numbers or, where these are not shorter, a bit for each number, by which
// length the two are told apart.
func encode(list []Entry) map[int][]byte {
	holders := map[gram]*[]uint16{}
	for n, w := range list {
		eachGram(w.Text, func(g gram) {
			h := holders[g]
			if h == nil {
				h = new([]uint16)
				holders[g] = h
			}
			if len(*h) == 0 || (*h)[len(*h)-1] != uint16(n) {
				*h = append(*h, uint16(n))
			}
		})
	}
	out := map[int][]byte{}
	for g, numbers := range holders {
		var body []byte
		last := 0
		for _, n := range *numbers {
			body = binary.AppendUvarint(body, uint64(int(n)-last))
			last = int(n)
		}
		if len(body) >= segmentSize/8 {
			var m members
			for _, n := range *numbers {
				m.add(int(n))
			}
			body = body[:0]
			for _, w := range m {
				body = binary.LittleEndian.AppendUint64(body, w)
			}
		}
		b := g.bucket()
		row := binary.AppendUvarint(out[b], uint64(g))
		row = binary.AppendUvarint(row, uint64(len(body)))
		out[b] = append(row, body...)
	}
	return out
}

var errPostings = errors.New("the search index cannot be read")

// decode returns who holds a gram, by what encode wrote into its bucket.
func decode(row []byte, g gram) (members, error) {
	var m members
	for len(row) > 0 {
		have, n := binary.Uvarint(row)
		if n <= 0 {
			return m, errPostings
		}
		size, k := binary.Uvarint(row[n:])
		if k <= 0 || size > uint64(len(row)-n-k) {
			return m, errPostings
		}
		body := row[n+k : n+k+int(size)]
		row = row[n+k+int(size):]
		if gram(have) != g {
			continue
		}
		if len(body) == segmentSize/8 {
			for i := range m {
				m[i] = binary.LittleEndian.Uint64(body[i*8:])
			}
			return m, nil
		}
		at := uint64(0)
		for len(body) > 0 {
			d, n := binary.Uvarint(body)
			at += d
			if n <= 0 || d >= segmentSize || at >= segmentSize {
				return m, errPostings
			}
			m.add(int(at))
			body = body[n:]
		}
		return m, nil
	}
	return m, nil
}
