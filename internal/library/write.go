package library

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/manuscript"
	"github.com/packetboat/packetboat/internal/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

// Create makes an entry, a draft unless the change says otherwise. Its slug is
// derived from the name when none is wanted; one that is taken gets a number.
// With content, that is its version 1.
func Create(ctx context.Context, a manuscript.Author, tenant id.Tenant, ch Change) (Entry, error) {
	if ch.Name == nil {
		ch.Name = new("") // which it must not be
	}
	if err := ch.Check(); err != nil {
		return Entry{}, err
	}
	e := Entry{Tenant: tenant, ID: id.New[id.LibraryEntry](), Status: Draft, Tags: []string{}, CreatedAt: sqldb.Time(sqldb.Micros(a.Now))}
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
	err := a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		if err := e.insert(ctx, tx, want); err != nil || ch.Content == nil {
			return err
		}
		return appendVersion(ctx, tx, e, text)
	})
	if err != nil {
		return Entry{}, fmt.Errorf("create a library entry: %w", err)
	}
	return e, nil
}

// write gives the entry its next content and returns that as it is kept.
func (e *Entry) write(ctx context.Context, a manuscript.Author, ch manuscript.Change) (string, error) {
	var old manuscript.Manuscript
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

// Update makes a change to an entry, all of it or nothing. Its content is merged
// into the current version's and appended as the next.
func Update(ctx context.Context, a manuscript.Author, tenant id.Tenant, entry id.LibraryEntry, ch Change) (Entry, error) {
	if err := ch.Check(); err != nil {
		return Entry{}, err
	}
	for { // each turn that is lost, somebody else has won
		e, err := update(ctx, a, tenant, entry, ch)
		if errors.Is(err, errOvertaken) {
			continue
		}
		if err != nil {
			return Entry{}, fmt.Errorf("change a library entry: %w", err)
		}
		return e, nil
	}
}

// errOvertaken says that a version was appended since the one was read to which
// a content was to be merged.
var errOvertaken = errors.New("another version was appended meanwhile")

func update(ctx context.Context, a manuscript.Author, tenant id.Tenant, entry id.LibraryEntry, ch Change) (Entry, error) {
	next, err := Load(ctx, a.DB, tenant, entry)
	if err != nil {
		return Entry{}, err
	}
	before, text := next.Version, ""
	if ch.Content != nil { // rendered now, for nothing is rendered inside a transaction
		if text, err = next.write(ctx, a, *ch.Content); err != nil {
			return Entry{}, err
		}
	}
	err = a.DB.InTx(ctx, func(tx *sqldb.DB) error {
		e, err := find(ctx, tx, tenant, entry, tx.ForUpdate())
		if err != nil {
			return err
		}
		if e.Version != before {
			return errOvertaken
		}
		e.Version, e.Content, e.UpdatedAt = next.Version, next.Content, sqldb.Time(sqldb.Micros(a.Now))
		ch.apply(&e)
		next = e
		if err := e.save(ctx, tx); err != nil || ch.Content == nil {
			return err
		}
		return appendVersion(ctx, tx, e, text)
	})
	return next, err
}

// Archive hides an entry from lists, wherever it stands.
func Archive(ctx context.Context, a manuscript.Author, tenant id.Tenant, entry id.LibraryEntry) (Entry, error) {
	return Update(ctx, a, tenant, entry, Change{Status: new(Archived)})
}

// Delete removes an entry and its versions, if nobody needs it who is not
// finished.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, who usage.Finder) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		e, err := find(ctx, tx, tenant, entry, tx.ForUpdate())
		if err != nil {
			return err
		}
		if who == nil {
			return ErrUnavailable
		}
		found, err := usesOf(ctx, tx, e, who)
		if err != nil {
			return err
		}
		if live := found.live(); len(live) > 0 {
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

// Duplicate makes a draft of an entry with all its versions.
func Duplicate(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, now time.Time) (Entry, error) {
	var e Entry
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		from, err := find(ctx, tx, tenant, entry, tx.ForUpdate()) // copies of one entry take turns, for their names
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

// copyName returns the name of a copy: that of the original, shortened if need
// be, with a suffix that makes it a name which is not taken.
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
