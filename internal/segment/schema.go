package segment

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"packetboat/internal/contact"
	"packetboat/internal/field"
	"packetboat/internal/id"
	"packetboat/internal/rule"
	"packetboat/internal/sender"
	"packetboat/internal/sqldb"
	"packetboat/internal/tenant"
)

// Schema returns what a tenant has declared, for rules to be checked against:
// its custom fields, email types, stages, lists and segments, and time zone. It
// is a picture of this moment; read it anew for the next request.
func Schema(ctx context.Context, db *sqldb.DB, t id.Tenant) (rule.Schema, error) {
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return rule.Schema{}, fmt.Errorf("read what rules may speak of: %w", err)
	}
	s := rule.Schema{Zone: account.Location()}
	if s.Fields, err = field.Load(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	if s.Types, err = sender.ContactTypes(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	if s.Stages, err = contact.Stages(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	all, err := rules(ctx, db, account)
	if err != nil {
		return rule.Schema{}, err
	}
	s.Segments = finder(all)
	return s, nil
}

// Env returns what a tenant's rules are evaluated in at a moment.
func Env(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) (rule.Env, error) {
	s, err := Schema(ctx, db, t)
	return rule.Env{Now: now, Schema: s}, err
}

// rules returns every list and segment of a tenant as rules see it.
func rules(ctx context.Context, db *sqldb.DB, account tenant.Tenant) ([]rule.SegmentRule, error) {
	rows, err := db.Query(ctx, `
		SELECT id, segment_key, type, system_key, CASE WHEN type = 'dynamic' THEN definition END
		FROM segment WHERE tenant_id = $1`, account.ID)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (rule.SegmentRule, error) {
		var r rule.SegmentRule
		var typ Type
		var system, definition sql.NullString
		if err := row(&r.ID, &r.Key, &typ, &system, &definition); err != nil {
			return r, err
		}
		if r.Static = typ == Static; r.Static {
			return r, nil
		}
		var err error
		r.Tree, err = treeOf(account.Settings, r.ID, system.String, definition)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the rules of segments: %w", err)
	}
	return list, nil
}

// treeOf returns the rule of a dynamic segment: of a built-in one as the
// settings have it, else as it is stored.
func treeOf(s tenant.Settings, segment id.Segment, system string, definition sql.NullString) (rule.Tree, error) {
	if system != "" {
		b, ok := builtInBy(system)
		if !ok {
			return rule.Tree{}, fmt.Errorf("segment %s: no built-in segment is called %q", segment, system)
		}
		return b.tree(s), nil
	}
	if !definition.Valid {
		return rule.Tree{}, fmt.Errorf("segment %s is dynamic and has no definition", segment)
	}
	var tree rule.Tree
	if err := json.Unmarshal([]byte(definition.String), &tree); err != nil {
		return rule.Tree{}, fmt.Errorf("definition of segment %s: %w", segment, err)
	}
	return tree, nil
}

func finder(all []rule.SegmentRule) rule.Segments {
	byKey := make(map[string]rule.SegmentRule, len(all))
	byID := make(map[id.Segment]rule.SegmentRule, len(all))
	for _, r := range all {
		byKey[r.Key], byID[r.ID] = r, r
	}
	return func(keyOrID string) (rule.SegmentRule, bool) {
		if s, ok := id.Parse[id.Segment](keyOrID); ok {
			r, found := byID[s]
			return r, found
		}
		r, found := byKey[keyOrID]
		return r, found
	}
}
