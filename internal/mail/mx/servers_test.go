package mx_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/mx"
)

// Shuffled returns all hosts, by preference.
func TestShuffledKeepsTheOrderOfPreference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s mx.Servers
		for i, p := range rapid.SliceOfN(rapid.Uint16Range(0, 4), 0, 12).Draw(t, "preferences") {
			s.Hosts = append(s.Hosts, mx.Host{Name: string(rune('a' + i)), Preference: p})
		}
		got := s.Shuffled()
		if !slices.IsSortedFunc(got, func(a, b mx.Host) int { return int(a.Preference) - int(b.Preference) }) {
			t.Errorf("not in order: %v", got)
		}
		byName := func(a, b mx.Host) int { return int(a.Name[0]) - int(b.Name[0]) }
		slices.SortFunc(got, byName)
		if !slices.Equal(got, s.Hosts) {
			t.Errorf("%v became %v", s.Hosts, got)
		}
	})
}

// Equals are tried first in turn, so that they share the load.
func TestEqualServersShareTheLoad(t *testing.T) {
	t.Parallel()
	s := mx.Servers{Hosts: []mx.Host{{"a.test", 10}, {"b.test", 10}, {"c.test", 20}}}
	first := map[string]int{}
	for range 200 {
		first[s.Shuffled()[0].Name]++
	}
	if first["a.test"] == 0 || first["b.test"] == 0 || first["c.test"] != 0 {
		t.Errorf("tried first: %v", first)
	}
}
