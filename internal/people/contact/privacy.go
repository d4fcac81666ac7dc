package contact

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Person identifies a contact to a PersonalData.
type Person struct {
	ID        id.Contact
	Addresses []string // normalised; first the present one, then former ones
}

// PersonalData gives access to the personal data of contacts that a package above stores:
// for the export of a person's data, and for its erasure. Each such package has one; app
// lists them.
type PersonalData struct {
	Name string // in a personal export

	// Addresses returns the stored addresses of contacts, former ones too. It may be nil.
	Addresses func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact][]string, error)

	// Export yields the data of a person, as records that encode to JSON. It may be nil.
	Export func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, p Person) iter.Seq2[any, error]

	// Erase removes personal data, in the transaction that anonymises the contacts. Sums
	// and counts stay. It is nil if nothing identifies a person once the contact is
	// anonymised.
	Erase func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []Person) error
}

// PersonalRecord is one part of the export of a person's data. Records are read from the
// database while they are yielded, so there may be many.
type PersonalRecord struct {
	Name    string
	Records iter.Seq2[any, error]
}

// Broadcasts returns the broadcasts of sends, without sends that have another source.
type Broadcasts func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]id.Broadcast, error)

// Personal returns all personal data of a contact except its own row.
func Personal(ctx context.Context, db *sqldb.DB, c Contact, stores []PersonalData, of Broadcasts) ([]PersonalRecord, error) {
	people := []Person{{c.ID, []string{c.Email}}}
	if err := addFormerAddresses(ctx, db, c.Tenant, people, stores); err != nil {
		return nil, err
	}
	parts := []PersonalRecord{{"events", timeline(ctx, db, c.Tenant, c.ID, of)}, {"former_values", exportVersions(ctx, db, c.Tenant, c.ID)}}
	for _, h := range stores {
		if h.Export != nil {
			parts = append(parts, PersonalRecord{h.Name, h.Export(ctx, db, c.Tenant, people[0])})
		}
	}
	return parts, nil
}

// timelineEntry is a journal entry in a personal export.
type timelineEntry struct {
	Type       journal.Type    `json:"type"`
	Name       string          `json:"name,omitempty"`
	OccurredAt time.Time       `json:"occurred_at"`
	Broadcast  id.Broadcast    `json:"broadcast_id,omitzero"`
	Message    id.Message      `json:"message_id,omitzero"`
	Data       json.RawMessage `json:"data"`
}

func timeline(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact, of Broadcasts) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		known := map[id.Send]id.Broadcast{}
		for e, err := range journal.Timeline(ctx, db, tenant, contact) {
			if err != nil {
				yield(nil, err)
				return
			}
			var data json.RawMessage
			if err := e.Decode(&data); err != nil {
				yield(nil, err)
				return
			}
			if _, ok := known[e.Send]; !ok && !e.Send.IsZero() {
				found, err := of(ctx, db, tenant, []id.Send{e.Send})
				if err != nil {
					yield(nil, err)
					return
				}
				known[e.Send] = found[e.Send]
			}
			if !yield(timelineEntry{e.Type, e.Name, e.At, known[e.Send], e.Message, data}, nil) {
				return
			}
		}
	}
}
