package dsn

import (
	"encoding/json"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// notification is what Amazon SES reports about a message. Its topic can be subscribed to by mail.
type notification struct {
	Type, NotificationType, EventType string
	Message                           string // of the topic: a notification as text
	Bounce                            struct {
		BouncedRecipients []struct{ EmailAddress, Action, Status, DiagnosticCode string }
	}
	Complaint struct {
		ComplainedRecipients  []struct{ EmailAddress string }
		ComplaintFeedbackType string
		UserAgent             string
	}
	Delivery struct {
		Recipients                 []string
		SMTPResponse, ReportingMTA string
	}
	Mail struct {
		Destination   []string
		SourceIP      string
		CommonHeaders struct{ MessageID string }
	}
}

// notificationOf reads a notification of Amazon SES that a mail contains.
func notificationOf(text string) (Report, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, "otificationType") && !strings.Contains(text, "eventType") {
		return Report{}, false
	}
	text = strings.ReplaceAll(text, "!\n ", "") // a server has split a long line
	var n notification
	if json.NewDecoder(strings.NewReader(text)).Decode(&n) != nil {
		return Report{}, false
	}
	if n.Message != "" {
		inner := n.Message
		n = notification{}
		if json.Unmarshal([]byte(inner), &n) != nil {
			return Report{}, false
		}
	}
	r := Report{Kind: Bounce}
	if id := n.Mail.CommonHeaders.MessageID; id != "" {
		r.Original.MessageID = firstID(id)
	}
	if len(n.Mail.Destination) > 0 {
		r.Original.To = bareAddress(n.Mail.Destination[0])
	}
	switch firstNonEmpty(n.NotificationType, n.EventType) {
	case "Bounce":
		var m meter
		for _, b := range n.Bounce.BouncedRecipients[:min(len(n.Bounce.BouncedRecipients), maxRecipients)] {
			one := Recipient{Address: bareAddress(b.EmailAddress), Action: firstNonEmpty(strings.ToLower(b.Action), "failed"), Status: enhanced.FindString(b.Status), Diagnostic: diagnostic(b.DiagnosticCode)}
			one.SMTPCode = codeIn(one.Diagnostic)
			one.decide(&m, "", false)
			r.Recipients = append(r.Recipients, one)
		}
	case "Delivery":
		for _, a := range n.Delivery.Recipients[:min(len(n.Delivery.Recipients), maxRecipients)] {
			r.Recipients = append(r.Recipients, Recipient{Address: bareAddress(a), Action: "delivered", Diagnostic: reply.Clean(n.Delivery.SMTPResponse)})
		}
	case "Complaint":
		r.Kind, r.Feedback = ARF, Feedback{Type: firstNonEmpty(n.Complaint.ComplaintFeedbackType, "abuse"), UserAgent: n.Complaint.UserAgent, SourceIP: n.Mail.SourceIP}
		if list := n.Complaint.ComplainedRecipients; len(list) > 0 {
			r.Feedback.OriginalRcpt = bareAddress(list[0].EmailAddress)
		}
	default:
		return Report{}, false
	}
	return r, true
}
