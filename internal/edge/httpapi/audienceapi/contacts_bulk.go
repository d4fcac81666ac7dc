package audienceapi

import (
	"context"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/engine/bulk"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// contactsBulk registers the actions on many contacts.
func (api Contacts) contactsBulk(r *endpoint.Router) {
	op := endpoint.Op{
		Name: "bulkContacts", Summary: "Apply an action to many contacts: at once to those named (200), or in a job to those selected (202).",
		Description: `contact_ids names 1 to 1000 contacts; selector chooses any number, which a job processes in the order of their ids, each once, even if the action changes the selection. Exactly one of the two is required.

params by action: add_tags, remove_tags {tags}; set_stage {stage_id}, where null takes contacts out of their stage; set_field {field, value}, where field is a text field of the contact or custom_fields.<field_key> and null clears; set_do_not_contact {value}; subscribe, unsubscribe {email_type_key?}, which without it apply to all mail; add_to_list, remove_from_list {segment_key}; suppress {reason?}; enroll, exit_sequence {sequence_id}; delete; restore; reset_status; anonymize {suppress = true}.

Besides contacts:write, an API key needs lists:write for add_to_list and remove_from_list, suppression:write for suppress, and sequences:enroll for enroll. exit_sequence, reset_status and anonymize are not available to API keys.

affected counts the contacts that changed, skipped all others: those that needed no change, and those that are in errors with a code. From an API key, subscribe without a type does not end an unsubscription: such contacts are skipped with UNSUBSCRIBED.`,
		Tag: "contacts", Scope: auth.ContactsWrite, Statuses: []int{http.StatusAccepted},
		Faults: []*fault.Error{
			bulk.ErrNotAvailable, bulk.ErrLimit, sequence.ErrNotFound, segment.ErrInvalid, segment.ErrNotStatic,
			contact.ErrInvalidStage, contact.ErrInvalidEmailType, field.ErrUnknown, field.ErrValue,
		},
		FieldFaults: selectorFaults("selector."),
	}
	endpoint.Handle(r, "POST /t/{tenant}/api/contacts/bulk", op.ExampleBody(`{"action": "add_tags", "contact_ids": ["$CONTACT_ID"], "params": {"tags": ["spring"]}}`).Once(), api.bulkContacts, checkBulk)
}

type bulkContactsRequest struct {
	Body struct {
		Action     string                 `json:"action" enum:"add_tags,remove_tags,set_stage,set_field,set_do_not_contact,subscribe,unsubscribe,add_to_list,remove_from_list,suppress,enroll,exit_sequence,delete,restore,reset_status,anonymize"`
		ContactIDs endpoint.Opt[[]string] `json:"contact_ids" doc:"1 to 1000."`
		Selector   *ContactSelectorBody   `json:"selector,omitempty"`
		Params     map[string]any         `json:"params,omitempty"`
	}
}

// bulkAnswer is the result of an action, or the id of the job that applies it.
type bulkAnswer struct {
	Action   bulk.Action    `json:"action,omitempty"`
	Matched  *int           `json:"matched,omitempty" doc:"Contacts that exist."`
	Affected *int           `json:"affected,omitempty" doc:"Contacts that changed."`
	Skipped  *int           `json:"skipped,omitempty" doc:"Contacts that did not change."`
	Errors   *[]bulkError   `json:"errors,omitempty"`
	Results  []bulkEnrolled `json:"results,omitempty" doc:"Of enroll, by contact."`
	JobID    id.Job         `json:"job_id,omitzero" format:"uuid" doc:"The only field, when a job applies the action."`
}

type bulkError struct {
	ContactID id.Contact `json:"contact_id" format:"uuid"`
	Code      string     `json:"code"`
}

type bulkEnrolled struct {
	ContactID    id.Contact `json:"contact_id" format:"uuid"`
	Status       string     `json:"status"`
	EnrollmentID *string    `json:"enrollment_id"`
}

// Status is 202 for an action that a job applies.
func (b bulkAnswer) Status() int {
	if !b.JobID.IsZero() {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func checkBulk(_ auth.Principal, in *bulkContactsRequest) error { return in.input().Check() }

func (api Contacts) bulkContacts(ctx context.Context, p auth.Principal, in *bulkContactsRequest) (bulkAnswer, error) {
	doer := bulk.Runner{PersonalData: api.personalData}
	request, target, err := doer.Read(ctx, api.db, p, in.input(), api.now())
	if err != nil {
		return bulkAnswer{}, err
	}
	var out bulkAnswer
	err = api.db.InTx(ctx, func(tx *sqldb.DB) error {
		if target.Selector == nil {
			r, err := doer.Apply(ctx, tx, p.Tenant, request, target.IDs, api.now())
			if err != nil {
				return err
			}
			out = answerOfBulk(r)
		} else {
			j, err := doer.Start(ctx, tx, p, request, *target.Selector, api.now())
			if err != nil {
				return err
			}
			out = bulkAnswer{JobID: j.ID}
		}
		return endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

func (in *bulkContactsRequest) input() bulk.Input {
	b := &in.Body
	asked := bulk.Input{Action: b.Action, ContactIDs: b.ContactIDs.Or(nil), Named: b.ContactIDs.Given(), Params: b.Params}
	if b.Selector != nil {
		asked.Selector = new(b.Selector.input())
	}
	return asked
}

func answerOfBulk(r bulk.Result) bulkAnswer {
	errors := make([]bulkError, len(r.Errors))
	for i, e := range r.Errors {
		errors[i] = bulkError{e.Contact, e.Code}
	}
	answer := bulkAnswer{Action: r.Action, Matched: &r.Matched, Affected: &r.Affected, Skipped: &r.Skipped, Errors: &errors}
	for _, e := range r.Results {
		answer.Results = append(answer.Results, bulkEnrolled{e.Contact, e.Status, optional.Pointer(e.Enrollment)})
	}
	return answer
}
