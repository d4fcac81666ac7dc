// Package segment holds who a tenant writes to: static lists of contacts, and
// (with the audience) dynamic segments and the ones that are built in.
//
// A list's counts are kept with it: member_count_total is exact, member_count
// is how many could be mailed when the list last changed or was recounted.
//
// Two of its statements join tables of packages below it, which they only read:
// contact (status, for counts and pages of members) and suppression.
package segment

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/slug"
	"packetboat/internal/sqldb"
	"packetboat/internal/usage"
)

// Type says how a segment's members are found. It never changes.
type Type string

// The types.
const (
	Static  Type = "static"  // members are added and removed
	Dynamic Type = "dynamic" // a rule finds them
)

// Segment is one list or segment.
type Segment struct {
	ID          id.Segment
	Key         string // public name; unchanged by rename
	Name        string
	Type        Type
	Tags        []string
	SystemKey   string // of a built-in one
	Members     *int   // who can be mailed; nil until counted
	MembersAll  *int
	EvaluatedAt *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// The faults of this package.
var (
	ErrNotFound          = fault.New(fault.NotFound, "NOT_FOUND", "there is no such list or segment")
	ErrInvalid           = fault.New(fault.Invalid, "INVALID_SEGMENT", "there is no such list or segment")
	ErrMissingDefinition = fault.New(fault.Invalid, "MISSING_DEFINITION", "a dynamic segment needs a definition")
	ErrInvalidDefinition = fault.New(fault.Invalid, "INVALID_DEFINITION", "the definition is not valid")
	ErrLocked            = fault.New(fault.Conflict, "SYSTEM_SEGMENT_LOCKED", "a built-in segment cannot be changed or deleted")
	ErrInUse             = fault.New(fault.Conflict, "SEGMENT_IN_USE", "the list or segment is still in use")
	ErrNotStatic         = fault.New(fault.Conflict, "NOT_STATIC", "only a static list has members that are added and removed")
	ErrLimit             = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
)

const (
	maxSegments = 1000
	maxName     = 200
	maxTags     = 50
	maxTag      = 64
)

const columns = `id, segment_key, name, type, tags, system_key, member_count, member_count_total, member_count_evaluated_at, created_at, updated_at`

func scan(row func(...any) error) (Segment, error) {
	var s Segment
	var tags string
	var system sql.NullString
	var evaluated sql.NullInt64
	var created, updated int64
	if err := row(&s.ID, &s.Key, &s.Name, &s.Type, &tags, &system, &s.Members, &s.MembersAll, &evaluated, &created, &updated); err != nil {
		return Segment{}, err
	}
	s.SystemKey, s.EvaluatedAt = system.String, sqldb.NullTime(evaluated)
	s.CreatedAt, s.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	s.Tags = []string{}
	if err := json.Unmarshal([]byte(tags), &s.Tags); err != nil {
		return Segment{}, fmt.Errorf("tags of segment %s: %w", s.ID, err)
	}
	return s, nil
}

// Filter limits a listing; empty means no limit.
type Filter struct {
	Types  []Type
	Tags   []string // any of them
	Search string   // a part of the name
}

// List returns segments by name, the built-in ones first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) ([]Segment, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM segment WHERE tenant_id = $1
		ORDER BY CASE WHEN system_key IS NULL THEN 1 ELSE 0 END, name, id`, tenant)
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	return slices.DeleteFunc(list, func(s Segment) bool { return !f.match(s) }), nil
}

// match is asked in Go: there are a thousand at most, and case is a matter of Go's.
func (f Filter) match(s Segment) bool {
	if len(f.Types) > 0 && !slices.Contains(f.Types, s.Type) {
		return false
	}
	if len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(s.Tags, t) }) {
		return false
	}
	return strings.Contains(strings.ToLower(s.Name), strings.ToLower(strings.TrimSpace(f.Search)))
}

// Find returns the segment with a public key or an id.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, keyOrID string) (Segment, error) {
	return find(ctx, db, tenant, keyOrID, " ")
}

func find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, keyOrID, lock string) (Segment, error) {
	where := `segment_key = $2`
	if s, ok := id.Parse[id.Segment](keyOrID); ok {
		where, keyOrID = `id = $2`, string(s)
	}
	if unstorable(keyOrID) {
		return Segment{}, ErrNotFound
	}
	s, err := scan(db.QueryRow(ctx, `SELECT `+columns+` FROM segment WHERE tenant_id = $1 AND `+where+lock, tenant, keyOrID).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Segment{}, ErrNotFound
	}
	if err != nil {
		return Segment{}, fmt.Errorf("read a segment: %w", err)
	}
	return s, nil
}

// unstorable reports whether no column can hold s, so that nothing has it.
func unstorable(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) }

// ByKeys returns the segments with the given public keys, in that order and
// each once. A key that names none is ErrInvalid, whose message names all such.
func ByKeys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, keys []string) ([]Segment, error) {
	return many(ctx, db, tenant, `segment_key`, keys, func(s Segment) string { return s.Key })
}

// ByIDs returns the segments with the given ids, in that order and each once.
// An id that names none is ErrInvalid.
func ByIDs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Segment) ([]Segment, error) {
	texts := make([]string, len(ids))
	for i, s := range ids {
		texts[i] = string(s)
	}
	return many(ctx, db, tenant, `id`, texts, func(s Segment) string { return string(s.ID) })
}

func many(ctx context.Context, db *sqldb.DB, tenant id.Tenant, column string, names []string, name func(Segment) string) ([]Segment, error) {
	if len(names) == 0 {
		return []Segment{}, nil
	}
	known := slices.DeleteFunc(slices.Clone(names), unstorable)
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM segment WHERE tenant_id = $1 AND `+column+db.In(2), tenant, sqldb.List(db, known))
	found, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("find segments: %w", err)
	}
	list := make([]Segment, 0, len(names))
	var unknown []string
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			continue
		}
		at := slices.IndexFunc(found, func(s Segment) bool { return name(s) == n })
		if at < 0 {
			unknown = append(unknown, n)
			continue
		}
		list = append(list, found[at])
	}
	if len(unknown) > 0 {
		return nil, ErrInvalid.Sayf("there is no list or segment %s", strings.Join(unknown, ", "))
	}
	return list, nil
}

// Change is what a request says about a segment; nil leaves a part alone.
type Change struct {
	Name *string
	Tags *[]string
	// Definition of a static list is kept as it came, and read by nobody
	// (contract C6).
	Definition map[string]any
}

// Check says what is wrong with the change to a new segment.
func (ch Change) Check() error { return ch.apply(&Segment{}) }

func (ch Change) apply(s *Segment) error {
	var p fault.Problems
	if ch.Name != nil {
		s.Name = strings.TrimSpace(norm.NFC.String(*ch.Name))
	}
	if n := utf8.RuneCountInString(s.Name); n == 0 || n > maxName || strings.ContainsRune(s.Name, 0) {
		p.Add("name", "required, 1 to 200 characters")
	}
	if ch.Tags != nil {
		s.Tags = []string{}
		for i, t := range *ch.Tags {
			t = strings.TrimSpace(norm.NFC.String(t))
			if n := utf8.RuneCountInString(t); n == 0 || n > maxTag || strings.ContainsRune(t, 0) {
				p.Add(fmt.Sprintf("tags[%d]", i), fmt.Sprintf("must have 1 to %d characters", maxTag))
				continue
			}
			if !slices.Contains(s.Tags, t) {
				s.Tags = append(s.Tags, t)
			}
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	if len(s.Tags) > maxTags {
		return ErrLimit.Sayf("at most %d tags", maxTags)
	}
	return nil
}

// CreateList makes an empty static list; its key is derived from the name.
func CreateList(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, now time.Time) (Segment, error) {
	now = now.UTC().Truncate(time.Microsecond)
	s := Segment{
		ID: id.New[id.Segment](), Type: Static, Tags: []string{},
		Members: new(0), MembersAll: new(0), EvaluatedAt: &now, CreatedAt: now, UpdatedAt: now,
	}
	if err := ch.apply(&s); err != nil {
		return Segment{}, err
	}
	tags, err := json.Marshal(s.Tags)
	if err != nil {
		return Segment{}, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM segment WHERE tenant_id = $1 AND system_key IS NULL`, tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxSegments {
			return ErrLimit.Sayf("a tenant may have at most %d lists and segments", maxSegments)
		}
		// A key that another writer takes in the same moment is tried past.
		s.Key, err = slug.Free(slug.Derive(s.Name, '_'), '_', func(try string) (bool, error) {
			if isReserved(try) {
				return true, nil
			}
			made, err := tx.Exec(ctx, `
				INSERT INTO segment (tenant_id, id, segment_key, name, type, tags, member_count, member_count_total, member_count_evaluated_at, created_at, updated_at)
				VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $7, $7)
				ON CONFLICT (tenant_id, segment_key) DO NOTHING`,
				tenant, s.ID, try, s.Name, s.Type, string(tags), sqldb.Micros(now))
			return made == 0, err
		})
		return err
	})
	if err != nil {
		return Segment{}, fmt.Errorf("create a list: %w", err)
	}
	return s, nil
}

// Update renames and tags. Type and key never change.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, ch Change, now time.Time) (Segment, error) {
	var s Segment
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		var err error
		if s, err = find(ctx, tx, tenant, string(segment), tx.ForUpdate()); err != nil {
			return err
		}
		if s.SystemKey != "" {
			return ErrLocked
		}
		if err := ch.apply(&s); err != nil {
			return err
		}
		tags, err := json.Marshal(s.Tags)
		if err != nil {
			return err
		}
		s.UpdatedAt = now.UTC().Truncate(time.Microsecond)
		_, err = tx.Exec(ctx, `
			UPDATE segment SET name = $3, tags = $4, updated_at = $5
			WHERE tenant_id = $1 AND id = $2`, tenant, segment, s.Name, string(tags), sqldb.Micros(now))
		if err != nil || ch.Definition == nil {
			return err
		}
		definition, err := json.Marshal(ch.Definition)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE segment SET definition = $3 WHERE tenant_id = $1 AND id = $2`, tenant, segment, string(definition))
		return err
	})
	if err != nil {
		return Segment{}, fmt.Errorf("update a segment: %w", err)
	}
	return s, nil
}

// Delete removes a segment that nobody uses, and a list's members with it.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, who usage.Finder) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		s, err := find(ctx, tx, tenant, string(segment), tx.ForUpdate())
		if err != nil {
			return err
		}
		if s.SystemKey != "" {
			return ErrLocked
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Segment, ID: string(s.ID), Key: s.Key})
		if err != nil {
			return err
		}
		if holders.Any() {
			return ErrInUse.With(map[string]any{
				"usage": holders.With("broadcasts", "sequences", "automations", "forms", "segments"),
			})
		}
		if _, err := tx.Exec(ctx, `DELETE FROM segment_member WHERE tenant_id = $1 AND segment_id = $2`, tenant, segment); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM segment WHERE tenant_id = $1 AND id = $2`, tenant, segment)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a segment: %w", err)
	}
	return nil
}
