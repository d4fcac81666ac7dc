package cache

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestAValueExpires(t *testing.T) {
	t.Parallel()
	var c Cache[string, int]
	c.Put("a", 1, start, time.Second)
	c.Put("b", 2, start, 0)
	if v, ok := c.Get("a", start); !ok || v != 1 {
		t.Errorf("before it expires: %d, %v", v, ok)
	}
	if v, ok := c.Get("a", start.Add(time.Second)); ok {
		t.Errorf("when it expires: %d", v)
	}
	if v, ok := c.Get("a", start.Add(-time.Hour)); ok {
		t.Errorf("when the clock was set back: %d", v)
	}
	if v, ok := c.Get("b", start.AddDate(9, 0, 0)); !ok || v != 2 {
		t.Errorf("without an expiry: %d, %v", v, ok)
	}
}

// TestACacheHoldsWhatWasStoredLast compares a cache with the list of what was
// stored: it answers with the last value of a key or not at all, never holds more
// than Max, and holds the last Max/2 keys.
func TestACacheHoldsWhatWasStoredLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(2, 20).Draw(t, "max")
		c := Cache[int, int]{Max: most}
		last := map[int]int{}
		var recent []int
		for i := range rapid.IntRange(0, 200).Draw(t, "puts") {
			key := rapid.IntRange(0, 30).Draw(t, "key")
			c.Put(key, i, start, 0)
			last[key] = i
			recent = append(recent, key)
			if n := c.Len(); n > most {
				t.Fatalf("%d values in a cache of %d", n, most)
			}
		}
		for key := range 31 {
			if v, ok := c.Get(key, start); ok && v != last[key] {
				t.Fatalf("key %d: %d, want %d", key, v, last[key])
			}
		}
		for _, key := range recent[max(len(recent)-most/2, 0):] {
			if _, ok := c.Get(key, start); !ok {
				t.Fatalf("key %d, stored among the last %d, is gone", key, most/2)
			}
		}
	})
}

func TestLoadKeepsWhatWasLoaded(t *testing.T) {
	t.Parallel()
	var c Cache[string, int]
	loads := 0
	load := func() (int, error) { loads++; return loads, nil }
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{0, 1}, {time.Second, 1}, {2 * time.Second, 2}, {3 * time.Second, 2}} {
		if v, err := c.Load("a", start.Add(tt.at), 2*time.Second, load); err != nil || v != tt.want {
			t.Errorf("after %v: %d, %v, want %d", tt.at, v, err, tt.want)
		}
	}
}

func TestLoadForgetsAValueThatCannotBeLoadedAgain(t *testing.T) {
	t.Parallel()
	var c Cache[string, int]
	gone := errors.New("gone")
	c.Put("a", 1, start.Add(-time.Hour), time.Second)
	if _, err := c.Load("a", start, time.Second, func() (int, error) { return 0, gone }); !errors.Is(err, gone) {
		t.Errorf("Load: %v", err)
	}
	if c.Len() != 0 {
		t.Errorf("%d values are left", c.Len())
	}
}

func TestAValueThatWasReadBeforeClearIsNotKept(t *testing.T) {
	t.Parallel()
	var c Cache[string, int]
	v, err := c.Load("a", start, time.Hour, func() (int, error) {
		c.Clear() // the row changes after it was read
		return 1, nil
	})
	if v != 1 || err != nil {
		t.Errorf("Load: %d, %v", v, err)
	}
	if v, ok := c.Get("a", start); ok {
		t.Errorf("kept %d", v)
	}
}

func TestUpdateKeepsTheExpiry(t *testing.T) {
	t.Parallel()
	var c Cache[string, int]
	c.Update("a", func(int) int { return 9 })
	c.Put("a", 1, start, time.Second)
	c.Update("a", func(v int) int { return v + 1 })
	if v, ok := c.Get("a", start); !ok || v != 2 {
		t.Errorf("after Update: %d, %v", v, ok)
	}
	if _, ok := c.Get("a", start.Add(time.Second)); ok {
		t.Error("Update made it last longer")
	}
}
