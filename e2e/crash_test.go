package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
)

// The short form of the crash test: enough recipients that the program is
// killed in the middle of sending several times.
const (
	crashRecipients  = 4000
	crashConnections = 8
	crashKills       = 5
)

// crashTroubles are the rules of the receiving server between two kills.
var crashTroubles = [crashKills]string{
	`[]`,
	`[{"stage": "dot", "keep": true, "drop": true, "chance": 0.02}, {"stage": "data", "drop": true, "reset": true, "chance": 0.02}]`,
	`[{"stage": "dot", "keep": true, "reply": "250 2.0.0 taken", "drop": true, "reset": true, "chance": 0.05}]`,
	`[{"stage": "dot", "drop": true, "chance": 0.02}, {"stage": "connect", "over": 4, "reply": "421 4.7.0 too many connections", "drop": true}]`,
	`[{"stage": "rcpt", "reply": "451 4.3.0 later", "chance": 0.02}, {"stage": "dot", "drip": "1ms", "chance": 0.05}]`,
}

// TestKilledSendersLoseNoMail kills the program without a warning, at random
// moments of a send, and restarts it; once also the receiving server, which
// also causes failures. No mail may be lost; a mail may arrive twice only if its
// final answer was pending at a kill, so at most once for each connection and kill,
// or was lost, and then with the same Message-ID. The long form is `make crash`.
func TestKilledSendersLoseNoMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		p, ready, s := startWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s, crashRecipients)
		eventually(t, time.Minute, func() (bool, bool) {
			taken, err := s.Messages()
			return true, err == nil && len(taken) > 0
		})
		mayRepeat := 0
		for i, trouble := range crashTroubles {
			if err := s.Rules(trouble); err != nil {
				t.Fatal(err)
			}
			wait(t, time.Duration(200+random.IntN(600))*time.Millisecond)
			if i == 1 {
				if err := s.Kill(); err != nil {
					t.Fatal(err)
				}
				mayRepeat += crashConnections
				if err := s.Restart(context.WithoutCancel(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			mayRepeat += crashConnections
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Rules(`[]`); err != nil {
			t.Fatal(err)
		}
		account(t, p, ready, s, id, harness.Expected{People: people(0, crashRecipients, "example.org"), MayRepeat: mayRepeat})
	})
}

// TestStoppedSendersNeverRepeat ends the program as an operator does, in the
// middle of a send: then no mail goes out twice.
func TestStoppedSendersNeverRepeat(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, address string) {
		t.Parallel()
		p, ready, s := start(t, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s, crashRecipients)
		for range 3 {
			wait(t, 400*time.Millisecond)
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		account(t, p, ready, s, id, harness.Expected{People: people(0, crashRecipients, "example.org"), Calm: true})
	})
}

func crashBroadcast(t *testing.T, p *harness.Program, ready *harness.Ready, s *harness.Sink, n int) string {
	t.Helper()
	db := database(t, p)
	if err := harness.Seed(t.Context(), db, ready.List, n, "example.org"); err != nil {
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

// account waits for the end and compares rows, sums, report and journal with each
// other and with the sink.
func account(t *testing.T, p *harness.Program, ready *harness.Ready, s *harness.Sink, id string, want harness.Expected) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest(len(want.People)))
	defer cancel()
	db := database(t, p)
	defer db.Close()
	if err := ready.Hurry(ctx, db, id); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	figures, err := harness.Account(ctx, db, ready, taken, id, want)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%v; at most %d repeats allowed", figures, want.MayRepeat+figures.Lost)
	if err := harness.Followed(ctx, db, id); err != nil {
		t.Error(err)
	}
}

// longest returns the time limit of a send to n recipients.
func longest(n int) time.Duration { return 3*time.Minute + time.Duration(n)*time.Millisecond }

// people returns the addresses that harness.Seed puts on a list.
func people(from, to int, domain string) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("person%d@%s", i, domain))
	}
	return list
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
