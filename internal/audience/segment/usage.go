package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// noted are the kinds of references that are stored, so that Finder can look them up.
var noted = []usage.Kind{usage.Segment, usage.Field}

// refer stores the references of the rule of a segment that was just written, and checks the graph.
// The transaction must hold lockReferences.
func (s Segment) refer(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, tree rule.Tree) error {
	if _, err := tx.Exec(ctx, `DELETE FROM segment_reference WHERE tenant_id = $1 AND segment_id = $2`, tenant, s.ID); err != nil {
		return err
	}
	t := tx.Table("kind TEXT", "name TEXT")
	for _, r := range tree.References() {
		if slices.Contains(noted, r.Kind) {
			t.Add(r.Kind, r.Name)
		}
	}
	if t.Len() > 0 {
		_, err := tx.Exec(ctx, `
			INSERT INTO segment_reference (tenant_id, segment_id, kind, name)
			SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.kind, v.name FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3)+`
			WHERE true ON CONFLICT DO NOTHING`, t.Args(tenant, s.ID)...)
		if err != nil {
			return fmt.Errorf("note what a segment refers to: %w", err)
		}
	}
	if err := s.missing(ctx, tx, tenant); err != nil {
		return err
	}
	g, err := loadGraph(ctx, tx, tenant)
	if err != nil {
		return fmt.Errorf("read what segments are built on: %w", err)
	}
	if err := g.check(s.Key); err != nil {
		return err
	}
	return fits(ctx, tx, tenant, s.Key, g.reversed())
}

// fits returns an error if a segment that refers to this one, directly or through others, would
// become too large to evaluate.
func fits(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, key string, over graph) error {
	if len(over[key]) == 0 {
		return nil
	}
	schema, err := Schema(ctx, tx, tenant)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for queue := over[key]; len(queue) > 0; queue = queue[1:] {
		above := queue[0]
		if seen[above] {
			continue
		}
		seen[above] = true
		queue = append(queue, over[above]...)
		r, _ := schema.Segments(above)
		if _, err := r.Tree.Condition(tx, rule.Env{Schema: schema}); err != nil {
			return ErrInvalidDefinition.Sayf("with it, the segment %s, which is built on it, has too many conditions", above).
				With(map[string]string{"path": "definition"})
		}
	}
	return nil
}

// missing returns an error if the rule refers to a segment that was deleted since it was parsed.
func (s Segment) missing(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	var name string
	err := tx.QueryRow(ctx, `
		SELECT r.name FROM segment_reference r
		WHERE r.tenant_id = $1 AND r.segment_id = $2 AND r.kind = $3 AND NOT EXISTS (
			SELECT 1 FROM segment o WHERE o.tenant_id = r.tenant_id AND o.segment_key = r.name)
		ORDER BY r.name LIMIT 1`, tenant, s.ID, usage.Segment).Scan(&name)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for what a segment refers to: %w", err)
	}
	return ErrInvalidDefinition.Sayf("there is no list or segment %s", name)
}

// Finder finds the segments that refer to a list, a segment or a custom field.
func Finder() usage.Finder { return usage.Func(holders) }

func holders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s usage.Subject) (usage.Holders, error) {
	if !slices.Contains(noted, s.Kind) {
		return nil, nil
	}
	rows, err := db.Query(ctx, `
		SELECT s.segment_key, s.name FROM segment_reference r
		JOIN segment s ON s.tenant_id = r.tenant_id AND s.id = r.segment_id
		WHERE r.tenant_id = $1 AND r.kind = $2 AND r.name = $3
		ORDER BY s.name, s.id`, tenant, s.Kind, s.Key)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (usage.Holder, error) {
		var h usage.Holder
		err := row(&h.SegmentKey, &h.Name)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("find segments that use a %s: %w", s.Kind, err)
	}
	return usage.Holders{"segments": list}, nil
}
