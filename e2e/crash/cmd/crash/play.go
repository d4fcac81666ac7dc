package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
)

// serverRules are the sets of rules of the receiving server (sink.Rule), of which one applies at a time.
// With gentle ones the sender always gets a reply after the end of a message.
var serverRules = []struct {
	name, rules string
	gentle      bool
}{
	{"none", `[]`, true},
	{"delays", `[{"stage": "dot", "delay": "400ms", "chance": 0.2}]`, true},
	{"drops before DATA", `[{"stage": "data", "drop": true, "chance": 0.05}, {"stage": "mail", "drop": true, "reset": true, "chance": 0.02}]`, true},
	{"drops in DATA", `[{"stage": "body", "drop": true, "chance": 0.05}]`, true},
	{"drops at the dot, mail not kept", `[{"stage": "dot", "drop": true, "chance": 0.05}]`, true},
	{"no answer to the dot", `[{"stage": "dot", "keep": true, "drop": true, "chance": 0.03}]`, false},
	{"answer, then reset", `[{"stage": "dot", "keep": true, "reply": "250 2.0.0 taken", "drop": true, "reset": true, "chance": 0.03}]`, false},
	{"421 storm", `[{"stage": "connect", "reply": "421 4.3.2 too busy", "drop": true, "chance": 0.7}, {"stage": "mail", "reply": "421 4.3.2 closing", "drop": true, "chance": 0.3}]`, true},
	{"slow drip", `[{"stage": "dot", "drip": "20ms", "chance": 0.2}]`, true},
	{"TLS fails", `[{"stage": "tls", "drop": true, "chance": 0.5}]`, true},
	{"connection cap", `[{"stage": "connect", "over": 3, "reply": "421 4.7.0 too many connections", "drop": true}]`, true},
	{"greylisting", `[{"stage": "rcpt", "to": "@grey\\.example$", "reply": "451 4.7.1 greylisted", "times": 1, "each": true}]`, true},
}

// failure is a fault injected into the installation.
type failure struct {
	name string
	do   func(*scene, context.Context) error
}

// The failures of any installation, those of installations with several nodes, and the orderly stop of a
// node.
var (
	kill            = failure{"kill of a node", (*scene).kill}
	killSink        = failure{"kill of the receiving server", (*scene).killSink}
	clusterFailures = []failure{
		{"kill of the database", (*scene).restartDatabase},
		{"short partition", func(s *scene, ctx context.Context) error { return s.partition(ctx, time.Second) }},
		{"long partition", func(s *scene, ctx context.Context) error { return s.partition(ctx, lease+6*time.Second) }},
		{"freeze", (*scene).freeze},
	}
	drain = failure{"stop of a node", (*scene).stop}
)

// chooseFailures returns one failure for each cycle, in random order: each kind at least twice if there are
// enough cycles, and kills for the rest.
func (s *scene) chooseFailures(gentle bool) []failure {
	if gentle {
		return slices.Repeat([]failure{drain}, s.cycles)
	}
	deck := []failure{killSink}
	if s.proxy != nil {
		deck = append(deck, clusterFailures...)
	}
	deck = append(deck, deck...)
	for len(deck) < s.cycles {
		deck = append(deck, kill)
	}
	deck = deck[len(deck)-s.cycles:]
	s.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// run injects one failure after the other while the broadcast is sent.
func (s *scene) run(ctx context.Context, gentle bool) error {
	var kinds []int
	for cycle, b := range s.chooseFailures(gentle) {
		if len(kinds) == 0 {
			kinds = s.random.Perm(len(serverRules))
		}
		trouble := serverRules[kinds[0]]
		kinds = kinds[1:]
		if gentle && !trouble.gentle {
			trouble = serverRules[0]
		}
		if err := s.server.Rules(trouble.rules); err != nil {
			return err
		}
		if err := sleep(ctx, time.Duration(500+s.randomInt(2500))*time.Millisecond); err != nil {
			return err
		}
		if err := s.suppressRandom(ctx); err != nil {
			return err
		}
		if err := b.do(s, ctx); err != nil {
			return fmt.Errorf("cycle %d, %s: %w", cycle+1, b.name, err)
		}
		s.failures[b.name]++
		for _, n := range s.nodes {
			if n.Ended() {
				return fmt.Errorf("cycle %d, %s: a node has ended by itself; see %s", cycle+1, b.name, n.Log)
			}
		}
		if cycle == 0 { // that was during the preparation; the others are to hit the send
			if err := s.awaitMail(ctx); err != nil {
				return err
			}
		}
	}
	return s.server.Rules(`[]`)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitMail waits until mail flows.
func (s *scene) awaitMail(ctx context.Context) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if m, err := s.server.Messages(); err != nil || len(m) > 0 {
			return err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("nothing is sent")
}

// suppressRandom suppresses a random recipient, whose mail may have been sent already. After the response,
// only attempts that were checked just before may still begin.
func (s *scene) suppressRandom(ctx context.Context) error {
	const checked = 10 * time.Second
	email := s.people[s.randomInt(len(s.people))]
	if strings.HasSuffix(email, "@refused.example") {
		return nil
	}
	if err := s.excludeContact(ctx, email, nil); err != nil {
		return err
	}
	if _, before := s.left[email]; !before {
		s.left[email] = time.Now().Add(checked)
	}
	return nil
}

// victim returns a random node and its index.
func (s *scene) victim() (int, *harness.Program) {
	i := s.randomInt(len(s.nodes))
	return i, s.nodes[i]
}

func (s *scene) kill(ctx context.Context) error {
	i, n := s.victim()
	if err := n.Kill(); err != nil {
		return err
	}
	s.mayRepeat += connections
	return s.replace(ctx, i)
}

func (s *scene) stop(ctx context.Context) error {
	i, n := s.victim()
	if err := n.Stop(); err != nil {
		return err
	}
	return s.replace(ctx, i)
}

// replace starts a new node for one that has ended; on SQLite, the same again.
func (s *scene) replace(ctx context.Context, i int) error {
	if s.proxy == nil {
		return s.front.Start(ctx)
	}
	s.nodes = slices.Delete(s.nodes, i, i+1)
	return s.addNode(ctx)
}

func (s *scene) killSink(ctx context.Context) error {
	if err := s.server.Kill(); err != nil {
		return err
	}
	s.mayRepeat += connections
	if err := sleep(ctx, time.Duration(s.randomInt(1500))*time.Millisecond); err != nil {
		return err
	}
	return s.server.Restart(ctx)
}

func (s *scene) restartDatabase(ctx context.Context) error {
	s.mayRepeat += connections
	out, err := exec.CommandContext(ctx, "sh", "-c", s.restart).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *scene) partition(ctx context.Context, d time.Duration) error {
	s.mayRepeat += connections
	s.proxy.Partition()
	defer s.proxy.Heal()
	return sleep(ctx, d)
}

func (s *scene) freeze(ctx context.Context) error {
	_, n := s.victim()
	s.mayRepeat += connections
	if err := n.Freeze(); err != nil {
		return err
	}
	return errors.Join(sleep(ctx, lease+6*time.Second), n.Thaw())
}
