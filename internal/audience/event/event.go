// Package event records custom events: what a tenant's own programs and its website report about
// contacts.
//
// An event is one entry of the journal (journal.CustomEvent). Timelines, scores, segments and the
// list of events seen read these entries; Triggers says which of them may start a sequence.
//
//	Input → Check, aliases and warnings (no database)
//	      → Record: contacts found or created, idempotency keys reserved, entries appended
//
// Recorder records the events of many requests in common transactions. Code that has a transaction
// of its own calls Record in it.
package event

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// MaxBatch is the maximum number of events in one request.
const MaxBatch = 500

// ErrLimit is the fault of a larger number.
var ErrLimit = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("at most %d events at once", MaxBatch))

// Limits of one event.
const (
	maxName       = 128      // characters of a name, a type and an idempotency key
	maxProperties = 32 << 10 // bytes of JSON
	maxDepth      = 8        // levels of objects and arrays; the properties are the first
)

const (
	maxAhead      = 10 * time.Minute // how far occurred_at may be in the future
	triggerPeriod = 24 * time.Hour
	keyLife       = 7 * 24 * time.Hour
)

// Input is an event to record.
type Input struct {
	Name       string
	Type       string     // kind of activity, such as order_placed; empty: none
	Contact    id.Contact // if zero: the contact with the address Email
	Email      string
	Properties map[string]any
	OccurredAt time.Time // zero: now
	Source     string    // empty for events from the API, or Website
	Key        string    // idempotency key; empty: none
}

// Website is the Source of events that the website tracker sends.
const Website = "website"

// Result is the result of an Input.
type Result struct {
	ID       id.Entry
	Contact  id.Contact
	Warnings []string
	Err      error // a fault of this event alone; the others are recorded
}

// AddProblems adds the problems of an event to p, at the names of its fields in the API.
func (in Input) AddProblems(p *fault.Problems) { in.check(p) }

// check validates an event and returns it in the form to store.
func (in Input) check(p *fault.Problems) *prepared {
	out := &prepared{contact: in.Contact, source: in.Source, key: hashKey(in.Key)}
	out.name = checkText(p, "event_name", in.Name, true)
	out.kind = checkText(p, "type", in.Type, false)
	checkText(p, "idempotency_key", in.Key, false)
	switch {
	case !in.Contact.IsZero() || p.At("contact_id"):
	case in.Email != "":
		addr, err := address.Normalize(in.Email)
		if err != nil {
			p.Add("contact_email", err.Error())
		}
		out.email = addr
	case !p.At("contact_email"):
		p.Add("contact_id", "required, or contact_email")
	}
	if message := out.setProperties(in.Properties); message != "" {
		p.Add("properties", message)
	}
	return out
}

// checkText validates a short text and returns it normalised.
func checkText(p *fault.Problems, path, s string, required bool) string {
	s = strings.TrimSpace(norm.NFC.String(s))
	switch n := utf8.RuneCountInString(s); {
	case p.At(path):
	case n == 0 && required:
		p.Add(path, "required")
	case n > maxName:
		p.Add(path, "at most 128 characters")
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		p.Add(path, "must be UTF-8 without NUL")
	}
	return s
}

// Triggers reports whether an entry of a custom event may start or end an enrollment in a sequence:
// the event was received within 24 hours of when it occurred, and its contact was not deleted then.
// The id of the entry contains the time of receipt.
func Triggers(e journal.Entry) (bool, error) {
	ev, err := e.Event()
	if err != nil || e.Type != journal.CustomEvent {
		return false, err
	}
	return !ev.Deleted && id.Time(e.ID).Sub(e.At) <= triggerPeriod, nil
}
