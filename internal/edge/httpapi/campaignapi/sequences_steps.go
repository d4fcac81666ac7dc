package campaignapi

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
)

// steps registers the operation on the steps of an enrollment.
func (api Sequences) steps(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/{id}/enrollments/{enrollment_id}/steps", endpoint.Op{
		Name: "listEnrollmentSteps", Summary: "List the steps of an enrollment, oldest first.", Tag: "sequences", Scope: auth.SequencesRead,
		Description: "Each row is one visit of a node: when the contact came and left, which way it took, and why. The last row of an enrollment that has not ended is where the contact is. " +
			"The newest steps are kept, some 200 of an enrollment; omitted is how many came before the first that is kept. Steps from before they were recorded are among them.",
		Pagination: "cursor", Faults: []*fault.Error{sequence.ErrNotFound, sequence.ErrNoEnrollment, endpoint.ErrCursor},
	}, api.listEnrollmentSteps)
}

type listEnrollmentStepsRequest struct {
	enrollmentPath
	endpoint.CursorQuery
}

// EnrollmentSteps is a page of the steps of an enrollment.
type EnrollmentSteps struct {
	endpoint.List[EnrollmentStep]
	Omitted int `json:"omitted" doc:"The first steps of the enrollment, which are not kept."`
}

// EnrollmentStep is one visit of a node.
type EnrollmentStep struct {
	Number      int                `json:"number" doc:"From 1, in the order of the visits; also those that are omitted count."`
	NodeID      string             `json:"node_id"`
	Type        *sequence.NodeType `json:"type" enum:"send,wait,condition,branch,split,list,tag,update_contact,stage,subscription,event,webhook,notify,enroll,goal,exit" doc:"What the node was then; null: unknown, since it was removed."`
	NodeChanged bool               `json:"node_changed" doc:"Whether the node was changed or removed since."`
	EnteredAt   endpoint.Stamp     `json:"entered_at"`
	LeftAt      *endpoint.Stamp    `json:"left_at" doc:"null: the contact is there."`
	BranchLabel *string            `json:"branch_label" doc:"The label of the way that the contact took; null where the way has none."`
	NextNodeID  *string            `json:"next_node_id" doc:"The node that the contact entered then; null: none."`
	Why         EnrollmentStepWhy  `json:"why"`
}

// EnrollmentStepWhy is what decided how a contact left a node, or what it does there.
type EnrollmentStepWhy struct {
	Code       sequence.WhyCode `json:"code" enum:"carried_out,not_carried_out,mail_queued,mail_refused,mail_unavailable,waited,met,timed_out,condition_met,condition_not_met,split,goal_met,goal_not_met,goal_reached,exited,waiting,paused,pending"`
	ReasonCode *string          `json:"reason_code" doc:"Of not_carried_out: a code of the step, or of an error. Of mail_refused: as in the reasons for which a broadcast excludes contacts. Of mail_unavailable: the code of an error. Of exited: an exit_reason."`
	Until      *endpoint.Stamp  `json:"until" doc:"Of a wait: when it ends or would have ended. Of mail_queued: when the mail is due, if that is later."`
	Definition map[string]any   `json:"definition" nullable:"true" doc:"The rule that decided; null: none did, or the node was changed since."`
	MessageID  *id.Message      `json:"message_id" format:"uuid" doc:"Of mail_queued; null also if the mail is not stored any more."`
	Request    *stepRequest     `json:"request" doc:"Of a webhook; null: no request was made, or it is not stored any more."`
}

// stepRequest is the request of a webhook node.
type stepRequest struct {
	DeliveryID   id.Delivery            `json:"delivery_id" format:"uuid"`
	Status       webhook.DeliveryStatus `json:"status" enum:"pending,retrying,delivered,failed"`
	ResponseCode *int                   `json:"response_code" doc:"Of the last attempt; null: no answer yet."`
}

// bySteps is the order of the steps of an enrollment.
const bySteps = "number"

func (api Sequences) listEnrollmentSteps(ctx context.Context, p auth.Principal, in *listEnrollmentStepsRequest) (EnrollmentSteps, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return EnrollmentSteps{}, err
	}
	enrollment, err := wire.RecordID[id.Enrollment](in.EnrollmentID, sequence.ErrNoEnrollment)
	if err != nil {
		return EnrollmentSteps{}, err
	}
	after := 0
	if in.Cursor != "" {
		c, err := api.cursors.Decode(in.Cursor, bySteps, "asc")
		if err != nil {
			return EnrollmentSteps{}, err
		}
		if after, err = strconv.Atoi(c.LastID); err != nil {
			return EnrollmentSteps{}, endpoint.ErrCursor
		}
	}
	h, err := sequence.LoadHistory(ctx, api.db, p.Tenant, seq, enrollment, after, endpoint.Limit(in.Limit))
	if err != nil {
		return EnrollmentSteps{}, err
	}
	rows := make([]EnrollmentStep, len(h.Visits))
	for i, v := range h.Visits {
		if rows[i], err = rowOfStep(v); err != nil {
			return EnrollmentSteps{}, err
		}
	}
	next := ""
	if h.More {
		next = api.cursors.Encode(endpoint.Cursor{Sort: bySteps, Dir: "asc", LastID: strconv.Itoa(rows[len(rows)-1].Number)})
	}
	return EnrollmentSteps{endpoint.Page(rows, next), h.Omitted}, nil
}

func rowOfStep(v sequence.Visited) (EnrollmentStep, error) {
	row := EnrollmentStep{
		Number: v.Number, NodeID: v.Node, Type: optional.Pointer(v.Type), NodeChanged: v.Changed, EnteredAt: endpoint.At(v.At), LeftAt: endpoint.AtOr(v.Left),
		BranchLabel: optional.Pointer(v.Label), NextNodeID: optional.Pointer(v.Next),
		Why: EnrollmentStepWhy{Code: v.Why.Code, ReasonCode: optional.Pointer(v.Why.Reason), Until: endpoint.AtOr(v.Why.Until), MessageID: optional.Pointer(v.Message)},
	}
	if r := v.Request; r != nil {
		row.Why.Request = &stepRequest{r.ID, r.Status, r.ResponseCode}
	}
	return row, json.Unmarshal([]byte(cmp.Or(string(v.Definition), "null")), &row.Why.Definition)
}
