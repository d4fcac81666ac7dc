package classify

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// fixtures returns the scenarios of testdata/*.jsonl: known behaviours of mailbox providers, mail
// gateways and people, and the bounds of each rule. `packetboat inspect events` reads these files, too.
func fixtures(t testing.TB) []*Scenario {
	t.Helper()
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	var all []*Scenario
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		list, err := ReadScenarios(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, list...)
	}
	return all
}

func TestFixtures(t *testing.T) {
	t.Parallel()
	decided := map[string]bool{} // rules and signals
	for _, s := range fixtures(t) {
		t.Run(s.Name, func(t *testing.T) {
			got := s.Classify(nil)
			if got.AsExpected == nil || !*got.AsExpected {
				t.Errorf("%q, %+v", got.Differences, got.Events)
			}
			for _, v := range got.Events {
				for rule := range strings.FieldsSeq(v.Rule) {
					decided[rule] = true
				}
			}
			consistent(t, s, got.Counters)
			again := *s
			for range 4 { // in any order, and some twice
				again.events = slices.Clone(s.events)
				for range 3 {
					again.events = append(again.events, s.events[rand.IntN(len(s.events))])
				}
				rand.Shuffle(len(again.events), func(i, j int) { again.events[i], again.events[j] = again.events[j], again.events[i] })
				other := again.Classify(nil)
				if diff := cmp.Diff(got.Counters, other.Counters); diff != "" {
					t.Errorf("in another order the counters differ: %s", diff)
				}
				for i, v := range other.Events {
					if first := got.Events[i]; v.Class != first.Class || v.Rule != first.Rule {
						t.Errorf("in another order event %d is %+v, not %+v", i+1, v, first)
					}
				}
			}
		})
	}
	for rule := range strings.FieldsSeq("R1 R2 R3 R4 R5 R6 R7 P1 P2 P3 U5 H1 H2 T2 T3 T4 B4 B5 N2 N2b G1 G2 G3 G4 L1") {
		if !decided[rule] {
			t.Errorf("no scenario has %s", rule)
		}
	}
}

// consistent checks what is true of all counters: each level includes the next one, and the recipients
// who opened are those of whom only machines did, those who are pending, and others.
func consistent(t *testing.T, s *Scenario, c Counters) {
	t.Helper()
	if c.ConfirmedOpened > c.TotalOpened || c.TotalOpened > c.VerifiedOpened || c.TotalClicked > c.VerifiedOpened ||
		c.ApparentOpened > s.Recipients || c.VerifiedOpened > s.Recipients || c.BotClicked+c.PendingClicked+c.TotalClicked > s.Recipients {
		t.Errorf("the levels are inconsistent: %+v", c)
	}
	genuine := map[id.Message]bool{} // of whom a person or a mailbox provider opened
	r := s.Classify(nil)
	for i, h := range s.Hits {
		if v := r.Events[i]; !h.Click && v.Stored && (v.Class == track.Human || v.Class == track.Privacy) {
			genuine[h.Message] = true
		}
	}
	if c.ApparentOpened != c.BotOpened+c.PendingOpened+len(genuine) {
		t.Errorf("%+v, and %d recipients with an open that no machine made", c, len(genuine))
	}
}

// The engine, with its passes and a database, comes to the classes of the files, in whatever order and
// parts the requests arrive.
func TestFixturesByTheEngine(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		for _, s := range fixtures(t) {
			asOf := slices.MaxFunc(s.events, func(a, b event) int { return a.at.Compare(b.at) }).at
			if s.Gateway != "" || s.AsOf.Before(asOf.Add(minimumSettle)) || slices.ContainsFunc(s.events, func(e event) bool { return e.kind == "familiar" }) {
				continue // the engine finds gateways by DNS and people by other mails
			}
			messages := w.send(t, s.Links, s.Recipients)
			parts := [3][]track.Hit{}
			want := map[id.Message]map[string]track.Class{}
			got := s.Classify(nil)
			for _, e := range s.events {
				if e.recipient < 0 {
					continue
				}
				m := messages[e.recipient]
				tenant, send := w.sendOf(t, m.ID)
				if e.hit < 0 {
					err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
						return track.AddProof(t.Context(), tx, tenant, send, m.ID, track.ProofForm, e.at)
					})
					if err != nil {
						t.Fatal(err)
					}
					continue
				}
				h := s.Hits[e.hit]
				h.Tenant, h.Send, h.Message, h.Contact, h.SinceSent, h.Class = tenant, send, m.ID, m.Contact, new(h.At.Sub(noon)), track.Pending
				if v := got.Events[e.hit]; v.Stored {
					if want[m.ID] == nil {
						want[m.ID] = map[string]track.Class{}
					}
					want[m.ID][hitKey(h)] = v.Class
				}
				n := rand.IntN(len(parts))
				parts[n] = append(parts[n], h)
			}
			for _, hits := range parts {
				if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
					t.Fatal(err)
				}
				w.run(t, noon.Add(1000*time.Hour))
			}
			for _, m := range messages {
				tenant, _ := w.sendOf(t, m.ID)
				hits, err := track.HitsOf(t.Context(), db, tenant, []id.Message{m.ID})
				if err != nil {
					t.Fatal(err)
				}
				stored := map[string]track.Class{}
				for _, h := range hits {
					stored[hitKey(h)] = h.Class
				}
				if !maps.Equal(stored, want[m.ID]) {
					t.Errorf("%s: the engine says %v, the file %v", s.Name, stored, want[m.ID])
				}
			}
		}
	})
}

// hitKey identifies a request within a message, to the second, as equal requests are.
func hitKey(h track.Hit) string {
	return h.At.UTC().Format(time.DateTime) + " " + h.URL + " " + h.IP + " " + h.Method + " " + h.Agent
}
