package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// webhookClients create contacts at a time.
const webhookClients = 4

// TestKilledProcessesDeliverEachWebhookEvent kills the program with SIGKILL while clients create contacts and
// a receiver takes the events, slowly and with failures. Afterwards each contact whose creation was
// answered has one event, under one id in all its deliveries, and there is no event of any other.
func TestKilledProcessesDeliverEachWebhookEvent(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 3))
		p := &harness.Program{Env: []string{"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS=true"}}
		e2etest.Begin(t, p, address)
		owner, err := p.SignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := newWebhookReceiver(t, seed)
		made := e2etest.Must(t, owner, http.MethodPost, "/settings/webhooks", map[string]any{"url": r.URL, "event_types": []string{"contact.created"}})
		endpoint, _ := made["id"].(string)
		r.setSecret(made["secret"].(string))
		c := newContactClients(t, p)
		for range 3 {
			c.created(30)
			e2etest.Wait(t, time.Duration(random.IntN(500))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.created(30)
		c.end()
		// The lease of a killed process, and retries, delay some of the events.
		missing := e2etest.Eventually(t, func() (int, bool) {
			n := 0
			for _, id := range c.ids() {
				if len(r.accepted(id)) == 0 {
					n++
				}
			}
			return n, n == 0
		})
		if missing > 0 {
			t.Errorf("%d of %d contacts have no event", missing, len(c.ids()))
		}
		for _, id := range r.contacts() {
			if ids := r.accepted(id); len(ids) > 1 {
				t.Errorf("the event of contact %s has the ids %v", id, ids)
			}
			if a, err := c.key.Do(t.Context(), http.MethodGet, "/contacts/"+id, nil); err != nil || a.Status != http.StatusOK {
				t.Errorf("contact %s of an event: %d, %v", id, a.Status, err)
			}
		}
		last := e2etest.Must(t, owner, http.MethodGet, "/settings/webhooks/"+endpoint+"/deliveries?limit=1", nil)
		if list, _ := last["data"].([]any); len(list) != 1 {
			t.Errorf("deliveries = %v", last)
		}
		t.Logf("%d contacts were answered, %d events arrived in %d requests", len(c.ids()), len(r.contacts()), r.count())
	})
}

// contactClients create contacts, and store those whose creation was answered.
type contactClients struct {
	t    *testing.T
	key  *harness.Client
	stop context.CancelFunc
	all  sync.WaitGroup

	mu   sync.Mutex
	made []string
}

func newContactClients(t *testing.T, p *harness.Program) *contactClients {
	ctx, stop := context.WithCancel(t.Context())
	c := &contactClients{t: t, key: p.Keyed(), stop: stop}
	for i := range webhookClients {
		c.all.Go(func() { c.run(ctx, i) })
	}
	t.Cleanup(c.end)
	return c
}

func (c *contactClients) run(ctx context.Context, client int) {
	for n := 0; ctx.Err() == nil; n++ {
		a, err := c.key.Do(ctx, http.MethodPost, "/contacts", map[string]any{"email": fmt.Sprintf("c%d.%d@example.org", client, n)})
		if id, ok := a.Map()["id"].(string); ok && err == nil && a.Status == http.StatusCreated {
			c.mu.Lock()
			c.made = append(c.made, id)
			c.mu.Unlock()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (c *contactClients) ids() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

// created waits until n more were created.
func (c *contactClients) created(n int) {
	c.t.Helper()
	want := len(c.ids()) + n
	got := e2etest.Eventually(c.t, func() (int, bool) { return len(c.ids()), len(c.ids()) >= want })
	if got < want {
		c.t.Fatalf("%d contacts were created, want %d", got, want)
	}
}

func (c *contactClients) end() {
	c.stop()
	c.all.Wait()
}

// webhookReceiver accepts events after a short time, and refuses some the first time.
type webhookReceiver struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	random   *rand.Rand
	verifier *standardwebhooks.Webhook
	requests int
	refused  map[string]bool            // by id of the delivery
	ids      map[string]map[string]bool // of accepted deliveries, by contact
}

func newWebhookReceiver(t *testing.T, seed uint64) *webhookReceiver {
	r := &webhookReceiver{t: t, random: rand.New(rand.NewPCG(seed, 4)), refused: map[string]bool{}, ids: map[string]map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *webhookReceiver) setSecret(secret string) {
	r.t.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verifier = w
}

func (r *webhookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the program was killed
	}
	var event struct {
		Type string
		Data struct {
			ContactID string `json:"contact_id"`
		}
	}
	if err := json.Unmarshal(body, &event); err != nil || event.Type != "contact.created" {
		r.t.Errorf("the body is %s", body)
	}
	message := req.Header.Get("webhook-id")
	r.mu.Lock()
	pause := time.Duration(r.random.IntN(20)) * time.Millisecond
	refuse := r.random.IntN(50) == 0 && !r.refused[message]
	r.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-req.Context().Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if err := r.verifier.Verify(body, req.Header); err != nil {
		r.t.Errorf("the signature: %v", err)
	}
	if refuse {
		r.refused[message] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.ids[event.Data.ContactID] == nil {
		r.ids[event.Data.ContactID] = map[string]bool{}
	}
	r.ids[event.Data.ContactID][message] = true
	w.WriteHeader(http.StatusNoContent)
}

// accepted returns the ids of the deliveries about a contact that were accepted.
func (r *webhookReceiver) accepted(contact string) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.ids[contact] {
		ids = append(ids, id)
	}
	return ids
}

func (r *webhookReceiver) contacts() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.ids {
		list = append(list, c)
	}
	return list
}

func (r *webhookReceiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}
