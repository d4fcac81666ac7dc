package usage

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Sends counts the mailings that use a thing.
type Sends struct {
	ActiveDrafts     int `json:"active_drafts"`     // drafts that use it
	RecentBroadcasts int `json:"recent_broadcasts"` // others that do, made or sent in the last 30 days
}

// Any reports whether any does.
func (s Sends) Any() bool { return s.ActiveDrafts+s.RecentBroadcasts > 0 }

// Counter answers for whatever sends.
type Counter interface {
	// Count returns the counts of one thing, or of all things of a kind when
	// the id is empty, by id; what is used by nobody is not among them.
	Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, thing string, now time.Time) (map[string]Sends, error)
}
