package suppression

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower adds the address of every hard bounce and every complaint to the list.
func Follower() journal.Follower {
	return journal.Follower{Name: "suppression", Types: []journal.Type{journal.EmailBounced, journal.EmailComplained}, Follow: follow}
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	failed := map[id.Tenant]map[string][]journal.Entry{} // entries by tenant and reason
	for _, e := range entries {
		reason, err := reasonFor(e)
		if err != nil {
			return err
		}
		if reason == "" || e.Contact.IsZero() {
			continue
		}
		if failed[e.Tenant] == nil {
			failed[e.Tenant] = map[string][]journal.Entry{}
		}
		failed[e.Tenant][reason] = append(failed[e.Tenant][reason], e)
	}
	for _, tenant := range slices.Sorted(maps.Keys(failed)) {
		for _, reason := range []string{Complaint, HardBounce} { // complaints first, which take precedence
			if err := list(ctx, tx, tenant, failed[tenant][reason], reason); err != nil {
				return err
			}
		}
	}
	return nil
}

// reasonFor returns the reason to list the address of an entry's contact, or "".
func reasonFor(e journal.Entry) (string, error) {
	switch e.Type {
	case journal.EmailComplained:
		return Complaint, nil
	case journal.EmailBounced:
		var d struct {
			Class string `json:"class"`
		}
		if err := e.Decode(&d); err != nil {
			return "", fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		if d.Class == contact.BounceHard {
			return HardBounce, nil
		}
	}
	return "", nil
}

// list adds the addresses of the entries' contacts to the list.
func list(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, reason string) error {
	if len(entries) == 0 {
		return nil
	}
	ids := make([]id.Contact, len(entries))
	for i, e := range entries {
		ids[i] = e.Contact
	}
	emails, err := contact.Emails(ctx, tx, tenant, ids)
	if err != nil || len(emails) == 0 {
		return err
	}
	addrs := slices.Compact(slices.Sorted(maps.Values(emails)))
	if _, err := put(ctx, tx, tenant, addrs, reason, false, entries[len(entries)-1].At); err != nil {
		return fmt.Errorf("suppress addresses that failed: %w", err)
	}
	return nil
}
