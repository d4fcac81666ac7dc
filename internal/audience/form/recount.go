package form

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Count is the number of submissions of a form without spam, as it is stored and as it is counted.
type Count struct {
	Form            id.Form
	Stored, Counted int64
}

// CountAfter counts the submissions of up to limit forms of a tenant after one of them, in the order of
// their ids.
func CountAfter(ctx context.Context, db *sqldb.DB, t id.Tenant, after id.Form, limit int) ([]Count, error) {
	rows, err := db.Query(ctx, `
		SELECT f.id, f.submission_count, (
			SELECT COUNT(*) FROM form_submission AS s WHERE s.tenant_id = $1 AND s.form_id = f.id AND s.outcome <> 'spam')
		FROM form AS f WHERE f.tenant_id = $1 AND f.id > $2 ORDER BY f.id LIMIT $3`, t, after, limit)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (c Count, err error) {
		err = scan(&c.Form, &c.Stored, &c.Counted)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the submissions of forms: %w", err)
	}
	return list, nil
}

// Correct adds the difference between a counted and a stored number to the stored one.
func Correct(ctx context.Context, db *sqldb.DB, t id.Tenant, c Count) error {
	_, err := db.Exec(ctx, `UPDATE form SET submission_count = submission_count + $3 WHERE tenant_id = $1 AND id = $2`, t, c.Form, c.Counted-c.Stored)
	if err != nil {
		return fmt.Errorf("correct the number of submissions: %w", err)
	}
	return nil
}
