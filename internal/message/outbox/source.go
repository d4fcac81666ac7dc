package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kind is the kind of a send's source.
type Kind string

// The kinds of sources.
const (
	KindBroadcast    Kind = "broadcast"
	KindSequenceStep Kind = "sequence_step"
	KindAutomation   Kind = "automation"
	KindConfirmation Kind = "confirmation" // of a subscription, by a form
	KindUserMail     Kind = "notice"       // to users of the tenant
	KindSeedCopy     Kind = "seed_copy"    // copies of a broadcast's mail for seeds
)

// Source is the record that a send belongs to.
type Source struct {
	Kind Kind
	ID   id.Source // the broadcast's id, also of seed copies; for a step, the sequence's; and so on
}

// FromBroadcast is the source of a broadcast's send.
func FromBroadcast(b id.Broadcast) Source { return Source{KindBroadcast, id.ToSource(b)} }

// FromSeedCopies is the source of the send of a broadcast's seed copies.
func FromSeedCopies(b id.Broadcast) Source { return Source{KindSeedCopy, id.ToSource(b)} }

// FromSequence is the source of the send of a sequence's step.
func FromSequence(s id.Sequence) Source { return Source{KindSequenceStep, id.ToSource(s)} }

// FromForm is the source of the send of a form's confirmation mails.
func FromForm(f id.Form) Source { return Source{KindConfirmation, id.ToSource(f)} }

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

// Sends returns the sends that exist, by id.
func Sends(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Send) (map[id.Send]Send, error) {
	found := map[id.Send]Send{}
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `
		SELECT id, source_kind, source_id, email_type_id FROM send
		WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		s := Send{Tenant: tenant}
		err := scan(&s.ID, &s.Source.Kind, &s.Source.ID, &s.EmailType)
		found[s.ID] = s
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find sends: %w", err)
	}
	return found, nil
}

// Sources returns the sources of sends. Unknown sends are not in the result.
func Sources(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Source, error) {
	list, err := Sends(ctx, db, tenant, sends)
	if err != nil {
		return nil, err
	}
	found := make(map[id.Send]Source, len(list))
	for send, s := range list {
		found[send] = s.Source
	}
	return found, nil
}

// Broadcasts returns the broadcasts that sends belong to. Sends of other sources are not in the
// result.
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

// Label is how pages show a send: by the name of its source.
type Label struct {
	Source Source
	Name   string
}

// Labeler returns labels of the sends of one kind of source, such as broadcasts. The package that
// owns the sources implements it.
type Labeler interface {
	// Labels returns the labels of sends, whether or not they have begun. Sends whose source was
	// deleted are not in the result.
	Labels(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Label, error)
	// SendOf returns the send of a source, and whether there is one.
	SendOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, source id.Source) (id.Send, bool, error)
}

// Pauser pauses sends of one kind of source, such as broadcasts. The package that owns the sources
// implements it; app passes a list of them to engine/watch.
type Pauser interface {
	// PauseStuck pauses each send of the given tenants that sends from a paused domain, or whose
	// lanes are all down and have been since downSince. It returns the sends it paused, also if it
	// returns an error for others.
	PauseStuck(ctx context.Context, db *sqldb.DB, tenants map[id.Tenant]bool, downSince, now time.Time) ([]PausedSend, error)
}

// PausedSend is a send that a Pauser paused.
type PausedSend struct {
	Tenant id.Tenant
	Kind   string // such as "broadcast"
	ID     string
	Reason string
}
