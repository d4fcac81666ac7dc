package deliver

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/outbox"
)

// How many connections' words one transaction holds: at most maxCommit, and half
// of those that are at work, unless that were fewer than minCommit. If it held them
// all, they would go on all at once and come back all at once, and nobody would
// write meanwhile; so one half makes and hands over messages while the other half's
// are written.
const (
	maxCommit = 200
	minCommit = 16
)

// commitBatch is how many of those at work may go into the next transaction.
func (e *Engine) commitBatch() int { return max(minCommit, (int(e.working.Load())+1)/2) }

// step is what a connection hands in at once: what became of its last message
// and which one it wants to send now.
type step struct {
	results []outbox.Result
	intent  *outbox.Item // nil: none
	begun   bool         // set when the intent may go ahead
}

// commit writes a batch of steps. A result must not be lost because the database
// is away, so it is tried for as long as the engine lives; no attempt begins
// meanwhile. If it never succeeds the message is uncertain, and the next node
// sends it once more.
func (e *Engine) commit(_ context.Context, batch []*step) error {
	var results []outbox.Result
	for _, s := range batch {
		results = append(results, s.results...)
	}
	var begun map[id.Message]bool
	err := e.retryWrite("results are not written yet", func() (err error) {
		var intents []outbox.Item
		for _, s := range batch {
			if s.intent != nil && e.leased() {
				intents = append(intents, *s.intent)
			}
		}
		begun, err = e.node.Commit(e.abandoned, results, intents, e.Now())
		return err
	})
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	for _, s := range batch {
		s.begun = s.intent != nil && begun[s.intent.ID]
	}
	for _, r := range results {
		e.Metrics.attempt(r)
	}
	return nil
}
