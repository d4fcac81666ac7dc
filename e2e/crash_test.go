package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"packetboat/e2e/harness"
)

// The crash proof in its short form: enough recipients that the program is
// killed in the middle of sending several times.
const (
	crashRecipients  = 4000
	crashConnections = 8
	crashKills       = 5
)

// TestKilledSendersLoseNobody kills the program without a warning, at random
// moments of a send, and starts it again. Nobody may be lost; a mail may arrive
// twice only if its final answer was open at a kill, so at most once for each
// connection and kill, and then with the same Message-ID (mail-notes 9).
func TestKilledSendersLoseNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		p, ready, s := start(t, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s)
		kills := 0
		for kills < crashKills {
			wait(t, time.Duration(200+random.IntN(600))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			kills++
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if b, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+id, nil); err != nil {
				t.Fatal(err)
			} else if b["status"] == "completed" {
				break
			}
		}
		t.Logf("%d kills", kills)
		account(t, ready, s, id, kills*crashConnections)
	})
}

// TestStoppedSendersNeverRepeat ends the program as an operator does, in the
// middle of a send: then no mail goes out twice.
func TestStoppedSendersNeverRepeat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, address string) {
		t.Parallel()
		p, ready, s := start(t, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s)
		for range 3 {
			wait(t, 400*time.Millisecond)
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		account(t, ready, s, id, 0)
	})
}

func crashBroadcast(t *testing.T, p *harness.Program, ready *harness.Ready, s *harness.Sink) string {
	t.Helper()
	db := database(t, p)
	if err := harness.Seed(t.Context(), db, ready.List, crashRecipients, "example.org"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	lane, err := ready.Lane(t.Context(), "Sink", s.Address, crashConnections, false)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ready.Broadcast(t.Context(), lane, map[string]any{
		"subject": "Hello {{ first_name }}", "body_html": `<p>Hello {{ first_name }}, <a href="https://example.com/">read on</a></p>`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ready.Schedule(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

// account waits for the end and holds the program's numbers against the sink's.
func account(t *testing.T, ready *harness.Ready, s *harness.Sink, id string, mayRepeat int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if _, err := ready.Await(ctx, id, "completed"); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{} // recipient -> Message-ID
	repeats := 0
	for _, m := range taken {
		if len(m.Rcpt) != 1 {
			t.Fatalf("a mail with %d recipients: %v", len(m.Rcpt), m.Rcpt)
		}
		first, again := ids[m.Rcpt[0]]
		if again {
			repeats++
			if first != m.MessageID {
				t.Errorf("%s got two mails with different Message-IDs: %s and %s", m.Rcpt[0], first, m.MessageID)
			}
		}
		ids[m.Rcpt[0]] = m.MessageID
	}
	for i := range crashRecipients {
		if _, ok := ids[fmt.Sprintf("person%d@example.org", i)]; !ok {
			t.Errorf("person%d got nothing", i)
		}
	}
	if len(ids) != crashRecipients {
		t.Errorf("%d different people got mail, want %d", len(ids), crashRecipients)
	}
	if repeats > mayRepeat {
		t.Errorf("%d mails were repeated, want at most %d", repeats, mayRepeat)
	}
	t.Logf("%d mails, %d repeated (at most %d allowed)", len(taken), repeats, mayRepeat)
	report, err := ready.Key.Must(t.Context(), http.MethodGet, "/broadcasts/"+id+"/report", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"total_recipients", "total_sent", "total_delivered"} {
		if report[name] != float64(crashRecipients) {
			t.Errorf("the report says %s = %v, want %d", name, report[name], crashRecipients)
		}
	}
	for _, name := range []string{"total_failed", "total_bounced"} {
		if report[name] != 0.0 {
			t.Errorf("the report says %s = %v, want 0", name, report[name])
		}
	}
}

// wait lets the program work for a while; what happens meanwhile is the test.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
