package contact

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Withdraw deletes contacts as if they had never been there: one that is created again is new, and has nothing of the
// former one but its id. Until then it can be restored like any deleted contact.
func Withdraw(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact, now time.Time) error {
	at := micros(now)
	_, _, err := applyStep(ctx, tx, tenant, ids, now, func(c *Contact) ([]effect, *fault.Error) {
		happened := c.delete(at)
		c.Withdrawn = len(happened) > 0
		return happened, nil
	})
	if err != nil {
		return fmt.Errorf("withdraw contacts: %w", err)
	}
	return nil
}

// withdrawnParts are what changes of a contact that is created again.
var withdrawnParts = append([]string{"subscriptions", "do_not_contact", "stage_id", "global_status"}, versionColumns...)

// createAgain creates a contact that was withdrawn.
func (p *mergeState) createAgain(one *pending, ch checked, by id.Author) Outcome {
	if p.keyTaken(one.c.ID, ch) {
		return Outcome{Err: ErrDuplicateExternalID}
	}
	b, old := p.b, one.c
	again := &pending{unshared: true, c: Contact{
		ID: old.ID, Tenant: old.Tenant, Email: old.Email, EmailDomain: old.EmailDomain,
		CustomFields: map[string]any{}, Tags: []string{},
		Subscriptions: map[string]bool{}, CategorySubscriptions: map[id.Category]bool{},
		Status: Active, CreatedAt: old.CreatedAt, UpdatedAt: b.now, Revision: old.Revision + 1, RevisedBy: by,
		Version: old.Version + 1, VersionAt: b.now, Activity: old.Activity,
	}}
	if err := p.begin(again, ch); err != nil {
		return Outcome{Err: err}
	}
	if old.ExternalID != nil {
		delete(p.byKey, *old.ExternalID)
	}
	if key := again.c.ExternalID; key != nil {
		p.byKey[*key] = old.ID
	}
	one.c, one.unshared, one.activityChanged = again.c, true, true
	one.versionBegan = new(old.VersionAt)
	one.entries = append(one.entries, again.entries...)
	one.addParts(withdrawnParts)
	return Outcome{Contact: one.c, Created: true, Changed: true, Stopped: one.c.Status != Active && !ch.unverified}
}
