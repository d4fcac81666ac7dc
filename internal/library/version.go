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

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/manuscript"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

// Version is what an entry said, for good.
type Version struct {
	ID        id.LibraryVersion
	Entry     id.LibraryEntry
	Number    int // from 1
	Content   manuscript.Manuscript
	CreatedAt time.Time
	Usage     []Use // who has committed to it; nil when nobody was asked
}

// Content returns what a version of an entry says, and its number; 0 asks for
// the current one. It answers those who take their content from the library:
// ErrNoEntry, ErrNoEntryVersion, or content.ErrNoContent.
func Content(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, version int) (manuscript.Manuscript, int, error) {
	e, err := find(ctx, db, tenant, entry, " ")
	if errors.Is(err, ErrNotFound) {
		return manuscript.Manuscript{}, 0, ErrNoEntry
	}
	if err != nil {
		return manuscript.Manuscript{}, 0, err
	}
	if e.Version == 0 {
		return manuscript.Manuscript{}, 0, content.ErrNoContent.Sayf("the library's entry has no content yet")
	}
	if version == 0 {
		version = e.Version
	}
	v, err := versionOf(ctx, db, tenant, entry, version)
	if errors.Is(err, ErrNoVersion) {
		return manuscript.Manuscript{}, 0, ErrNoEntryVersion
	}
	return v.Content, version, err
}

// VersionOf returns one version of an entry, with who uses it.
func VersionOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, number int, who usage.Finder) (Version, error) {
	e, err := find(ctx, db, tenant, entry, " ")
	if err != nil {
		return Version{}, err
	}
	v, err := versionOf(ctx, db, tenant, entry, number)
	if err != nil {
		return Version{}, err
	}
	uses, err := usesOf(ctx, db, e, who)
	v.Usage = uses.of(number, e.Version)
	return v, err
}

// Versions returns the versions of an entry, newest first, with who uses them.
// They are read one by one: together they may be large.
func Versions(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, who usage.Finder) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		e, err := find(ctx, db, tenant, entry, " ")
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
			v.Usage = uses.of(n, e.Version)
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

// appendVersion stores the version that the entry has come to.
func appendVersion(ctx context.Context, tx *sqldb.DB, e Entry, text string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO library_version (tenant_id, entry_id, version, id, content, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		e.Tenant, e.ID, e.Version, id.New[id.LibraryVersion](), text, sqldb.Micros(e.UpdatedAt))
	return err
}

// copyVersions gives an entry all versions of another, with the times at which
// they were written.
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

// encode returns a manuscript as it is kept.
func encode(m manuscript.Manuscript) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // bodies are full of what that would make longer
	if err := e.Encode(m); err != nil {
		return "", fmt.Errorf("encode a manuscript: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func decode(text string) (m manuscript.Manuscript, err error) {
	return m, json.Unmarshal([]byte(text), &m)
}

// decoded returns the content of a column that may be NULL.
func decoded(text sql.NullString) (*manuscript.Manuscript, error) {
	if !text.Valid {
		return nil, nil
	}
	m, err := decode(text.String)
	return &m, err
}
