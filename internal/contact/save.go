package contact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"packetboat/internal/field"
	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/mail/address"
	"packetboat/internal/sqldb"
)

// Rules are what a write must know from elsewhere.
type Rules struct {
	Types Types
	Limit *int // billable contacts the tenant may have; nil: any number
	// Listed tells which addresses are on the suppression list.
	Listed func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, emails []string) (map[string]bool, error)
}

// existing are the details of ErrDuplicateEmail (contract D12).
type existing struct {
	ContactID    id.Contact `json:"contact_id"`
	GlobalStatus Status     `json:"global_status"`
}

// Create makes a contact. An address that a contact has already is refused,
// unless that contact is pending: then the change is merged into it and it
// becomes active (contract Z2).
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, error) {
	c, _, err := save(ctx, db, tenant, email, ch, r, now, func(old Contact) error {
		if old.Status == Pending {
			return nil
		}
		return ErrDuplicateEmail.With(existing{old.ID, old.Status})
	})
	if err != nil {
		return Contact{}, fmt.Errorf("create a contact: %w", err)
	}
	return c, nil
}

// Upsert makes a contact or merges the change into the one with the address,
// and reports whether it was made. A soft-deleted contact stays deleted
// (contract D13); a pending one becomes active.
func Upsert(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time) (Contact, bool, error) {
	c, created, err := save(ctx, db, tenant, email, ch, r, now, func(Contact) error { return nil })
	if err != nil {
		return Contact{}, false, fmt.Errorf("upsert a contact: %w", err)
	}
	return c, created, nil
}

// save does both; mayMerge judges the contact that has the address already.
func save(ctx context.Context, db *sqldb.DB, tenant id.Tenant, email string, ch Change, r Rules, now time.Time, mayMerge func(Contact) error) (Contact, bool, error) {
	now = micros(now)
	var c Contact
	var created bool
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var catalog field.Catalog
		if len(ch.CustomFields) > 0 {
			var err error
			if catalog, err = field.Load(ctx, tx, tenant); err != nil {
				return err
			}
		}
		addr, ok, err := ch.check(email, catalog, r.Types)
		if err != nil {
			return err
		}
		stages, err := Stages(ctx, tx, tenant)
		if err != nil {
			return err
		}
		if err := ok.resolve(ctx, tx, tenant, stages); err != nil {
			return err
		}
		w := write{tenant: tenant, stages: stages, rules: r, now: now}
		for range 2 {
			old, err := locked(ctx, tx, tenant, `c.email = $2`, addr)
			if err == nil {
				if err := mayMerge(old); err != nil {
					return err
				}
				created = false
				c, err = w.merge(ctx, tx, old, ok)
				return err
			}
			if !errors.Is(err, ErrNotFound) {
				return err
			}
			var inserted bool
			if c, inserted, err = w.create(ctx, tx, addr, ok); err != nil {
				return err
			}
			if inserted {
				created = true
				return nil
			}
			// Somebody else has the address, made a moment ago, or the external id.
		}
		return ErrDuplicateExternalID
	})
	return c, created, err
}

// resolve checks that what the change refers to exists.
func (c checked) resolve(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stages []Stage) error {
	for _, s := range []*id.Stage{c.stage, c.stageIfNew} {
		if s != nil && *s != "" && !slices.ContainsFunc(stages, func(st Stage) bool { return st.ID == *s }) {
			return ErrInvalidStage
		}
	}
	if len(c.references) == 0 {
		return nil
	}
	found, err := Existing(ctx, tx, tenant, slices.Collect(maps.Values(c.references)))
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(c.references)) {
		if !found[c.references[key]] {
			return field.Misfit(key, "the id of an existing contact")
		}
	}
	return nil
}

// write is one save under way.
type write struct {
	tenant id.Tenant
	stages []Stage
	rules  Rules
	now    time.Time
}

// create inserts a new contact, or reports that its keys are taken.
func (w write) create(ctx context.Context, tx *sqldb.DB, addr string, ch checked) (Contact, bool, error) {
	if err := w.room(ctx, tx); err != nil {
		return Contact{}, false, err
	}
	c := Contact{
		ID: id.New[id.Contact](), Tenant: w.tenant, Email: addr, EmailDomain: address.Domain(addr),
		CustomFields: map[string]any{}, Tags: []string{},
		Subscriptions: map[string]bool{}, CategorySubscriptions: map[id.Category]bool{},
		Status: Active, CreatedAt: w.now, UpdatedAt: w.now,
	}
	_, turned, err := c.apply(ch)
	if err != nil {
		return Contact{}, false, err
	}
	for _, s := range []*id.Stage{ch.stage, ch.stageIfNew} {
		if s != nil && *s != "" && c.Stage == "" {
			c.Stage = *s
		}
	}
	if c.Stage == "" {
		c.Stage = standardStage(w.stages)
	}
	if w.rules.Listed != nil {
		listed, err := w.rules.Listed(ctx, tx, w.tenant, []string{addr})
		if err != nil {
			return Contact{}, false, err
		}
		c.listed = listed[addr]
	}
	c.judge(c.Status, w.now)
	inserted, err := c.insert(ctx, tx)
	if err != nil || !inserted {
		return Contact{}, false, err
	}
	data := map[string]any{}
	if c.Source != nil {
		data["source"] = *c.Source
	}
	entries := []journal.Entry{w.entry(c.ID, journal.ContactCreated, data)}
	for _, t := range turned {
		entries = append(entries, w.entry(c.ID, journal.SubscriptionChanged, t))
	}
	return c, true, journal.Append(ctx, tx, entries...)
}

// merge applies a change to a contact that is there.
func (w write) merge(ctx context.Context, tx *sqldb.DB, c Contact, ch checked) (Contact, error) {
	parts, turned, err := c.apply(ch)
	if err != nil {
		return Contact{}, err
	}
	if c.Status == Pending {
		c.Status = Active
		parts = append(parts, "global_status")
		if c.Stage == "" && (ch.stage == nil || *ch.stage == "") {
			ch.stage = new(standardStage(w.stages))
		}
	}
	var entries []journal.Entry
	if ch.stage != nil && *ch.stage != c.Stage {
		entries = append(entries, w.entry(c.ID, journal.StageChanged, map[string]any{
			"from": sqldb.Null(c.Stage), "to": sqldb.Null(*ch.stage),
		}))
		c.moveTo(*ch.stage, w.stages, w.now)
		parts = append(parts, "stage_id")
	}
	if len(parts) == 0 {
		return c, nil
	}
	c.UpdatedAt = w.now
	if err := c.update(ctx, tx); err != nil {
		return Contact{}, err
	}
	if c.judge(c.Status, w.now) {
		if err := saveActivities(ctx, tx, w.tenant, []saved{{c.ID, &c.Activity}}); err != nil {
			return Contact{}, err
		}
	}
	for _, t := range turned {
		entries = append(entries, w.entry(c.ID, journal.SubscriptionChanged, t))
	}
	entries = append(entries, w.entry(c.ID, journal.ContactUpdated, map[string]any{"fields": parts}))
	return c, journal.Append(ctx, tx, entries...)
}

func (w write) entry(c id.Contact, t journal.Type, data any) journal.Entry {
	return journal.Entry{Tenant: w.tenant, Type: t, Contact: c, At: w.now, Data: data}
}

// room refuses a creation beyond the tenant's limit. Creations of a limited
// tenant take turns, so that two at once do not share the last place.
func (w write) room(ctx context.Context, tx *sqldb.DB) error {
	if w.rules.Limit == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO contact_turn (tenant_id) VALUES ($1)
		ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id`, w.tenant)
	if err != nil {
		return err
	}
	n, err := Billable(ctx, tx, w.tenant)
	if err != nil {
		return err
	}
	if n >= *w.rules.Limit {
		return ErrLimit.Sayf("the account may have at most %d contacts", *w.rules.Limit)
	}
	return nil
}
