package automation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of automations.
var (
	ErrNotFound   = fault.New(fault.NotFound, "NOT_FOUND", "there is no such automation")
	ErrStatus     = fault.New(fault.Invalid, "INVALID_STATUS", "status must be active, paused or archived")
	ErrTransition = fault.New(fault.Conflict, "INVALID_TRANSITION", "an archived automation can be changed only together with its status")
	ErrTooMany    = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("a tenant may have at most %d automations", maxAutomations))
	ErrRunStatus  = fault.New(fault.Invalid, "INVALID_STATUS", "status must be pending, completed, failed or skipped")
)

// Status is the state of an automation.
type Status string

// The states of an automation.
const (
	Active   Status = "active"
	Paused   Status = "paused"
	Archived Status = "archived"
)

// Statuses returns all states of an automation.
func Statuses() []Status { return []Status{Active, Paused, Archived} }

// ParseStatuses parses states of automations, or returns ErrStatus.
func ParseStatuses(names []string) ([]Status, error) {
	list := make([]Status, len(names))
	for i, n := range names {
		if list[i] = Status(n); !slices.Contains(Statuses(), list[i]) {
			return nil, ErrStatus.Sayf("there is no status %q; status must be active, paused or archived", n)
		}
	}
	return list, nil
}

// Automation is one automation.
type Automation struct {
	Tenant     id.Tenant
	ID         id.Automation
	Name       string
	Status     Status
	Trigger    trigger.Trigger
	Definition json.RawMessage // a rule that a contact must satisfy when the trigger fires; nil: none
	Actions    []Action
	Runs       int        // that were carried out
	LastRunAt  *time.Time // when the last of them ended; nil: there was none
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Revision   int64 // increases with each write

	activeAfter int64 // position in the journal; earlier entries start no runs
}

// Revisions is the table of automations, for conditions on their revisions.
var Revisions = revision.Table{Name: "automation"}

// Action is one action, which is a step of a sequence.
type Action struct {
	Type   sequence.NodeType `json:"type"`
	Config json.RawMessage   `json:"config"`
}

// Limits of automations.
const (
	maxAutomations = 500
	maxName        = 200
	MaxActions     = 10
)

// Change holds the changes of a request; nil leaves a part unchanged. A definition that is null is
// removed.
type Change struct {
	Name          *string
	Status        *Status
	TriggerType   *trigger.Type
	TriggerConfig json.RawMessage
	Definition    json.RawMessage
	Actions       *[]Action
}

// Check checks a change of an automation by itself. The rules are for the URLs of webhooks.
func (ch Change) Check(rules webhook.Rules) error {
	var p fault.Problems
	ch.check(rules, &p)
	return p.Err()
}

// CheckNew checks a change that creates an automation.
func (ch Change) CheckNew(rules webhook.Rules) error {
	var p fault.Problems
	if ch.Name == nil {
		p.Add("name", "is required")
	}
	if ch.Status != nil && *ch.Status == Archived {
		p.Add("status", "a new automation is active or paused")
	}
	if ch.TriggerType == nil {
		p.Add("trigger_type", "is required")
	}
	if ch.TriggerConfig == nil {
		p.Add("trigger_config", "is required")
	}
	if ch.Actions == nil {
		p.Add("actions", "is required")
	}
	ch.check(rules, &p)
	return p.Err()
}

func (ch Change) check(rules webhook.Rules, p *fault.Problems) {
	if ch.Name != nil && (*ch.Name == "" || len([]rune(*ch.Name)) > maxName) {
		p.Add("name", fmt.Sprintf("must be 1 to %d characters", maxName))
	}
	if ch.Status != nil && !slices.Contains(Statuses(), *ch.Status) {
		p.Add("status", "must be active, paused or archived")
	}
	if ch.TriggerType != nil && ch.TriggerConfig != nil {
		trigger.ParseConfig(*ch.TriggerType, ch.TriggerConfig, "", p)
	} else if ch.TriggerType != nil && !slices.Contains(trigger.Types(), *ch.TriggerType) {
		trigger.ParseConfig(*ch.TriggerType, nil, "", p)
	}
	if text := bytes.TrimSpace(ch.Definition); len(text) > 0 && text[0] != '{' && string(text) != "null" {
		p.Add("definition", "must be a group: {logic, conditions}")
	}
	if ch.Actions == nil {
		return
	}
	if n := len(*ch.Actions); n == 0 || n > MaxActions {
		p.Add("actions", fmt.Sprintf("must be 1 to %d actions", MaxActions))
		return
	}
	for i, a := range *ch.Actions {
		sequence.CheckAction(a.Type, a.Config, rules, actionPath(i), p)
	}
}

func actionPath(i int) string { return fmt.Sprintf("actions[%d]", i) }

// Steps returns the actions, parsed. One that cannot be parsed any more is nil.
func (a Automation) Steps() []sequence.Step {
	list := make([]sequence.Step, len(a.Actions))
	for i, one := range a.Actions {
		list[i] = sequence.ParseAction(one.Type, one.Config)
	}
	return list
}

// fires returns the trigger with the definition of the automation.
func (a Automation) fires() trigger.Trigger {
	t := a.Trigger
	t.Filter = a.Definition
	return t
}
