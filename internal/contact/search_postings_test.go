package contact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPostingsSayWhoHoldsAGram(t *testing.T) {
	t.Parallel()
	letters := []rune("ab@é李\n ")
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom(letters)), 1, 40).Draw(t, "texts")
		texts := make([]string, rapid.SampledFrom([]int{len(few), segmentSize}).Draw(t, "size"))
		for i := range texts {
			texts[i] = few[(i*i/7)%len(few)]
		}
		list := make([]waiter, len(texts))
		for i, text := range texts {
			list[i].text = text
		}
		stored := encode(list)
		word := rapid.StringOfN(rapid.SampledFrom(letters[:5]), 1, 3, -1).Draw(t, "word")
		grams := gramsOfTerms([]string{word})
		if len(grams) != 1 {
			t.Fatalf("gramsOfTerms(%q) = %v, want one", word, grams)
		}
		got, err := decode(stored[grams[0].bucket()], grams[0])
		if err != nil {
			t.Fatal(err)
		}
		var want members
		for i, text := range texts {
			if strings.Contains(text, word) {
				want.add(i)
			}
		}
		if got != want {
			t.Errorf("%q is held by %d contacts, want %d", word, got.count(), want.count())
		}
	})
}

func TestAnyTextHoldsTheGramsOfItsWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := fold(rapid.String().Draw(t, "text"))
		var words []string
		for _, w := range strings.Fields(text) {
			r := []rune(w)
			from := rapid.IntRange(0, len(r)-1).Draw(t, "from")
			words = append(words, string(r[from:rapid.IntRange(from+1, len(r)).Draw(t, "to")]))
		}
		held := map[gram]bool{}
		eachGram(text, func(g gram) { held[g] = true })
		for _, g := range gramsOfTerms(words) {
			if !held[g] {
				t.Errorf("%q does not hold gram %x of %q", text, g, words)
			}
			if g.bucket() < 0 || g.bucket() >= buckets {
				t.Errorf("gram %x is in bucket %d", g, g.bucket())
			}
		}
	})
}

func FuzzDecodePostings(f *testing.F) {
	for _, row := range encode([]waiter{{text: "ann@example.org"}, {text: "zoë"}}) {
		f.Add(row, uint64('a'))
	}
	f.Add([]byte{0x80}, uint64(1))
	f.Add([]byte{1, 2, 0xff, 0xff}, uint64(1))
	f.Fuzz(func(t *testing.T, row []byte, g uint64) {
		m, err := decode(row, gram(g)) // does not panic
		if err == nil && m.count() > segmentSize {
			t.Error("more members than there are")
		}
	})
}
