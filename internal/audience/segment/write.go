package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Change holds the changes that a request makes to a segment; nil leaves a part unchanged.
type Change struct {
	Name *string
	Tags *[]string
	// Definition is JSON. That of a static list is stored as received, and never used.
	Definition json.RawMessage
}

// CheckNew validates the change as one of a new segment, except for its definition.
func (ch Change) CheckNew() error { return ch.apply(&Segment{}) }

// Check validates the change, except for its definition, independently of the segment.
func (ch Change) Check() error { return ch.apply(&Segment{Name: "-"}) }

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
		for _, t := range *ch.Tags {
			t = strings.TrimSpace(norm.NFC.String(t))
			if n := utf8.RuneCountInString(t); n == 0 || n > maxTag || strings.ContainsRune(t, 0) {
				p.AddElement("tags", fmt.Sprintf("must have 1 to %d characters", maxTag))
				continue
			}
			if len(s.Tags) <= maxTags && !slices.Contains(s.Tags, t) { // one more than allowed is enough to report the error
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

// CreateList creates an empty static list; its key is derived from the name.
func CreateList(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, now time.Time) (Segment, error) {
	now = now.UTC().Truncate(time.Microsecond)
	s := Segment{Type: Static, Members: new(0), MembersAll: new(0), EvaluatedAt: &now}
	s, err := create(ctx, db, tenant, s, rule.Tree{}, ch, now)
	if err != nil {
		return Segment{}, fmt.Errorf("create a list: %w", err)
	}
	return s, nil
}

// Create creates a dynamic segment; its key is derived from the name. The Refresher or the first
// request for its counts counts it.
func Create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, now time.Time) (Segment, error) {
	if err := ch.CheckNew(); err != nil {
		return Segment{}, err
	}
	tree, err := Parse(ctx, db, tenant, ch.Definition)
	if err != nil {
		return Segment{}, err
	}
	return createOf(ctx, db, tenant, ch, tree, now)
}

// Parse parses a definition and checks it against the tenant's schema. If it is empty or null, the
// error is ErrMissingDefinition.
func Parse(ctx context.Context, db *sqldb.DB, tenant id.Tenant, definition json.RawMessage) (rule.Tree, error) {
	if !hasValue(definition) {
		return rule.Tree{}, ErrMissingDefinition
	}
	schema, err := Schema(ctx, db, tenant)
	if err != nil {
		return rule.Tree{}, err
	}
	tree, err := rule.ParseDefinition(definition, schema)
	if err == nil { // together with the segments it refers to, it may be too large to evaluate
		_, err = tree.Condition(db, rule.Env{Schema: schema})
	}
	return tree, err
}

// Warnings returns the references of a segment's definition to records that do not exist.
func Warnings(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment) ([]rule.Warning, error) {
	if s.Type == Static || s.SystemKey != "" {
		return nil, nil
	}
	schema, err := Schema(ctx, db, tenant)
	if err != nil {
		return nil, err
	}
	tree, err := s.tree(schema)
	if err != nil {
		return nil, err
	}
	if schema.Broadcasts, err = broadcasts(ctx, db, tenant, tree); err != nil {
		return nil, err
	}
	return tree.Warnings(schema), nil
}

// broadcasts loads which of the broadcasts that a tree refers to exist. It returns nil if it refers
// to none.
func broadcasts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, tree rule.Tree) (func(id.Broadcast) bool, error) {
	var named []id.Broadcast
	for _, r := range tree.References() {
		if b, ok := id.Parse[id.Broadcast](r.Name); ok && r.Kind == rule.RefBroadcast && !slices.Contains(named, b) {
			named = append(named, b)
		}
	}
	if len(named) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, `SELECT id FROM broadcast WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, named))
	found, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Broadcast, error) {
		var b id.Broadcast
		err := row(&b)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("find the broadcasts of a segment: %w", err)
	}
	return func(b id.Broadcast) bool { return slices.Contains(found, b) }, nil
}

func createOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch Change, tree rule.Tree, now time.Time) (Segment, error) {
	s := Segment{Type: Dynamic}
	var err error
	if s.Definition, err = json.Marshal(tree); err == nil {
		s, err = create(ctx, db, tenant, s, tree, ch, now.UTC().Truncate(time.Microsecond))
	}
	if err != nil {
		return Segment{}, fmt.Errorf("create a segment: %w", err)
	}
	return s, nil
}

func create(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment, tree rule.Tree, ch Change, now time.Time) (Segment, error) {
	s.ID, s.Tags, s.CreatedAt, s.UpdatedAt, s.Revision = id.New[id.Segment](), []string{}, now, now, 1
	if err := ch.apply(&s); err != nil {
		return Segment{}, err
	}
	tags, err := json.Marshal(s.Tags)
	if err != nil {
		return Segment{}, err
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := lockReferences(ctx, tx, tenant); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM segment WHERE tenant_id = $1 AND system_key IS NULL`, tenant).Scan(&n); err != nil {
			return err
		}
		if n >= maxSegments {
			return ErrLimit.Sayf("a tenant may have at most %d lists and segments", maxSegments)
		}
		s.Key, err = slug.Free(slug.Derive(s.Name, '_'), '_', func(try string) (bool, error) {
			if isReserved(try) {
				return true, nil
			}
			made, err := tx.Exec(ctx, `
				INSERT INTO segment (tenant_id, id, segment_key, name, type, definition, tags,
					member_count, member_count_total, member_count_evaluated_at, created_at, updated_at, revised_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)
				ON CONFLICT (tenant_id, segment_key) DO NOTHING`,
				tenant, s.ID, try, s.Name, s.Type, sqldb.Null(string(s.Definition)), string(tags),
				s.Members, s.MembersAll, sqldb.NullMicros(s.EvaluatedAt), sqldb.Micros(now), revision.By(ctx))
			return made == 0, err
		})
		if err != nil || s.Type == Static {
			return err
		}
		return s.refer(ctx, tx, tenant, tree)
	})
	if err != nil {
		return Segment{}, err
	}
	return s, nil
}

// Update changes name, tags and definition. Type and key never change. A segment with a new
// definition is recounted.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, ch Change, now time.Time) (Segment, error) {
	s, redefined, err := Revise(ctx, db, tenant, segment, ch, now)
	if err != nil || !redefined {
		return s, err
	}
	return CountRevised(ctx, db, tenant, s, now)
}

// CountRevised counts a segment that has a new definition, outside of the transaction that changed it, since a count may
// take long.
func CountRevised(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s Segment, now time.Time) (Segment, error) {
	counted, err := Recount(ctx, db, tenant, s.ID, now)
	if errors.Is(err, fault.ErrDeadline) { // the definition is stored; the Refresher will count it
		return s, nil
	}
	return counted, err
}

// LockRevision takes the lock that a transaction needs before it locks the row of a segment to revise it.
func LockRevision(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ch Change) error {
	if ch.Definition == nil {
		return nil
	}
	return lockReferences(ctx, tx, tenant)
}

// Revise is Update without the count, and reports whether the segment has a new definition.
func Revise(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, ch Change, now time.Time) (Segment, bool, error) {
	s, redefined, err := revise(ctx, db, tenant, segment, ch, now)
	if err != nil {
		return Segment{}, false, fmt.Errorf("update a segment: %w", err)
	}
	return s, redefined, nil
}

func revise(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, ch Change, now time.Time) (s Segment, redefined bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := LockRevision(ctx, tx, tenant, ch); err != nil { // before the row, as in Delete
			return err
		}
		if s, err = find(ctx, tx, tenant, segment.String(), tx.ForUpdate()); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, segment); err != nil {
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
		s.Revision++
		_, err = tx.Exec(ctx, `
			UPDATE segment SET name = $3, tags = $4, updated_at = $5, revision = revision + 1, revised_by = $6
			WHERE tenant_id = $1 AND id = $2`, tenant, segment, s.Name, string(tags), sqldb.Micros(now), revision.By(ctx))
		switch {
		case err != nil || ch.Definition == nil:
			return err
		case s.Type == Static && string(ch.Definition) == "null":
			return nil
		case s.Type == Static && !isObject(ch.Definition):
			return ErrInvalidDefinition.Sayf("the definition must be an object").With(map[string]string{"path": "definition"})
		case s.Type == Static:
			_, err = tx.Exec(ctx, `UPDATE segment SET definition = $3 WHERE tenant_id = $1 AND id = $2`, tenant, segment, string(ch.Definition))
			return err
		}
		redefined = true
		return s.redefine(ctx, tx, tenant, ch.Definition)
	})
	return s, redefined && err == nil, err
}

func isObject(definition json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(definition)), "{")
}

// redefine replaces the definition and clears the counts.
func (s *Segment) redefine(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, definition json.RawMessage) error {
	tree, err := Parse(ctx, tx, tenant, definition)
	if err != nil {
		return err
	}
	if s.Definition, err = json.Marshal(tree); err != nil {
		return err
	}
	s.Members, s.MembersAll, s.EvaluatedAt = nil, nil, nil
	_, err = tx.Exec(ctx, `
		UPDATE segment SET definition = $3, rule_revision = rule_revision + 1, counting_until = 0,
			member_count = NULL, member_count_total = NULL, member_count_evaluated_at = NULL
		WHERE tenant_id = $1 AND id = $2`, tenant, s.ID, string(s.Definition))
	if err != nil {
		return err
	}
	return s.refer(ctx, tx, tenant, tree)
}

// Delete removes a segment that nothing refers to, with its memberships.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, segment id.Segment, who usage.Finder) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := lockReferences(ctx, tx, tenant); err != nil {
			return err
		}
		s, err := find(ctx, tx, tenant, segment.String(), tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, segment); err != nil {
			return err
		}
		if s.SystemKey != "" {
			return ErrLocked
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Segment, ID: s.ID.String(), Key: s.Key})
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
		if _, err := tx.Exec(ctx, `DELETE FROM segment_reference WHERE tenant_id = $1 AND segment_id = $2`, tenant, segment); err != nil {
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
