package segment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// builtIn is a segment that every tenant has. Its key is its
// system_key; its rule is not stored, because it may depend on settings.
type builtIn struct {
	key, name string
	tree      func(tenant.Settings) rule.Tree
}

var builtIns = []builtIn{
	{allSendable, "All sendable contacts", func(tenant.Settings) rule.Tree {
		return all(
			rule.Field{Name: "global_status", Operator: rule.Equals, Value: rule.Value{Texts: []string{"active"}}},
			rule.Field{Name: "do_not_contact", Operator: rule.IsFalse},
			rule.Suppression{Operator: rule.NotListed},
		)
	}},
	{"engaged_30_days", "Engaged in the last 30 days", func(tenant.Settings) rule.Tree { return engaged(30) }},
	{"engaged_90_days", "Engaged in the last 90 days", func(tenant.Settings) rule.Tree { return engaged(90) }},
	{"new_contacts_30_days", "New in the last 30 days", func(tenant.Settings) rule.Tree {
		return all(rule.Field{Name: "created_at", Operator: rule.InTheLast, Value: rule.Value{Span: days(30)}})
	}},
	{"never_engaged", "Never engaged", func(tenant.Settings) rule.Tree {
		// The counters of a contact count messages, and of opens and clicks the
		// verified ones.
		return all(
			rule.Field{Name: "total_emails_sent", Operator: rule.GreaterOrEqual, Value: rule.Value{Numbers: []float64{5}}},
			rule.Field{Name: "total_emails_opened", Operator: rule.Equals, Value: rule.Value{Numbers: []float64{0}}},
			rule.Field{Name: "total_emails_clicked", Operator: rule.Equals, Value: rule.Value{Numbers: []float64{0}}},
		)
	}},
	{"soft_bouncing", "Soft bouncing", func(tenant.Settings) rule.Tree {
		return all(rule.Field{Name: "bounce_type", Operator: rule.Equals, Value: rule.Value{Texts: []string{"soft"}}})
	}},
	{"sunset_candidates", "Sunset candidates", func(s tenant.Settings) rule.Tree {
		lately := &rule.Window{InTheLast: new(days(s.SunsetDays))}
		return all(
			rule.Field{Name: "created_at", Operator: rule.MoreThanAgo, Value: rule.Value{Span: days(s.SunsetDays)}},
			rule.Email{Event: rule.Sent, Count: &rule.Count{Operator: rule.AtLeast, N: s.SunsetMinSends}, Window: lately, Level: rule.Verified, Operator: rule.Did},
			rule.Email{Event: rule.Opened, Window: lately, Level: rule.Verified, Operator: rule.DidNot},
			rule.Email{Event: rule.Clicked, Window: lately, Level: rule.Verified, Operator: rule.DidNot},
			rule.PageView{Match: rule.Equals, Window: lately, Operator: rule.DidNot},
			rule.Form{Window: lately, Operator: rule.DidNot},
			rule.Event{Window: lately, Operator: rule.DidNot},
		)
	}},
}

func all(conditions ...rule.Condition) rule.Tree {
	return rule.Tree{Root: rule.Group{Logic: rule.And, Conditions: conditions}}
}

func days(n int) rule.Span { return rule.Span{Amount: n, Unit: rule.Day} }

func engaged(n int) rule.Tree {
	lately := &rule.Window{InTheLast: new(days(n))}
	return rule.Tree{Root: rule.Group{Logic: rule.Or, Conditions: []rule.Condition{
		rule.Email{Event: rule.Opened, Window: lately, Level: rule.Verified, Operator: rule.Did},
		rule.Email{Event: rule.Clicked, Window: lately, Level: rule.Verified, Operator: rule.Did},
	}}}
}

func builtInBy(key string) (builtIn, bool) {
	i := slices.IndexFunc(builtIns, func(b builtIn) bool { return b.key == key })
	if i < 0 {
		return builtIn{}, false
	}
	return builtIns[i], true
}

// BuiltIn creates the built-in segments of a new tenant.
func BuiltIn(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, now time.Time) error {
	return install(ctx, tx, t.ID, now)
}

// InstallAll creates the built-in segments that tenants lack. It runs at the start of the program,
// because a new version may have more of them.
func InstallAll(ctx context.Context, db *sqldb.DB, now time.Time) error {
	rows, err := db.Query(ctx, `
		SELECT t.tenant_id FROM tenant t /* all tenants: each has the built-in segments */
		LEFT JOIN segment s ON s.tenant_id = t.tenant_id AND s.system_key IS NOT NULL
		WHERE t.status <> 'deleted'
		GROUP BY t.tenant_id HAVING COUNT(s.id) < $1
		ORDER BY t.tenant_id`, len(builtIns))
	tenants, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Tenant, error) {
		var t id.Tenant
		err := row(&t)
		return t, err
	})
	if err != nil {
		return fmt.Errorf("find tenants without built-in segments: %w", err)
	}
	for _, t := range tenants {
		if err := install(ctx, db, t, now); err != nil {
			return err
		}
	}
	return nil
}

// install skips segments that exist. A list cannot have one of their keys, since these are
// reserved.
func install(ctx context.Context, db *sqldb.DB, tenant id.Tenant, now time.Time) error {
	t := db.Table("id UUID", "segment_key TEXT", "name TEXT", "type TEXT", "tags JSONB", "system_key TEXT", "created_at BIGINT", "updated_at BIGINT")
	for _, b := range builtIns {
		t.Add(id.New[id.Segment](), b.key, b.name, Dynamic, "[]", b.key, sqldb.Micros(now), sqldb.Micros(now))
	}
	if _, err := t.Insert(ctx, db, "segment", tenant); err != nil {
		return fmt.Errorf("install the built-in segments: %w", err)
	}
	return nil
}

// isReserved reports whether a key belongs to a built-in segment.
func isReserved(key string) bool {
	_, ok := builtInBy(key)
	return ok
}
