package outbox

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Pauser pauses sends of one kind, such as broadcasts. The package that owns
// the sends implements it; the program lists all of them for engine/watch.
type Pauser interface {
	// PauseStuck pauses every send of the given tenants that sends from a paused
	// domain, or all of whose lanes are down and none of which has been up
	// since downSince. It returns what it paused, also when it returns an
	// error for other sends.
	PauseStuck(ctx context.Context, db *sqldb.DB, tenants map[id.Tenant]bool, downSince, now time.Time) ([]PausedSend, error)
}

// PausedSend is a send that a Pauser paused.
type PausedSend struct {
	Tenant id.Tenant
	Kind   string // such as "broadcast"
	ID     string
	Reason string
}
