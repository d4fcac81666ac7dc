package classify

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// floodCost judges n hits of one address within less than a minute, and returns the number of
// queries and the most hits of the address that were read at once.
func floodCost(t *testing.T, w *world, n int) (queries, read int) {
	t.Helper()
	messages := w.send(t, 3, n/2)
	tenant, send := w.sendOf(t, messages[0].ID)
	var hits []track.Hit
	for i := range n {
		h := act{at: time.Hour + time.Duration(i)*50*time.Second/time.Duration(n), agent: chrome, ip: office}.hit()
		m := messages[i%len(messages)]
		h.Tenant, h.Send, h.Message, h.Contact = tenant, send, m.ID, m.Contact
		hits = append(hits, h)
	}
	if err := w.db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
		t.Fatal(err)
	}
	w.now = noon.Add(2 * time.Hour)
	ctx := sqldb.WithQueryTrace(t.Context(), func(text string, args []any) {
		queries++
		if strings.Contains(text, "SELECT id, message_id, ip, at FROM hit") && !strings.Contains(text, "class IN") {
			limit, _ := args[len(args)-1].(int64)
			read += int(limit)
		}
	})
	if err := w.engine.pass(ctx, false); err != nil {
		t.Fatal(err)
	}
	s, err := track.LoadSums(t.Context(), w.db, tenant, send)
	if err != nil || s.BotOpened != n/2 || s.PendingOpened != 0 {
		t.Errorf("sums of %d hits are %+v, %v", n, s, err)
	}
	return queries, read
}

func TestJudgingAFloodFromOneAddressTakesTimeInProportion(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		queries, read := floodCost(t, w, 1000)
		more, readMore := floodCost(t, w, 3000)
		if more > 3*queries || readMore > 3*read || readMore > 3*3000 {
			t.Errorf("1000 hits take %d queries and %d rows, 3000 take %d and %d", queries, read, more, readMore)
		}
	})
}

// A process that ends during a backlog leaves the rest pending, and the next one finds what a single
// run would have found.
func TestABacklogOutlivesAProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		messages := w.send(t, 3, 30)
		other := w.send(t, 3, 1)[0]
		for i, m := range messages[:9] { // nine are people's until there are more
			w.record(t, m, act{at: time.Hour + time.Duration(i)*sec, agent: chrome, ip: office})
		}
		w.run(t, noon.Add(2*time.Hour))
		for i, m := range messages[9:] {
			w.record(t, m, act{at: time.Hour + time.Duration(i)*sec, agent: chrome, ip: office})
		}
		w.record(t, other, act{at: time.Hour, agent: chrome, ip: office})
		ctx, cancel := context.WithCancel(t.Context())
		written := 0
		stopping := sqldb.WithQueryTrace(ctx, func(text string, _ []any) {
			if strings.Contains(text, "send_id, flags, mix, country, pruned FROM engagement") { // the first statement that writes a batch
				if written++; written == 2 {
					cancel()
				}
			}
		})
		if err := w.engine.pass(stopping, false); err == nil {
			t.Fatal("the first process was not stopped")
		}
		next := newWorld(db)
		next.run(t, noon.Add(3*time.Hour))
		for k, v := range all(t, w, messages) {
			if v != "bot R7" {
				t.Errorf("%s: %s", k, v)
			}
		}
		if v := w.verdicts(t, other); fmt.Sprint(v) != fmt.Sprint(map[string]string{key(time.Hour, false, 0, office): "human"}) {
			t.Errorf("the other tenant's is %v", v)
		}
	})
}

func TestMessagesAreJudgedInBatchesOfBoundedSize(t *testing.T) {
	t.Parallel()
	var messages []id.Message
	counts := map[id.Message]int{}
	for i := range 1000 {
		m := idtest.Named[id.Message](fmt.Sprintf("%04d", i))
		messages = append(messages, m)
		counts[m] = []int{1, 1000, 5, 400, 1}[i%5]
	}
	at := 0
	for _, part := range batches(messages, counts) {
		hits := 0
		for _, m := range part {
			if m != messages[at] {
				t.Fatalf("message %s is in place of %s", m, messages[at])
			}
			at++
			hits += counts[m]
		}
		if len(part) == 0 || len(part) > batchMessages || len(part) > 1 && hits > batchHits {
			t.Errorf("a batch of %d messages and %d hits", len(part), hits)
		}
	}
	if at != len(messages) {
		t.Errorf("%d of %d messages are in a batch", at, len(messages))
	}
}
