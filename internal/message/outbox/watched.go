package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// WatchedSend is a send that a watch looks at.
type WatchedSend struct {
	Tenant   id.Tenant
	Send     id.Send
	Source   Source
	OpenedAt time.Time
}

// BouncingSends returns the sends of a kind, of all tenants, with at least so many bounces that were sending
// after a time.
func BouncingSends(ctx context.Context, db *sqldb.DB, kind Kind, bounced int, after time.Time) ([]WatchedSend, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every send */
		SELECT tenant_id, id, source_id, opened_at FROM send WHERE source_kind = $1 AND bounced >= $2 AND last_send_at >= $3
		ORDER BY tenant_id, id`, kind, bounced, after.UnixMicro())
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (WatchedSend, error) {
		s := WatchedSend{Source: Source{Kind: kind}}
		var opened int64
		err := scan(&s.Tenant, &s.Send, &s.Source.ID, &opened)
		s.OpenedAt = sqldb.Time(opened)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("find sends with bounces: %w", err)
	}
	return list, nil
}

// How many recipients of a send FirstMails looks at, of so many messages that were due first.
const (
	firstRecipients = 1000
	firstChecked    = 2 * firstRecipients
)

// NewRecipients are recipients of a send who had no mail of the tenant before.
type NewRecipients struct {
	New     int // accepted or refused
	Unknown int // of these, those whose mailbox does not exist or is not in use, by the server's answer
}

// FirstMails returns how many of the first thousand recipients of a send had no mail before, by the identity
// that they had it from. The first are those whose messages were due first.
func FirstMails(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[id.Identity]NewRecipients, error) {
	rows, err := db.Query(ctx, `
		WITH early AS (
			SELECT id, contact_id, mix, sent_at FROM outbox WHERE tenant_id = $1 AND send_id = $2 ORDER BY due_at, id LIMIT $3
		), first AS (
			SELECT id, contact_id, mix, sent_at FROM early WHERE sent_at IS NOT NULL ORDER BY sent_at, id LIMIT $4
		)
		SELECT x.identity_id, COUNT(*), SUM(CASE WHEN n.state = 'bounced' AND n.bounce_type = 'hard' AND n.category = 'mailbox' THEN 1 ELSE 0 END) FROM first
		JOIN outbox_mix AS x ON x.tenant_id = $1 AND x.send_id = $2 AND x.n = first.mix
		LEFT JOIN outbox_note AS n ON n.tenant_id = $1 AND n.message_id = first.id
		WHERE NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.tenant_id = $1 AND o.contact_id = first.contact_id
			AND o.send_id <> $2 AND o.sent_at < first.sent_at)
		GROUP BY x.identity_id`, tenant, send, firstChecked, firstRecipients)
	found := map[id.Identity]NewRecipients{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var i id.Identity
		var n NewRecipients
		err := scan(&i, &n.New, &n.Unknown)
		found[i] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the first recipients of a send: %w", err)
	}
	return found, nil
}

// StuckSend is an open send with a message that has been due for a while.
type StuckSend struct {
	Tenant   id.Tenant
	Send     id.Send
	Identity id.Identity // of the message that has been due longest
}

// StuckSends returns the open sends of all tenants with messages that were due before a time, unless they wait
// for a limit that somebody has set, or because something is paused.
func StuckSends(ctx context.Context, db *sqldb.DB, due, now time.Time) ([]StuckSend, error) {
	rows, err := db.Query(ctx, `/* all tenants: one watch looks after every send */
		SELECT s.tenant_id, s.id, `+firstWaiting("due_at")+`,
			(SELECT x.identity_id FROM outbox_mix AS x WHERE x.tenant_id = s.tenant_id AND x.send_id = s.id AND x.n = `+firstWaiting("mix")+`)
		FROM send_ready AS r JOIN send AS s ON s.tenant_id = r.tenant_id AND s.id = r.send_id
		WHERE s.phase = 'open' AND s.waiting > 0 AND NOT EXISTS (
			SELECT 1 FROM outbox_wait AS w WHERE w.tenant_id = s.tenant_id AND w.send_id = s.id AND (w.until > $1 OR w.at > $2)
				AND w.kind`+db.In(3)+`)
		ORDER BY s.tenant_id, s.id`, now.UnixMicro(), now.Add(-waitValidFor).UnixMicro(),
		sqldb.List(db, []WaitKind{WaitLaneRate, WaitLaneDay, WaitProviderRate, WaitSendRate, WaitHold}))
	var list []StuckSend
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var s StuckSend
		var first sql.NullInt64
		err := scan(&s.Tenant, &s.Send, &first, &s.Identity)
		if err == nil && first.Valid && sqldb.Time(first.Int64).Before(due) {
			list = append(list, s)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find sends that are stuck: %w", err)
	}
	return list, nil
}
