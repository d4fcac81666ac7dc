package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The seed copies of a broadcast are the messages of a send of their own (KindSeedCopy), so that they
// are claimed and sent like all others and are in no sums of the broadcast. A copy has the id of its
// seed in place of a contact's, and as its visit the number of its sending identity. Results of copies
// are no events: only a hard bounce has a journal entry, which retires the seed.

// ForSeed returns the addressee of a seed's copies.
func ForSeed(s id.Seed) id.Contact { return id.ToAddressee(s) }

// SeedOf returns the seed that a copy is for.
func SeedOf(addressee id.Contact) id.Seed { return id.OfAddressee(addressee) }

// seedEntry returns the journal entry for the result of a seed copy, instead of e, and whether there
// is one.
func seedEntry(e journal.Entry, s State, bounceType string) (journal.Entry, bool) {
	if s != Bounced || bounceType != "hard" {
		return journal.Entry{}, false
	}
	e.Data = seedlist.Bounced{Seed: SeedOf(e.Contact)}
	e.Type, e.Contact = journal.SeedBounced, id.Contact{}
	return e, true
}

// kindOf returns the kind of a send, which never changes.
func (n *Node) kindOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send) (Kind, error) {
	key := sendKey{tenant, send}
	if kind, ok := n.kinds.Get(key, time.Time{}); ok {
		return kind, nil
	}
	found, err := Sends(ctx, tx, tenant, []id.Send{send})
	if err != nil {
		return "", err
	}
	kind := found[send].Source.Kind
	n.kinds.Put(key, kind, time.Time{}, 0)
	return kind, nil
}

// Senders returns the identities that messages of a send are from.
func Senders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]id.Identity, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT identity_id FROM outbox_mix WHERE tenant_id = $1 AND send_id = $2 ORDER BY identity_id`, tenant, send)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (i id.Identity, err error) {
		err = scan(&i)
		return i, err
	})
	if err != nil {
		return nil, fmt.Errorf("find the senders of a send: %w", err)
	}
	return list, nil
}
