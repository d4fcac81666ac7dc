package usage

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Sends is the number of broadcasts that use a template or block.
type Sends struct {
	ActiveDrafts     int `json:"active_drafts"`     // drafts that use it
	RecentBroadcasts int `json:"recent_broadcasts"` // others, created or sent in the last 30 days
}

// Any reports whether there are any.
func (s Sends) Any() bool { return s.ActiveDrafts+s.RecentBroadcasts > 0 }

// Counter counts the uses by one kind of source.
type Counter interface {
	// Count returns the counts of one record, or of all records of a kind if thing is empty, by id.
	// Unused ones are left out.
	Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind Kind, thing string, now time.Time) (map[string]Sends, error)
}
