package suppression

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower adds the address of every hard bounce and every complaint to the list. A guarded bounce
// (package outage) counts when it is applied, and until it is withdrawn.
func Follower() journal.Follower {
	return journal.Follower{
		Name:  "suppression",
		Types: []journal.Type{journal.EmailBounced, journal.EmailComplained, journal.BounceApplied, journal.BounceWithdrawn}, Follow: follow,
	}
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	failed := map[id.Tenant]map[string][]journal.Entry{} // entries by tenant and reason
	withdrawn := map[id.Tenant][]journal.Entry{}
	for i, e := range entries {
		if e.Type == journal.BounceWithdrawn {
			withdrawn[e.Tenant] = append(withdrawn[e.Tenant], e)
			continue
		}
		if e.Type == journal.BounceApplied && withdrawnLater(entries[i:], e) {
			continue
		}
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
	for _, tenant := range slices.Sorted(maps.Keys(withdrawn)) { // before the others, which may be about the same addresses
		if err := unlist(ctx, tx, tenant, withdrawn[tenant]); err != nil {
			return err
		}
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
	case journal.BounceApplied:
		return HardBounce, nil
	case journal.EmailBounced:
		var d struct {
			Class string `json:"class"`
			outage.Data
		}
		if err := e.Decode(&d); err != nil {
			return "", fmt.Errorf("journal entry %s: %w", e.ID, err)
		}
		if d.Class == contact.BounceHard && d.Guard == nil {
			return HardBounce, nil
		}
	}
	return "", nil
}

// withdrawnLater reports whether a bounce that is applied is withdrawn by a later entry.
func withdrawnLater(entries []journal.Entry, applied journal.Entry) bool {
	return slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return e.Type == journal.BounceWithdrawn && e.Tenant == applied.Tenant && e.Contact == applied.Contact
	})
}

// unlist removes the addresses of the entries' contacts that are listed because of a hard bounce.
func unlist(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry) error {
	emails, err := contact.Emails(ctx, tx, tenant, contactsOf(entries))
	if err != nil || len(emails) == 0 {
		return err
	}
	if _, err := removeListed(ctx, tx, tenant, slices.Collect(maps.Values(emails)), []string{HardBounce}, entries[len(entries)-1].At); err != nil {
		return fmt.Errorf("take back suppressions: %w", err)
	}
	return nil
}

func contactsOf(entries []journal.Entry) []id.Contact {
	ids := make([]id.Contact, len(entries))
	for i, e := range entries {
		ids[i] = e.Contact
	}
	return ids
}

// list adds the addresses of the entries' contacts to the list.
func list(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, entries []journal.Entry, reason string) error {
	if len(entries) == 0 {
		return nil
	}
	emails, err := contact.Emails(ctx, tx, tenant, contactsOf(entries))
	if err != nil || len(emails) == 0 {
		return err
	}
	addrs := slices.Compact(slices.Sorted(maps.Values(emails)))
	if _, err := put(ctx, tx, tenant, addrs, reason, false, entries[len(entries)-1].At); err != nil {
		return fmt.Errorf("suppress addresses that failed: %w", err)
	}
	return nil
}
