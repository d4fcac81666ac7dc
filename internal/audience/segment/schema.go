package segment

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Schema returns what the rules of a tenant are checked against: custom fields, email types,
// stages, lists, segments, and the time zone. It is a snapshot; load it for each request.
func Schema(ctx context.Context, db *sqldb.DB, t id.Tenant) (rule.Schema, error) {
	account, err := tenant.ByID(ctx, db, t)
	if err != nil {
		return rule.Schema{}, fmt.Errorf("read what rules may speak of: %w", err)
	}
	s := rule.Schema{Tenant: t, Zone: account.Location()}
	if s.Fields, err = field.Load(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	if s.Types, err = sender.ContactTypes(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	if s.Stages, err = contact.Stages(ctx, db, t); err != nil {
		return rule.Schema{}, err
	}
	all, err := definitions(ctx, db, t)
	if err != nil {
		return rule.Schema{}, err
	}
	s.Segments = resolver(all, s, account.Settings)
	return s, nil
}

// Env returns the schema and the time that a tenant's rules are evaluated with.
func Env(ctx context.Context, db *sqldb.DB, t id.Tenant, now time.Time) (rule.Env, error) {
	s, err := Schema(ctx, db, t)
	return rule.Env{Now: now, Schema: s}, err
}

// definition is a list or segment as stored, with the columns that rules need.
type definition struct {
	id     id.Segment
	key    string
	static bool
	system string
	text   string
}

func definitions(ctx context.Context, db *sqldb.DB, t id.Tenant) ([]definition, error) {
	rows, err := db.Query(ctx, `
		SELECT id, segment_key, type, system_key, CASE WHEN type = 'dynamic' THEN definition END
		FROM segment WHERE tenant_id = $1`, t)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (definition, error) {
		var d definition
		var typ Type
		var system, text sql.NullString
		err := row(&d.id, &d.key, &typ, &system, &text)
		d.static, d.system, d.text = typ == Static, system.String, text.String
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the definitions of segments: %w", err)
	}
	return list, nil
}

// resolver looks up lists and segments for rules. It parses a definition on first use. While
// parsing, other segments are only checked for existence, so a cycle does not lead to endless
// recursion.
func resolver(list []definition, s rule.Schema, settings tenant.Settings) rule.Segments {
	byID := make(map[id.Segment]*definition, len(list))
	byKey := make(map[string]*definition, len(list))
	trees := make(map[id.Segment]func() rule.Tree, len(list))
	find := func(keyOrID string) (*definition, bool) {
		if uuid, ok := id.Parse[id.Segment](keyOrID); ok {
			d, found := byID[uuid]
			return d, found
		}
		d, found := byKey[keyOrID]
		return d, found
	}
	s.Segments = func(keyOrID string) (rule.SegmentRule, bool) {
		d, ok := find(keyOrID)
		if !ok {
			return rule.SegmentRule{}, false
		}
		return rule.SegmentRule{ID: d.id, Key: d.key, Static: d.static}, true
	}
	for i := range list {
		d := &list[i]
		byID[d.id], byKey[d.key] = d, d
		trees[d.id] = sync.OnceValue(func() rule.Tree { return d.tree(s, settings) })
	}
	return func(keyOrID string) (rule.SegmentRule, bool) {
		d, ok := find(keyOrID)
		if !ok {
			return rule.SegmentRule{}, false
		}
		r := rule.SegmentRule{ID: d.id, Key: d.key, Static: d.static}
		if !d.static {
			r.Tree = trees[d.id]()
		}
		return r, true
	}
}

// tree returns the rule. That of a built-in segment depends on the settings. A stored definition
// that cannot be parsed becomes a rule that matches no contact.
func (d definition) tree(s rule.Schema, settings tenant.Settings) rule.Tree {
	if b, ok := builtInBy(d.system); ok {
		return b.tree(settings)
	}
	t, err := rule.Decode([]byte(d.text), s)
	if err != nil {
		return all(rule.Broken{Raw: []byte(`{}`), Code: rule.ErrInvalidDefinition.Code})
	}
	return t
}
