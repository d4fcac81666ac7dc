package contact

import (
	"context"
	"iter"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Person is a contact as a PersonalData place knows it.
type Person struct {
	ID        id.Contact
	Addresses []string // normalised: the one it has, first, and those its mail went to before
}

// PersonalData is a place above this package where something is kept about people:
// what must be told when one of them asks, and erased when one is to be
// forgotten. The packages that keep it offer one; app lists them.
type PersonalData struct {
	Name string // in a personal export

	// Addresses returns the addresses under which the place knows contacts,
	// former ones too. It may be nil.
	Addresses func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact][]string, error)

	// Export yields what is kept about a person, one record at a time, each of
	// which encodes to JSON. It may be nil.
	Export func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, who Person) iter.Seq2[any, error]

	// Erase makes what is kept nobody's, in the transaction that anonymises the
	// contacts. Sums and counts stay. It may be nil: then nothing is left that
	// says who it was.
	Erase func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []Person) error
}
