package campaignapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/testmail"
)

// test registers tests of sequences.
func (api Sequences) test(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/sequences/{id}/test", endpoint.Op{
		Name: "testSequence", Summary: "Send the mail of every send node of a sequence once to a few addresses.", Tag: "sequences", Session: true,
		Description: "Sends real mails with the data of a contact and of the event of its latest enrollment, with a mark in the subject: addresses times nodes, at most 200 in a call, and 300 an hour for the account together with its other test mails. " +
			"Possible in every status but archived. Tests are not counted, their links redirect without being recorded, and unsubscribing has no effect.",
		FieldFaults: map[string]*fault.Error{"to": render.ErrTestRecipients},
		Faults:      []*fault.Error{sequence.ErrNotFound, sequence.ErrTransition, render.ErrTestRecipients, sequence.ErrNoMails, contact.ErrNotFound, testmail.ErrLimit},
	}.ExampleBody(`{"contact_id": "$CONTACT_ID", "to": ["ada@example.com"]}`).Once(), api.testSequence)
}

type testSequenceRequest struct {
	wire.RecordPath
	Body struct {
		Contact string   `json:"contact_id" format:"uuid" doc:"The contact whose data the mails show."`
		To      []string `json:"to" doc:"1 to 10 addresses."`
	}
}

type testSequenceAnswer struct {
	Sent    int                  `json:"sent"`
	Failed  int                  `json:"failed"`
	Results []testSequenceResult `json:"results" doc:"By node, in the order of the graph, then by address."`
}

type testSequenceResult struct {
	NodeID    string            `json:"node_id"`
	To        string            `json:"to"`
	Sender    *string           `json:"sending_identity_email" doc:"null: the node cannot send."`
	Status    render.TestStatus `json:"status" enum:"sent,failed,suppressed"`
	MessageID *string           `json:"message_id"`
	Error     *string           `json:"error"`
}

func (api Sequences) testSequence(ctx context.Context, p auth.Principal, in *testSequenceRequest) (testSequenceAnswer, error) {
	seq, err := wire.RecordID[id.Sequence](in.ID, sequence.ErrNotFound)
	if err != nil {
		return testSequenceAnswer{}, err
	}
	of, _ := id.Parse[id.Contact](in.Body.Contact) // the schema has checked it
	test, err := sequence.PrepareTest(ctx, api.db, p.Tenant, seq, of, in.Body.To)
	if err != nil {
		return testSequenceAnswer{}, err
	}
	call := testmail.Call{By: p, Action: "sequence.test", Target: "sequence", ID: seq.String(), To: test.To, Mails: len(test.Mails)}
	if err := wire.BeginTest(ctx, api.db, call, api.now()); err != nil {
		return testSequenceAnswer{}, err
	}
	results, err := sequence.SendTest(ctx, test, api.tester)
	if err != nil {
		return testSequenceAnswer{}, err
	}
	out := testSequenceAnswer{Results: make([]testSequenceResult, len(results))}
	for i, r := range results {
		switch r.Status {
		case render.TestSent:
			out.Sent++
		case render.TestFailed:
			out.Failed++
		}
		out.Results[i] = testSequenceResult{r.Node, r.To, optional.Pointer(r.Sender), r.Status, optional.Pointer(r.MessageID), optional.Pointer(r.Error)}
	}
	return out, nil
}
