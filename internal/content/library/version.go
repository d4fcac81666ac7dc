package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Version is one immutable version of an entry's content.
type Version struct {
	ID        id.LibraryVersion
	Entry     id.LibraryEntry
	Number    int // from 1
	Content   draft.Content
	CreatedAt time.Time
	Usage     []Use // uses of it; nil if not loaded
}

// Content returns the content of a version, and its number; 0 means the current version. Errors are
// ErrNoEntry, ErrNoEntryVersion and content.ErrNoContent, as requests that refer to an entry report
// them.
func Content(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, version int) (draft.Content, int, error) {
	e, err := findEntry(ctx, db, tenant, entry, " ")
	if errors.Is(err, ErrNotFound) {
		return draft.Content{}, 0, ErrNoEntry
	}
	if err != nil {
		return draft.Content{}, 0, err
	}
	if e.Version == 0 {
		return draft.Content{}, 0, content.ErrNoContent.Sayf("the library's entry has no content yet")
	}
	if version == 0 {
		version = e.Version
	}
	v, err := versionOf(ctx, db, tenant, entry, version)
	if errors.Is(err, ErrNoVersion) {
		return draft.Content{}, 0, ErrNoEntryVersion
	}
	return v.Content, version, err
}

// VersionOf returns one version of an entry with its uses.
func VersionOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, number int, who usage.Finder) (Version, error) {
	e, err := findEntry(ctx, db, tenant, entry, " ")
	if err != nil {
		return Version{}, err
	}
	v, err := versionOf(ctx, db, tenant, entry, number)
	if err != nil {
		return Version{}, err
	}
	uses, err := usesOf(ctx, db, e, who)
	v.Usage = uses.ofVersion(number, e.Version)
	return v, err
}

// Current is what lists show of the current version of an entry.
type Current struct {
	Origin *draft.Origin // nil: it has own code
	Usage  []Use         // nil if there is no finder
}

// CurrentOf returns the current versions of entries of one tenant, by entry; those without content are left
// out. It runs the same number of statements for any number of entries.
func CurrentOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entries []Entry, who usage.Finder) (map[id.LibraryEntry]Current, error) {
	wanted := db.Table("entry_id UUID", "version BIGINT")
	var subjects []usage.Subject
	for _, e := range entries {
		if e.Version > 0 {
			wanted.Add(e.ID, e.Version)
			subjects = append(subjects, subjectOf(e))
		}
	}
	found := make(map[id.LibraryEntry]Current, wanted.Len())
	if wanted.Len() == 0 {
		return found, nil
	}
	// Contents may be large together, so no more than one is kept at a time.
	rows, err := db.Query(ctx, `
		SELECT v.entry_id, v.content FROM `+wanted.As("wanted", 2)+`
		JOIN library_version AS v ON v.entry_id = wanted.entry_id AND v.version = wanted.version
		WHERE v.tenant_id = $1`, wanted.Args(tenant)...)
	err = sqldb.Each(rows, err, func(row func(...any) error) error {
		var entry id.LibraryEntry
		var text string
		if err := row(&entry, &text); err != nil {
			return err
		}
		c, err := decode(text)
		found[entry] = Current{Origin: c.Origin}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read current versions of library entries: %w", err)
	}
	if who == nil {
		return found, nil
	}
	holders, err := who.FindAll(ctx, db, tenant, usage.Library, subjects)
	if err != nil {
		return nil, ErrUnavailable.Because(err)
	}
	for _, e := range entries {
		if c, ok := found[e.ID]; ok {
			c.Usage = usesBy(holders[e.ID.String()]).ofVersion(e.Version, e.Version)
			found[e.ID] = c
		}
	}
	return found, nil
}

// Versions yields the versions of an entry with their uses, newest first. Each is read by its own
// query, since together they may be large.
func Versions(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, who usage.Finder) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		e, err := findEntry(ctx, db, tenant, entry, " ")
		if err != nil {
			yield(Version{}, err)
			return
		}
		uses, err := usesOf(ctx, db, e, who)
		if err != nil {
			yield(Version{}, err)
			return
		}
		for n := e.Version; n > 0; n-- {
			v, err := versionOf(ctx, db, tenant, entry, n)
			v.Usage = uses.ofVersion(n, e.Version)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// versionOf returns one version, or ErrNoVersion.
func versionOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, number int) (Version, error) {
	v := Version{Entry: entry, Number: number}
	var text string
	var created int64
	err := db.QueryRow(ctx, `
		SELECT id, content, created_at FROM library_version
		WHERE tenant_id = $1 AND entry_id = $2 AND version = $3`, tenant, entry, number).Scan(&v.ID, &text, &created)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Version{}, ErrNoVersion
	}
	if err == nil {
		v.CreatedAt = sqldb.Time(created)
		v.Content, err = decode(text)
	}
	if err != nil {
		return Version{}, fmt.Errorf("read version %d of library entry %s: %w", number, entry, err)
	}
	return v, nil
}

// appendVersion inserts the entry's content as version e.Version.
func appendVersion(ctx context.Context, tx *sqldb.DB, e Entry, text string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO library_version (tenant_id, entry_id, version, id, content, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		e.Tenant, e.ID, e.Version, id.New[id.LibraryVersion](), text, sqldb.Micros(e.UpdatedAt))
	return err
}

// copyVersions copies all versions of an entry to another, with their times.
func copyVersions(ctx context.Context, tx *sqldb.DB, from, to Entry) error {
	t := tx.Table("version BIGINT", "id UUID")
	for n := 1; n <= from.Version; n++ {
		t.Add(n, id.New[id.LibraryVersion]())
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO library_version (tenant_id, entry_id, version, id, content, created_at)
		SELECT `+tx.Param(1, "INTEGER")+`, `+tx.Param(3, "UUID")+`, old.version, fresh.id, old.content, old.created_at
		FROM library_version AS old JOIN `+t.As("fresh", 4)+` ON fresh.version = old.version
		WHERE old.tenant_id = $1 AND old.entry_id = $2`, t.Args(from.Tenant, from.ID, to.ID)...)
	return err
}

// encode returns content as stored.
func encode(m draft.Content) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // escaping would make HTML bodies longer
	if err := e.Encode(m); err != nil {
		return "", fmt.Errorf("encode content: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func decode(text string) (m draft.Content, err error) {
	err = json.Unmarshal([]byte(text), &m)
	return m, err
}

// decodeNull decodes a column that may be NULL.
func decodeNull(text sql.NullString) (*draft.Content, error) {
	if !text.Valid {
		return nil, nil
	}
	m, err := decode(text.String)
	return &m, err
}
