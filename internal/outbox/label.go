package outbox

import (
	"context"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Label is how pages name a send: by what it belongs to.
type Label struct {
	Source Source
	Name   string
}

// Labeler names sends of one kind, such as those of broadcasts. The package that
// owns the sources implements it.
type Labeler interface {
	// Labels returns the labels of sends, be they begun or not; those whose source
	// was deleted are left out.
	Labels(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Label, error)
	// SendOf returns the send of a source, and whether there is one.
	SendOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, source id.Source) (id.Send, bool, error)
}
