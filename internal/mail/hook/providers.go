package hook

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// How old a signed request may be.
const (
	sendGridAge = 10 * time.Minute
	mailgunAge  = 15 * time.Minute
)

// recent checks when a request was signed.
func recent(at, now time.Time, age time.Duration) error {
	if d := now.Sub(at); d > age || d < -age {
		return ErrOld
	}
	return nil
}

// SendGrid verifies and reads a body of SendGrid's event webhook. key is the public key, in base64 or
// PEM.
func SendGrid(body []byte, h http.Header, key string, now time.Time) ([]Event, error) {
	stamp := h.Get("X-Twilio-Email-Event-Webhook-Timestamp")
	signature, err := base64.StdEncoding.DecodeString(h.Get("X-Twilio-Email-Event-Webhook-Signature"))
	public, ok := ecdsaKey(key)
	if err != nil || !ok {
		return nil, ErrProof
	}
	sum := sha256.Sum256(append([]byte(stamp), body...))
	if !ecdsa.VerifyASN1(public, sum[:], signature) {
		return nil, ErrProof
	}
	if err := recent(texts(stamp).unix(), now, sendGridAge); err != nil {
		return nil, err
	}
	var list []struct {
		ID        string `json:"sg_event_id"`
		MessageID string `json:"sg_message_id"`
		SMTPID    string `json:"smtp-id"`
		Event     string `json:"event"`
		Email     string `json:"email"`
		Type      string `json:"type"`
		Status    string `json:"status"`
		Reason    string `json:"reason"`
		Response  string `json:"response"`
		Time      texts  `json:"timestamp"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list == nil || len(list) > MaxEvents {
		return nil, ErrMalformed
	}
	events := []Event{}
	for _, r := range list {
		e := Event{ID: r.ID, Name: r.Event, Kind: None, MessageID: r.SMTPID, ProviderID: r.MessageID, At: r.Time.unix()}
		one := failure(r.Email, 0, r.Status, r.Reason)
		e.Recipient = dsn.Recipient{Address: one.Address}
		switch r.Event {
		case "delivered":
			e.Kind, e.Recipient.Action, e.Recipient.Diagnostic = Delivered, "delivered", reply.Clean(r.Response)
		case "deferred":
			e.Kind, e.Recipient.Action, e.Recipient.Diagnostic = Deferred, "delayed", reply.Clean(r.Response)
		case "spamreport":
			e.Kind = Complained
		case "unsubscribe", "group_unsubscribe":
			e.Kind = Unsubscribed
		case "bounce":
			e.Kind, e.Recipient = Bounced, permanent(one)
			if r.Type == "blocked" {
				e.Recipient = temporary(one)
			}
		case "dropped":
			e.Kind, e.Recipient = sendGridDrop(one, r.Reason)
		}
		events = append(events, e)
	}
	return events, nil
}

// sendGridDrop returns what a message means that SendGrid did not send.
func sendGridDrop(r dsn.Recipient, reason string) (Kind, dsn.Recipient) {
	switch strings.ToLower(strings.TrimSpace(reason)) {
	case "bounced address", "invalid":
		return Bounced, because(r, reply.SuppressedByProvider)
	case "spam reporting address":
		return Complained, dsn.Recipient{Address: r.Address}
	case "unsubscribed address":
		return Unsubscribed, dsn.Recipient{Address: r.Address}
	case "spam content (if spam checker app enabled)", "spam content":
		return Bounced, because(r, reply.SpamContent)
	}
	return Bounced, temporary(r)
}

// ecdsaKey reads a public key in PEM, or in base64 without its lines of PEM.
func ecdsaKey(text string) (*ecdsa.PublicKey, bool) {
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der, err = block.Bytes, nil
	}
	if err != nil {
		return nil, false
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, false
	}
	public, ok := key.(*ecdsa.PublicKey)
	return public, ok
}

// Mailgun verifies and reads a body of Mailgun. key is the signing key.
func Mailgun(body []byte, key string, now time.Time) ([]Event, error) {
	var b struct {
		Signature struct {
			Timestamp texts  `json:"timestamp"`
			Token     string `json:"token"`
			Signature string `json:"signature"`
		} `json:"signature"`
		Data struct {
			ID        string `json:"id"`
			Event     string `json:"event"`
			Severity  string `json:"severity"`
			Reason    string `json:"reason"`
			Recipient string `json:"recipient"`
			Timestamp texts  `json:"timestamp"`
			Status    struct {
				Code        texts  `json:"code"`
				Message     string `json:"message"`
				Description string `json:"description"`
				Enhanced    string `json:"enhanced-code"`
			} `json:"delivery-status"`
			Message struct {
				Headers struct {
					MessageID string `json:"message-id"`
				} `json:"headers"`
			} `json:"message"`
		} `json:"event-data"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, ErrMalformed
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(string(b.Signature.Timestamp) + b.Signature.Token))
	given, err := hex.DecodeString(b.Signature.Signature)
	if err != nil || key == "" || b.Signature.Token == "" || !hmac.Equal(given, mac.Sum(nil)) {
		return nil, ErrProof
	}
	if err := recent(b.Signature.Timestamp.unix(), now, mailgunAge); err != nil {
		return nil, err
	}
	d := b.Data
	e := Event{ID: d.ID, Name: d.Event, Kind: None, At: d.Timestamp.unix()}
	if id := strings.Trim(d.Message.Headers.MessageID, "<>"); id != "" {
		e.MessageID = "<" + id + ">"
	}
	text := d.Status.Message
	if text == "" {
		text = d.Status.Description
	}
	one := failure(d.Recipient, d.Status.Code.number(), d.Status.Enhanced, text)
	e.Recipient = dsn.Recipient{Address: one.Address}
	switch d.Event {
	case "delivered":
		e.Kind, e.Recipient.Action = Delivered, "delivered"
	case "complained":
		e.Kind = Complained
	case "unsubscribed":
		e.Kind = Unsubscribed
	case "failed":
		switch {
		case strings.HasPrefix(d.Reason, "suppress-"):
			e.Kind, e.Recipient = Bounced, because(one, reply.SuppressedByProvider)
		case d.Severity == "permanent":
			e.Kind, e.Recipient = Bounced, permanent(one)
		default: // Mailgun tries again
			e.Kind, e.Recipient.Action, e.Recipient.Diagnostic = Deferred, "delayed", one.Diagnostic
		}
	}
	return []Event{e}, nil
}

// Postmark verifies and reads a body of Postmark. key is the secret that is configured as the password
// of basic authentication, or as the header X-Postmark-Secret.
func Postmark(body []byte, h http.Header, key string) ([]Event, error) {
	_, password, _ := (&http.Request{Header: h}).BasicAuth()
	same := func(s string) bool { return subtle.ConstantTimeCompare([]byte(s), []byte(key)) == 1 }
	if first, second := same(password), same(h.Get("X-Postmark-Secret")); key == "" || !first && !second {
		return nil, ErrProof
	}
	var b struct {
		RecordType     string `json:"RecordType"`
		ID             texts  `json:"ID"`
		MessageID      string `json:"MessageID"`
		Type           string `json:"Type"`
		Email          string `json:"Email"`
		Recipient      string `json:"Recipient"`
		Details        string `json:"Details"`
		Description    string `json:"Description"`
		BouncedAt      string `json:"BouncedAt"`
		DeliveredAt    string `json:"DeliveredAt"`
		ChangedAt      string `json:"ChangedAt"`
		SuppressSend   bool   `json:"SuppressSending"`
		SuppressReason string `json:"SuppressionReason"`
	}
	if err := json.Unmarshal(body, &b); err != nil || b.RecordType == "" {
		return nil, ErrMalformed
	}
	addr, text := b.Email, b.Details
	if addr == "" {
		addr = b.Recipient
	}
	if text == "" {
		text = b.Description
	}
	e := Event{ID: string(b.ID), Name: b.RecordType, Kind: None, ProviderID: b.MessageID}
	one := failure(addr, 0, "", text)
	e.Recipient = dsn.Recipient{Address: one.Address}
	switch b.RecordType {
	case "Delivery":
		e.Kind, e.At, e.Recipient.Action = Delivered, moment(b.DeliveredAt), "delivered"
	case "SpamComplaint":
		e.Kind, e.At = Complained, moment(b.BouncedAt)
	case "SubscriptionChange":
		e.At = moment(b.ChangedAt)
		switch {
		case !b.SuppressSend:
		case b.SuppressReason == "HardBounce":
			e.Kind, e.Recipient = Bounced, because(one, reply.SuppressedByProvider)
		case b.SuppressReason == "SpamComplaint":
			e.Kind = Complained
		default:
			e.Kind = Unsubscribed
		}
	case "Bounce":
		e.At, e.Name = moment(b.BouncedAt), b.RecordType+"/"+b.Type
		e.Kind, e.Recipient = postmarkBounce(b.Type, one)
	}
	return []Event{e}, nil
}

// postmarkBounce returns what a type of bounce means ("Bounce types" in Postmark's documentation).
func postmarkBounce(kind string, r dsn.Recipient) (Kind, dsn.Recipient) {
	switch kind {
	case "HardBounce":
		return Bounced, permanent(r)
	case "BadEmailAddress":
		return Bounced, because(r, reply.InvalidRecipient)
	case "ManuallyDeactivated", "InactiveRecipient":
		return Bounced, because(r, reply.SuppressedByProvider)
	case "SpamComplaint":
		return Complained, dsn.Recipient{Address: r.Address}
	case "Unsubscribe":
		return Unsubscribed, dsn.Recipient{Address: r.Address}
	case "Blocked", "ISPBlocked":
		return Bounced, because(r, reply.RefusedByPolicy)
	case "SpamNotification":
		return Bounced, because(r, reply.SpamContent)
	case "VirusNotification":
		return Bounced, because(r, reply.VirusOrAttachment)
	case "DMARCPolicy":
		return Bounced, because(r, reply.AuthFailure)
	case "SoftBounce", "DnsError", "Undeliverable", "SMTPApiError", "InboundError":
		return Bounced, temporary(r)
	case "Transient":
		r.Action = "delayed"
		return Deferred, dsn.Recipient{Address: r.Address, Action: r.Action, Diagnostic: r.Diagnostic}
	}
	return None, dsn.Recipient{Address: r.Address} // AutoResponder, AddressChange, ChallengeVerification, …
}
