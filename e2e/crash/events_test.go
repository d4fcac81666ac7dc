package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKilledProcessesRecordEachEventOnce kills the program with SIGKILL while clients record events, one
// by one and in batches, and repeat each request under its idempotency keys until it is answered. Each
// event is then in the contact's activity exactly once, under the id of the answer, and no other is.
func TestKilledProcessesRecordEachEventOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		const clients, kills = 4, 3
		ctx := t.Context()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 5))
		p := &harness.Program{}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ready(ctx); err != nil { // makes the key
			t.Fatal(err)
		}
		contact, _ := e2etest.Must(t, owner, http.MethodPost, "/contacts", map[string]any{"email": "ann@example.org"})["id"].(string)
		r := &eventRecorders{t: t, key: p.Keyed(), contact: contact, ids: map[string]string{}}
		running, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		for client := range clients {
			work.Go(func() {
				for n := 0; running.Err() == nil; n++ {
					r.record(ctx, fmt.Sprintf("%d-%d", client, n), client%2 == 0)
					e2etest.Wait(t, 10*time.Millisecond)
				}
			})
		}
		for range kills {
			r.await(25)
			e2etest.Wait(t, time.Duration(random.IntN(300))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
		}
		r.await(25)
		stop()
		work.Wait()
		stored := map[string][]string{} // ids by key
		for cursor := ""; ; {
			list := e2etest.Must(t, owner, http.MethodGet, "/contacts/"+contact+"/activity?types=event&limit=200"+cursor, nil)
			for _, one := range list["data"].([]any) {
				row := one.(map[string]any)
				key, _ := row["properties"].(map[string]any)["key"].(string)
				stored[key] = append(stored[key], row["id"].(string))
			}
			next, more := list["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		for key, id := range r.ids {
			if got := stored[key]; len(got) != 1 || got[0] != id {
				t.Errorf("event %s was answered with the id %s and is stored under %v", key, id, got)
			}
		}
		for key := range stored {
			if r.ids[key] == "" {
				t.Errorf("event %q is stored and was never sent", key)
			}
		}
		t.Logf("%d events in %d requests, %d of them repeated", len(r.ids), r.requests, r.repeats)
	})
}

// eventRecorders record events of a contact, and remember the ids of the answers.
type eventRecorders struct {
	t       *testing.T
	key     *harness.Client
	contact string

	mu                sync.Mutex
	ids               map[string]string // by idempotency key
	requests, repeats int
}

// record records one event or a batch of three, and repeats the request until it is answered. One answered
// request of four is repeated once more, and has to have the same answer.
func (r *eventRecorders) record(ctx context.Context, name string, batch bool) {
	event := func(key string) map[string]any {
		return map[string]any{"event_name": "counted", "contact_id": r.contact, "idempotency_key": key, "properties": map[string]any{"key": key}}
	}
	keys := []string{name}
	path, body := "/events", event(name)
	if batch {
		keys = []string{name + "a", name + "b", name + "c"}
		path, body = "/events/batch", map[string]any{"events": []any{event(keys[0]), event(keys[1]), event(keys[2])}}
	}
	deadline := time.Now().Add(e2etest.Patience)
	for answers, wanted := 0, 1+rand.IntN(4)/3; answers < wanted; {
		a, err := r.key.Do(ctx, http.MethodPost, path, body)
		r.mu.Lock()
		r.requests++
		if err == nil && a.Status == http.StatusAccepted {
			answers++
			r.keep(keys, a, batch)
		} else if r.repeats++; err == nil && a.Status < 500 && a.Status != http.StatusTooManyRequests {
			r.t.Errorf("event %s: %d %s", name, a.Status, a.Body)
			answers = wanted
		}
		r.mu.Unlock()
		if time.Now().After(deadline) {
			r.t.Errorf("event %s was never answered: %v", name, err)
			return
		}
		if answers < wanted {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return
			}
		}
	}
}

// keep remembers the ids of an answer, which have to be those of an earlier one.
func (r *eventRecorders) keep(keys []string, a harness.Answer, batch bool) {
	results := []any{a.Map()}
	if batch {
		results, _ = a.Map()["results"].([]any)
	}
	for i, key := range keys {
		var id string
		if i < len(results) {
			row, _ := results[i].(map[string]any)
			id, _ = row["event_id"].(string)
		}
		if before := r.ids[key]; id == "" || before != "" && before != id {
			r.t.Errorf("event %s: the id is %q, was %q: %s", key, id, before, a.Body)
		}
		r.ids[key] = id
	}
}

// await waits until n more events were answered.
func (r *eventRecorders) await(n int) {
	r.t.Helper()
	count := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.ids)
	}
	want := count() + n
	if got := e2etest.Eventually(r.t, func() (int, bool) { return count(), count() >= want }); got < want {
		r.t.Fatalf("%d events were answered, want %d", got, want)
	}
}
