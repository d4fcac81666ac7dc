package classify

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/recount"
)

const (
	hitsEach   = 20        // of a message
	mostMemory = 300 << 20 // bytes of the heap, whatever the number of hits
)

// manyHits is the number of hits of each send of TestManyHitsInAnyOrder. PACKETBOAT_TEST_HITS sets
// another one, such as 500000.
func manyHits(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PACKETBOAT_TEST_HITS")
	if text == "" {
		return 2000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < hitsEach {
		t.Fatalf("PACKETBOAT_TEST_HITS = %q, want a number of hits", text)
	}
	return n / hitsEach * hitsEach
}

// behaviour returns the kth hit of a message: mailbox providers, scanners and people take turns.
func behaviour(message, k int) act {
	rnd := rand.New(rand.NewPCG(uint64(message), uint64(k)))
	own := fmt.Sprintf("198.%d.%d.%d", 18+message>>16, message>>8&255, message&255)
	switch message % 10 {
	case 0:
		return act{at: time.Duration(3+k*600) * sec, agent: apple, ip: appleIP}
	case 1:
		return act{at: time.Duration(2+k*400) * sec, agent: []string{prefetch, google}[min(k, 1)], ip: gmailIP}
	case 2: // reads, and follows a link now and then
		return act{at: time.Hour + time.Duration(k*90)*sec, link: max(0, rnd.IntN(8)-3), agent: firefox, ip: own}
	case 3: // fetches link after link
		return act{at: 40*sec + time.Duration(k*1100)*ms, link: 1 + k%4, agent: chrome, ip: own}
	case 4: // the same, slowly
		return act{at: time.Minute + time.Duration(k*12)*sec, link: 1 + k%4, agent: edge, ip: own}
	case 5:
		return act{at: time.Duration(10+k*5) * sec, link: k % 3, agent: chrome, ip: []string{proofpoint, barracuda}[k%2]}
	case 6: // asks first
		return act{at: 10*time.Minute + time.Duration(k*4)*sec, link: 1 + k/2%2, agent: []string{"HEAD " + chrome, chrome}[k%2], ip: own}
	case 7:
		return act{at: time.Duration(5+k*k*2) * sec, link: k % 2, agent: edge, ip: microsoft}
	case 8: // a company's gateway opens the mails of all its people
		return act{at: 2*time.Hour + time.Duration(message%600)*sec + time.Duration(k*3)*sec, agent: chrome, ip: office}
	}
	return act{at: time.Duration(rnd.IntN(4*3600)+k*4*3600) * sec, link: rnd.IntN(4), agent: []string{chrome, outlook, yahoo, slack, ""}[rnd.IntN(5)], ip: own}
}

// Many hits get the same verdicts whether they arrive in order, with passes meanwhile, or in any order
// before the first pass; the sums are those of a recount, and memory does not depend on their number.
func TestManyHitsInAnyOrder(t *testing.T) {
	t.Parallel()
	n := manyHits(t)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		inOrder, anyOrder := w.send(t, 4, n/hitsEach), w.send(t, 4, n/hitsEach)
		peak := uint64(0)
		record := func(to []outbox.Message, from, until int, number func(int) int) {
			t.Helper()
			var hits []track.Hit
			tenant, send := w.sendOf(t, to[0].ID)
			for i := from; i < until; i++ {
				at := number(i)
				m := to[at/hitsEach]
				h := behaviour(at/hitsEach, at%hitsEach).hit()
				h.Tenant, h.Send, h.Message, h.Contact = tenant, send, m.ID, m.Contact
				hits = append(hits, h)
			}
			if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
				t.Fatal(err)
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			peak = max(peak, memory.HeapInuse)
		}
		const part = 990 // ends within the hits of a message
		for from := 0; from < n; from += part {
			record(inOrder, from, min(from+part, n), func(i int) int { return i })
			if from/part%max(1, n/part/50) == 0 {
				w.run(t, noon.Add(1000*time.Hour))
			}
		}
		w.run(t, noon.Add(1000*time.Hour))
		const prime = 1_000_003
		for from := 0; from < n; from += part {
			record(anyOrder, from, min(from+part, n), func(i int) int { return int(int64(i) * prime % int64(n)) })
		}
		w.run(t, noon.Add(1000*time.Hour))
		t.Logf("twice %d hits; at most %d MB of the heap are in use", n, peak>>20)
		if peak > mostMemory {
			t.Errorf("%d MB of the heap are in use", peak>>20)
		}
		w.sameVerdicts(t, inOrder, anyOrder)
		for _, m := range []outbox.Message{inOrder[0], anyOrder[0]} {
			tenant, _ := w.sendOf(t, m.ID)
			r := recount.Recount{DB: db, Now: func() time.Time { return w.now }, Found: func(d recount.Difference) {
				if d.Kind != recount.Send { // the messages were not sent by an engine
					t.Errorf("a recount finds %+v", d)
				}
			}}
			if _, err := r.Run(t.Context(), []id.Tenant{tenant}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// sameVerdicts compares the hits and the sums of two sends.
func (w *world) sameVerdicts(t *testing.T, a, b []outbox.Message) {
	t.Helper()
	classes := func(list []outbox.Message) map[string]int {
		t.Helper()
		tenant, _ := w.sendOf(t, list[0].ID)
		var ids []id.Message
		number := map[id.Message]int{}
		for i, m := range list {
			ids = append(ids, m.ID)
			number[m.ID] = i
		}
		hits, err := track.HitsOf(t.Context(), w.db, tenant, ids)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, h := range hits {
			found[fmt.Sprintf("%d %s %s", number[h.Message], hitKey(h), h.Class)]++
		}
		return found
	}
	const page = 200
	for from := 0; from < len(a); from += page {
		until := min(from+page, len(a))
		if x, y := classes(a[from:until]), classes(b[from:until]); !maps.Equal(x, y) {
			for k := range x {
				if y[k] != x[k] {
					t.Fatalf("from message %d on, %q is there %d times in order and %d times in any order", from, k, x[k], y[k])
				}
			}
			t.Fatalf("from message %d on there are %d classes in order and %d in any order", from, len(x), len(y))
		}
	}
	load := func(m outbox.Message) track.Sums {
		t.Helper()
		tenant, send := w.sendOf(t, m.ID)
		s, err := track.LoadSums(t.Context(), w.db, tenant, send)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if x, y := load(a[0]), load(b[0]); x != y || x.PendingOpened+x.PendingClicked > 0 {
		t.Errorf("the sums are %+v in order and %+v in any order", x, y)
	}
}
