package sequence

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of sequences.
var (
	ErrNotFound      = fault.New(fault.NotFound, "NOT_FOUND", "there is no such sequence")
	ErrNotEditable   = fault.New(fault.Conflict, "NOT_EDITABLE", "the graph can be changed only while the sequence is a draft or paused")
	ErrGraph         = fault.New(fault.Invalid, "INVALID_GRAPH", "the graph is not valid") // details: Issues
	ErrTransition    = fault.New(fault.Conflict, "INVALID_TRANSITION", "the sequence does not have the required status")
	ErrInUse         = fault.New(fault.Conflict, "IN_USE", "only a draft that was never active can be deleted; archive the sequence instead")
	ErrStatus        = fault.New(fault.Invalid, "INVALID_STATUS", "status must be draft, active, paused or archived")
	ErrNotEnrollable = fault.New(fault.Unprocessable, "SEQUENCE_NOT_ENROLLABLE", "the sequence is not active")
	ErrEnrollLimit   = fault.New(fault.Limited, "ENROLL_LIMIT", "the contact was enrolled too often within an hour")
	ErrNoEnrollment  = fault.New(fault.NotFound, "NOT_FOUND", "there is no such enrollment")
)

// Status is the state of a sequence.
type Status string

// The states of a sequence.
const (
	Draft    Status = "draft"
	Active   Status = "active"
	Paused   Status = "paused"
	Archived Status = "archived"
)

// Statuses returns all states of a sequence.
func Statuses() []Status { return []Status{Draft, Active, Paused, Archived} }

// ParseStatuses parses states of sequences, or returns ErrStatus.
func ParseStatuses(names []string) ([]Status, error) {
	var list []Status
	for _, n := range names {
		known := false
		for _, s := range Statuses() {
			known = known || n == string(s)
		}
		if !known {
			return nil, ErrStatus.Sayf("there is no status %q; status must be draft, active, paused or archived", n)
		}
		list = append(list, Status(n))
	}
	return list, nil
}

// Sequence is one sequence.
type Sequence struct {
	Tenant       id.Tenant
	ID           id.Sequence
	Revision     int64 // increases with each write
	Name         string
	Status       Status
	AllowReentry bool             // a contact may be enrolled again after its enrollment has ended
	Trigger      *trigger.Trigger // nil: contacts are only enrolled by callers
	Exits        *Exits           // nil: none
	Graph        Graph
	ActivatedAt  *time.Time // first; nil: never
	PausedAt     *time.Time // nil: it is not paused
	Epoch        int        // number of the last change that concerned all contacts in it
	CreatedAt    time.Time
	UpdatedAt    time.Time

	pending []pendingChange // that some enrollments have yet to follow
}

// Revisions is the table of sequences, for conditions on their revisions.
var Revisions = revision.Table{Name: "sequence"}

// Limits of sequences.
const (
	maxSequences = 1000
	maxName      = 200
)

// Change holds the changes of a request; nil leaves a part unchanged. Trigger and Exits are JSON;
// null removes them.
type Change struct {
	Name         *string
	AllowReentry *bool
	Trigger      json.RawMessage
	Exits        json.RawMessage
}

// Check checks a change by itself.
func (ch Change) Check() error { return ch.check(false) }

// CheckNew checks a change that creates a sequence.
func (ch Change) CheckNew() error { return ch.check(true) }

func (ch Change) check(isNew bool) error {
	var p fault.Problems
	if isNew && ch.Name == nil {
		p.Add("name", "is required")
	}
	if ch.Name != nil && (*ch.Name == "" || len([]rune(*ch.Name)) > maxName) {
		p.Add("name", fmt.Sprintf("must be 1 to %d characters", maxName))
	}
	trigger.Parse(ch.Trigger, "entry_trigger", &p)
	if _, err := ParseExits(ch.Exits); err != nil {
		addAll(&p, "exit_conditions", err)
	}
	return p.Err()
}

// addAll adds the messages of joined errors to the problems of a field.
func addAll(p *fault.Problems, path string, err error) {
	for _, m := range messages(err) {
		p.Add(path, m)
	}
}
