package broadcast

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Lacking is how many contacts of an audience have no value that a template expects.
type Lacking struct {
	Path    string // such as contact.custom_fields.orders
	Without int
	Of      int // contacts checked
}

// String describes it for users.
func (l Lacking) String() string {
	share := float64(l.Without) / float64(l.Of) * 100
	if l.Of < sampledContacts {
		return fmt.Sprintf("%d of the %d contacts of the audience (%.0f %%) have no %s, which the template expects", l.Without, l.Of, share, l.Path)
	}
	return fmt.Sprintf("about %.0f %% of the audience have no %s, which the template expects (%d of %d contacts looked at)", share, l.Path, l.Without, l.Of)
}

// sampledContacts is how many contacts of an audience are checked. The first ones serve as a sample, since
// ids are independent of the contacts' data.
const sampledContacts = 1000

// audienceTimeLimit is the time limit for loading an audience. It serves warnings only, which should not
// delay the answer to a request.
const audienceTimeLimit = 3 * time.Second

// loadAudienceBriefly is loadAudience with the time limit audienceTimeLimit; it returns fault.ErrDeadline if
// that is exceeded.
func (f *Preconditions) loadAudienceBriefly(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	ctx, cancel := fault.Within(ctx, audienceTimeLimit)
	defer cancel()
	return fault.Timely(ctx, f.loadAudience(ctx, db, b, now))
}

// loadAudience finds out whether the audience of b has members, and which data expected by the
// template of b they lack.
func (f *Preconditions) loadAudience(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) error {
	audience := segment.Audience{Tenant: b.Tenant, Include: b.Include, Exclude: b.Exclude, Ahead: sampledContacts}
	required, err := expected(b)
	if err != nil {
		return err
	}
	if len(required) == 0 {
		any, err := audience.Any(ctx, db, now)
		f.EmptyAudience = err == nil && !any
		return err
	}
	ids, err := audience.After(ctx, db, id.Contact{}, sampledContacts, now)
	if err != nil {
		return err
	}
	people, err := contact.Load(ctx, db, b.Tenant, ids)
	if err != nil {
		return err
	}
	f.EmptyAudience = len(people) == 0
	for _, e := range required {
		l := Lacking{Path: e.Path, Of: len(people)}
		for i := range people {
			if !hasValue(&people[i], e.Path) {
				l.Without++
			}
		}
		if l.Without > 0 {
			f.Lacking = append(f.Lacking, l)
		}
	}
	return nil
}

// expected returns the values that the template of b requires of each contact.
func expected(b Broadcast) ([]binding.Expectation, error) {
	all, err := b.Content.Samples()
	if err != nil {
		return nil, fmt.Errorf("broadcast %s: %w", b.ID, err)
	}
	var required []binding.Expectation
	for _, e := range all {
		if e.Required && strings.HasPrefix(e.Path, "contact.") {
			required = append(required, e)
		}
	}
	return required, nil
}

// hasValue reports whether a contact has a value at a path such as
// contact.custom_fields.orders.
func hasValue(c *contact.Contact, path string) bool {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "contact."), ".")
	var v any
	if name == "custom_fields" {
		name, rest, _ = strings.Cut(rest, ".")
		v = c.CustomFields[name]
	} else {
		v, _ = c.Value(name)
	}
	for rest != "" {
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		name, rest, _ = strings.Cut(rest, ".")
		v = object[name]
	}
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case []string:
		return len(v) > 0
	}
	return true
}
