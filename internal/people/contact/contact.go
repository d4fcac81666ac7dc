package contact

import (
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Status is a contact's global status.
type Status string

// The statuses.
const (
	Active       Status = "active"
	Pending      Status = "pending"
	Unsubscribed Status = "unsubscribed"
	Bounced      Status = "bounced"
	Complained   Status = "complained"
	Suppressed   Status = "suppressed"
)

var statuses = [...]Status{Active, Pending, Unsubscribed, Bounced, Complained, Suppressed}

// Statuses lists them all.
func Statuses() []Status { return slices.Clone(statuses[:]) }

// rank orders the statuses by precedence.
func (s Status) rank() int {
	switch s {
	case Suppressed:
		return 5
	case Complained:
		return 4
	case Bounced:
		return 3
	case Unsubscribed:
		return 2
	case Active:
		return 1
	}
	return 0
}

// Contact is one person.
type Contact struct {
	ID           id.Contact
	Tenant       id.Tenant
	Email        string
	EmailDomain  string
	ExternalID   *string
	FirstName    *string
	LastName     *string
	FullName     *string // as given, not derived from first and last name
	Title        *string
	Company      *string
	Phone        *string
	Website      *string
	Timezone     *string
	AddressLine1 *string
	AddressLine2 *string
	City         *string
	State        *string
	PostalCode   *string
	Country      *string
	Source       *string
	Stage        id.Stage // empty: none

	CustomFields          map[string]any
	Tags                  []string
	Subscriptions         map[string]bool      // by email type key; missing is consent
	CategorySubscriptions map[id.Category]bool // source of truth for categorised types

	Status               Status
	StatusBeforeSuppress Status // empty unless Suppressed
	DoNotContact         bool
	ProspectScore        float64
	CustomerScore        float64
	ScoreUpdatedAt       *time.Time

	CreatedAt      time.Time
	UpdatedAt      time.Time
	AnonymizedAt   *time.Time
	SuppressedAt   *time.Time
	UnsubscribedAt *time.Time
	Withdrawn      bool // suppressed by the undo of the import that created it: it is new when it comes again

	Revision  int64     // increases with each change of the profile: not by engagement, scores and deliverability
	RevisedBy id.Author // of the last one; zero: the program itself

	Version   int64     // increases with each change of what versions have: see AtVersion
	VersionAt time.Time // of the last one

	MemberAddedAt *time.Time // in member lists only

	Activity
}

// Revisions is the table of contacts, for conditions on their revisions.
var Revisions = revision.Table{Name: "contact"}

// revision returns the present revision of the contact, for a comparison with a condition.
func (c *Contact) revision() revision.Conflict {
	return revision.Conflict{Tenant: c.Tenant, Revision: c.Revision, UpdatedAt: c.UpdatedAt, By: c.RevisedBy}
}

// The faults of this package.
var (
	ErrNotFound            = fault.New(fault.NotFound, "CONTACT_NOT_FOUND", "there is no such contact")
	ErrDuplicateEmail      = fault.New(fault.Conflict, "DUPLICATE_EMAIL", "a contact with this address exists")
	ErrDuplicateExternalID = fault.New(fault.Conflict, "DUPLICATE_EXTERNAL_ID", "another contact has this external_id")
	ErrInvalidStage        = fault.New(fault.Invalid, "INVALID_STAGE", "there is no such stage")
	ErrInvalidEmailType    = fault.New(fault.Invalid, "INVALID_EMAIL_TYPE", "there is no such email type")
	ErrInvalidStatus       = fault.New(fault.Invalid, "INVALID_STATUS", "there is no such status")
	ErrInvalidFilters      = fault.New(fault.Invalid, "INVALID_FILTERS", "the filters are not valid")
	ErrLimit               = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a limit is exceeded")
	ErrMissingIdentifier   = fault.New(fault.Invalid, "MISSING_IDENTIFIER", "name the contact by email or external_id")
)

// EmailType is an email type with its category.
type EmailType struct {
	ID       id.EmailType
	Key      string
	Category id.Category // empty: none
}

// Types are a tenant's email types and categories. Callers pass them, since they are
// declared in packages above this one.
type Types struct {
	EmailTypes []EmailType
	Categories []id.Category
}

// find returns the type with a key or an id.
func (t Types) find(name string) (EmailType, bool) {
	uuid, isID := id.Parse[id.EmailType](name)
	for _, e := range t.EmailTypes {
		if e.Key == name || isID && e.ID == uuid {
			return e, true
		}
	}
	return EmailType{}, false
}

// EffectiveSubscriptions returns the contact's subscriptions by email type. For a type in a
// category, the contact's choice for the category applies.
func (c Contact) EffectiveSubscriptions(t Types) map[string]bool {
	out := make(map[string]bool, len(c.Subscriptions))
	maps.Copy(out, c.Subscriptions)
	for _, e := range t.EmailTypes {
		if e.Category.IsZero() {
			continue
		}
		if v, given := c.CategorySubscriptions[e.Category]; given {
			out[e.Key] = v
		} else {
			delete(out, e.Key)
		}
	}
	return out
}
