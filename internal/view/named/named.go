// Package named finds the names of records by their types and ids, as the audit log holds them.
package named

import (
	"cmp"
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Record is a record of a tenant.
type Record struct {
	Type string // that of an audit entry, such as api_key
	ID   string
}

// find returns the names of records of one type, by id.
type find func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []string) (map[string]string, error)

// Names returns the names or addresses that records have now, without those that are gone or have none.
func Names(ctx context.Context, db *sqldb.DB, tenant id.Tenant, records []Record, now time.Time) (map[Record]string, error) {
	types := map[string]find{
		"contact":    byID(contact.Emails),
		"broadcast":  byID(broadcast.Names),
		"sequence":   byID(sequence.Names),
		"automation": byID(automation.Names),
		"seed_list":  byID(seedlist.Names),
		"message":    byID(library.Names),
		"template": among(func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]template.Template, error) {
			return template.List(ctx, db, tenant, template.Filter{}, false)
		}, func(t template.Template) (id.Template, string) { return t.ID, t.Name }),
		"block": among(func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]template.Block, error) {
			return template.ListBlocks(ctx, db, tenant, template.Filter{}, false)
		}, func(b template.Block) (id.Block, string) { return b.ID, b.Name }),
		"form": among(func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]form.Form, error) {
			return form.List(ctx, db, tenant, form.Draft, form.Published, form.Archived)
		}, func(f form.Form) (id.Form, string) { return f.ID, f.Name }),
		"segment":          byID(segment.Names),
		"stage":            among(contact.Stages, func(s contact.Stage) (id.Stage, string) { return s.ID, s.Name }),
		"custom_field":     among(field.List, func(f field.Field) (id.Field, string) { return f.ID, f.Name }),
		"email_type":       among(sender.EmailTypes, func(t sender.EmailType) (id.EmailType, string) { return t.ID, t.DisplayName }),
		"email_category":   among(sender.Categories, func(c sender.Category) (id.Category, string) { return c.ID, c.Name }),
		"sending_domain":   among(sender.Domains, func(d sender.Domain) (id.Domain, string) { return d.ID, d.Name }),
		"sending_identity": among(sender.Identities, func(i sender.Identity) (id.Identity, string) { return i.ID, i.Address }),
		"mta_config":       among(lane.List, func(c lane.Config) (id.Lane, string) { return c.ID, c.Name }),
		"webhook":          among(webhook.List, func(e webhook.Endpoint) (id.Webhook, string) { return e.ID, cmp.Or(e.Description, e.URL) }),
		"user":             among(auth.Members, func(m auth.Member) (id.User, string) { return m.User, cmp.Or(m.Name, m.Email) }),
		"api_key": among(func(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]auth.Key, error) {
			return auth.Keys(ctx, db, tenant, now)
		}, func(k auth.Key) (id.APIKey, string) { return k.ID, k.Name }),
	}
	asked := map[string][]string{}
	for _, r := range records {
		if types[r.Type] != nil {
			asked[r.Type] = append(asked[r.Type], r.ID)
		}
	}
	names := map[Record]string{}
	for t, ids := range asked {
		found, err := types[t](ctx, db, tenant, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range ids {
			if name := found[i]; name != "" {
				names[Record{t, i}] = name
			}
		}
	}
	return names, nil
}

// key is the id of a record.
type key interface {
	~[16]byte
	String() string
}

// byID finds names with a function that takes ids. A text that is no id has no name.
func byID[T key](load func(context.Context, *sqldb.DB, id.Tenant, []T) (map[T]string, error)) find {
	return func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []string) (map[string]string, error) {
		var list []T
		for _, text := range ids {
			if i, ok := id.Parse[T](text); ok {
				list = append(list, i)
			}
		}
		names := map[string]string{}
		if len(list) == 0 {
			return names, nil
		}
		found, err := load(ctx, db, tenant, list)
		for i, name := range found {
			names[i.String()] = name
		}
		return names, err
	}
}

// among finds names among all records of a type, of which there are few.
func among[R any, T key](list func(context.Context, *sqldb.DB, id.Tenant) ([]R, error), of func(R) (T, string)) find {
	return func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, _ []string) (map[string]string, error) {
		all, err := list(ctx, db, tenant)
		names := make(map[string]string, len(all))
		for _, r := range all {
			i, name := of(r)
			names[i.String()] = name
		}
		return names, err
	}
}
