package contact

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalRecord is one part of what is held on a person: a name and records, which are
// read as they are yielded, so that there may be many.
type PersonalRecord struct {
	Name    string
	Records iter.Seq2[any, error]
}

// Broadcasts says which broadcasts sends belong to; sends of others are left out.
type Broadcasts func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]id.Broadcast, error)

// Personal returns everything that is held on a contact beside its own row.
func Personal(ctx context.Context, db *sqldb.DB, c Contact, holdings []PersonalData, of Broadcasts) ([]PersonalRecord, error) {
	people := []Person{{c.ID, []string{c.Email}}}
	if err := addAddresses(ctx, db, c.Tenant, people, holdings); err != nil {
		return nil, err
	}
	parts := []PersonalRecord{{"events", timeline(ctx, db, c.Tenant, c.ID, of)}}
	for _, h := range holdings {
		if h.Export != nil {
			parts = append(parts, PersonalRecord{h.Name, h.Export(ctx, db, c.Tenant, people[0])})
		}
	}
	return parts, nil
}

// happenedTo is a journal entry as a personal export shows it.
type happenedTo struct {
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
			if !yield(happenedTo{e.Type, e.Name, e.At, known[e.Send], e.Message, data}, nil) {
				return
			}
		}
	}
}
