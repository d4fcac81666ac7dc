package contactsearch

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"unicode"
)

// The stored format depends on these numbers, on bucket and on encode. A change needs a
// migration that empties the index and queues all contacts.
const (
	segmentSize = 8192 // contacts of a segment, at most
	blockSize   = 16   // ids in a row
	buckets     = 1024 // rows of postings, at most
)

// gram is up to three adjacent letters, 21 bits each, the last one lowest.
type gram uint64

const (
	letterBits = 21
	gramMask   = 1<<(3*letterBits) - 1
	pairMask   = 1<<(2*letterBits) - 1
	oneMask    = 1<<letterBits - 1
)

// bucket returns the row of postings that contains a gram.
func (g gram) bucket() int {
	return int(uint64(g) * 0x9E3779B97F4A7C15 >> 54) // by the golden ratio; ten bits are left
}

// eachGram passes the grams of a folded text to f, some of them more than once. Grams with
// a space are left out, since terms contain none.
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

// maxGrams is the maximal number of grams looked up for one search.
const maxGrams = 10

// gramsOfTerms returns grams that every text with all the terms contains: the longest grams
// of each term, and a sample of them if there are more than maxGrams.
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
	if len(all) <= maxGrams {
		return all
	}
	some := make([]gram, maxGrams)
	for i := range some {
		some[i] = all[i*len(all)/maxGrams]
	}
	return some
}

// members is a set of contacts of a segment, one bit for each number.
type members [segmentSize / 64]uint64

func (m *members) add(n int) { m[n/64] |= 1 << (n % 64) }

func (m *members) intersect(other *members) {
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

// encode returns the postings of a segment by bucket. The postings of a gram are the gram,
// a length, and the numbers of the contacts that contain it: as differences, or as a bit
// set if that is not longer. The length of a bit set is always segmentSize/8, that of
// differences is less.
func encode(list []Entry) map[int][]byte {
	numbersOf := map[gram]*[]uint16{}
	for n, w := range list {
		eachGram(w.Text, func(g gram) {
			h := numbersOf[g]
			if h == nil {
				h = new([]uint16)
				numbersOf[g] = h
			}
			if len(*h) == 0 || (*h)[len(*h)-1] != uint16(n) {
				*h = append(*h, uint16(n))
			}
		})
	}
	out := map[int][]byte{}
	for g, numbers := range numbersOf {
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

// decode sets m to the contacts that contain a gram, from the gram's bucket.
func (m *members) decode(row []byte, g gram) error {
	*m = members{}
	for len(row) > 0 {
		have, n := binary.Uvarint(row)
		if n <= 0 {
			return errPostings
		}
		size, k := binary.Uvarint(row[n:])
		if k <= 0 || size > uint64(len(row)-n-k) {
			return errPostings
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
			return nil
		}
		at := uint64(0)
		for len(body) > 0 {
			d, n := binary.Uvarint(body)
			at += d
			if n <= 0 || d >= segmentSize || at >= segmentSize {
				return errPostings
			}
			m.add(int(at))
			body = body[n:]
		}
		return nil
	}
	return nil
}
