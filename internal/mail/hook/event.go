package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// Kind is what an event says.
type Kind string

// The kinds. Other events, such as opens, are None.
const (
	Delivered    Kind = "delivered"
	Deferred     Kind = "deferred" // the provider tries again
	Bounced      Kind = "bounced"
	Complained   Kind = "complained"
	Unsubscribed Kind = "unsubscribed"
	None         Kind = "none"
)

// Event is one event about one recipient of one message.
type Event struct {
	ID         string // given by the provider; the same when the event is sent again
	Kind       Kind
	Name       string        // the provider's name of the event
	MessageID  string        // of the message's header; empty: not known
	ProviderID string        // the id that the provider gave to the message; empty: not known
	Recipient  dsn.Recipient // the address, and the verdict if it bounced
	At         time.Time     // zero: not known
}

var (
	// ErrMalformed means that a body is not one of the provider.
	ErrMalformed = errors.New("the body is not one of the provider")
	// ErrProof means that a request does not prove that it comes from the provider.
	ErrProof = errors.New("the request is not proven to come from the provider")
	// ErrOld means that a request was signed too long ago, or in the future.
	ErrOld = errors.New("the request was not signed recently")
)

// MaxEvents is how many events one request may have.
const MaxEvents = 1000

// verdicts are the verdicts for the reasons that providers give in words of their own.
var verdicts = map[reply.Reason]reply.Verdict{
	reply.InvalidRecipient:     {Class: reply.Hard, Category: reply.Mailbox},
	reply.SuppressedByProvider: {Class: reply.Hard, Category: reply.Mailbox},
	reply.InvalidDomain:        {Class: reply.Hard, Category: reply.Domain},
	reply.MailboxFull:          {Class: reply.Soft, Category: reply.Full},
	reply.MessageTooLarge:      {Class: reply.Soft, Category: reply.Content},
	reply.SpamContent:          {Class: reply.Block, Category: reply.Content},
	reply.VirusOrAttachment:    {Class: reply.Block, Category: reply.Content},
	reply.AuthFailure:          {Class: reply.Block, Category: reply.Policy},
	reply.RefusedByPolicy:      {Class: reply.Block, Category: reply.Policy},
	reply.ExpiredQueue:         {Class: reply.Soft, Category: reply.Other},
	reply.Unknown:              {Class: reply.Soft, Category: reply.Other},
}

// because returns the recipient of a failure for a reason.
func because(r dsn.Recipient, reason reply.Reason) dsn.Recipient {
	v := verdicts[reason]
	v.Reason, v.Rule = reason, "provider"
	r.Action, r.Verdict = "failed", v
	return r
}

// failure returns the recipient of a failure that is decided by what the server answered.
func failure(addr string, code int, status, text string) dsn.Recipient {
	if kind, rest, ok := strings.Cut(text, ";"); ok && strings.EqualFold(strings.TrimSpace(kind), "smtp") {
		text = strings.TrimSpace(rest)
	}
	r := dsn.Failure(code, status, text)
	r.Address = strings.ToLower(strings.Trim(strings.TrimSpace(addr), "<>"))
	return r
}

// permanent returns the recipient of a failure that the provider calls permanent: where the answer of
// the server does not say why, the address is bad.
func permanent(r dsn.Recipient) dsn.Recipient {
	if r.Verdict.Reason == reply.Unknown || r.Verdict.Reason == "" {
		return because(r, reply.InvalidRecipient)
	}
	return r
}

// temporary returns the recipient of a failure that the provider does not call permanent, which is
// never a hard bounce.
func temporary(r dsn.Recipient) dsn.Recipient {
	switch r.Verdict.Class {
	case reply.Soft, reply.Block:
		return r
	}
	v := r.Verdict
	v.Class, v.Category, v.Reason, v.Rule = reply.Soft, cmp.Or(v.Category, reply.Other), cmp.Or(v.Reason, reply.Unknown), "provider"
	r.Action, r.Verdict = "failed", v
	return r
}

// texts is a value that some providers send as a number and some as text.
type texts string

func (t *texts) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = texts(s)
	} else if s := string(b); s != "null" && !strings.ContainsAny(s[:1], "{[") {
		*t = texts(s)
	}
	return nil
}

// number returns the number in a text; 0 if it has none.
func (t texts) number() int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(t)))
	return n
}

// unix returns the time of seconds since 1970, with an optional fraction.
func (t texts) unix() time.Time {
	n, err := strconv.ParseFloat(string(t), 64)
	if err != nil || !(n > 0 && n <= 1e11) { // NaN is neither
		return time.Time{}
	}
	return time.UnixMicro(int64(n * 1e6)).UTC()
}

// moment parses a time; the zero time if it is none.
func moment(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// Generic reads the body of the hook for any relay: an array of events. It has no proof of its own: the
// caller verifies the Message-ID of each event.
func Generic(body []byte) ([]Event, error) {
	var list []struct {
		MessageID string `json:"message_id"`
		Event     string `json:"event"`
		Code      texts  `json:"code"`
		Status    string `json:"status"`
		Reason    string `json:"reason"`
		At        string `json:"at"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list == nil {
		return nil, ErrMalformed
	}
	events := []Event{}
	for _, r := range list {
		e := Event{Kind: None, Name: r.Event, MessageID: r.MessageID, At: moment(r.At)}
		switch k := Kind(r.Event); k {
		case Bounced:
			e.Kind, e.Recipient = k, failure("", r.Code.number(), r.Status, r.Reason)
		case Delivered, Deferred, Complained:
			e.Kind = k
		}
		events = append(events, e)
	}
	return events, nil
}
