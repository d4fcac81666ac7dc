package audienceapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/view/eligibility"
)

// eligibility registers the checks of whether a contact can be mailed.
func (api Contacts) eligibility(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/contacts/{id}/eligibility", endpoint.Op{
		Name: "getContactEligibility", Summary: "List the checks that a mail to a contact has to pass, with their results.", Tag: "contacts", Session: true,
		Description: "The checks are those of sending, in its order. For a broadcast, they begin with its audience, and once its messages are prepared, with the contact's message. " +
			"For a sequence, the consent to each email type of its mails is checked. Without a parameter, the mail is one of the account's default email type.",
		Faults: []*fault.Error{contact.ErrNotFound, sender.ErrUnknownEmailType, broadcast.ErrNotFound, sequence.ErrNotFound},
	}, api.getContactEligibility, checkEligibility)
}

type contactEligibilityRequest struct {
	ID        string `path:"id" as:"text" format:"uuid" doc:"The contact's id."`
	TypeKey   string `query:"email_type_key" doc:"An email type."`
	Broadcast string `query:"broadcast_id" as:"text" format:"uuid" doc:"A broadcast, instead."`
	Sequence  string `query:"sequence_id" as:"text" format:"uuid" doc:"A sequence, instead."`
}

// mail returns the mail that the query names.
func (in *contactEligibilityRequest) mail() (eligibility.Mail, error) {
	m := eligibility.Mail{TypeKey: in.TypeKey}
	var bad fault.Problems
	named := 0
	if in.TypeKey != "" {
		named++
	}
	if in.Broadcast != "" {
		named++
		var ok bool
		if m.Broadcast, ok = id.Parse[id.Broadcast](in.Broadcast); !ok {
			bad.Add("broadcast_id", "must be a uuid")
		}
	}
	if in.Sequence != "" {
		named++
		var ok bool
		if m.Sequence, ok = id.Parse[id.Sequence](in.Sequence); !ok {
			bad.Add("sequence_id", "must be a uuid")
		}
	}
	if named > 1 {
		bad.Add("email_type_key", "at most one of email_type_key, broadcast_id and sequence_id may be sent")
	}
	return m, bad.Err()
}

func checkEligibility(_ auth.Principal, in *contactEligibilityRequest) error {
	_, err := in.mail()
	return err
}

type contactEligibility struct {
	Eligible    bool             `json:"eligible"`
	FirstReason *string          `json:"first_reason" doc:"The first failed check; null: none failed."`
	Checks      []eligibilityRow `json:"checks"`
}

type eligibilityRow struct {
	Check  string              `json:"check" enum:"audience,recipient,pending,not_active,do_not_contact,suppressed_address,unsubscribed_category,unsubscribed_type,invalid_email"`
	OK     bool                `json:"ok"`
	Reason *string             `json:"reason,omitempty" doc:"More precise: the status, the reason of the suppression, the source of the choice, the state of the message."`
	Since  *endpoint.Stamp     `json:"since,omitempty"`
	Detail *string             `json:"detail,omitempty" doc:"One sentence."`
	Action *eligibility.Action `json:"action,omitempty" enum:"restore,reset_status,clear_do_not_contact,remove_suppression,change_email,change_segments" doc:"What an editor or admin can do; absent: nothing, or only the person can."`
}

func (api Contacts) getContactEligibility(ctx context.Context, p auth.Principal, in *contactEligibilityRequest) (contactEligibility, error) {
	m, err := in.mail()
	if err != nil {
		return contactEligibility{}, err
	}
	cid, err := wire.RecordID[id.Contact](in.ID, contact.ErrNotFound)
	if err != nil {
		return contactEligibility{}, err
	}
	v, err := eligibility.Of(ctx, api.db, p.Tenant, cid, m, api.now())
	if err != nil {
		return contactEligibility{}, err
	}
	out := contactEligibility{Eligible: v.Eligible, FirstReason: optional.Pointer(v.FirstReason), Checks: make([]eligibilityRow, len(v.Checks))}
	for i, c := range v.Checks {
		row := eligibilityRow{Check: c.Name, OK: c.OK, Reason: optional.Pointer(c.Reason), Detail: optional.Pointer(c.Detail)}
		if c.Since != nil {
			row.Since = new(endpoint.At(*c.Since))
		}
		if c.Action != "" {
			row.Action = &c.Action
		}
		out.Checks[i] = row
	}
	return out, nil
}
