package sequence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/strictjson"
)

// Step is the parsed configuration of a node.
type Step interface {
	// Labels returns the labels of the ways out of the node; "" is the only way out of a node
	// without branches.
	Labels() []string
}

// oneWay is embedded by steps with one way out, which has no label.
type oneWay struct{}

// Labels returns the empty label.
func (oneWay) Labels() []string { return []string{""} }

// SendStep sends a mail of the library.
type SendStep struct {
	Message    id.LibraryEntry `json:"message_id"`
	Version    *int            `json:"version,omitempty"` // nil: the current one, when the mail is queued
	EmailType  string          `json:"email_type_key"`
	Identities []string        `json:"sending_identity_emails,omitempty"`
	Lane       *string         `json:"mta_config_key,omitempty"`
	FromName   *string         `json:"from_name,omitempty"`
	ReplyTo    *string         `json:"reply_to,omitempty"`
	Tracking   *bool           `json:"tracking_enabled,omitempty"` // nil: true
	Window     *Window         `json:"send_window,omitempty"`      // nil: at any time
	oneWay
}

// Tracked reports whether opens and clicks of the mail are tracked.
func (s SendStep) Tracked() bool { return s.Tracking == nil || *s.Tracking }

// Zone says whose time zone a time of day is in.
type Zone string

// The zones.
const (
	ContactZone Zone = "contact"
	AccountZone Zone = "account"
)

// Window is the hours of the week in which a mail may be sent.
type Window struct {
	Days  []int  `json:"days"`  // 1 is Monday, 7 is Sunday
	Start string `json:"start"` // "09:00"
	End   string `json:"end"`   // "17:00"; may be "24:00"; before Start: of the next day
	Zone  Zone   `json:"timezone"`
}

// Mode is the kind of a wait.
type Mode string

// The modes of waits.
const (
	ForDuration     Mode = "duration"
	UntilDate       Mode = "until_date"
	UntilTime       Mode = "until_time"
	UntilEvent      Mode = "until_event"
	UntilSegment    Mode = "until_segment"
	UntilEngagement Mode = "until_engagement"
)

// WaitStep holds a contact for a while. Which fields are set depends on the mode.
type WaitStep struct {
	Mode Mode `json:"mode"`

	Amount int           `json:"amount,omitempty"` // of a duration
	Unit   calendar.Unit `json:"unit,omitempty"`

	At     *time.Time       `json:"at,omitempty"`     // until this time, or
	Field  string           `json:"field,omitempty"`  // until the date in a field of the contact
	Offset *calendar.Offset `json:"offset,omitempty"` // from the date
	Time   string           `json:"time,omitempty"`   // of day: on the date, or of until_time

	Days []int `json:"days,omitempty"` // of the week, of until_time
	Zone Zone  `json:"timezone,omitempty"`

	Event   string          `json:"event_name,omitempty"`
	Filters json.RawMessage `json:"filters,omitempty"` // of the event

	Segment string `json:"segment_key,omitempty"`
	State   string `json:"state,omitempty"` // "in" or "not_in"

	Node       string `json:"node_id,omitempty"` // the node that sent the mail
	Engagement string `json:"event,omitempty"`   // "opened" or "clicked"

	Timeout *calendar.Span `json:"timeout,omitempty"`
}

// Conditional reports whether the wait ends when something happens, or by its timeout.
func (w WaitStep) Conditional() bool {
	return w.Mode == UntilEvent || w.Mode == UntilSegment || w.Mode == UntilEngagement
}

// Labels returns the labels of the ways out.
func (w WaitStep) Labels() []string {
	if w.Conditional() {
		return []string{labelMet, labelTimeout}
	}
	return []string{""}
}

// ConditionStep branches on a rule.
type ConditionStep struct {
	Definition json.RawMessage `json:"definition"`
}

// Labels returns the labels of the ways out.
func (ConditionStep) Labels() []string { return []string{labelTrue, labelFalse} }

// BranchStep takes the first way whose rule holds.
type BranchStep struct {
	Branches []BranchWay `json:"branches"`
}

// BranchWay is one way of a BranchStep.
type BranchWay struct {
	Label      string          `json:"label"`
	Definition json.RawMessage `json:"definition"`
}

// Labels returns the labels of the ways out.
func (b BranchStep) Labels() []string {
	list := make([]string, 0, len(b.Branches)+1)
	for _, w := range b.Branches {
		list = append(list, w.Label)
	}
	return append(list, labelElse)
}

// SplitStep divides contacts among ways by weight. A contact always takes the same way.
type SplitStep struct {
	Branches []SplitWay `json:"branches"`
}

// SplitWay is one way of a SplitStep.
type SplitWay struct {
	Label  string  `json:"label"`
	Weight float64 `json:"weight"`
}

// Labels returns the labels of the ways out.
func (s SplitStep) Labels() []string {
	list := make([]string, 0, len(s.Branches))
	for _, w := range s.Branches {
		list = append(list, w.Label)
	}
	return list
}

// ListStep adds a contact to a static list or removes it.
type ListStep struct {
	Action  string `json:"action"` // "add" or "remove"
	Segment string `json:"segment_key"`
	oneWay
}

// TagStep adds tags to a contact or removes them.
type TagStep struct {
	Action string   `json:"action"` // "add" or "remove"
	Tags   []string `json:"tags"`
	oneWay
}

// UpdateStep changes fields of a contact. Texts may contain Liquid.
type UpdateStep struct {
	Fields       map[string]any `json:"fields,omitempty"`
	CustomFields map[string]any `json:"custom_fields,omitempty"`
	oneWay
}

// StageStep moves a contact to a stage.
type StageStep struct {
	Stage id.Stage `json:"stage_id"`
	oneWay
}

// SubscriptionStep subscribes a contact to an email type or unsubscribes it.
type SubscriptionStep struct {
	Action    string `json:"action"` // "subscribe" or "unsubscribe"
	EmailType string `json:"email_type_key"`
	oneWay
}

// EventStep records a custom event of the contact.
type EventStep struct {
	Name       string         `json:"event_name"`
	Properties map[string]any `json:"properties,omitempty"`
	oneWay
}

// EnrollStep enrolls the contact in another sequence.
type EnrollStep struct {
	Sequence id.Sequence `json:"sequence_id"`
	oneWay
}

// GoalStep is a rule; contacts anywhere in the sequence jump to it when it holds.
type GoalStep struct {
	Definition json.RawMessage `json:"definition"`
	oneWay
}

// ExitStep ends the enrollment.
type ExitStep struct{}

// Labels returns none.
func (ExitStep) Labels() []string { return nil }

// newStep returns a pointer to the zero step of a type; nil if there is no such type.
func newStep(t NodeType) any {
	switch t {
	case SendNode:
		return &SendStep{}
	case WaitNode:
		return &WaitStep{}
	case ConditionNode:
		return &ConditionStep{}
	case BranchNode:
		return &BranchStep{}
	case SplitNode:
		return &SplitStep{}
	case ListNode:
		return &ListStep{}
	case TagNode:
		return &TagStep{}
	case UpdateNode:
		return &UpdateStep{}
	case StageNode:
		return &StageStep{}
	case SubscriptionNode:
		return &SubscriptionStep{}
	case EventNode:
		return &EventStep{}
	case WebhookNode:
		return &WebhookStep{}
	case NotifyNode:
		return &NotifyStep{}
	case EnrollNode:
		return &EnrollStep{}
	case GoalNode:
		return &GoalStep{}
	case ExitNode:
		return &ExitStep{}
	}
	return nil
}

// step returns the value a pointer of newStep points to.
func step(p any) Step {
	switch p := p.(type) {
	case *SendStep:
		return *p
	case *WaitStep:
		return *p
	case *ConditionStep:
		return *p
	case *BranchStep:
		return *p
	case *SplitStep:
		return *p
	case *ListStep:
		return *p
	case *TagStep:
		return *p
	case *UpdateStep:
		return *p
	case *StageStep:
		return *p
	case *SubscriptionStep:
		return *p
	case *EventStep:
		return *p
	case *WebhookStep:
		return *p
	case *NotifyStep:
		return *p
	case *EnrollStep:
		return *p
	case *GoalStep:
		return *p
	}
	return ExitStep{}
}

// parseStep parses the configuration of a node. The message of the error says what to send instead.
func parseStep(n Node) (Step, error) {
	p := newStep(n.Type)
	if p == nil {
		return nil, fmt.Errorf("unknown type %q", n.Type)
	}
	config := n.Config
	if len(bytes.TrimSpace(config)) == 0 {
		config = json.RawMessage(`{}`)
	}
	if err := strictjson.Decode(config, maxNodeBytes, p); err != nil {
		return nil, err
	}
	s := step(p)
	return s, checkStep(s)
}

// encodeStep returns the canonical configuration of a step.
func encodeStep(s Step) (json.RawMessage, error) { return json.Marshal(s) }

func oneOf(value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
	}
	return nil
}
