package maildomain

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// forgetMissing is how long it is remembered that a domain did not exist: longer than mail is retried.
const forgetMissing = 6 * 24 * time.Hour

// NoteMissing notes that a domain to which mail was to be sent does not exist, and returns since when
// that has been so. One that was missing long ago begins anew.
func NoteMissing(ctx context.Context, db *sqldb.DB, domain string, now time.Time) (since time.Time, err error) {
	err = db.QueryRow(ctx, `
		INSERT INTO mail_domain (domain, next_at, tries, missing_since) VALUES ($1, $2, 0, $2)
		ON CONFLICT (domain) DO UPDATE SET missing_since =
			CASE WHEN mail_domain.missing_since > $3 THEN mail_domain.missing_since ELSE excluded.missing_since END
		RETURNING missing_since`, domain, now.UnixMicro(), now.Add(-forgetMissing).UnixMicro()).Scan(sqldb.ToTime(&since))
	if err != nil {
		return time.Time{}, fmt.Errorf("note a missing domain: %w", err)
	}
	return since, nil
}
