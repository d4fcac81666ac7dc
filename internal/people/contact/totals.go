package contact

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Totals are the numbers of mails that a contact was sent, opened and clicked.
type Totals struct {
	Contact               id.Contact
	Sent, Opened, Clicked int
}

// TotalsAfter returns the stored totals of up to limit contacts after one of them, in the order of
// their ids.
func TotalsAfter(ctx context.Context, db *sqldb.DB, tenant id.Tenant, after id.Contact, limit int) ([]Totals, error) {
	rows, err := db.Query(ctx, `
		SELECT c.id, COALESCE(a.total_emails_sent, 0), COALESCE(a.total_emails_opened, 0), COALESCE(a.total_emails_clicked, 0)
		FROM contact AS c LEFT JOIN contact_activity AS a ON a.tenant_id = c.tenant_id AND a.contact_id = c.id
		WHERE c.tenant_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3`, tenant, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (t Totals, err error) {
		err = scan(&t.Contact, &t.Sent, &t.Opened, &t.Clicked)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("load the totals of contacts: %w", err)
	}
	return list, nil
}

// CorrectTotals adds the given numbers, which may be negative, to the stored totals.
func CorrectTotals(ctx context.Context, db *sqldb.DB, tenant id.Tenant, list []Totals) error {
	t := db.Table("contact_id UUID", "sent BIGINT", "opened BIGINT", "clicked BIGINT")
	for _, d := range list {
		t.Add(d.Contact, d.Sent, d.Opened, d.Clicked)
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := db.Exec(ctx, `
		INSERT INTO contact_activity (tenant_id, contact_id, total_emails_sent, total_emails_opened, total_emails_clicked, deliverability_updated_at)
		SELECT c.tenant_id, c.id, v.sent, v.opened, v.clicked, c.created_at
		FROM `+t.As("v", 2)+` JOIN contact AS c ON c.tenant_id = $1 AND c.id = v.contact_id WHERE true
		ON CONFLICT (tenant_id, contact_id) DO UPDATE SET total_emails_sent = contact_activity.total_emails_sent + excluded.total_emails_sent,
			total_emails_opened = contact_activity.total_emails_opened + excluded.total_emails_opened,
			total_emails_clicked = contact_activity.total_emails_clicked + excluded.total_emails_clicked`, t.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("correct the totals of contacts: %w", err)
	}
	return nil
}
