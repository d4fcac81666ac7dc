package contact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A version of a contact is what mails print of it, except what its mails and visits change: its texts, custom
// fields and tags. A message stores the number of the version that it printed. When a version ends that a mail may
// have printed, it is stored in contact_version, so that the mail can be shown as it was sent. The address is not
// part of a version, since messages have their own.

// The bounds of what is stored of a contact.
const (
	maxVersions     = 20
	maxVersionChars = 16 << 10 // of custom fields; a version with more is not stored
)

// maxSending is in how many sends, the latest ones, a changed contact is looked for.
const maxSending = 100

// maxUncounted is how many rows of the journal that activities do not count yet are looked at for a changed contact. A
// row has up to 40 mails.
const maxUncounted = 2000

// versionColumns are the columns of a version, which have the names of those of contact.
var versionColumns = append(textColumns(), "custom_fields", "tags")

func textColumns() []string {
	names := make([]string, len(allTexts))
	for i, t := range allTexts {
		names[i] = string(t)
	}
	return names
}

// inVersions reports whether a part of a contact is part of its versions.
func inVersions(part string) bool { return slices.Contains(versionColumns, part) }

// queueVersions stores, as part of a batch of tx, versions that a mail may have printed, of contacts that are to be
// changed later in the batch and whose rows are locked.
//
// A message is claimed, rendered, settled, and at last counted in its contact's activity. queueMailing was called
// before the activities were read with the contacts. Messages that may not have been counted then are looked for
// here, those that wait or are claimed before those that are settled, so a message that moves on in between is found
// at its later stage. One that is claimed after that, and rendered before tx commits, is not found. It has a
// version that is neither the present one nor stored: what it printed is then unknown, but never wrong.
func (p *mergeState) queueVersions(ctx context.Context, b *sqldb.Batch, tx *sqldb.DB, changed []*pending) error {
	var ids []id.Contact
	for _, one := range changed {
		if one.versionBegan != nil {
			ids = append(ids, one.c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	mailed, err := p.beingMailed(ctx, tx, ids)
	if err != nil {
		return err
	}
	var stored, many []id.Contact
	for _, one := range changed {
		if one.versionBegan == nil || !one.c.mailedSince(*one.versionBegan) && !mailed[one.c.ID] {
			continue
		}
		stored = append(stored, one.c.ID)
		if one.c.Version > maxVersions { // others cannot have more
			many = append(many, one.c.ID)
		}
	}
	if len(stored) > 0 {
		columns := strings.Join(versionColumns, ", ")
		b.Queue(`
			INSERT INTO contact_version (tenant_id, contact_id, version, until_at, `+columns+`)
			SELECT tenant_id, id, version, `+tx.Param(2, "BIGINT")+`, `+columns+` FROM contact
			WHERE tenant_id = $1 AND id`+tx.In(3)+` AND length(CAST(custom_fields AS TEXT)) <= $4`,
			nil, p.b.tenant, sqldb.Micros(p.b.now), sqldb.List(tx, stored), maxVersionChars)
	}
	if len(many) > 0 {
		b.Queue(`
			DELETE FROM contact_version WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND $3 <= (
				SELECT COUNT(*) FROM contact_version AS later
				WHERE later.tenant_id = $1 AND later.contact_id = contact_version.contact_id AND later.version > contact_version.version)`,
			nil, p.b.tenant, sqldb.List(tx, many), maxVersions)
	}
	return nil
}

// mailedSince reports whether the contact's activity counts a mail of a time or later, or a bounce whose time is not
// known.
func (a *Activity) mailedSince(t time.Time) bool {
	before := t.Add(-time.Microsecond)
	return isAfter(a.LastEmailSentAt, before) || isAfter(a.lastSoftAt, before) || a.BounceType != ""
}

// mailing is what is known about the mails of a tenant before activities are read.
type mailing struct {
	sends   []id.Send // with messages that wait or are being sent
	counted *int64    // position in the journal up to which activities count mails
}

// queueMailing reads a mailing as part of a batch, which sets what it returns.
func queueMailing(b *sqldb.Batch, tenant id.Tenant) *mailing {
	m := &mailing{}
	b.Queue(`SELECT send_id FROM send_ready WHERE tenant_id = $1 ORDER BY send_id DESC LIMIT $2`, func(scan func(...any) error) error {
		var s id.Send
		err := scan(&s)
		m.sends = append(m.sends, s)
		return err
	}, tenant, maxSending)
	m.counted = journal.QueueCursor(b, tenant, FollowerName)
	return m
}

// beingMailed returns which of the contacts have a message that is being sent or waits for another attempt, or one that was
// sent and may not have been counted in their activity when it was read.
func (p *mergeState) beingMailed(ctx context.Context, tx *sqldb.DB, ids []id.Contact) (map[id.Contact]bool, error) {
	found := map[id.Contact]bool{}
	read := func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		found[c] = true
		return err
	}
	b := tx.Batch()
	if len(p.mailing.sends) > 0 {
		b.Queue(`
			SELECT contact_id FROM outbox
			WHERE tenant_id = $1 AND send_id`+tx.In(2)+` AND contact_id`+tx.In(3)+` AND state = 'queued' AND (due_at <= $4 OR contact_version IS NOT NULL)`,
			read, p.b.tenant, sqldb.List(tx, p.mailing.sends), sqldb.List(tx, ids), sqldb.Micros(p.b.now.Add(time.Minute)))
	}
	types := []journal.Type{journal.EmailSent, journal.EmailDelivered, journal.EmailBounced}
	more := journal.QueueContactsAfter(b, tx, p.b.tenant, *p.mailing.counted, types, ids, maxUncounted, found)
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("find contacts that are being mailed: %w", err)
	}
	if *more { // counting is far behind: any of them may have been mailed
		for _, c := range ids {
			found[c] = true
		}
	}
	return found, nil
}

// AtVersion returns the contact with the values of a version, and whether these are known: the version is the
// present one, or is stored. If they are not, it returns the contact as it is.
func (c Contact) AtVersion(ctx context.Context, db *sqldb.DB, version int64) (Contact, bool, error) {
	if version == c.Version {
		return c, c.AnonymizedAt == nil, nil
	}
	v := c
	err := db.QueryRow(ctx, `SELECT `+strings.Join(versionColumns, ", ")+` FROM contact_version WHERE tenant_id = $1 AND contact_id = $2 AND version = $3`,
		c.Tenant, c.ID, version).Scan(v.versionTargets()...)
	if errors.Is(err, sqldb.ErrNoRows) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read a version of a contact: %w", err)
	}
	return v, true, nil
}

// versionTargets empties what is in versions, and returns the scan targets of versionColumns.
func (c *Contact) versionTargets() []any {
	targets := make([]any, 0, len(versionColumns))
	for _, t := range allTexts {
		targets = append(targets, sqldb.ToNullText(c.text(t)))
	}
	c.CustomFields, c.Tags = map[string]any{}, []string{}
	return append(targets, sqldb.ToNonEmptyJSON(&c.CustomFields), sqldb.ToNonEmptyJSON(&c.Tags))
}

// PruneVersions deletes up to limit versions that ended before a time, and returns their number.
func PruneVersions(ctx context.Context, db *sqldb.DB, tenant id.Tenant, before time.Time, limit int) (int, error) {
	n, err := db.Exec(ctx, `
		DELETE FROM contact_version WHERE tenant_id = $1 AND (contact_id, version) IN (
			SELECT contact_id, version FROM contact_version WHERE tenant_id = $1 AND until_at < $2 ORDER BY until_at LIMIT $3)`,
		tenant, sqldb.Micros(before), limit)
	if err != nil {
		return 0, fmt.Errorf("delete old versions of contacts: %w", err)
	}
	return int(n), nil
}

// eraseVersions deletes the former versions of contacts.
func eraseVersions(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact) error {
	_, err := tx.Exec(ctx, `DELETE FROM contact_version WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	if err != nil {
		return fmt.Errorf("erase the versions of contacts: %w", err)
	}
	return nil
}

// eraseFieldFromVersions deletes up to limit versions with a value of a custom field, and returns their number.
func eraseFieldFromVersions(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, key string, limit int) (int, error) {
	n, err := tx.Exec(ctx, `
		DELETE FROM contact_version WHERE tenant_id = $1 AND (contact_id, version) IN (
			SELECT contact_id, version FROM contact_version WHERE tenant_id = $1 AND custom_fields ->> CAST($2 AS TEXT) IS NOT NULL LIMIT $3)
		/* reads the tenant: any version may have a value */`, tenant, key, limit)
	return int(n), err
}

// formerValues is a version in an export of personal data.
type formerValues struct {
	Version int64          `json:"version"`
	UntilAt time.Time      `json:"until_at"`
	Values  map[string]any `json:"values"`
}

// exportVersions yields the former versions of a contact, in order.
func exportVersions(ctx context.Context, db *sqldb.DB, tenant id.Tenant, contact id.Contact) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		rows, err := db.Query(ctx, `
			SELECT version, until_at, `+strings.Join(versionColumns, ", ")+` FROM contact_version
			WHERE tenant_id = $1 AND contact_id = $2 ORDER BY version`, tenant, contact)
		list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (formerValues, error) {
			var v formerValues
			var c Contact
			err := scan(append([]any{&v.Version, sqldb.ToTime(&v.UntilAt)}, c.versionTargets()...)...)
			v.Values = map[string]any{"custom_fields": c.CustomFields, "tags": c.Tags}
			for _, t := range allTexts {
				if text := *c.text(t); text != nil {
					v.Values[string(t)] = *text
				}
			}
			return v, err
		})
		if err != nil {
			yield(nil, fmt.Errorf("export the versions of a contact: %w", err))
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}
