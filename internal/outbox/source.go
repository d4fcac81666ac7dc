package outbox

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind says what a send belongs to.
type Kind string

// The kinds of sources.
const (
	KindBroadcast    Kind = "broadcast"
	KindSequenceStep Kind = "sequence_step"
	KindAutomation   Kind = "automation"
	KindConfirmation Kind = "confirmation" // of a subscription, by a form
	KindNotice       Kind = "notice"       // to the people of the account
)

// Source is what opened a send.
type Source struct {
	Kind Kind
	ID   id.Source // of the broadcast; of the sequence, for one of its steps; and so on
}

// FromBroadcast is the source of a broadcast's send.
func FromBroadcast(b id.Broadcast) Source { return Source{KindBroadcast, id.ToSource(b)} }

// FromSequence is the source of the send of a sequence's step.
func FromSequence(s id.Sequence) Source { return Source{KindSequenceStep, id.ToSource(s)} }

// Broadcast returns the broadcast, if the source is one.
func (s Source) Broadcast() (b id.Broadcast, ok bool) {
	if s.Kind != KindBroadcast {
		return b, false
	}
	return id.OfSource[id.Broadcast](s.ID), true
}

// Sequence returns the sequence, if the source is a step of one.
func (s Source) Sequence() (q id.Sequence, ok bool) {
	if s.Kind != KindSequenceStep {
		return q, false
	}
	return id.OfSource[id.Sequence](s.ID), true
}

// Sources returns what opened sends; unknown ones are left out.
func Sources(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Source, error) {
	found := map[id.Send]Source{}
	if len(sends) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `
		SELECT id, source_kind, source_id FROM send
		WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, sends))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var from Source
		err := scan(&send, &from.Kind, &from.ID)
		found[send] = from
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the sources of sends: %w", err)
	}
	return found, nil
}

// Broadcasts returns the broadcasts that sends belong to; those of other sources
// are left out.
func Broadcasts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]id.Broadcast, error) {
	sources, err := Sources(ctx, db, tenant, sends)
	found := map[id.Send]id.Broadcast{}
	for send, from := range sources {
		if b, ok := from.Broadcast(); ok {
			found[send] = b
		}
	}
	return found, err
}
