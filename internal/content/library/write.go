package library

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Create creates an entry, by default a draft. Without a slug, one is derived from the name, with a
// number if it is taken. Content becomes version 1. prepare is called with it before the transaction that stores
// the entry, and what it returns in this transaction.
func Create(ctx context.Context, a draft.Author, tenant id.Tenant, ch Change, prepare ...func(e Entry) (then func(tx *sqldb.DB, e Entry) error, err error)) (Entry, error) {
	if ch.Name == nil {
		ch.Name = new("") // so that Check reports it as missing
	}
	if err := ch.Check(); err != nil {
		return Entry{}, err
	}
	e := Entry{Tenant: tenant, ID: id.New[id.LibraryEntry](), Revision: 1, Status: Draft, Tags: []string{}, CreatedAt: sqldb.Time(sqldb.Micros(a.Now))}
	e.UpdatedAt = e.CreatedAt
	ch.apply(&e)
	want := e.Slug
	if want == "" {
		want = slug.Derive(e.Name, '-')
	}
	var text string
	if ch.Content != nil {
		var err error
		if text, err = e.write(ctx, a, *ch.Content); err != nil {
			return Entry{}, err
		}
	}
	var then []func(tx *sqldb.DB, e Entry) error
	for _, f := range prepare {
		next, err := f(e)
		if err != nil {
			return Entry{}, err
		}
		then = append(then, next)
	}
	err := a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := e.insert(ctx, tx, want); err != nil {
			return err
		}
		if ch.Content != nil {
			if err := appendVersion(ctx, tx, e, text); err != nil {
				return err
			}
		}
		for _, f := range then {
			if err := f(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Entry{}, fmt.Errorf("create a library entry: %w", err)
	}
	return e, nil
}

// write applies a change to the entry's content, as the next version, and returns it as stored.
func (e *Entry) write(ctx context.Context, a draft.Author, ch draft.Change) (string, error) {
	var old draft.Content
	if e.Content != nil {
		old = *e.Content
	}
	m, err := a.Apply(ctx, e.Tenant, e.ID.String(), old, ch)
	if err != nil {
		return "", err
	}
	e.Content = &m
	e.Version++
	return encode(m)
}

// Update applies a change to an entry, wholly or not at all. A change of content is merged into the
// current version and appended as the next one. then is called in the transaction that stores it.
func Update(ctx context.Context, a draft.Author, tenant id.Tenant, entry id.LibraryEntry, ch Change, then ...func(tx *sqldb.DB, before, after Entry) error) (Entry, error) {
	if err := ch.Check(); err != nil {
		return Entry{}, err
	}
	e, err := revision.Retry(func() (Entry, error) { return update(ctx, a, tenant, entry, ch, then) })
	if err != nil {
		return Entry{}, fmt.Errorf("change a library entry: %w", err)
	}
	return e, nil
}

func update(ctx context.Context, a draft.Author, tenant id.Tenant, entry id.LibraryEntry, ch Change, then []func(tx *sqldb.DB, before, after Entry) error) (Entry, error) {
	next, err := Load(ctx, a.DB, tenant, entry)
	if err != nil {
		return Entry{}, err
	}
	version, text := next.Version, ""
	if ch.Content != nil { // rendered here, since nothing is rendered inside a transaction
		if text, err = next.write(ctx, a, *ch.Content); err != nil {
			return Entry{}, err
		}
	}
	err = a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		e, err := findEntry(ctx, tx, tenant, entry, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, entry); err != nil {
			return err
		}
		if e.Version != version { // only the content was made from what was read: ch applies to any revision
			return revision.ErrOvertaken
		}
		before := e
		e.Version, e.Content, e.UpdatedAt = next.Version, next.Content, sqldb.Time(sqldb.Micros(a.Now))
		ch.apply(&e)
		if err := e.save(ctx, tx); err != nil {
			return err
		}
		next = e
		if ch.Content != nil {
			if err := appendVersion(ctx, tx, e, text); err != nil {
				return err
			}
		}
		for _, f := range then {
			if err := f(tx, before, e); err != nil {
				return err
			}
		}
		return nil
	})
	return next, err
}

// Archive sets the status of an entry to archived, whatever it was.
func Archive(ctx context.Context, a draft.Author, tenant id.Tenant, entry id.LibraryEntry) (Entry, error) {
	return Update(ctx, a, tenant, entry, Change{Status: new(Archived)})
}

// Delete removes an entry and its versions, unless it has live uses.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, who usage.Finder) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		e, err := findEntry(ctx, tx, tenant, entry, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, entry); err != nil {
			return err
		}
		if who == nil {
			return ErrUnavailable
		}
		found, err := usesOf(ctx, tx, e, who)
		if err != nil {
			return err
		}
		if live := found.blocking(); len(live) > 0 {
			return ErrInUse.With(InUse{live})
		}
		_, err = tx.Exec(ctx, `DELETE FROM library_entry WHERE tenant_id = $1 AND id = $2`, tenant, entry)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a library entry: %w", err)
	}
	return nil
}

// Duplicate creates a draft with all versions of an entry.
func Duplicate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, now time.Time) (Entry, error) {
	var e Entry
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		from, err := findEntry(ctx, tx, tenant, entry, tx.ForUpdate()) // the lock keeps concurrent copies from choosing the same name
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT name FROM library_entry WHERE tenant_id = $1`, tenant)
		names, err := setOf(rows, err)
		if err != nil {
			return err
		}
		e = Entry{
			Tenant: tenant, ID: id.New[id.LibraryEntry](), Name: copyName(from.Name, names), Status: Draft, Tags: from.Tags,
			Version: from.Version, CreatedAt: sqldb.Time(sqldb.Micros(now)), UpdatedAt: sqldb.Time(sqldb.Micros(now)),
		}
		if err := e.insert(ctx, tx, slug.Derive(e.Name, '-')); err != nil {
			return err
		}
		return copyVersions(ctx, tx, from, e)
	})
	if err == nil {
		e, err = Load(ctx, db, tenant, e.ID)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("duplicate a library entry: %w", err)
	}
	return e, nil
}

// copyName returns a free name for a copy: the original's, shortened if necessary, with a suffix.
func copyName(name string, taken map[string]bool) string {
	runes := []rune(name)
	for n := 1; ; n++ {
		suffix := " (copy)"
		if n > 1 {
			suffix = fmt.Sprintf(" (copy %d)", n)
		}
		try := strings.TrimSpace(string(runes[:min(len(runes), maxName-len(suffix))])) + suffix
		if !taken[try] {
			return try
		}
	}
}
