package suppression

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"packetboat/internal/contact"
	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Follower puts the address of every hard bounce on the list (contract 6.4).
func Follower() journal.Follower {
	return journal.Follower{Name: "suppression", Follow: follow}
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	bounced := map[id.Tenant][]journal.Entry{}
	for _, e := range entries {
		if e.Type != journal.EmailBounced || e.Contact == "" {
			continue
		}
		var d struct {
			Class string `json:"class"`
		}
		if err := e.Decode(&d); err != nil {
			return fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		if d.Class == contact.BounceHard {
			bounced[e.Tenant] = append(bounced[e.Tenant], e)
		}
	}
	for _, tenant := range slices.Sorted(maps.Keys(bounced)) {
		list := bounced[tenant]
		ids := make([]id.Contact, len(list))
		for i, e := range list {
			ids[i] = e.Contact
		}
		emails, err := contact.Emails(ctx, tx, tenant, ids)
		if err != nil {
			return err
		}
		if len(emails) == 0 {
			continue
		}
		addrs := slices.Compact(slices.Sorted(maps.Values(emails)))
		if _, err := put(ctx, tx, tenant, addrs, HardBounce, false, list[len(list)-1].At); err != nil {
			return fmt.Errorf("suppress bounced addresses: %w", err)
		}
	}
	return nil
}
