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

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
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
	Definition  json.RawMessage // the canonical one, of a dynamic segment
	SystemKey   string          // members that could be mailed; nil until counted
	Members     *int            // who can be mailed; nil until counted
	MembersAll  *int
	EvaluatedAt *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time

	Revision int64 // increases with each write of what users edit

	RuleRevision int64 // increases when the definition or the members change
}

// Revisions is the table of segments, for conditions on their revisions.
var Revisions = revision.Table{Name: "segment"}

// The faults of this package.
var (
	ErrNotFound          = fault.New(fault.NotFound, "NOT_FOUND", "there is no such list or segment")
	ErrInvalid           = fault.New(fault.Invalid, "INVALID_SEGMENT", "there is no such list or segment")
	ErrMissingDefinition = fault.New(fault.Invalid, "MISSING_DEFINITION", "a dynamic segment needs a definition")
	ErrInvalidDefinition = rule.ErrInvalidDefinition
	ErrLocked            = fault.New(fault.Conflict, "SYSTEM_SEGMENT_LOCKED", "a built-in segment cannot be changed or deleted")
	ErrInUse             = fault.New(fault.Conflict, "SEGMENT_IN_USE", "the list or segment is still in use")
	ErrNotStatic         = fault.New(fault.Conflict, "NOT_STATIC", "only a static list has members that are added and removed")
	ErrCycle             = fault.New(fault.Invalid, "SEGMENT_CYCLE", "the segment would be built on itself")
	ErrCriterion         = fault.New(fault.Invalid, "INVALID_CRITERION", "there is no such criterion, or the broadcast has nothing to apply it to")
	ErrLimit             = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
)

const (
	maxSegments = 1000
	maxName     = 200
	maxTags     = 50
	maxTag      = 64
)

// columns leave out the definition of a static list: it is stored but never used.
const columns = `id, segment_key, name, type, tags, CASE WHEN type = 'dynamic' THEN definition END, system_key,
	member_count, member_count_total, member_count_evaluated_at, created_at, updated_at, revision, rule_revision`

func scan(row func(...any) error) (Segment, error) {
	var s Segment
	var tags string
	var definition, system sql.NullString
	var evaluated sql.NullInt64
	var created, updated int64
	err := row(&s.ID, &s.Key, &s.Name, &s.Type, &tags, &definition, &system,
		&s.Members, &s.MembersAll, &evaluated, &created, &updated, &s.Revision, &s.RuleRevision)
	if err != nil {
		return Segment{}, err
	}
	if definition.Valid {
		s.Definition = json.RawMessage(definition.String)
	}
	s.SystemKey, s.EvaluatedAt = system.String, sqldb.NullTime(evaluated)
	s.CreatedAt, s.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	s.Tags = []string{}
	if err := json.Unmarshal([]byte(tags), &s.Tags); err != nil {
		return Segment{}, fmt.Errorf("tags of segment %s: %w", s.ID, err)
	}
	return s, nil
}

// complete fills in the definitions of built-in segments, which depend on the tenant's settings.
func complete(ctx context.Context, db *sqldb.DB, t id.Tenant, list []Segment) error {
	if !slices.ContainsFunc(list, func(s Segment) bool { return s.SystemKey != "" }) {
		return nil
	}
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return err
	}
	for i, s := range list {
		b, ok := builtInBy(s.SystemKey)
		if !ok {
			continue
		}
		if list[i].Definition, err = json.Marshal(b.tree(account.Settings)); err != nil {
			return err
		}
	}
	return nil
}

// Filter limits a listing; empty means no limit.
type Filter struct {
	Types  []Type
	Tags   []string // any of them
	Search string   // substring of the name, ignoring case
}

// List returns segments by name, the built-in ones first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant, f Filter) ([]Segment, error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM segment WHERE tenant_id = $1
		ORDER BY CASE WHEN system_key IS NULL THEN 1 ELSE 0 END, `+db.SortText("name")+`, id`, tenant)
	list, err := sqldb.Collect(rows, err, scan)
	list = slices.DeleteFunc(list, func(s Segment) bool { return !f.match(s) })
	if err == nil {
		err = complete(ctx, db, tenant, list)
	}
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	return list, nil
}

// match filters in Go rather than SQL: a tenant has at most a thousand segments, and SQLite folds
// only ASCII letters.
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
	where, value := `segment_key = $2`, any(keyOrID)
	if s, ok := id.Parse[id.Segment](keyOrID); ok {
		where, value = `id = $2`, s
	}
	if unstorable(keyOrID) {
		return Segment{}, ErrNotFound
	}
	s, err := scan(db.QueryRow(ctx, `SELECT `+columns+` FROM segment WHERE tenant_id = $1 AND `+where+lock, tenant, value).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Segment{}, ErrNotFound
	}
	if err != nil {
		return Segment{}, fmt.Errorf("read a segment: %w", err)
	}
	one := []Segment{s}
	if err := complete(ctx, db, tenant, one); err != nil {
		return Segment{}, fmt.Errorf("read a segment: %w", err)
	}
	return one[0], nil
}

// unstorable reports whether no TEXT column can hold s, so that no row can match it.
func unstorable(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) }

// ByKeys returns the segments with the given public keys, in that order and each once. If keys are
// unknown, the error is ErrInvalid with all of them in its message.
func ByKeys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, keys []string) ([]Segment, error) {
	known := slices.DeleteFunc(slices.Clone(keys), unstorable)
	return many(ctx, db, tenant, `segment_key`, sqldb.List(db, known), keys, func(s Segment) string { return s.Key })
}

// Known returns those of the segments with the given public keys that exist, each once.
func Known(ctx context.Context, db *sqldb.DB, tenant id.Tenant, keys []string) ([]Segment, error) {
	keys = slices.DeleteFunc(slices.Clone(keys), unstorable)
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM segment WHERE tenant_id = $1 AND segment_key`+db.In(2), tenant, sqldb.List(db, keys))
	list, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("find segments by their keys: %w", err)
	}
	return list, nil
}

// Names returns the names of those of the segments that exist.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Segment) (map[id.Segment]string, error) {
	rows, err := db.Query(ctx, `SELECT id, name FROM segment WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Segment](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the names of segments: %w", err)
	}
	return names, nil
}

// Keys returns the keys of those segments that exist.
func Keys(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Segment) (map[id.Segment]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id, segment_key FROM segment WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	names, err := sqldb.Names[id.Segment](rows, err)
	if err != nil {
		return nil, fmt.Errorf("read the keys of segments: %w", err)
	}
	return names, nil
}

// ByIDs returns the segments with the given ids, in that order and each once. If an id is unknown,
// the error is ErrInvalid.
func ByIDs(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Segment) ([]Segment, error) {
	texts := make([]string, len(ids))
	for i, s := range ids {
		texts[i] = s.String()
	}
	return many(ctx, db, tenant, `id`, sqldb.List(db, ids), texts, func(s Segment) string { return s.ID.String() })
}

func many(ctx context.Context, db *sqldb.DB, tenant id.Tenant, column string, list any, names []string, name func(Segment) string) ([]Segment, error) {
	if len(names) == 0 {
		return []Segment{}, nil
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM segment WHERE tenant_id = $1 AND `+column+db.In(2), tenant, list)
	found, err := sqldb.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("find segments: %w", err)
	}
	out := make([]Segment, 0, len(names))
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
		out = append(out, found[at])
	}
	if len(unknown) > 0 {
		return nil, ErrInvalid.Sayf("there is no list or segment %s", strings.Join(unknown, ", "))
	}
	return out, nil
}
