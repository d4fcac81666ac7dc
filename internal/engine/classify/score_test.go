package classify

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/message/track"
)

// The rules and signals that decide, by id. Each case is also judged in other orders of arrival.
func TestSignalsAndTheInvisibleLink(t *testing.T) {
	t.Parallel()
	type request struct {
		at      time.Duration
		link    int // 0: an open; -1: the invisible link; else a click on this link
		ip      string
		signals track.Signals
		want    string
	}
	const scanner = "198.51.100.99" // in the /24 of home
	for _, tt := range []struct {
		name     string
		links    int
		gateway  string
		proofs   []time.Duration
		requests []request
	}{
		{"a single link scanned from the recipient's own cloud with a browser's headers", 1, vendorMicrosoft, nil, []request{
			{45 * sec, 1, microsoft, track.Navigated, "bot H2 T3 N2 N2b"}}},
		{"the same from a network in no list: an accepted miss", 1, vendorMicrosoft, nil, []request{
			{45 * sec, 1, home, track.Navigated, "human H2 T3"}}},
		{"a lone click with strange headers", 3, "", nil, []request{
			{5 * sec, 1, home, track.NoLanguage | track.NoEncoding, "human H1 T2 L1"}}},
		{"two clicks with strange headers", 3, "", nil, []request{
			{5 * sec, 1, home, track.NoLanguage | track.NoEncoding, "bot H1 T2"}, {30 * sec, 2, home, track.NoLanguage | track.NoEncoding | track.NoFetchMetadata, "bot H1 T3"}}},
		{"a person proves the click from a cloud", 3, vendorMicrosoft, []time.Duration{10 * time.Minute}, []request{
			{5 * time.Minute, 1, microsoft, 0, "human N2 N2b G4"}, {2 * time.Hour, 2, microsoft, track.NoLanguage | track.NoEncoding, "human H1 N2 G1 G2"}}},
		{"eight links, one every eight seconds", 8, "", nil, func() (list []request) {
			for i := range 8 {
				list = append(list, request{time.Minute + time.Duration(i)*8*sec, i + 1, home, 0, "bot B5"})
			}
			return list
		}()},
		{"the invisible link", 3, "", nil, []request{
			{time.Hour, 1, home, track.Navigated, "bot R4"}, {time.Hour + 5*time.Minute, -1, scanner, 0, "bot R4"}, {time.Hour + 9*time.Minute, 0, home, 0, "bot R4"},
			{time.Hour + 7*time.Minute, 2, office, 0, "human G2"}, {time.Hour + 16*time.Minute, 3, home, 0, "human G1 G2"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for try := range 5 {
				requests := append([]request{}, tt.requests...)
				if try > 0 {
					rand.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
				}
				c := Case{Links: tt.links, Gateway: tt.gateway, FanOut: func(*track.Hit) bool { return false }}
				for _, p := range tt.proofs {
					c.Proofs = append(c.Proofs, noon.Add(p))
				}
				for _, r := range requests {
					h := act{at: r.at, link: max(r.link, 0), agent: chrome, ip: r.ip}.hit()
					if r.link < 0 {
						h.Click, h.Honeypot, h.Link = true, true, track.HoneypotLink
					}
					h.Signals = r.signals
					c.Hits = append(c.Hits, h)
				}
				c.Judge()
				for i, r := range requests {
					if got := fmt.Sprint(c.Hits[i].Class, " ", c.Hits[i].Rule); got != r.want {
						t.Errorf("at %v, link %d, from %s: %s, want %s", r.at, r.link, r.ip, got, r.want)
					}
				}
			}
		})
	}
}
