package contact

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Held is one part of what is held on a person: a name and records, which are
// read as they are yielded, so that there may be many.
type Held struct {
	Name    string
	Records iter.Seq2[any, error]
}

// Personal returns everything that is held on a contact beside its own row.
func Personal(ctx context.Context, db *sqldb.DB, c Contact, holdings []Holding) ([]Held, error) {
	people := []Person{{c.ID, []string{c.Email}}}
	if err := addAddresses(ctx, db, c.Tenant, people, holdings); err != nil {
		return nil, err
	}
	parts := []Held{{"events", timeline(ctx, db, c.Tenant, c.ID)}}
	for _, h := range holdings {
		if h.Export != nil {
			parts = append(parts, Held{h.Name, h.Export(ctx, db, c.Tenant, people[0])})
		}
	}
	return parts, nil
}

// happenedTo is a journal entry as a personal export shows it.
type happenedTo struct {
	Type       journal.Type    `json:"type"`
	Name       string          `json:"name,omitempty"`
	OccurredAt time.Time       `json:"occurred_at"`
	Broadcast  id.Broadcast    `json:"broadcast_id,omitempty"`
	Message    id.Message      `json:"message_id,omitempty"`
	Data       json.RawMessage `json:"data"`
}

func timeline(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
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
			if !yield(happenedTo{e.Type, e.Name, e.At, e.Broadcast, e.Message, data}, nil) {
				return
			}
		}
	}
}
