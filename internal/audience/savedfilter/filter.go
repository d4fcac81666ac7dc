// Package savedfilter stores users' views of contacts: a selection, its order, and the columns
// shown.
//
// A filter belongs to the user who created it. A shared filter is visible to all members. Other
// users' filters can be changed by admins only, to whom all filters are visible, so that filters of
// former members can be deleted.
//
// Filters and definitions are stored in canonical form. If a record they refer to is deleted by
// force, the filter is still shown unchanged, and the list opened with it reports the problem.
package savedfilter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Filter is one saved filter.
type Filter struct {
	ID         id.SavedFilter
	Name       string
	Filters    json.RawMessage // an array, canonical
	Definition json.RawMessage // nil: none
	Search     string
	Statuses   []contact.Status // empty: all but suppressed
	Sort       contact.Sort
	Asc        bool
	Columns    []string
	Shared     bool
	CreatedBy  id.User
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Change holds the changes that a request makes to a filter; nil leaves a part unchanged. An empty
// Definition removes it.
type Change struct {
	Name       *string
	Filters    *json.RawMessage
	Definition *json.RawMessage
	Search     *string
	Statuses   *[]string
	Sort       *string
	Dir        *string
	Columns    *[]string
	Shared     *bool
}

// The faults of this package.
var (
	ErrNotFound = fault.New(fault.NotFound, "NOT_FOUND", "there is no such saved filter")
	ErrLimit    = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
)

const (
	maxFilters = 500 // per tenant
	maxName    = 200
	maxColumns = 250
)

// sees reports whether the filter is visible to p.
func (f Filter) sees(p auth.Principal) bool {
	return f.Shared || f.CreatedBy == p.User || p.Role.AtLeast(auth.Admin)
}

// mayChange reports whether p may change or delete the filter.
func (f Filter) mayChange(p auth.Principal) bool {
	return f.CreatedBy == p.User || p.Role.AtLeast(auth.Admin)
}

// change merges a change into the filter and validates the changed parts.
func (f *Filter) change(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ch Change) error {
	var p fault.Problems
	f.texts(&p, ch)
	if ch.Shared != nil {
		f.Shared = *ch.Shared
	}
	if err := f.show(ctx, tx, tenant, &p, ch); err != nil {
		return err
	}
	if err := p.Err(); err != nil {
		return err
	}
	return f.choose(ctx, tx, tenant, ch)
}

// CheckNew validates the texts of a new filter.
func (ch Change) CheckNew() error { return ch.check(Filter{}) }

// Check validates the texts of a change, independently of the filter.
func (ch Change) Check() error { return ch.check(Filter{Name: "-"}) }

func (ch Change) check(f Filter) error {
	var p fault.Problems
	f.texts(&p, ch)
	return p.Err()
}

func (f *Filter) texts(p *fault.Problems, ch Change) {
	if ch.Name != nil {
		f.Name = strings.TrimSpace(norm.NFC.String(*ch.Name))
	}
	if n := utf8.RuneCountInString(f.Name); n == 0 || n > maxName || strings.ContainsRune(f.Name, 0) {
		p.Add("name", fmt.Sprintf("required, 1 to %d characters", maxName))
	}
	if ch.Search != nil {
		f.Search = strings.TrimSpace(norm.NFC.String(*ch.Search))
	}
	if n := utf8.RuneCountInString(f.Search); n > contactsearch.MaxSearch || strings.ContainsRune(f.Search, 0) {
		p.Add("search", fmt.Sprintf("at most %d characters", contactsearch.MaxSearch))
	}
	if ch.Sort != nil {
		f.Sort = contact.ParseSort(*ch.Sort)
	}
	if ch.Dir != nil {
		f.Asc = strings.EqualFold(*ch.Dir, "asc")
	}
}

// show sets the columns, without duplicates.
func (f *Filter) show(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, p *fault.Problems, ch Change) error {
	if ch.Columns == nil {
		return nil
	}
	if len(*ch.Columns) > maxColumns {
		return ErrLimit.Sayf("at most %d columns", maxColumns)
	}
	catalog, err := field.Load(ctx, tx, tenant)
	if err != nil {
		return err
	}
	types, err := sender.ContactTypes(ctx, tx, tenant)
	if err != nil {
		return err
	}
	names := contact.ColumnNames()
	for key := range catalog {
		names = append(names, customField+key)
	}
	for _, t := range types.EmailTypes {
		names = append(names, "subscriptions."+t.Key)
	}
	f.Columns = []string{}
	for _, c := range *ch.Columns {
		switch {
		case !slices.Contains(names, c):
			p.AddElement("columns", "there is no such field of contacts")
		case !slices.Contains(f.Columns, c):
			f.Columns = append(f.Columns, c)
		}
	}
	return nil
}

// customField is the prefix of custom fields.
const customField = "custom_fields."

// choose sets the selection in canonical form.
func (f *Filter) choose(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ch Change) error {
	var in segment.SelectorInput
	if ch.Statuses != nil {
		in.Status = *ch.Statuses
	}
	if ch.Filters != nil {
		in.Filters = *ch.Filters
	}
	if ch.Definition != nil {
		in.Definition = *ch.Definition
	}
	c, err := segment.Choose(ctx, tx, tenant, in)
	if err != nil {
		return err
	}
	if ch.Statuses != nil {
		f.Statuses = c.Statuses
	}
	if ch.Filters != nil {
		f.Filters = json.RawMessage(`[]`)
		if c.Filters != nil {
			if f.Filters, err = c.Filters.Filters(); err != nil {
				return err
			}
		}
	}
	if ch.Definition != nil {
		f.Definition = nil
		if c.Definition != nil {
			if f.Definition, err = c.Definition.MarshalJSON(); err != nil {
				return err
			}
		}
	}
	return nil
}
