package form

import (
	"context"
	"slices"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Finder finds the forms that refer to a list, an email type, a custom field or a message of the
// library: all that are not archived, and of those that use an email type only published ones.
func Finder() usage.Finder { return usage.Many(holders) }

func holders(ctx context.Context, db *sqldb.DB, tenant id.Tenant, kind usage.Kind, subjects []usage.Subject) (map[string]usage.Holders, error) {
	live := []Status{Draft, Published}
	var uses func(f Form, s usage.Subject) bool
	switch kind {
	case usage.Segment:
		uses = func(f Form, s usage.Subject) bool { return slices.Contains(f.Lists, id.Read[id.Segment](s.ID)) }
	case usage.Library:
		uses = func(f Form, s usage.Subject) bool { return f.ConfirmMessage == id.Read[id.LibraryEntry](s.ID) }
	case usage.EmailType:
		live = []Status{Published}
		uses = func(f Form, s usage.Subject) bool {
			return slices.ContainsFunc(f.Fields, func(one Field) bool { return one.Type == ConsentField && one.Binding == s.Key })
		}
	case usage.Field:
		uses = func(f Form, s usage.Subject) bool {
			return slices.ContainsFunc(f.Fields, func(one Field) bool {
				_, text := one.boundTo()
				return (one.Type == CustomField || one.Type == HiddenField && !text) && one.Binding == s.Key
			})
		}
	default:
		return nil, nil
	}
	list, err := List(ctx, db, tenant, live...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]usage.Holders, len(subjects))
	for _, s := range subjects {
		holders := []usage.Holder{}
		for _, f := range list {
			if uses(f, s) {
				holders = append(holders, usage.Holder{ID: f.ID.String(), Name: f.Name, Status: string(f.Status)})
			}
		}
		found[s.ID] = usage.Holders{"forms": holders}
	}
	return found, nil
}
