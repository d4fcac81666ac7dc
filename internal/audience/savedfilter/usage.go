package savedfilter

import (
	"context"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Finder finds the saved filters that use a custom field, as a condition or a column. Lists and
// segments are not looked up: a saved filter does not prevent their deletion, and reports that they
// are missing.
func Finder() usage.Finder { return usage.Func(holders) }

func holders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s usage.Subject) (usage.Holders, error) {
	if s.Kind != usage.Field {
		return nil, nil
	}
	list, err := all(ctx, db, tenant)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	schema, err := segment.Schema(ctx, db, tenant)
	if err != nil {
		return nil, fmt.Errorf("find saved filters that use a custom field: %w", err)
	}
	found := []usage.Holder{}
	for _, f := range list {
		if slices.Contains(f.Columns, customField+s.Key) || segment.Uses(f.Filters, schema, s) || segment.Uses(f.Definition, schema, s) {
			found = append(found, usage.Holder{ID: f.ID.String(), Name: f.Name})
		}
	}
	return usage.Holders{"saved_filters": found}, nil
}
