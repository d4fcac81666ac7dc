package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
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
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		p, ready, s := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s, crashRecipients)
		e2etest.Eventually(t, func() (bool, bool) {
			taken, err := s.Messages()
			return true, err == nil && len(taken) > 0
		})
		mayRepeat := 0
		for i, trouble := range crashTroubles {
			if err := s.Rules(trouble); err != nil {
				t.Fatal(err)
			}
			e2etest.Wait(t, time.Duration(200+random.IntN(600))*time.Millisecond)
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

// TestStoppedSendersRepeatNoMail ends the program as an operator does, in the
// middle of a send: then no mail goes out twice.
func TestStoppedSendersRepeatNoMail(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		p, ready, s := e2etest.Start(t, address, "-delay", "2ms")
		id := crashBroadcast(t, p, ready, s, crashRecipients)
		for range 3 {
			e2etest.Wait(t, 400*time.Millisecond)
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

// The short crash test of copies for seeds.
const (
	crashSeeds      = 1200
	crashCopyPeople = 300
)

// TestKilledSendersLoseNoSeedCopy kills the program while copies for seeds are added and sent. As with mails to
// contacts, each seed has one copy, none is lost, and one is repeated only if its final answer was pending
// at a kill.
func TestKilledSendersLoseNoSeedCopy(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 2))
		ctx := t.Context()
		p, ready, s := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address, "-delay", "5ms")
		identity := e2etest.Must(t, ready.Key, http.MethodGet, "/sending-identities", nil)["data"].([]any)[0].(map[string]any)["id"]
		list := e2etest.Must(t, ready.Owner, http.MethodPost, "/seed-lists", map[string]any{
			"name": "Vendor", "include_by_default": true, "sending_identity_ids": []any{identity},
		})["id"].(string)
		var seeds []any
		wanted := map[string]bool{}
		for i := range crashSeeds {
			email := fmt.Sprintf("seed%d@vendor.example", i)
			seeds, wanted[email] = append(seeds, map[string]any{"email": email}), true
		}
		e2etest.Must(t, ready.Key, http.MethodPut, "/seed-lists/"+list+"/seeds", map[string]any{"seeds": seeds})
		id := crashBroadcast(t, p, ready, s, crashCopyPeople)
		copied := func() map[string][]sink.Message {
			taken, err := s.Messages()
			if err != nil {
				t.Fatal(err)
			}
			found := map[string][]sink.Message{}
			for _, m := range taken {
				for _, to := range m.Rcpt {
					if strings.HasSuffix(to, "@vendor.example") {
						found[to] = append(found[to], m)
					}
				}
			}
			return found
		}
		during := 0
		for i := range crashKills {
			if i > 1 { // the last kills are during the copies
				e2etest.Eventually(t, func() (bool, bool) { return true, len(copied()) > 0 })
			}
			e2etest.Wait(t, time.Duration(100+random.IntN(500))*time.Millisecond)
			if n := len(copied()); n > 0 && n < crashSeeds {
				during++
			}
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
		}
		within, cancel := context.WithTimeout(ctx, longest(crashSeeds))
		defer cancel()
		db := e2etest.Database(t, p)
		defer db.Close()
		if err := ready.Hurry(within, db, id); err != nil {
			t.Fatal(err)
		}
		if during == 0 {
			t.Error("no kill was during the copies")
		}
		repeats, found := 0, copied()
		for email, list := range found {
			if !wanted[email] {
				t.Errorf("%s is no seed", email)
			}
			repeats += len(list) - 1
			for _, m := range list {
				if m.MessageID != list[0].MessageID {
					t.Errorf("the copies of %s have different Message-IDs", email)
				}
			}
		}
		if len(found) != crashSeeds || repeats > crashKills*crashConnections {
			t.Errorf("%d seeds got copies, want %d; %d were repeated, at most %d may be", len(found), crashSeeds, repeats, crashKills*crashConnections)
		}
		t.Logf("%d kills during the copies, %d repeats", during, repeats)
		var rows, different, unsent int
		if err := db.QueryRow(ctx, `
			SELECT COUNT(*), COUNT(DISTINCT email), COALESCE(SUM(CASE WHEN state = 'delivered' THEN 0 ELSE 1 END), 0)
			FROM outbox WHERE email LIKE '%@vendor.example'`).Scan(&rows, &different, &unsent); err != nil || rows != crashSeeds || different != crashSeeds || unsent != 0 {
			t.Errorf("%d rows of %d seeds, %d not delivered, %v", rows, different, unsent, err)
		}
		b := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id, nil)
		copies := b["view_model"].(map[string]any)["delivery_progress"].(map[string]any)["seed_copies"].(map[string]any)
		if b["total_recipients"] != float64(crashCopyPeople) || copies["sent"] != float64(crashSeeds) {
			t.Errorf("total_recipients = %v, seed_copies = %v", b["total_recipients"], copies)
		}
	})
}

func crashBroadcast(t *testing.T, p *harness.Program, ready *harness.Ready, s *harness.Sink, n int) string {
	t.Helper()
	db := e2etest.Database(t, p)
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
	db := e2etest.Database(t, p)
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
func longest(n int) time.Duration { return e2etest.Patience + time.Duration(n)*time.Millisecond }

// people returns the addresses that harness.Seed puts on a list.
func people(from, to int, domain string) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("person%d@%s", i, domain))
	}
	return list
}
