package broadcast

import (
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/draft"
)

// The faults of broadcasts.
var (
	ErrNotFound        = fault.New(fault.NotFound, "NOT_FOUND", "no such broadcast")
	ErrNotDraft        = fault.New(fault.Conflict, "NOT_DRAFT", "only a draft can be changed or deleted")
	ErrTransition      = fault.New(fault.Conflict, "INVALID_TRANSITION", "the broadcast's status does not allow this")
	ErrCauseActive     = fault.New(fault.Conflict, "PAUSE_CAUSE_ACTIVE", "the reason for the pause still holds")
	ErrEmailType       = fault.New(fault.Invalid, "INVALID_EMAIL_TYPE", "the email type is missing, unknown or not active")
	ErrLane            = fault.New(fault.Invalid, "INVALID_MTA_CONFIG", "no MTA config has this key")
	ErrSegment         = fault.New(fault.Invalid, "INVALID_SEGMENT", "no list or segment has this key")
	ErrIdentity        = fault.New(fault.Invalid, "INVALID_SENDING_IDENTITY", "no sending identity has this address")
	ErrVariants        = fault.New(fault.Invalid, "INVALID_VARIANTS", "a split test needs at least two complete variants")
	ErrSplitTest       = fault.New(fault.Invalid, "ADVANCED_SPLIT_TEST_UNSUPPORTED", "split tests with a holdout or a winner are not supported")
	ErrVariantDelivery = fault.New(fault.Invalid, "VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED", "a variant cannot have a sender or an MTA config of its own")
	ErrLimit           = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "too many")
	ErrStatus          = fault.New(fault.Invalid, "INVALID_STATUS", "no such status")
	ErrNoSegment       = fault.New(fault.Invalid, "NO_SEGMENT", "add at least one list or segment")
	ErrNoMTA           = fault.New(fault.Invalid, "NO_MTA", "no active MTA config can carry this broadcast")
	ErrNoIdentity      = fault.New(fault.Invalid, "NO_IDENTITY", "no sending identity is able to send this broadcast")
	ErrMetadata        = fault.New(fault.Invalid, "INVALID_METADATA", "metadata is not a flat object within its limits")
	ErrMetadataFind    = fault.New(fault.Invalid, "INVALID_METADATA_FILTER", "metadata must be a JSON object of fewer than 8192 characters")
)

// Limits on the references of one broadcast.
const (
	MaxSegments = 20 // included; the same number may be excluded
	MaxTags     = 50
	MaxTagChars = 64
)

// Status is the state of a broadcast.
type Status string

// The statuses.
const (
	Draft     Status = "draft"
	Scheduled Status = "scheduled"
	Sending   Status = "sending"
	Paused    Status = "paused"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Statuses returns every status, in the order of a broadcast's lifecycle.
func Statuses() []Status {
	return []Status{Draft, Scheduled, Sending, Paused, Completed, Failed, Cancelled}
}

// Ended reports whether nothing more will be sent.
func (s Status) Ended() bool { return s == Completed || s == Failed || s == Cancelled }

// Kind distinguishes regular broadcasts from a retired kind.
type Kind string

// The kinds. Triggered broadcasts can be read by id only, and are not created any more.
const (
	Regular   Kind = "regular"
	Triggered Kind = "triggered"
)

// PauseReason is why a broadcast is paused.
type PauseReason string

// The reasons: a user's request, or a condition detected by the platform.
const (
	ByUser            PauseReason = "user"
	CapacityCollapsed PauseReason = "capacity_collapsed"
	DomainPaused      PauseReason = "domain_paused"
	TenantPaused      PauseReason = "tenant_paused"
)

// Plan is the part of a broadcast that its author writes.
type Plan struct {
	Name        string // internal; if empty, the subject
	Content     draft.Content
	Variants    []Variant    // nil: all recipients get the same
	Message     *Message     // the library version that the content is a copy of; nil: none, or edited since
	EmailType   id.EmailType // zero: not set
	Lane        id.Lane      // zero: the identity's, else the account's
	Include     []id.Segment
	Exclude     []id.Segment
	Identities  []id.Identity // nil: all identities of the email type
	Tags        []string
	Metadata    Metadata
	ScheduledAt *time.Time
	Tracking    bool
	Delivery    Delivery
	SeedLists   *[]id.SeedList // that get copies; nil: those included by default
}

// Broadcast is one mailing.
type Broadcast struct {
	Plan
	Tenant         id.Tenant
	ID             id.Broadcast
	Send           id.Send // the send of its messages
	Revision       int64   // increases with each write
	Status         Status
	Kind           Kind
	ContentVersion int
	PauseReason    PauseReason // empty unless paused
	ArchivedAt     *time.Time
	StartedAt      *time.Time // when the dispatcher began its send
	CompletedAt    *time.Time // when it completed or failed
	Failure        *Failure
	CreatedBy      auth.Actor
	CreatedAt      time.Time
	UpdatedAt      time.Time

	// Bodies reports which bodies are stored. Head and List leave the bodies out of Content and
	// Variants.
	Bodies Bodies
}

// Bodies are the parts that are left out when a broadcast is loaded without bodies.
type Bodies struct{ HTML, MJML, Text, Snapshot bool }

// Message identifies a version of a library entry.
type Message struct {
	Entry   id.LibraryEntry
	Version int
}

// Failure is the reason why a broadcast failed as a whole.
type Failure struct {
	Code    FailureCode `json:"code"`
	Message string      `json:"message"`
	At      time.Time   `json:"at"`
}

// FailureCode is the machine-readable reason.
type FailureCode string

// The failure codes.
const (
	EmailTypeDeleted FailureCode = "EMAIL_TYPE_DELETED"
	LaneDeleted      FailureCode = "MTA_CONFIG_DELETED"
	NoIdentity       FailureCode = "NO_IDENTITY"
	RenderFailed     FailureCode = "RENDER_FAILED"
	AllFailed        FailureCode = "ALL_FAILED"
)

// Message returns a description of the code for users.
func (c FailureCode) Message() string {
	switch c {
	case EmailTypeDeleted:
		return "the email type was deleted before the send was prepared"
	case LaneDeleted:
		return "no active MTA config was left to send through"
	case NoIdentity:
		return "no sending identity was left that could send"
	case RenderFailed:
		return "the content could not be rendered for any recipient"
	case AllFailed:
		return "no message could be handed over"
	}
	return string(c)
}

// Action is an operation on a broadcast.
type Action string

// The actions, in the order in which they are listed.
const (
	ActionUpdate     Action = "update"
	ActionDelete     Action = "delete"
	ActionSchedule   Action = "schedule"
	ActionUnschedule Action = "unschedule"
	ActionPause      Action = "pause"
	ActionResume     Action = "resume"
	ActionCancel     Action = "cancel"
	ActionReschedule Action = "reschedule"
	ActionTestSend   Action = "test_send"
	ActionArchive    Action = "archive"
	ActionUnarchive  Action = "unarchive"
	ActionClone      Action = "clone"
)

// Actions returns every action.
func Actions() []Action {
	return []Action{ActionUpdate, ActionDelete, ActionSchedule, ActionUnschedule, ActionPause, ActionResume, ActionCancel, ActionReschedule, ActionTestSend, ActionArchive, ActionUnarchive, ActionClone}
}

// from returns the statuses in which the action is allowed.
func (a Action) from() []Status {
	switch a {
	case ActionUpdate, ActionDelete, ActionSchedule:
		return []Status{Draft}
	case ActionUnschedule:
		return []Status{Scheduled}
	case ActionPause, ActionReschedule:
		return []Status{Sending}
	case ActionResume:
		return []Status{Paused}
	case ActionCancel:
		return []Status{Scheduled, Sending, Paused}
	case ActionArchive, ActionUnarchive:
		return []Status{Completed, Failed, Cancelled}
	case ActionTestSend, ActionClone:
		return Statuses()
	}
	return nil
}

// Can reports whether the action is allowed now.
func (b Broadcast) Can(a Action) bool {
	if (a == ActionArchive || a == ActionTestSend) && b.ArchivedAt != nil || a == ActionUnarchive && b.ArchivedAt == nil {
		return false
	}
	if a == ActionReschedule && !b.Delivery.Spread() {
		return false
	}
	return slices.Contains(a.from(), b.Status)
}

// Available returns the actions that are allowed now.
func (b Broadcast) Available() []Action {
	return slices.DeleteFunc(Actions(), func(a Action) bool { return !b.Can(a) })
}
