package contact

import (
	"context"
	"errors"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// Mode says what a Draft may do.
type Mode int

// The modes.
const (
	Upserting Mode = iota // create or merge
	Creating              // refuse an address that is taken, unless its contact is pending
	Updating              // pass over an address that nobody has
)

// Draft is what somebody says about one contact.
type Draft struct {
	Email  string
	ID     id.Contact // not empty: the contact with this id is updated, whatever the address
	Mode   Mode
	Change Change
}

// Outcome is what became of a Draft.
type Outcome struct {
	Contact Contact
	Created bool
	Changed bool
	Err     error // a fault of this draft alone; the others stand
}

// SaveAll saves many drafts in one transaction and says what became of each, in
// their order. A draft that is refused changes nothing; an error that concerns
// them all is returned. Two drafts of one address take effect one after the other.
func SaveAll(ctx context.Context, db *sqldb.DB, tenant id.Tenant, drafts []Draft, r Rules, now time.Time) ([]Outcome, error) {
	return nil, errors.New("contact: SaveAll is being written")
}
