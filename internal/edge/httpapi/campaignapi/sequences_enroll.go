package campaignapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// enrollments registers the operations on the contacts of sequences.
func (api Sequences) enrollments(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/enroll", endpoint.Op{
		Name: "enrollContact", Summary: "Enroll a contact in an active sequence.", Tag: "sequences", Scope: auth.SequencesEnroll, Strict: true,
		Description: "The contact is found by contact_id, else by email, else by external_id. A contact with a new address is created. A contact that is in the sequence already, or was and may not enter again, answers duplicate.",
		Faults: []*fault.Error{
			sequence.ErrNotFound, sequence.ErrNotEnrollable, sequence.ErrEnrollLimit,
			contact.ErrMissingIdentifier, contact.ErrNotFound, contact.ErrDuplicateExternalID, contact.ErrInvalidStage, contact.ErrLimit,
			field.ErrUnknown, field.ErrValue,
		},
	}.ExampleBody(`{"email": "ann@example.com", "first_name": "Ann", "custom_fields": {"plan": "pro"}, "idempotency_key": "signup-4711"}`), api.enrollContact, checkEnroll)
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/contact/{contact_id}/enrollments", endpoint.Op{
		Name: "listContactEnrollments", Summary: "List all enrollments of a contact, newest first.", Tag: "sequences", Scope: auth.SequencesRead,
		Faults: []*fault.Error{contact.ErrNotFound},
	}, api.listContactEnrollments)
	endpoint.Handle(r, "GET /t/{tenant}/api/sequences/{id}/enrollments", endpoint.Op{
		Name: "listSequenceEnrollments", Summary: "List the enrollments of a sequence, newest first.", Tag: "sequences", Scope: auth.SequencesRead,
		Pagination: "cursor", Faults: []*fault.Error{sequence.ErrNotFound, sequence.ErrEnrollmentStatus, endpoint.ErrCursor},
	}.ExampleQuery("status=active&limit=5"), api.listSequenceEnrollments)
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/enrollments/{enrollment_id}/exit", endpoint.Op{
		Name: "exitEnrollment", Summary: "End an enrollment.", Tag: "sequences", Session: true,
		Faults: []*fault.Error{sequence.ErrNoEnrollment, sequence.ErrTransition},
	}, api.exitEnrollment)
}

type enrollContactRequest struct {
	wire.RecordPath
	Body struct {
		ContactID    endpoint.Opt[string] `json:"contact_id" format:"uuid"`
		Email        endpoint.Opt[string] `json:"email"`
		ExternalID   endpoint.Opt[string] `json:"external_id"`
		FirstName    endpoint.Opt[string] `json:"first_name"`
		LastName     endpoint.Opt[string] `json:"last_name"`
		Company      endpoint.Opt[string] `json:"company"`
		CustomFields map[string]any       `json:"custom_fields,omitempty"`
		Tags         []string             `json:"tags,omitempty"`
		StageID      endpoint.Opt[string] `json:"stage_id" format:"uuid"`
		Key          string               `json:"idempotency_key,omitempty" minLength:"1" maxLength:"128" doc:"Repeats of the request with this key answer as the first, for 30 days."`
	}
}

// enrollResult is the answer to an enroll request.
type enrollResult struct {
	Status         string        `json:"status" enum:"enrolled,duplicate,sequence_not_active,enroll_limit"`
	EnrollmentID   id.Enrollment `json:"enrollment_id" format:"uuid"`
	ContactID      id.Contact    `json:"contact_id" format:"uuid"`
	ContactCreated bool          `json:"contact_created"`

	replayed bool
}

// Headers returns the header of a replayed answer.
func (r enrollResult) Headers() http.Header {
	if !r.replayed {
		return nil
	}
	return http.Header{"Idempotency-Replay": {"true"}}
}

func (in *enrollContactRequest) request() sequence.Request {
	b := in.Body
	r := sequence.Request{Email: b.Email.Or(""), ExternalID: b.ExternalID.Or(""), Key: b.Key, Change: contact.Change{
		Texts: map[contact.Text]*string{}, CustomFields: b.CustomFields, Stage: wire.NullAsZero(b.StageID),
	}}
	r.Contact, _ = id.Parse[id.Contact](b.ContactID.Or("")) // the schema has checked it
	for text, o := range map[contact.Text]endpoint.Opt[string]{contact.FirstName: b.FirstName, contact.LastName: b.LastName, contact.Company: b.Company} {
		if o.Set {
			r.Change.Texts[text] = o.Pointer()
		}
	}
	if b.Tags != nil {
		r.Change.Tags = &b.Tags
	}
	return r
}

func checkEnroll(_ auth.Principal, in *enrollContactRequest) error { return in.request().Check() }

func (api Sequences) enrollContact(ctx context.Context, p auth.Principal, in *enrollContactRequest) (enrollResult, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return enrollResult{}, err
	}
	r, err := api.enroller.Enroll(ctx, p.Tenant, seq, in.request())
	return enrollResult{r.Status, r.Enrollment, r.Contact, r.Created, r.Replayed}, err
}

// Enrollment is a contact in a sequence.
type Enrollment struct {
	EnrollmentID  id.Enrollment             `json:"enrollment_id" format:"uuid"`
	SequenceID    id.Sequence               `json:"sequence_id" format:"uuid"`
	SequenceName  string                    `json:"sequence_name"`
	Status        sequence.EnrollmentStatus `json:"status" enum:"active,paused,completed,exited,failed"`
	Outcome       string                    `json:"outcome" enum:"in_progress,completed,converted,unsubscribed,exited_early,failed"`
	CurrentNodeID *string                   `json:"current_node_id"`
	EnteredAt     endpoint.Stamp            `json:"entered_at"`
	ExitedAt      *endpoint.Stamp           `json:"exited_at"`
	ExitReason    *sequence.Reason          `json:"exit_reason"`
	EnteredNodeAt *endpoint.Stamp           `json:"entered_node_at"`
	DueAt         *endpoint.Stamp           `json:"due_at" doc:"When it continues at the latest."`
	ContactID     id.Contact                `json:"contact_id" format:"uuid"`
	Email         string                    `json:"email"`
}

type contactEnrollmentsPath struct {
	ContactID string `path:"contact_id" as:"text" format:"uuid" doc:"The contact's id."`
}

func (api Sequences) listContactEnrollments(ctx context.Context, p auth.Principal, in *contactEnrollmentsPath) (endpoint.List[Enrollment], error) {
	c, err := wire.RecordID[id.Contact](in.ContactID, contact.ErrNotFound)
	if err != nil {
		return endpoint.List[Enrollment]{}, err
	}
	list, err := sequence.OfContact(ctx, api.db, p.Tenant, c)
	if err != nil {
		return endpoint.List[Enrollment]{}, err
	}
	rows, err := api.rows(ctx, p, list)
	return endpoint.Whole(rows), err
}

// rows returns enrollments with the names of their sequences and the addresses of their contacts.
func (api Sequences) rows(ctx context.Context, p auth.Principal, list []sequence.Enrollment) ([]Enrollment, error) {
	sequences, contacts := make([]id.Sequence, len(list)), make([]id.Contact, len(list))
	for i, e := range list {
		sequences[i], contacts[i] = e.Sequence, e.Contact
	}
	names, err := sequence.Names(ctx, api.db, p.Tenant, sequences)
	if err != nil {
		return nil, err
	}
	emails, err := contact.Emails(ctx, api.db, p.Tenant, contacts)
	rows := make([]Enrollment, len(list))
	for i, e := range list {
		rows[i] = Enrollment{
			EnrollmentID: e.ID, SequenceID: e.Sequence, SequenceName: names[e.Sequence], Status: e.Status, Outcome: e.Outcome(),
			CurrentNodeID: optional.Pointer(e.Node), EnteredAt: endpoint.At(e.EnteredAt), ExitedAt: endpoint.AtOr(e.ExitedAt), ExitReason: optional.Pointer(e.Reason),
			EnteredNodeAt: endpoint.AtOr(e.NodeEnteredAt), DueAt: endpoint.AtOr(e.TimerAt), ContactID: e.Contact, Email: emails[e.Contact],
		}
	}
	return rows, err
}

type listSequenceEnrollmentsRequest struct {
	wire.RecordPath
	Status string `query:"status" as:"list" enum:"active,paused,completed,exited,failed" doc:"With any of these statuses; all when absent."`
	NodeID string `query:"node_id" doc:"Only enrollments at this node."`
	endpoint.CursorQuery
}

func (api Sequences) listSequenceEnrollments(ctx context.Context, p auth.Principal, in *listSequenceEnrollmentsRequest) (endpoint.List[Enrollment], error) {
	var none endpoint.List[Enrollment]
	s, err := api.load(ctx, p, in.ID)
	if err != nil {
		return none, err
	}
	q := sequence.EnrollmentQuery{Node: in.NodeID, Limit: endpoint.Limit(in.Limit)}
	if q.Statuses, err = sequence.ParseEnrollmentStatuses(endpoint.CommaList(in.Status)); err != nil {
		return none, err
	}
	if in.Cursor != "" {
		after, err := wire.DecodeTimePosition[id.Enrollment](api.cursors, in.Cursor, "id")
		if err != nil {
			return none, err
		}
		q.Before = after.ID
	}
	list, more, err := sequence.Enrollments(ctx, api.db, p.Tenant, s.ID, q)
	if err != nil {
		return none, err
	}
	rows, err := api.rows(ctx, p, list)
	cursor := ""
	if more {
		last := list[len(list)-1]
		cursor = wire.TimePosition[id.Enrollment]{At: last.EnteredAt, ID: last.ID}.Encode(api.cursors, "id")
	}
	return endpoint.Page(rows, cursor), err
}

type enrollmentPath struct {
	wire.RecordPath
	EnrollmentID string `path:"enrollment_id" as:"text" format:"uuid" doc:"The enrollment's id."`
}

func (api Sequences) exitEnrollment(ctx context.Context, p auth.Principal, in *enrollmentPath) (Enrollment, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNoEnrollment)
	if err != nil {
		return Enrollment{}, err
	}
	enrollment, err := wire.RecordID[id.Enrollment](in.EnrollmentID, sequence.ErrNoEnrollment)
	if err != nil {
		return Enrollment{}, err
	}
	e, err := sequence.ExitOne(ctx, api.db, p.Tenant, seq, enrollment, api.now())
	if err != nil {
		return Enrollment{}, err
	}
	rows, err := api.rows(ctx, p, []sequence.Enrollment{e})
	if err != nil {
		return Enrollment{}, err
	}
	return rows[0], nil
}
