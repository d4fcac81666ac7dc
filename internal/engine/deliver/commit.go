package deliver

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// How many steps one transaction commits: at most maxCommit, and half of the workers that are
// busy, unless that is less than minCommit. If one transaction committed the steps of all, all
// workers would wait for it together; so one half renders and sends while the other half waits.
const (
	maxCommit = 200
	minCommit = 16
)

// commitBatch returns how many steps the next transaction may commit.
func (e *Engine) commitBatch() int { return max(minCommit, (int(e.working.Load())+1)/2) }

// step is what a worker commits at once: the result of its last message and the intent to send its
// next one.
type step struct {
	results []outbox.Result
	intent  *outbox.Item // nil: none
	begun   bool         // set when the attempt may begin
}

// commit writes a batch of steps. It retries until the engine gives up, since a lost result makes
// its message uncertain, which the next node sends once more. No attempt begins meanwhile.
func (e *Engine) commit(_ context.Context, batch []*step) error {
	var results []outbox.Result
	for _, s := range batch {
		results = append(results, s.results...)
	}
	var begun map[id.Message]bool
	err := e.retryWrite("write results failed, will retry", func() (err error) {
		// In each try anew: while the database is away the lease expires, and what another node took back must
		// not begin here. Results are written without a lease, too: Commit drops those of others by their epochs.
		var intents []outbox.Item
		for _, s := range batch {
			if s.intent != nil && e.leased() {
				intents = append(intents, *s.intent)
			}
		}
		begun, err = e.node.Commit(e.writeCtx, results, intents, e.Now())
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
