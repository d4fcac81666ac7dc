package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData returns access to the personal data in the outbox: the messages to a contact.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "messages", Addresses: addresses, Export: export, Erase: erase}
}

// addresses returns the addresses that messages to contacts were sent to.
func addresses(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact][]string, error) {
	rows, err := db.Query(ctx, `
		SELECT DISTINCT contact_id, email FROM outbox
		WHERE tenant_id = $1 AND contact_id`+db.In(2), tenant, sqldb.List(db, ids))
	found := map[id.Contact][]string{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var email string
		err := scan(&c, &email)
		found[c] = append(found[c], email)
		return err
	})
	for _, list := range found {
		slices.Sort(list)
	}
	return found, err
}

// exported is a message in an export of personal data.
type exported struct {
	ID         id.Message        `json:"id"`
	Source     id.Source         `json:"source_id"` // the broadcast
	Email      string            `json:"email"`
	State      State             `json:"state"`
	QueuedAt   time.Time         `json:"queued_at"`
	SentAt     *time.Time        `json:"sent_at"`
	EndedAt    *time.Time        `json:"ended_at"`
	BounceType *string           `json:"bounce_type"`
	SkipReason *string           `json:"skip_reason"`
	Error      *string           `json:"error"`
	Failed     []exportedAttempt `json:"failed_attempts"` // in which no server accepted the message
}

// exportedAttempt is an attempt in an export of personal data.
type exportedAttempt struct {
	At    time.Time `json:"at"`
	Code  int       `json:"code"` // 0: no server answered
	Reply string    `json:"reply"`
}

// exportPage is how many messages an export reads at a time.
const exportPage = 500

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, person contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		var last id.Message
		for {
			rows, err := db.Query(ctx, `
				SELECT outbox.id, (SELECT s.source_id FROM send AS s WHERE s.tenant_id = $1 AND s.id = outbox.send_id),
					outbox.email, outbox.state, COALESCE(outbox.queued_at, outbox.due_at), outbox.sent_at, `+endedAt+`, n.bounce_type, n.skip_reason, n.error FROM outbox`+joinNote+`
				WHERE outbox.tenant_id = $1 AND outbox.contact_id = $2 AND outbox.id > $3 ORDER BY outbox.id LIMIT $4`, tenant, person.ID, last, exportPage)
			page, err := sqldb.Collect(rows, err, func(scan func(...any) error) (exported, error) {
				var m exported
				var queued int64
				var sent, ended sql.NullInt64
				err := scan(&m.ID, &m.Source, &m.Email, &m.State, &queued, &sent, &ended, &m.BounceType, &m.SkipReason, &m.Error)
				if m.BounceType != nil {
					*m.BounceType = string(ShownBounce(*m.BounceType))
				}
				m.QueuedAt, m.SentAt, m.EndedAt = sqldb.Time(queued), sqldb.NullTime(sent), sqldb.NullTime(ended)
				return m, err
			})
			if err != nil {
				yield(nil, fmt.Errorf("export messages: %w", err))
				return
			}
			ids := make([]id.Message, len(page))
			for i, m := range page {
				ids[i] = m.ID
			}
			failed, err := failedAttemptsOf(ctx, db, tenant, ids)
			if err != nil {
				yield(nil, fmt.Errorf("export messages: %w", err))
				return
			}
			for _, m := range page {
				m.Failed = []exportedAttempt{}
				for _, a := range failed[m.ID] {
					m.Failed = append(m.Failed, exportedAttempt{a.At, a.Code, a.Reply})
				}
				if !yield(m, nil) {
					return
				}
			}
			if len(page) < exportPage {
				return
			}
			last = page[len(page)-1].ID
		}
	}
}

// erase removes the addresses and error texts from messages; their results remain. Waiting messages
// are skipped by the Follower, and not sent until then, since their contact is not active.
func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	ids := make([]id.Contact, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	if err := eraseBounceDomains(ctx, tx, tenant, ids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE outbox SET email = `+tx.UUIDText("contact_id")+` || '@' || CAST($3 AS TEXT), accept_reply = NULL
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids), contact.AnonymousDomain)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE outbox_note SET error = NULL WHERE tenant_id = $1 AND message_id IN (
			SELECT m.id FROM outbox AS m WHERE m.tenant_id = $1 AND m.contact_id`+tx.In(2)+`)`, tenant, sqldb.List(tx, ids))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE outbox_failed_attempt SET reply = NULL WHERE tenant_id = $1 AND message_id IN (
			SELECT m.id FROM outbox AS m WHERE m.tenant_id = $1 AND m.contact_id`+tx.In(2)+`)`, tenant, sqldb.List(tx, ids))
	return err
}
