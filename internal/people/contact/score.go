package contact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Scored holds a contact's scores. Contacts that are pending, deleted or anonymised are not
// scored.
type Scored struct {
	Contact  id.Contact
	Category StageCategory // of the contact's stage; empty: it has none
	Prospect float64
	Customer float64
	Since    time.Time // the last activity or change of a score

	moved int64 // the last change of a score
}

// scorable is the condition of contacts that are scored.
const scorable = `c.global_status NOT IN ('pending', 'suppressed') AND c.anonymized_at IS NULL`

const scoredColumns = `
	c.id, s.category, c.prospect_score, c.customer_score, COALESCE(c.score_updated_at, c.created_at), a.last_activity_at
	FROM contact c ` + WithActivity + `
	LEFT JOIN contact_stage s ON s.tenant_id = c.tenant_id AND s.id = c.stage_id`

func scanScored(row func(...any) error) (Scored, error) {
	var s Scored
	var category sql.NullString
	var active sql.NullInt64
	err := row(&s.Contact, &category, &s.Prospect, &s.Customer, &s.moved, &active)
	s.Category, s.Since = StageCategory(category.String), sqldb.Time(max(s.moved, active.Int64))
	return s, err
}

// LockScores returns the scores of those of the contacts that are scored, in the order of
// ids, and locks their rows.
func LockScores(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Scored, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+scoredColumns+`
		WHERE c.tenant_id = $1 AND c.id`+tx.In(2)+` AND `+scorable+`
		ORDER BY c.id`+forUpdateOfContact(tx), tenant, sqldb.List(tx, ids))
	list, err := sqldb.Collect(rows, err, scanScored)
	if err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	return list, nil
}

// LockIdleScores returns up to limit contacts that have a score above zero and neither
// activity nor a change of score after since, and locks their rows. The one whose score
// changed first comes first. after is the last of the previous page; zero: none.
func LockIdleScores(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, since time.Time, after Scored, limit int) ([]Scored, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+scoredColumns+`
		WHERE c.tenant_id = $1 AND (c.prospect_score > 0 OR c.customer_score > 0)
			AND COALESCE(c.score_updated_at, c.created_at) <= $2
			AND (COALESCE(c.score_updated_at, c.created_at), c.id) > ($4, $5)
			AND (a.last_activity_at IS NULL OR a.last_activity_at <= $2) AND `+scorable+`
		ORDER BY COALESCE(c.score_updated_at, c.created_at), c.id LIMIT $3`+forUpdateOfContact(tx),
		tenant, sqldb.Micros(since), limit, after.moved, after.Contact)
	list, err := sqldb.Collect(rows, err, scanScored)
	if err != nil {
		return nil, fmt.Errorf("find idle scores: %w", err)
	}
	return list, nil
}

// NextTenantWithScores returns the first tenant after the given one that has a contact with
// a score above zero, 0 if there is none.
func NextTenantWithScores(ctx context.Context, db *sqldb.DB, after id.Tenant) (id.Tenant, error) {
	var t id.Tenant
	err := db.QueryRow(ctx, `
		SELECT c.tenant_id FROM contact c
		WHERE c.tenant_id > $1 AND (c.prospect_score > 0 OR c.customer_score > 0)
		ORDER BY c.tenant_id LIMIT 1 /* all tenants: one round through the tenants with scores */`, after).Scan(&t)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return 0, fmt.Errorf("find a tenant with scores: %w", err)
	}
	return t, nil
}

// SaveScores writes both scores of contacts. It sets score_updated_at but not updated_at,
// which is the time of a change by a request.
func SaveScores(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, list []Scored, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	t := tx.Table("id UUID", "prospect DOUBLE PRECISION", "customer DOUBLE PRECISION")
	ids := make([]id.Contact, len(list))
	for i, s := range list {
		t.Add(s.Contact, s.Prospect, s.Customer)
		ids[i] = s.Contact
	}
	if err := contactlog.Append(ctx, tx, tenant, ids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE contact SET prospect_score = v.prospect, customer_score = v.customer, score_updated_at = $2
		FROM `+t.As("v", 3)+`
		WHERE contact.tenant_id = $1 AND contact.id = v.id`, t.Args(tenant, sqldb.Micros(now))...)
	if err != nil {
		return fmt.Errorf("save scores: %w", err)
	}
	return nil
}
