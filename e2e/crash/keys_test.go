package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestKilledProcessesExecuteEachIdempotencyKeyOnce kills the program with SIGKILL while clients create, copy, export and
// send test mails, and repeat each request under its Idempotency-Key until it is answered. Then each record exists
// once, under the id of the answer, each export completes, and each test mail was sent at most once: exactly once,
// unless the answer says that the request was interrupted.
func TestKilledProcessesExecuteEachIdempotencyKeyOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		const clients, kills = 4, 4
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 9))
		p := &harness.Program{}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ready(t.Context()); err != nil { // makes the identity that test mails come from
			t.Fatal(err)
		}
		k := &keyClients{t: t, owner: owner, ids: map[string]string{}, mails: map[string]bool{}}
		k.broadcast, _ = e2etest.Must(t, owner, http.MethodPost, "/broadcasts", map[string]any{"name": "Original", "content": map[string]any{"subject": "Hi", "body_html": "<p>Hi</p>"}})["id"].(string)
		k.sink, _ = e2etest.Must(t, owner, http.MethodPost, "/mta-configs", map[string]any{"name": "Sink", "type": "sink"})["id"].(string)
		running, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		for client := range clients {
			work.Go(func() {
				for n := 0; running.Err() == nil; n++ {
					k.request(n, fmt.Sprintf("repeated-%d-%d", client, n))
				}
			})
		}
		for range kills {
			k.await(15)
			e2etest.Wait(t, time.Duration(random.IntN(200))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			// The leases of the dead process end, as they do within minutes.
			db := e2etest.Database(t, p)
			if _, err := db.Exec(t.Context(), `UPDATE idempotency SET lease_until = 0 /* all tenants: there is one */`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		k.await(15)
		stop()
		work.Wait()
		k.check()
		t.Logf("%d requests for %d keys were repeated; %d test mails, %d of them interrupted", k.repeats, len(k.ids)+len(k.mails), len(k.mails), k.interrupted)
	})
}

// keyClients send requests with keys, and store what was answered.
type keyClients struct {
	t               *testing.T
	owner           *harness.Client
	broadcast, sink string

	mu                   sync.Mutex
	ids                  map[string]string // of the answers, by key
	mails                map[string]bool   // by key: whether the test mail was answered for
	repeats, interrupted int
}

// request sends one request until it is answered, and sometimes once more. The clients of this test export far
// more often than people do: on PostgreSQL, where other processes may use the database, the export that a killed
// process ran holds up the others for the rest of its lease of 15 seconds, and more than 100 of them wait by
// then. The server refuses further ones with LIMIT_EXCEEDED. Like any client, this one repeats the export until
// others have ended.
func (k *keyClients) request(n int, key string) {
	c := *k.owner
	c.Key = key
	path, body := "/segments", map[string]any{"name": key, "type": "static"}
	switch n % 6 {
	case 1:
		path, body = "/templates", map[string]any{"name": key, "content_html": "<p>Hi</p>"}
	case 2:
		path, body = "/contacts", map[string]any{"email": key + "@example.org"}
	case 3:
		path, body = "/broadcasts/"+k.broadcast+"/clone", map[string]any{"name": key}
	case 4:
		path, body = "/contacts/export", map[string]any{"format": "ndjson"}
	case 5:
		path, body = "/mta-configs/"+k.sink+"/test", map[string]any{"to": key + "@example.org"}
	}
	deadline := time.Now().Add(e2etest.Patience)
	for answers := 0; answers < 1+n%2; {
		a, err := c.Do(k.t.Context(), http.MethodPost, path, body)
		switch {
		case err == nil && a.Status < 300:
			answers++
			k.keep(key, path, a)
		case err == nil && path[1:4] == "mta" && strings.Contains(string(a.Body), "interrupted"):
			answers += 2
			k.mu.Lock()
			k.mails[key] = false
			k.interrupted++
			k.mu.Unlock()
		case err == nil && a.Status < 500 && a.Code() != "IDEMPOTENCY_IN_PROGRESS" && (a.Code() != "LIMIT_EXCEEDED" || n%6 != 4 || answers > 0):
			k.t.Errorf("%s %s: %d %s", path, key, a.Status, a.Body)
			return
		case time.Now().After(deadline):
			k.t.Errorf("%s %s was never answered: %d %s, %v", path, key, a.Status, a.Body, err)
			return
		default:
			k.mu.Lock()
			k.repeats++
			k.mu.Unlock()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-k.t.Context().Done():
				return
			}
		}
	}
}

// keep stores an answer, which must be that of the first request.
func (k *keyClients) keep(key, path string, a harness.Answer) {
	m := a.Map()
	id, _ := m["id"].(string)
	if id == "" {
		id, _ = m["job_id"].(string)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if path[1:4] == "mta" {
		k.mails[key] = true
		return
	}
	if had, ok := k.ids[key]; ok && had != id || id == "" {
		k.t.Errorf("%s %s: the answer has the id %q, an earlier one %q", path, key, id, had)
	}
	k.ids[key] = id
}

// await waits until n more keys were answered.
func (k *keyClients) await(n int) {
	count := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.ids) + len(k.mails)
	}
	begun := count()
	if got := e2etest.Eventually(k.t, func() (int, bool) { m := count() - begun; return m, m >= n }); got < n {
		k.t.Fatalf("only %d keys were answered in a minute", got)
	}
}

// check compares what exists with the answers.
func (k *keyClients) check() {
	k.t.Helper()
	found := map[string][]string{} // ids by name
	var jobs, answered int
	if open := e2etest.Eventually(k.t, func() ([]any, bool) {
		open := e2etest.Must(k.t, k.owner, http.MethodGet, "/jobs?status=queued,running", nil)["data"].([]any)
		return open, len(open) == 0
	}); len(open) > 0 {
		k.t.Errorf("exports do not end: %v", open)
	}
	for path, name := range map[string]string{"/segments": "name", "/templates": "name", "/broadcasts": "name", "/contacts": "email", "/jobs": ""} {
		for cursor := ""; ; {
			list := e2etest.Must(k.t, k.owner, http.MethodGet, path+"?limit=200"+cursor, nil)
			for _, one := range list["data"].([]any) {
				row := one.(map[string]any)
				if name == "" {
					jobs++
					if row["status"] != "completed" {
						k.t.Errorf("an export is %v", row)
					}
					continue
				}
				text, _ := row[name].(string)
				if text, _, _ = strings.Cut(text, "@"); strings.HasPrefix(text, "repeated-") {
					found[text] = append(found[text], row["id"].(string))
				}
			}
			next, more := list["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
	}
	for key, id := range k.ids {
		if n := key[strings.LastIndex(key, "-")+1:]; atoi(k.t, n)%6 == 4 {
			answered++
		} else if got := found[key]; len(got) != 1 || got[0] != id {
			k.t.Errorf("%s was answered with the id %s, and there are %v", key, id, got)
		}
	}
	for key := range found {
		if k.ids[key] == "" {
			k.t.Errorf("%s exists without an answer", key)
		}
	}
	if jobs != answered {
		k.t.Errorf("there are %d exports for %d answers", jobs, answered)
	}
	sent := map[string]int{}
	for cursor := ""; ; {
		list := e2etest.Must(k.t, k.owner, http.MethodGet, "/mta-configs/"+k.sink+"/messages?limit=200"+cursor, nil)
		for _, one := range list["data"].([]any) {
			to, _, _ := strings.Cut(fmt.Sprint(one.(map[string]any)["to"]), "@")
			sent[strings.Trim(to, "[")]++
		}
		next, more := list["next_cursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	for key, whole := range k.mails {
		if n := sent[key]; n > 1 || whole && n != 1 {
			k.t.Errorf("the test mail of %s was sent %d times", key, n)
		}
	}
}

func atoi(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
