package broadcast

import (
	"context"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Labeler returns the outbox.Labeler for broadcasts.
func Labeler() outbox.Labeler { return labeler{} }

type labeler struct{}

// Labels implements outbox.Labeler.
func (labeler) Labels(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]outbox.Label, error) {
	labels := make(map[id.Send]outbox.Label, len(sends))
	if len(sends) == 0 {
		return labels, nil
	}
	rows, err := db.Query(ctx, `SELECT send_id, id, name FROM broadcast WHERE tenant_id = $1 AND send_id`+db.In(2), tenant, sqldb.List(db, sends))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var bid id.Broadcast
		var l outbox.Label
		err := scan(&send, &bid, &l.Name)
		l.Source = outbox.FromBroadcast(bid)
		labels[send] = l
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("name the broadcasts of sends: %w", err)
	}
	return labels, nil
}

// SendOf implements outbox.Labeler.
func (labeler) SendOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, source id.Source) (id.Send, bool, error) {
	b, err := Head(ctx, db, tenant, id.OfSource[id.Broadcast](source))
	if errors.Is(err, ErrNotFound) {
		return id.Send{}, false, nil
	}
	return b.Send, err == nil, err
}
