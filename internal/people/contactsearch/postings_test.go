package contactsearch

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPostingsContainTheContactsOfAGram(t *testing.T) {
	t.Parallel()
	letters := []rune("ab@é李\n ")
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom(letters)), 1, 40).Draw(t, "texts")
		texts := make([]string, rapid.SampledFrom([]int{len(few), segmentSize}).Draw(t, "size"))
		for i := range texts {
			texts[i] = few[(i*i/7)%len(few)]
		}
		list := make([]Entry, len(texts))
		for i, text := range texts {
			list[i].Text = text
		}
		stored := encode(list)
		word := rapid.StringOfN(rapid.SampledFrom(letters[:5]), 1, 3, -1).Draw(t, "word")
		grams := gramsOfTerms([]string{word})
		if len(grams) != 1 {
			t.Fatalf("gramsOfTerms(%q) = %v, want one", word, grams)
		}
		var got, want members
		if err := got.decode(stored[grams[0].bucket()], grams[0]); err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if strings.Contains(text, word) {
				want.add(i)
			}
		}
		if got != want {
			t.Errorf("%q is in %d contacts, want %d", word, got.count(), want.count())
		}
	})
}

func TestATextContainsTheGramsOfItsWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := Fold(rapid.String().Draw(t, "text"))
		var words []string
		for w := range strings.FieldsSeq(text) {
			r := []rune(w)
			from := rapid.IntRange(0, len(r)-1).Draw(t, "from")
			words = append(words, string(r[from:rapid.IntRange(from+1, len(r)).Draw(t, "to")]))
		}
		held := map[gram]bool{}
		eachGram(text, func(g gram) { held[g] = true })
		for _, g := range gramsOfTerms(words) {
			if !held[g] {
				t.Errorf("%q does not contain gram %x of %q", text, g, words)
			}
			if g.bucket() < 0 || g.bucket() >= buckets {
				t.Errorf("gram %x is in bucket %d", g, g.bucket())
			}
		}
	})
}

func FuzzDecodePostings(f *testing.F) {
	for _, row := range encode([]Entry{{Text: "ann@example.org"}, {Text: "zoë"}}) {
		f.Add(row, uint64('a'))
	}
	f.Add([]byte{0x80}, uint64(1))
	f.Add([]byte{1, 2, 0xff, 0xff}, uint64(1))
	f.Fuzz(func(t *testing.T, row []byte, g uint64) {
		var m members
		err := m.decode(row, gram(g)) // does not panic
		if err == nil && m.count() > segmentSize {
			t.Error("more members than contacts in a segment")
		}
	})
}

func TestSelective(t *testing.T) {
	t.Parallel()
	const segments = 122 // a million contacts
	for _, tt := range []struct {
		name      string
		holders   func(segment int64) int
		page, all bool // a page in the order of an index; all contacts
	}{
		{"none", func(int64) int { return 0 }, true, true},
		{"one in each segment", func(int64) int { return 1 }, true, true},
		{"one in fifty, everywhere", func(int64) int { return segmentSize / 50 }, false, true},
		{"half of all", func(int64) int { return segmentSize / 2 }, false, false},
		{"a large company, oldest segments", func(n int64) int { return map[bool]int{true: segmentSize / 2}[n <= 5] }, true, true},
		{"a large company, newest segments", func(n int64) int { return map[bool]int{true: segmentSize / 2}[n > segments-5] }, true, true},
	} {
		f := &indexHits{hits: map[int64]*segmentHits{}}
		for n := int64(1); n <= segments; n++ {
			f.segments = append(f.segments, segment{n, segmentSize})
			if h := tt.holders(n); h > 0 {
				f.hits[n] = &segmentHits{matches: h}
			}
		}
		if page, all := f.selective(true), f.selective(false); page != tt.page || all != tt.all {
			t.Errorf("%s: selective for a page %t, for all %t; want %t, %t", tt.name, page, all, tt.page, tt.all)
		}
	}
}
