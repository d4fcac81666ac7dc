package campaignapi

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/testmail"
)

// testSend registers test sends.
func (api Broadcasts) testSend(r *endpoint.Router) {
	endpoint.Handle(r, "POST /t/{tenant}/api/broadcasts/{broadcast_id}/test-send", endpoint.Op{
		Name: "testSendBroadcast", Summary: "Send a test of every variant of a broadcast to a few addresses, from every sender.", Tag: "broadcasts",
		Description: "Sends real mails, rendered and sent as the broadcast's are, with a mark in the subject: addresses times variants times senders, at most 200 in a call, and 300 an hour for the account together with verify-lane and tests of MTA configs. " +
			"Possible in every status, unless the broadcast is archived. Tests are not reported, their links redirect without being counted, and unsubscribing has no effect.",
		Scope:       auth.BroadcastsSchedule,
		FieldFaults: map[string]*fault.Error{"to": render.ErrTestRecipients, "recipients": render.ErrTestRecipients, "emails": render.ErrTestRecipients},
		Faults: []*fault.Error{broadcast.ErrNotFound, broadcast.ErrTransition, render.ErrTestRecipients, contact.ErrNotFound,
			broadcast.ErrEmailType, broadcast.ErrNoMTA, content.ErrNoContent, content.ErrLiquid, broadcast.ErrNoIdentity, testmail.ErrLimit},
	}.ExampleBody(`{"to": ["ada@example.com"]}`).Once(), api.testSendBroadcast, checkTestSend)
}

type testSendRequest struct {
	ID   string `path:"broadcast_id" as:"text" format:"uuid" doc:"The broadcast's id."`
	Body struct {
		To         endpoint.Opt[[]string] `json:"to" doc:"1 to 10 addresses. Also as recipients or emails."`
		Recipients endpoint.Opt[[]string] `json:"recipients" doc:"The same as to."`
		Emails     endpoint.Opt[[]string] `json:"emails" doc:"The same as to."`
		Contact    endpoint.Opt[string]   `json:"contact_id" doc:"The contact whose data the mails show. Default: only the samples of what the template expects."`
		Variants   endpoint.Opt[[]string] `json:"variant_ids" doc:"All when absent or empty."`
	}
}

// parse returns the test that the body describes.
func (in *testSendRequest) parse() (broadcast.TestRequest, error) {
	b := &in.Body
	r := broadcast.TestRequest{Variants: b.Variants.Value}
	for _, list := range []endpoint.Opt[[]string]{b.Emails, b.Recipients, b.To} {
		if len(list.Value) > 0 {
			r.To = list.Value
		}
	}
	if b.Contact.Given() {
		var ok bool
		if r.Contact, ok = id.Parse[id.Contact](b.Contact.Value); !ok {
			return r, fault.Input(fault.Field{Path: "contact_id", Message: "must be a uuid"})
		}
	}
	return r, nil
}

func checkTestSend(_ auth.Principal, in *testSendRequest) error {
	_, err := in.parse()
	return err
}

type testSendAnswer struct {
	Sent    int              `json:"sent"`
	Failed  int              `json:"failed"`
	Results []testSendResult `json:"results"`
}

type testSendResult struct {
	To        string            `json:"to"`
	Variant   *string           `json:"variant_id" doc:"Null when the broadcast has no variants."`
	Sender    string            `json:"sending_identity_email"`
	Status    render.TestStatus `json:"status" enum:"sent,failed,suppressed"`
	MessageID *string           `json:"message_id"`
	Error     *string           `json:"error"`
}

func (api Broadcasts) testSendBroadcast(ctx context.Context, p auth.Principal, in *testSendRequest) (testSendAnswer, error) {
	bid, err := wire.RecordID[id.Broadcast](in.ID, broadcast.ErrNotFound)
	if err != nil {
		return testSendAnswer{}, err
	}
	asked, err := in.parse()
	if err != nil {
		return testSendAnswer{}, err
	}
	test, err := broadcast.PrepareTest(ctx, api.db, p.Tenant, bid, asked)
	if err != nil {
		return testSendAnswer{}, err
	}
	if err := wire.BeginTest(ctx, api.db, testmail.Call{By: p, Action: "broadcast.test_send", Target: "broadcast", ID: bid.String(), To: test.To, Mails: test.Mails()}, api.now()); err != nil {
		return testSendAnswer{}, err
	}
	results, err := broadcast.SendTest(ctx, api.db, test, api.tester, api.now())
	if err != nil {
		return testSendAnswer{}, err
	}
	out := testSendAnswer{Results: make([]testSendResult, len(results))}
	for i, r := range results {
		switch r.Status {
		case render.TestSent:
			out.Sent++
		case render.TestFailed:
			out.Failed++
		}
		out.Results[i] = testSendResult{r.To, optional.Pointer(r.Variant), r.Sender, r.Status, optional.Pointer(r.MessageID), optional.Pointer(r.Error)}
	}
	return out, nil
}
