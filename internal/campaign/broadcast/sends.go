package broadcast

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// recentAge is the age up to which a broadcast counts as recent.
const recentAge = 30 * 24 * time.Hour

// Sends counts the broadcasts that use templates and blocks.
type Sends struct{}

// Count returns the counts of one template or block, or of all.
func (Sends) Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind usage.Kind, thing string, now time.Time) (map[string]usage.Sends, error) {
	if kind != usage.Template && kind != usage.Block {
		return nil, nil
	}
	rows, err := db.Query(ctx, `
		SELECT status, template_id, block_ids FROM broadcast
		WHERE tenant_id = $1 AND template_id IS NOT NULL
			AND (status = 'draft' OR created_at >= $2 OR dispatch_started_at >= $2)`, tenant, now.Add(-recentAge).UnixMicro())
	type use struct {
		status Status
		things []string
	}
	uses, err := sqldb.Collect(rows, err, func(scan func(...any) error) (u use, err error) {
		var template id.Template
		var blocks sql.NullString
		if err := scan(&u.status, &template, &blocks); err != nil {
			return u, err
		}
		if kind == usage.Template {
			u.things = []string{template.String()}
			return u, nil
		}
		if blocks.Valid {
			err = json.Unmarshal([]byte(blocks.String), &u.things)
		}
		return u, err
	})
	if err != nil {
		return nil, fmt.Errorf("count the broadcasts that use a %s: %w", kind, err)
	}
	counts := map[string]usage.Sends{}
	for _, u := range uses {
		for _, t := range distinct(u.things) {
			if thing != "" && t != thing {
				continue
			}
			c := counts[t]
			if u.status == Draft {
				c.ActiveDrafts++
			} else {
				c.RecentBroadcasts++
			}
			counts[t] = c
		}
	}
	return counts, nil
}
