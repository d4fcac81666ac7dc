package deliver

import (
	"context"
	"fmt"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/outbox"
)

// maxCommit is how many connections' words one transaction holds.
const maxCommit = 200

// step is what a connection hands in at once: what became of its last message
// and which one it wants to send now.
type step struct {
	result *outbox.Result // nil: none
	intent *outbox.Item   // nil: none
	begun  bool           // set when the intent may go ahead
}

// commit writes a batch of steps. A result must not be lost while the database
// is away for a moment, so it is tried again for as long as somebody may still be
// waiting for it; if it never succeeds the message is uncertain, and the next
// node sends it once more.
func (e *Engine) commit(ctx context.Context, batch []*step) error {
	var results []outbox.Result
	var intents []outbox.Item
	for _, s := range batch {
		if s.result != nil {
			results = append(results, *s.result)
		}
		if s.intent != nil && e.leased() {
			intents = append(intents, *s.intent)
		}
	}
	var begun map[id.Message]bool
	var err error
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		begun, err = e.node.Commit(ctx, results, intents, e.Now())
		if err == nil || wait > 10*time.Second {
			break
		}
		e.Log.Warn("results are not written yet", "err", err, "results", len(results))
		select {
		case <-time.After(wait):
		case <-e.stopped: // the last chance was given
			return err
		}
	}
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
