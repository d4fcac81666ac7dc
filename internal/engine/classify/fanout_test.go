package classify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fanOutDefined is the definition of rule R7: some span of 60 seconds that contains the time of a hit
// has hits of its address on ten different messages, or hits of its network on thirty.
func fanOutDefined(hits []track.SourceHit, of track.SourceHit) bool {
	for _, first := range hits {
		if first.At.After(of.At) || of.At.Sub(first.At) > 60*sec {
			continue
		}
		byAddress, byNetwork := map[id.Message]bool{}, map[id.Message]bool{}
		for _, h := range hits {
			if !h.At.Before(first.At) && h.At.Sub(first.At) <= 60*sec {
				byNetwork[h.Message] = true
				if h.IP == of.IP {
					byAddress[h.Message] = true
				}
			}
		}
		if len(byAddress) >= 10 || len(byNetwork) >= 30 {
			return true
		}
	}
	return false
}

func TestTheSlidingCountIsTheDefinitionOfFanOut(t *testing.T) {
	t.Parallel()
	checkOften(t, func(r *rapid.T) {
		var hits []track.SourceHit
		seconds, least, most := rapid.IntRange(0, rapid.SampledFrom([]int{5, 180, 2000}).Draw(r, "span")), 1, 80
		addresses := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(r, "addresses")
		if rapid.Bool().Draw(r, "edges") { // just enough messages, just near enough
			seconds, least, most = rapid.SampledFrom([]int{0, 1, 59, 60, 61, 119, 120, 121, 122, 180, 181}), 11, 20
			if addresses > 2 {
				least, most = 31, 60
			}
		}
		for i, s := range rapid.SliceOfN(seconds, least, most).Draw(r, "seconds") {
			m := i
			if least == 1 || rapid.IntRange(0, 4).Draw(r, "again") == 0 {
				m = rapid.IntRange(1, rapid.SampledFrom([]int{14, 40}).Draw(r, "messages")).Draw(r, "message")
			}
			ip := fmt.Sprintf("192.0.2.%d", rapid.IntRange(1, addresses).Draw(r, "address"))
			hits = append(hits, track.SourceHit{Message: idtest.Named[id.Message](fmt.Sprint(m)), IP: ip, At: noon.Add(time.Duration(s) * sec)})
		}
		slices.SortStableFunc(hits, func(a, b track.SourceHit) int { return a.At.Compare(b.At) })
		var due []track.SourceHit
		for _, h := range hits {
			if rapid.IntRange(0, 2).Draw(r, "due") == 0 {
				due = append(due, h)
			}
		}
		at := 0
		got, err := fannedOut(due, func(from time.Time) (*track.SourceHit, error) {
			for at < len(hits) && hits[at].At.Before(from) {
				at++
			}
			if at == len(hits) {
				return nil, nil
			}
			at++
			return &hits[at-1], nil
		})
		if err != nil || len(got) != len(due) {
			r.Fatalf("fannedOut = %v, %v", got, err)
		}
		for i, h := range due {
			if want := fanOutDefined(hits, h); got[i] != want {
				r.Errorf("at %v from %s: %v, want %v", h.At.Sub(noon), h.IP, got[i], want)
			}
		}
	})
}

// Of a flood only as many hits are read as are needed to find that the rule applies to each due one.
func TestTheSlidingCountReadsOfAFloodWhatItNeeds(t *testing.T) {
	t.Parallel()
	const flood, due = 200_000, 500 // within two minutes
	hit := func(i int) track.SourceHit {
		return track.SourceHit{Message: idtest.Named[id.Message](fmt.Sprint(i)), At: noon.Add(time.Duration(i) * 2 * time.Minute / flood)}
	}
	var times []track.SourceHit
	for i := range due {
		times = append(times, hit(flood/2+i))
	}
	read, at := 0, 0
	got, err := fannedOut(times, func(from time.Time) (*track.SourceHit, error) {
		for hit(at).At.Before(from) { // as an index scan does
			at++
		}
		read++
		at++
		h := hit(at - 1)
		return &h, nil
	})
	if err != nil || slices.Contains(got, false) {
		t.Errorf("the rule does not apply to the whole flood: %v, %v", got, err)
	}
	if read > due+2*fanOutNetwork {
		t.Errorf("%d hits were read for %d", read, due)
	}
}

// Whatever the order in which hits arrive, and in whatever batches they are judged, rule R7 finally
// applies to those to which it applies by its definition.
func TestVerdictsByFanOutAreThoseOfTheDefinition(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		mails, foreign := w.send(t, 3, 14), w.send(t, 3, 14) // of two tenants
		tenant, _ := w.sendOf(t, mails[0].ID)
		other, _ := w.sendOf(t, foreign[0].ID)
		var ids []id.Message
		for _, m := range mails {
			ids = append(ids, m.ID)
		}
		day := time.Duration(0)
		type one struct {
			act
			m int
		}
		// draw returns the acts of a day, in the order of their arrival, and what rule R7 is defined by.
		draw := func(r *rapid.T, day time.Duration) ([]one, map[string][]track.SourceHit) {
			var acts []one
			span := rapid.SampledFrom([]int{20, 100, 400}).Draw(r, "span")
			for _, s := range rapid.SliceOfNDistinct(rapid.IntRange(0, span), 1, 40, rapid.ID[int]).Draw(r, "seconds") {
				a := one{act{at: day + time.Duration(s)*sec, agent: chrome, ip: office}, rapid.IntRange(0, 13).Draw(r, "message")}
				switch rapid.IntRange(0, 19).Draw(r, "kind") {
				case 0:
					a.agent = google // not counted
				case 1, 2:
					a.ip = home
				}
				acts = append(acts, a)
			}
			sources := map[string][]track.SourceHit{}
			for _, a := range acts {
				if a.agent != google {
					sources[a.ip] = append(sources[a.ip], track.SourceHit{Message: mails[a.m].ID, IP: a.ip, At: noon.Add(a.at)})
				}
			}
			return rapid.Permutation(acts).Draw(r, "arrival"), sources
		}
		rapid.Check(t, func(r *rapid.T) {
			// Hits of different days are not neighbours, so a pass judges several cases at once.
			const days, apart = 4, 24 * time.Hour
			first := day + apart
			day += days * apart
			var arriving [days][]one
			var sources [days]map[string][]track.SourceHit
			left := 0
			for i := range days {
				arriving[i], sources[i] = draw(r, first+time.Duration(i)*apart)
				left += len(arriving[i])
			}
			for left > 0 {
				var hits []track.Hit
				for i, acts := range arriving {
					if len(acts) == 0 {
						continue
					}
					n := rapid.IntRange(1, len(acts)).Draw(r, "batch")
					for _, a := range acts[:n] {
						hits = append(hits, w.hit(t, mails[a.m], a.act), w.hit(t, foreign[a.m%3], a.act)) // three messages never reach ten
					}
					arriving[i] = acts[n:]
					left -= n
				}
				if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
					t.Fatal(err)
				}
				w.run(t, noon.Add(day+time.Hour))
			}
			hits, err := track.HitsOf(t.Context(), db, tenant, ids)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				if h.At.Before(noon.Add(first)) {
					continue
				}
				since := h.At.Sub(noon.Add(first))
				want := "human"
				if h.Agent != google && fanOutDefined(sources[since/apart][h.IP], track.SourceHit{IP: h.IP, At: h.At}) {
					want = "bot R7"
				}
				if got := verdict(h); got != want {
					r.Errorf("message %s at %v from %s: %s, want %s", h.Message, since, h.IP, got, want)
				}
			}
			for k, v := range all(t, w, foreign[:3]) {
				if v != "human" {
					r.Errorf("the other tenant's %s is %s", k, v)
				}
			}
			// The next check needs an empty table.
			for _, tenant := range []id.Tenant{tenant, other} {
				for _, table := range []string{"hit", "engagement"} {
					if _, err := db.Exec(t.Context(), `DELETE FROM `+table+` WHERE tenant_id = $1`, tenant); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	})
}
