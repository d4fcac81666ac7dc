package track

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// FirstTimes are the times of the first event of each kind of a message; nil: none. Hits
// that are classified as bot do not count.
type FirstTimes struct {
	Opened, Clicked, Unsubscribed, Complained *time.Time
}

// LoadFirstTimes returns the times of messages, given with their recipients. Messages
// without events are left out.
func LoadFirstTimes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sent map[id.Message]id.Contact) (map[id.Message]FirstTimes, error) {
	found := map[id.Message]FirstTimes{}
	if len(sent) == 0 {
		return found, nil
	}
	messages := make([]id.Message, 0, len(sent))
	for m := range sent {
		messages = append(messages, m)
	}
	slices.SortFunc(messages, id.Compare)
	rows, err := db.Query(ctx, `
		SELECT message_id, kind, MIN(at) FROM hit WHERE tenant_id = $1 AND message_id`+db.In(2)+` AND class <> 'bot' AND (kind = 'open' OR url IS NOT NULL)
		GROUP BY message_id, kind`, tenant, sqldb.List(db, messages))
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (none struct{}, err error) {
		var message id.Message
		var kind string
		var at time.Time
		if err := scan(&message, &kind, sqldb.ToTime(&at)); err != nil {
			return none, err
		}
		m := found[message]
		if kind == "click" {
			m.Clicked = &at
		} else {
			m.Opened = &at
		}
		found[message] = m
		return none, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read first opens and clicks: %w", err)
	}
	left, err := withUnsubscribeOrComplaint(ctx, db, tenant, messages)
	if err != nil {
		return nil, err
	}
	contacts := make([]id.Contact, len(left))
	for i, m := range left {
		contacts[i] = sent[m]
	}
	refused, err := journal.FirstOf(ctx, db, tenant, contacts, left, journal.EmailUnsubscribed, journal.EmailComplained)
	if err != nil {
		return nil, err
	}
	for _, s := range refused {
		m := found[s.Message]
		if s.Type == journal.EmailComplained {
			m.Complained = &s.At
		} else {
			m.Unsubscribed = &s.At
		}
		found[s.Message] = m
	}
	return found, nil
}

// withUnsubscribeOrComplaint returns those of the messages that have an unsubscribe or a
// complaint. They are few, so that the journal is read for these alone.
func withUnsubscribeOrComplaint(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]id.Message, error) {
	rows, err := db.Query(ctx, `
		SELECT message_id FROM engagement
		WHERE tenant_id = $1 AND message_id`+db.In(2)+` AND (flags & $3) <> 0`, tenant, sqldb.List(db, messages), int64(Unsubscribed|Complained))
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		err = scan(&m)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("find messages with an unsubscribe or complaint: %w", err)
	}
	return list, nil
}
