package mailbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PersonalData is the mail to people that sinks caught.
func PersonalData() contact.PersonalData {
	return contact.PersonalData{Name: "mailbox", Export: export, Erase: erase}
}

// exported is a caught mail as a personal export shows it.
type exported struct {
	ID         id.SinkMessage `json:"id"`
	To         string         `json:"to"`
	From       string         `json:"from"`
	Subject    string         `json:"subject"`
	ReceivedAt time.Time      `json:"received_at"`
	Raw        string         `json:"raw"`
}

func export(ctx context.Context, db *sqldb.DB, tenant id.Tenant, who contact.Person) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		rows, err := db.Query(ctx, `
			SELECT id FROM sink_message
			WHERE tenant_id = $1 AND LOWER(rcpt_to)`+db.In(2)+` ORDER BY received_at, id`, tenant, sqldb.List(db, who.Addresses))
		ids, err := sqldb.Collect(rows, err, func(scan func(...any) error) (m id.SinkMessage, err error) {
			err = scan(&m)
			return m, err
		})
		if err != nil {
			yield(nil, fmt.Errorf("export caught mail: %w", err))
			return
		}
		for _, one := range ids { // one at a time, for mails are large
			m, raw, err := Raw(ctx, db, tenant, id.Lane{}, one)
			if errors.Is(err, ErrNotFound) {
				continue // cleared meanwhile
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(exported{m.ID, m.To, m.Author, m.Subject, m.ReceivedAt, string(raw)}, nil) {
				return
			}
		}
	}
}

func erase(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
	var addresses []string
	for _, p := range people {
		addresses = append(addresses, p.Addresses...)
	}
	_, err := tx.Exec(ctx, `DELETE FROM sink_message WHERE tenant_id = $1 AND LOWER(rcpt_to)`+tx.In(2), tenant, sqldb.List(tx, addresses))
	return err
}
