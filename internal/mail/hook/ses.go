package hook

import (
	"encoding/json"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// sesNotice is the message of a notification of SES: of its feedback notifications
// (notificationType), or of its event publishing (eventType).
type sesNotice struct {
	NotificationType string `json:"notificationType"`
	EventType        string `json:"eventType"`
	Mail             struct {
		MessageID string `json:"messageId"`
		Timestamp string `json:"timestamp"`
		Headers   []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"headers"`
	} `json:"mail"`
	Bounce *struct {
		Type       string         `json:"bounceType"`
		SubType    string         `json:"bounceSubType"`
		Recipients []sesRecipient `json:"bouncedRecipients"`
		Timestamp  string         `json:"timestamp"`
		MTA        string         `json:"reportingMTA"`
	} `json:"bounce"`
	Complaint *struct {
		Recipients []sesRecipient `json:"complainedRecipients"`
		Timestamp  string         `json:"timestamp"`
		Feedback   string         `json:"complaintFeedbackType"`
	} `json:"complaint"`
	Delivery *struct {
		Recipients []string `json:"recipients"`
		Timestamp  string   `json:"timestamp"`
		Response   string   `json:"smtpResponse"`
	} `json:"delivery"`
	Delay *struct {
		Recipients []sesRecipient `json:"delayedRecipients"`
		Timestamp  string         `json:"timestamp"`
	} `json:"deliveryDelay"`
	Reject *struct {
		Reason string `json:"reason"`
	} `json:"reject"`
	Subscription *struct {
		Timestamp string `json:"timestamp"`
		New       struct {
			UnsubscribeAll bool `json:"unsubscribeAll"`
		} `json:"newTopicPreferences"`
	} `json:"subscription"`
}

type sesRecipient struct {
	Address    string `json:"emailAddress"`
	Status     string `json:"status"`
	Diagnostic string `json:"diagnosticCode"`
}

// SES reads the message of a notification of SES, whose signature the caller has verified. id is the
// MessageId of SNS.
func SES(id, message string) ([]Event, error) {
	var n sesNotice
	if err := json.Unmarshal([]byte(message), &n); err != nil {
		return nil, ErrMalformed
	}
	name := n.EventType
	if name == "" {
		name = n.NotificationType
	}
	if name == "" { // SES announces a new topic with a plain sentence in JSON
		return nil, ErrMalformed
	}
	base := Event{ID: id, Name: name, Kind: None, ProviderID: n.Mail.MessageID, At: moment(n.Mail.Timestamp)}
	for _, h := range n.Mail.Headers {
		if strings.EqualFold(h.Name, "Message-ID") {
			base.MessageID = h.Value
		}
	}
	events := []Event{}
	add := func(kind Kind, timestamp string, r dsn.Recipient) {
		e := base
		e.Kind, e.Recipient = kind, r
		if at := moment(timestamp); !at.IsZero() {
			e.At = at
		}
		if len(events) < MaxEvents {
			events = append(events, e)
		}
	}
	switch {
	case name == "Bounce" && n.Bounce != nil:
		for _, r := range n.Bounce.Recipients {
			one := sesBounce(n.Bounce.Type, n.Bounce.SubType, failure(r.Address, 0, r.Status, r.Diagnostic))
			one.RemoteMTA = n.Bounce.MTA
			add(Bounced, n.Bounce.Timestamp, one)
		}
	case name == "Complaint" && n.Complaint != nil:
		for _, r := range n.Complaint.Recipients {
			kind := Complained
			switch strings.ToLower(n.Complaint.Feedback) {
			case "not-spam", "auth-failure":
				kind = None
			}
			add(kind, n.Complaint.Timestamp, dsn.Recipient{Address: strings.ToLower(r.Address)})
		}
	case name == "Delivery" && n.Delivery != nil:
		for _, addr := range n.Delivery.Recipients {
			add(Delivered, n.Delivery.Timestamp, dsn.Recipient{Address: strings.ToLower(addr), Action: "delivered", Diagnostic: reply.Clean(n.Delivery.Response)})
		}
	case name == "DeliveryDelay" && n.Delay != nil:
		for _, r := range n.Delay.Recipients {
			add(Deferred, n.Delay.Timestamp, dsn.Recipient{Address: strings.ToLower(r.Address), Action: "delayed", Status: r.Status, Diagnostic: reply.Clean(r.Diagnostic)})
		}
	case name == "Reject": // SES found a virus
		one := dsn.Recipient{Diagnostic: "SES rejected the message"}
		if n.Reject != nil && n.Reject.Reason != "" {
			one.Diagnostic = reply.Clean("SES rejected the message: " + n.Reject.Reason)
		}
		add(Bounced, "", because(one, reply.VirusOrAttachment))
	case name == "Subscription" && n.Subscription != nil && n.Subscription.New.UnsubscribeAll:
		add(Unsubscribed, n.Subscription.Timestamp, dsn.Recipient{})
	default: // Send, Open, Click, RenderingFailure (which raw messages never have)
		add(None, "", dsn.Recipient{})
	}
	return events, nil
}

// sesBounce returns the verdict for a bounce of SES ("Bounce types" in its developer guide).
func sesBounce(kind, sub string, r dsn.Recipient) dsn.Recipient {
	switch strings.ToLower(kind + " " + sub) {
	case "permanent suppressed", "permanent onaccountsuppressionlist":
		return because(r, reply.SuppressedByProvider)
	case "transient mailboxfull":
		return because(r, reply.MailboxFull)
	case "transient messagetoolarge":
		return because(r, reply.MessageTooLarge)
	case "transient contentrejected":
		return because(r, reply.SpamContent)
	case "transient attachmentrejected":
		return because(r, reply.VirusOrAttachment)
	}
	if strings.EqualFold(kind, "Permanent") {
		return permanent(r)
	}
	return temporary(r)
}
