package contact

import (
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Consent names the email type that a mail needs the contact's consent for. With an empty
// TypeKey only the contact's status counts.
type Consent struct {
	TypeKey  string
	Category id.Category // empty: the type is in no category
}

// The reasons for which a contact gets no mail, in the order they are tested.
const (
	SkipPending              = "pending"
	SkipNotActive            = "not_active"
	SkipDoNotContact         = "do_not_contact"
	SkipSuppressedAddress    = "suppressed_address"
	SkipUnsubscribedCategory = "unsubscribed_category"
	SkipUnsubscribedType     = "unsubscribed_type"
	SkipInvalidEmail         = "invalid_email"
)

// standing is what refusals depend on. It is passed by value, so that a test allocates nothing.
type standing struct {
	status     Status
	blocked    bool // the contact must not be contacted
	listed     bool // the address is on the suppression list
	consent    Consent
	types      map[string]bool
	categories map[id.Category]bool
	email      string
}

// refusals are the reasons for which a contact gets no mail, in the order in which they are tested.
var refusals = [...]struct {
	reason string
	holds  func(s standing) bool
}{
	{SkipPending, func(s standing) bool { return s.status == Pending }},
	{SkipNotActive, func(s standing) bool { return s.status != Active && s.status != Pending }},
	{SkipDoNotContact, func(s standing) bool { return s.blocked }},
	{SkipSuppressedAddress, func(s standing) bool { return s.listed }},
	{SkipUnsubscribedCategory, func(s standing) bool {
		allowed, given := s.categories[s.consent.Category]
		return given && !allowed && !s.consent.Category.IsZero()
	}},
	{SkipUnsubscribedType, func(s standing) bool {
		allowed, given := s.types[s.consent.TypeKey]
		return given && !allowed && s.consent.Category.IsZero() && s.consent.TypeKey != ""
	}},
	{SkipInvalidEmail, func(s standing) bool {
		_, err := address.Parse(s.email)
		return err != nil
	}},
}

func (c *Contact) standing(k Consent, listed bool) standing {
	return standing{c.Status, c.DoNotContact, listed, k, c.Subscriptions, c.CategorySubscriptions, c.Email}
}

// Refusal returns why the contact must not get a mail that needs consent k, or "" if it
// may. listed says whether its address is on the suppression list.
func (c Contact) Refusal(k Consent, listed bool) string {
	s := c.standing(k, listed)
	for _, r := range refusals {
		if r.holds(s) {
			return r.reason
		}
	}
	return ""
}

// Refusals returns all reasons for which Refusal may refuse a mail, in the order in which they are
// tested, and which of them hold.
func (c Contact) Refusals(k Consent, listed bool) (reasons []string, holds map[string]bool) {
	holds = map[string]bool{}
	s := c.standing(k, listed)
	for _, r := range refusals {
		reasons = append(reasons, r.reason)
		holds[r.reason] = r.holds(s)
	}
	return reasons, holds
}

// ConfirmationRefusal is Refusal for a mail that asks whether the contact wants mail. It needs no
// consent, so it may go to a pending or unsubscribed contact.
func (c Contact) ConfirmationRefusal(listed bool) string {
	if c.Status == Pending || c.Status == Unsubscribed {
		c.Status = Active
	}
	return c.Refusal(Consent{}, listed)
}
