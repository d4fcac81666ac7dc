package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

const columns = `e.tenant_id, e.id, e.slug, e.name, e.status, e.tags, e.current_version, e.created_at, e.updated_at, e.revision`

// scan reads columns, and further columns of the query into more.
func scan(row func(...any) error, more ...any) (Entry, error) {
	var e Entry
	var tags string
	var created, updated int64
	err := row(append([]any{&e.Tenant, &e.ID, &e.Slug, &e.Name, &e.Status, &tags, &e.Version, &created, &updated, &e.Revision}, more...)...)
	if err != nil {
		return Entry{}, err
	}
	e.CreatedAt, e.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	e.Tags = []string{}
	if err := json.Unmarshal([]byte(tags), &e.Tags); err != nil {
		return Entry{}, fmt.Errorf("tags of library entry %s: %w", e.ID, err)
	}
	return e, nil
}

// Load returns an entry with its current content.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry) (Entry, error) {
	var text sql.NullString
	e, err := scan(func(dest ...any) error {
		return db.QueryRow(ctx, `
			SELECT `+columns+`, v.content FROM library_entry AS e
			LEFT JOIN library_version AS v ON v.tenant_id = e.tenant_id AND v.entry_id = e.id AND v.version = e.current_version
			WHERE e.tenant_id = $1 AND e.id = $2`, tenant, entry).Scan(dest...)
	}, &text)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Entry{}, ErrNotFound
	}
	if err == nil {
		e.Content, err = decodeNull(text)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("load a library entry: %w", err)
	}
	return e, nil
}

// findEntry returns an entry without its content.
func findEntry(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, lock string) (Entry, error) {
	e, err := scan(db.QueryRow(ctx, `SELECT `+columns+` FROM library_entry AS e WHERE e.tenant_id = $1 AND e.id = $2`+lock, tenant, entry).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Entry{}, ErrNotFound
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read a library entry: %w", err)
	}
	return e, nil
}

// insert stores a new entry with the requested slug, or with the first free number appended to it.
func (e *Entry) insert(ctx context.Context, tx *sqldb.DB, want string) error {
	tags, err := json.Marshal(e.Tags)
	if err != nil {
		return err
	}
	var used map[string]bool // slugs with the same prefix, read once the requested one is known to exist
	e.Slug, err = slug.Free(want, '-', func(try string) (bool, error) {
		if try != want && used == nil {
			if used, err = slugsLike(ctx, tx, e.Tenant, want); err != nil {
				return false, err
			}
		}
		if used[try] {
			return true, nil
		}
		made, err := tx.Exec(ctx, `
			INSERT INTO library_entry (tenant_id, id, slug, name, status, tags, current_version, created_at, updated_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9) ON CONFLICT (tenant_id, slug) DO NOTHING`,
			e.Tenant, e.ID, try, e.Name, e.Status, string(tags), e.Version, sqldb.Micros(e.CreatedAt), revision.By(ctx))
		return made == 0, err
	})
	return err
}

// slugsLike returns the slugs that share a prefix with like, so that a free number is found with
// one query.
func slugsLike(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, like string) (map[string]bool, error) {
	like = like[:min(len(like), slug.MaxLen-10)] // a number may replace the last characters
	rows, err := tx.Query(ctx, `SELECT slug FROM library_entry WHERE tenant_id = $1 AND substr(slug, 1, $3) = $2`, tenant, like, len(like))
	return setOf(rows, err)
}

// setOf reads a column of strings into a set.
func setOf(rows *sqldb.Rows, err error) (map[string]bool, error) {
	set := map[string]bool{}
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (text string, err error) {
		err = row(&text)
		set[text] = true
		return text, err
	})
	return set, err
}

// save updates the mutable columns of an entry, as its next revision.
func (e *Entry) save(ctx context.Context, tx *sqldb.DB) error {
	tags, err := json.Marshal(e.Tags)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE library_entry SET slug = $3, name = $4, status = $5, tags = $6, current_version = $7, updated_at = $8, revision = revision + 1, revised_by = $9
		WHERE tenant_id = $1 AND id = $2`,
		e.Tenant, e.ID, e.Slug, e.Name, e.Status, string(tags), e.Version, sqldb.Micros(e.UpdatedAt), revision.By(ctx))
	if sqldb.IsUniqueViolation(err) {
		return ErrSlug.Sayf("another entry has the slug %s", e.Slug)
	}
	e.Revision++
	return err
}
