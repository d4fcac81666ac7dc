package rule

import (
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Logic is how the conditions of a group combine.
type Logic string

// The logics.
const (
	And Logic = "and"
	Or  Logic = "or"
)

// Tree is a whole rule: the root group. Its zero value holds for every contact.
type Tree struct {
	Root Group
}

// Group combines conditions.
type Group struct {
	Logic      Logic
	Negate     bool
	Conditions []Condition
}

// Condition is a Group or one of the leaves.
type Condition interface{ condition() }

func (Group) condition() {}

// Operator is a canonical operator.
type Operator string

// The operators.
const (
	Equals            Operator = "equals"
	NotEquals         Operator = "not_equals"
	Contains          Operator = "contains"
	NotContains       Operator = "not_contains"
	StartsWith        Operator = "starts_with"
	EndsWith          Operator = "ends_with"
	In                Operator = "in"
	NotIn             Operator = "not_in"
	IsSet             Operator = "is_set"
	IsNotSet          Operator = "is_not_set"
	GreaterThan       Operator = "greater_than"
	GreaterOrEqual    Operator = "greater_or_equal"
	LessThan          Operator = "less_than"
	LessOrEqual       Operator = "less_or_equal"
	Between           Operator = "between"
	IsTrue            Operator = "is_true"
	IsFalse           Operator = "is_false"
	On                Operator = "on"
	NotOn             Operator = "not_on"
	Before            Operator = "before"
	After             Operator = "after"
	OnOrBefore        Operator = "on_or_before"
	OnOrAfter         Operator = "on_or_after"
	InTheLast         Operator = "in_the_last"
	NotInTheLast      Operator = "not_in_the_last"
	InTheNext         Operator = "in_the_next"
	MoreThanAgo       Operator = "more_than_ago"
	AnniversaryInNext Operator = "anniversary_in_next"
	HasAny            Operator = "has_any"
	HasAll            Operator = "has_all"
	HasNone           Operator = "has_none"
	Subscribed        Operator = "subscribed"
	Unsubscribed      Operator = "unsubscribed"

	Did       Operator = "did"
	DidNot    Operator = "did_not"
	Active    Operator = "active"
	Ever      Operator = "ever"
	Never     Operator = "never"
	Completed Operator = "completed"
	Exited    Operator = "exited"
	Listed    Operator = "listed"
	NotListed Operator = "not_listed"

	Followed    Operator = "followed"
	NotFollowed Operator = "not_followed"
)

// Span is a length of time as in requests: {"amount": 30, "unit": "day"}.
type Span struct {
	Amount int
	Unit   Unit
}

// Unit is a unit of time.
type Unit string

// The units. Hours are exact; the others are calendar units of the account's
// time zone.
const (
	Hour  Unit = "hour"
	Day   Unit = "day"
	Week  Unit = "week"
	Month Unit = "month"
	Year  Unit = "year"
)

// Field tests a value of the contact: a column, a custom field, a tag, a subscription, the stage,
// or a list by {"field": "list"}. The type of its value is that of the field.
type Field struct {
	Name     string // as in the API: "country", "custom_fields.plan", …
	Operator Operator
	Value    Value
}

// Value is what a field is compared with. The field's type and the operator determine which part is
// used.
type Value struct {
	Texts   []string  // one for most operators, several for in, has_any, …
	Numbers []float64 // two for between
	Bool    bool
	Dates   []Date // two for between
	Span    Span   // of relative operators
}

// Date is a time, or a whole day if it was written as one.
type Date struct {
	Moment time.Time // UTC; for a Day, the date at 00:00 UTC
	Day    bool
}

// List tests membership of static lists; In: of any of them.
type List struct {
	Keys     []string
	Added    *Window
	Operator Operator // In, NotIn
}

// InSegment tests whether other segments contain the contact; In: any of them.
type InSegment struct {
	Keys     []string
	Operator Operator // In, NotIn
}

// Email tests what happened to the contact's mails. It counts distinct messages.
type Email struct {
	Event    EmailEvent
	Types    []string // email type keys; empty: any
	Count    *Count
	Window   *Window
	Level    Level
	Operator Operator // Did, DidNot
}

// EmailEvent is an event of a mail.
type EmailEvent string

// The events. Only a Broadcast leaf may have Recipient and Engaged.
const (
	Recipient  EmailEvent = "recipient"
	Sent       EmailEvent = "sent"
	Delivered  EmailEvent = "delivered"
	Opened     EmailEvent = "opened"
	Clicked    EmailEvent = "clicked"
	Engaged    EmailEvent = "engaged"
	Bounced    EmailEvent = "bounced"
	Complained EmailEvent = "complained"
	LeftBy     EmailEvent = "unsubscribed"
)

// Level is the required certainty of an open or click.
type Level string

// The levels.
const (
	Verified  Level = "verified"
	Confirmed Level = "confirmed"
	Apparent  Level = "apparent"
)

// Broadcast tests what happened to the mail of one broadcast.
type Broadcast struct {
	ID       id.Broadcast
	Event    EmailEvent
	LinkURL  string // for Clicked; empty: any
	Variant  string // empty: any
	Level    Level
	Operator Operator // Did, DidNot
}

// SequenceEmail tests what happened to the mails of a sequence. Each step has a send of its own; a
// message's variant is the node that sent it.
type SequenceEmail struct {
	Sequence id.Sequence
	Node     string // empty: any
	Event    EmailEvent
	Level    Level
	Operator Operator // Did, DidNot
}

// Event tests custom events.
type Event struct {
	Name     string // empty: any
	Filters  []Property
	Count    *Count
	Window   *Window
	Operator Operator // Did, DidNot
}

// EventSequence tests whether a custom event was followed by another one in time. Followed: at least
// one of the first events was. NotFollowed is no negation: the contact had a first event, none was
// followed, and the time of none is still running.
type EventSequence struct {
	First, Then EventMatch
	Within      Span     // elapsed time, see elapsed
	Window      *Window  // of the first event
	Operator    Operator // Followed, NotFollowed
}

// EventMatch selects custom events.
type EventMatch struct {
	Name    string // empty: any
	Filters []Property
}

// Property tests a property of an event. The type of the JSON value found determines the
// comparison.
type Property struct {
	Path     string // dots reach into objects, [] into arrays: "items[].sku"
	Operator Operator

	// Value is a string, a float64, a bool, a []any of these (In, NotIn), a
	// Date, a Span, for Between a []float64 or a []Date of two; nil where the
	// operator needs none.
	Value any
}

// PageView tests visits of pages.
type PageView struct {
	URL      string   // empty: any
	Match    Operator // Equals, Contains, StartsWith
	Count    *Count
	Window   *Window
	Operator Operator // Did, DidNot
}

// Form tests submissions of a form.
type Form struct {
	Slug     string // empty: any
	Window   *Window
	Operator Operator // Did, DidNot
}

// Subscription tests consent to an email type or a category.
type Subscription struct {
	TypeKey  string // or
	Category id.Category
	Operator Operator // Subscribed, Unsubscribed
}

// InSequence tests the contact's state in a sequence.
type InSequence struct {
	Sequence id.Sequence
	Window   *Window  // of the enrollment, or for Completed and Exited of the end
	Operator Operator // Active, Ever, Never, Completed, Exited
}

// Suppression tests whether the address is on the suppression list.
type Suppression struct {
	Operator Operator // Listed, NotListed
}

// Broken is a stored leaf that is no longer valid, because it refers to a record that does not
// exist any more. It holds for no contact, or for all if Negative.
type Broken struct {
	Raw      []byte // the stored canonical encoding
	Negative bool
	Code     string // what is missing, as a code of the API
}

func (Broken) condition()        {}
func (Field) condition()         {}
func (List) condition()          {}
func (InSegment) condition()     {}
func (Email) condition()         {}
func (Broadcast) condition()     {}
func (SequenceEmail) condition() {}
func (Event) condition()         {}
func (EventSequence) condition() {}
func (PageView) condition()      {}
func (Form) condition()          {}
func (Subscription) condition()  {}
func (InSequence) condition()    {}
func (Suppression) condition()   {}

// Window restricts a leaf to an interval: a span before now, or from and to, either of which may be
// missing.
type Window struct {
	InTheLast *Span
	From, To  *Date
}

// Count is a required number of occurrences.
type Count struct {
	Operator CountOperator
	N        int
}

// CountOperator compares a count.
type CountOperator string

// The comparisons of counts.
const (
	AtLeast CountOperator = "at_least"
	AtMost  CountOperator = "at_most"
	Exactly CountOperator = "exactly"
)
