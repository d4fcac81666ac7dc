package webhook

import (
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Kind describes an event type.
type Kind struct {
	Type    string
	Summary string
	Example any // data of an event of this type; the data of all its events are of the same Go type
}

// Kinds returns the event types in the order of the documentation.
func Kinds() []Kind { return slices.Clone(kinds) }

// ExampleEvent returns the body of a request with the example of k.
func (k Kind) ExampleEvent() Event {
	return Event{k.Type, "2026-03-01T12:00:00.000Z", "acme", k.Example}
}

// EventTypes returns all event types.
func EventTypes() []string {
	types := make([]string, len(kinds))
	for i, k := range kinds {
		types[i] = k.Type
	}
	return types
}

// exampleID returns an id whose last byte is n.
func exampleID[T ~[16]byte](n byte) T {
	return T{0x01, 0x93, 6: 0x70, 8: 0x80, 15: n}
}

// Parts of the examples.
var (
	ann     = ContactData{exampleID[id.Contact](0x0a), new("ann@example.org")}
	spring  = BroadcastData{exampleID[id.Broadcast](0x0c), new("Spring")}
	mail    = MailData{ContactData: ann, MessageID: exampleID[id.Message](0x0b), BroadcastID: new(spring.BroadcastID), EmailTypeKey: new("newsletter")}
	welcome = SequenceData{ann, exampleID[id.Sequence](0x0d).String(), exampleID[id.Enrollment](0x15).String()}
	acme    = DomainData{exampleID[id.Domain](0x0e), new("acme.example")}
	relay   = mtaData{exampleID[id.Lane](0x0f), new("relay")}
)

var kinds = []Kind{
	{ContactCreated, "A contact was created.", ann},
	{ContactUpdated, "Fields of a contact changed, or it was restored (`global_status`).", contactUpdated{ann, []string{"first_name", "stage_id"}}},
	{ContactDeleted, "A contact was deleted, or anonymised.", contactDeleted{ContactData: ann}},
	{ContactSubscribed, "A contact subscribed to an email type, a category or, with scope `global`, to mail again.", subscriptionData{ContactData: ann, Scope: "type", EmailTypeKey: new("newsletter")}},
	{ContactUnsubscribed, "A contact unsubscribed from an email type, a category or (`global`) everything. `broadcast_id` or `sequence_id` is that of the mail whose link was used.", subscriptionData{ContactData: ann, Scope: "global", BroadcastID: new(spring.BroadcastID)}},
	{EmailSent, "A server accepted a message.", mail},
	{EmailDelivered, "A message was delivered. The acceptance by a relay counts as delivery, so `email.sent` comes with it.", mail},
	{EmailDeferred, "A server asked to try again later; sent for each such answer.", deferralData{RefusalData{mail, new("greylisted"), new(451), new("4.7.1"), new("451 4.7.1 try again later")}, new("2026-03-01T12:10:00.000Z")}},
	{EmailOpened, "A message was opened. `classification` is `human`, or `privacy` for a proxy that hides readers. `first` marks the first open of the message. A person's click on a message that was not opened before is also an open, because images may be blocked.", OpenData{mail, "human", true}},
	{EmailClicked, "A link was clicked. `link_url` is the link as authored.", clickData{OpenData{mail, "human", true}, "https://example.com/offer"}},
	{EmailBounced, "A message was refused for good. `bounce_type` is `hard` or `soft`.", bounceData{RefusalData{mail, new("mailbox"), new(550), new("5.1.1"), new("550 5.1.1 no such user")}, "hard"}},
	{EmailComplained, "A recipient reported a message as spam.", mail},
	{EmailFailed, "A message could not be sent for a reason that is not the recipient's.", RefusalData{MailData: mail, Category: new("render_error"), Message: new("the template failed")}},
	{BroadcastScheduled, "A broadcast was scheduled.", spring},
	{BroadcastStarted, "A broadcast began to send.", spring},
	{BroadcastPaused, "A broadcast was paused, by a user or by Packetboat.", broadcastPaused{spring, "user"}},
	{BroadcastResumed, "A paused broadcast continues.", spring},
	{BroadcastCompleted, "All messages of a broadcast have ended.", spring},
	{BroadcastFailed, "A broadcast could not be sent.", broadcastFailed{spring, "no_recipients"}},
	{BroadcastCancelled, "A broadcast was cancelled.", spring},
	{SequenceEnrolled, "A contact was enrolled in a sequence.", welcome},
	{SequenceCompleted, "A contact reached the end of a sequence.", sequenceCompleted{welcome, "completed"}},
	{SequenceExited, "A contact left a sequence before its end. The `outcome` is `converted` if it met a goal.", sequenceExited{welcome, "contact_suppressed", "exited_early"}},
	{FormSubmitted, "A visitor submitted a form. With double opt-in, nothing is confirmed yet.", formData{
		ann, exampleID[id.Form](0x13), "newsletter-signup", exampleID[id.FormSubmission](0x14), new("https://www.example.com/"),
		map[string]any{"first_name": "Ann", "custom_fields": map[string]any{"plan": "gold"}},
	}},
	{EventRecorded, "A custom event was recorded, by the API or on the website.", recordedData{ann, exampleID[id.Entry](0x10), "order", new("order_placed"), map[string]any{"order_id": "A1", "value": 9.5}}},
	{ListMemberAdded, "A contact was added to a list.", memberData{ann, "readers"}},
	{ListMemberRemoved, "A contact was removed from a list.", memberData{ann, "readers"}},
	{SuppressionAdded, "An address was suppressed. `contact_id` is null if no contact has it.", suppressionData{ann.Email, new("hard_bounce"), new(ann.ContactID)}},
	{SuppressionRemoved, "An address is no longer suppressed.", suppressionData{Email: ann.Email}},
	{DomainVerified, "A sending domain was verified.", acme},
	{DomainFailed, "The DNS records of a sending domain are no longer right.", domainTrouble{acme, "dns_lost"}},
	{DomainPaused, "A sending domain was paused; its rate is null if `reason` is `dns_lost` or `operator`.", domainPaused{acme, "complaint_rate", PauseRate{new(0.004), new(8), new(2000), new(24)}}},
	{MTADown, "The server of an MTA config cannot be reached.", relay},
	{MTARecovered, "The server of an MTA config can be reached again.", relay},
	{ImportCompleted, "An import of contacts completed. `result` is that of the job.", importData{exampleID[id.Job](0x11).String(), importCounts{Rows: 3, Created: 2, Updated: 1}}},
	{WebhookTest, "Sent by `POST …/test`, whatever types the endpoint has.", testData{exampleID[id.Webhook](0x12), "This is a test."}},
}
