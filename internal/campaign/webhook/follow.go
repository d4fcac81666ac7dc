package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Follower adds a delivery for each event of the journal and each endpoint that is sent it. Entries
// of tenants without endpoints are skipped before a transaction begins.
func Follower(now func() time.Time) journal.Follower {
	return journal.Follower{
		Name: "webhook", Types: followedTypes(), Tenants: journal.TenantsWith(`EXISTS (SELECT 1 FROM webhook_endpoint AS e WHERE e.tenant_id = v.tenant_id AND e.active)`),
		Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
			return follow(ctx, tx, entries, now())
		},
	}
}

func follow(ctx context.Context, tx *sqldb.DB, entries []journal.Entry, now time.Time) error {
	for t, own := range id.ByTenant(entries, func(e journal.Entry) id.Tenant { return e.Tenant }) {
		if err := followTenant(ctx, tx, t, own, now); err != nil {
			return fmt.Errorf("add webhook deliveries: %w", err)
		}
	}
	return nil
}

// followTenant adds the deliveries for entries of one tenant.
func followTenant(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry, now time.Time) error {
	endpoints, err := List(ctx, tx, t)
	if err != nil {
		return err
	}
	endpoints = slices.DeleteFunc(endpoints, func(e Endpoint) bool { return !e.Active })
	events := wantedEvents(entries, endpoints)
	if len(events) > 0 {
		if err := addEvents(ctx, tx, t, endpoints, events, now); err != nil {
			return err
		}
	}
	// A delivery added while the contact was being anonymised has data that Erase did not see. It was
	// added before this entry is followed.
	var anonymized []id.Contact
	for _, e := range entries {
		if e.Type == journal.ContactAnonymized {
			anonymized = append(anonymized, e.Contact)
		}
	}
	return redactContacts(ctx, tx, t, anonymized)
}

// occurrence is an event to send, before its data is complete.
type occurrence struct {
	eventType string
	entry     journal.Entry
}

// wantedEvents returns the events of entries that at least one endpoint is sent.
func wantedEvents(entries []journal.Entry, endpoints []Endpoint) []occurrence {
	var list []occurrence
	for _, e := range entries {
		for _, t := range sources[e.Type] {
			if slices.ContainsFunc(endpoints, func(p Endpoint) bool { return p.wants(t) }) && applies(e, t) {
				list = append(list, occurrence{t, e})
			}
		}
	}
	return list
}

// applies reports whether an entry is an event of one of its types: an unsubscription is no
// subscription, and an open that was withdrawn is none.
func applies(e journal.Entry, eventType string) bool {
	switch e.Type {
	case journal.SubscriptionChanged:
		var d struct {
			Subscribed *bool `json:"subscribed"` // null: the choice was removed
		}
		return e.Decode(&d) == nil && d.Subscribed != nil && *d.Subscribed == (eventType == ContactSubscribed)
	case journal.EmailDelivered:
		var d struct {
			AfterSent bool `json:"after_sent"` // an entry of its own came before
		}
		return eventType != EmailSent || e.Decode(&d) == nil && !d.AfterSent
	case journal.EmailOpened, journal.EmailClicked:
		var d track.Engaged
		return e.Decode(&d) == nil && !d.Withdrawn && d.Classification != track.Bot
	}
	return true
}

// maxBatchBytes is how large the bodies of one INSERT may be.
const maxBatchBytes = 4 << 20

// addEvents inserts the deliveries of events and makes their endpoints due.
func addEvents(ctx context.Context, tx *sqldb.DB, t id.Tenant, endpoints []Endpoint, events []occurrence, now time.Time) error {
	facts, err := loadFacts(ctx, tx, t, events)
	if err != nil {
		return err
	}
	rows := newRows(tx, t, now)
	var due []id.Webhook
	for _, ev := range events {
		data, about, err := facts.data(ev)
		if err != nil {
			return fmt.Errorf("journal entry %s: %w", ev.entry.ID, err)
		}
		body, err := encodeEvent(Event{ev.eventType, timestamp(ev.entry.At), facts.slug, data})
		if err != nil {
			return fmt.Errorf("journal entry %s: %w", ev.entry.ID, err)
		}
		for _, p := range endpoints {
			if !p.wants(ev.eventType) {
				continue
			}
			rows.add(p.ID, ev.eventType, ev.entry.At, about, body)
			if !slices.Contains(due, p.ID) {
				due = append(due, p.ID)
			}
			if rows.bytes >= maxBatchBytes {
				if err := rows.insert(ctx); err != nil {
					return err
				}
			}
		}
	}
	if err := rows.insert(ctx); err != nil {
		return err
	}
	return makeDue(ctx, tx, t, due, now)
}

// about is what an event is about.
type about struct {
	subject id.Source // a contact, a broadcast and so on: their events are sent in order
	contact id.Contact
	email   string // of an event about an address that no contact has
}

func aboutContact(c id.Contact) about { return about{subject: id.ToSource(c), contact: c} }

// facts are what events need besides their entries.
type facts struct {
	slug       string
	emails     map[id.Contact]string
	messages   map[id.Message]outbox.Record
	sends      map[id.Send]outbox.Send
	typeKeys   map[id.EmailType]string
	broadcasts map[id.Broadcast]string
	domains    map[id.Domain]string
	lanes      map[id.Lane]string
	answers    map[id.FormSubmission]form.Answers
}

// loadFacts reads the facts for events. Nothing is read that no event needs.
func loadFacts(ctx context.Context, tx *sqldb.DB, t id.Tenant, events []occurrence) (facts, error) {
	var f facts
	account, err := tenant.ByID(ctx, tx, t)
	if err != nil {
		return f, err
	}
	f.slug = account.Slug
	contacts, messages, sends := map[id.Contact]bool{}, map[id.Message]bool{}, map[id.Send]bool{}
	broadcasts, lanes := map[id.Broadcast]bool{}, map[id.Lane]bool{}
	var submissions []id.FormSubmission
	domains := false
	for _, ev := range events {
		e := ev.entry
		if !e.Contact.IsZero() {
			contacts[e.Contact] = true
		}
		if !e.Message.IsZero() {
			messages[e.Message] = true
		}
		if !e.Send.IsZero() {
			sends[e.Send] = true
		}
		switch e.Type {
		case journal.BroadcastScheduled, journal.BroadcastStarted, journal.BroadcastPaused, journal.BroadcastResumed,
			journal.BroadcastCompleted, journal.BroadcastFailed, journal.BroadcastCancelled:
			broadcasts[id.Read[id.Broadcast](e.Name)] = true
		case journal.MTADown, journal.MTARecovered:
			lanes[id.Read[id.Lane](e.Name)] = true
		case journal.DomainVerified, journal.DomainFailed, journal.DomainPaused:
			domains = true
		case journal.FormSubmitted:
			var s form.Entry
			if err := e.Decode(&s); err != nil {
				return f, fmt.Errorf("journal entry %s: %w", e.ID, err)
			}
			submissions = append(submissions, s.Submission)
		}
	}
	if f.emails, err = contact.Emails(ctx, tx, t, slices.Collect(maps.Keys(contacts))); err != nil {
		return f, err
	}
	if len(messages) > 0 {
		if f.messages, err = outbox.FindAll(ctx, tx, t, slices.Collect(maps.Keys(messages))); err != nil {
			return f, err
		}
	}
	if f.sends, err = outbox.Sends(ctx, tx, t, slices.Collect(maps.Keys(sends))); err != nil {
		return f, err
	}
	types := map[id.EmailType]bool{}
	for _, s := range f.sends {
		types[s.EmailType] = true
	}
	if f.typeKeys, err = sender.TypeKeys(ctx, tx, t, slices.Collect(maps.Keys(types))); err != nil {
		return f, err
	}
	if f.broadcasts, err = broadcast.Names(ctx, tx, t, slices.Collect(maps.Keys(broadcasts))); err != nil {
		return f, err
	}
	if len(lanes) > 0 {
		if f.lanes, err = lane.Keys(ctx, tx, t, slices.Collect(maps.Keys(lanes))); err != nil {
			return f, err
		}
	}
	if f.answers, err = form.AnswersOf(ctx, tx, t, submissions); err != nil {
		return f, err
	}
	if domains {
		f.domains = map[id.Domain]string{}
		list, err := sender.Domains(ctx, tx, t)
		if err != nil {
			return f, err
		}
		for _, d := range list {
			f.domains[d.ID] = d.Name
		}
	}
	return f, nil
}

// contact returns the data about an entry's contact.
func (f *facts) contact(e journal.Entry) ContactData {
	return ContactData{e.Contact, optional.Pointer(f.emails[e.Contact])}
}

// mail returns the data about an entry's message.
func (f *facts) mail(e journal.Entry) MailData {
	m := MailData{ContactData: f.contact(e), MessageID: e.Message}
	if r, ok := f.messages[e.Message]; ok {
		m.VariantID = optional.Pointer(r.Variant)
		if m.Email != nil { // otherwise the contact is anonymised
			m.Email = &r.Email
		}
	}
	m.BroadcastID, m.SequenceID = f.source(e)
	m.EmailTypeKey = optional.Pointer(f.typeKeys[f.sends[e.Send].EmailType])
	return m
}

// source returns the broadcast or the sequence of an entry's send.
func (f *facts) source(e journal.Entry) (b *id.Broadcast, q *id.Sequence) {
	from := f.sends[e.Send].Source
	if v, ok := from.Broadcast(); ok {
		b = &v
	}
	if v, ok := from.Sequence(); ok {
		q = &v
	}
	return b, q
}

// data returns the data of an event, and what it is about.
func (f *facts) data(ev occurrence) (any, about, error) {
	e := ev.entry
	person := aboutContact(e.Contact)
	switch ev.eventType {
	case ContactCreated:
		return f.contact(e), person, nil
	case ContactUpdated:
		d := contactUpdated{ContactData: f.contact(e), Fields: []string{}}
		if e.Type == journal.ContactRestored {
			d.Fields = []string{"global_status"}
			return d, person, nil
		}
		return d, person, e.Decode(&d)
	case ContactDeleted:
		return contactDeleted{f.contact(e), e.Type == journal.ContactAnonymized}, person, nil
	case ContactSubscribed, ContactUnsubscribed:
		return f.subscription(e)
	case EmailSent, EmailDelivered, EmailComplained:
		return f.mail(e), person, nil
	case EmailOpened, EmailClicked:
		var d track.Engaged
		err := e.Decode(&d)
		open := OpenData{f.mail(e), string(d.Classification), d.First}
		if ev.eventType == EmailClicked {
			return clickData{open, d.LinkURL}, person, err
		}
		return open, person, err
	case EmailBounced, EmailFailed, EmailDeferred:
		return f.refusal(ev)
	case FormSubmitted:
		var s form.Entry
		err := e.Decode(&s)
		return formData{f.contact(e), s.Form, e.Name, s.Submission, optional.Pointer(s.URL), f.answers[s.Submission].Values()}, person, err
	case EventRecorded:
		said := struct {
			Type       string     `json:"type"`
			Properties properties `json:"properties"`
		}{Properties: properties{}}
		err := e.Decode(&said)
		return recordedData{f.contact(e), e.ID, e.Name, optional.Pointer(said.Type), said.Properties}, person, err
	case ListMemberAdded, ListMemberRemoved:
		d := memberData{ContactData: f.contact(e)}
		err := e.Decode(&d)
		return d, person, err
	case SequenceEnrolled, SequenceCompleted, SequenceExited:
		return f.sequence(ev)
	case SuppressionAdded, SuppressionRemoved:
		return f.suppression(e)
	}
	return f.unpersonal(ev)
}

func (f *facts) subscription(e journal.Entry) (any, about, error) {
	var d subscriptionData
	err := e.Decode(&d)
	d.ContactData = f.contact(e)
	d.BroadcastID, d.SequenceID = f.source(e)
	switch {
	case d.Scope != "":
	case d.EmailTypeKey != nil:
		d.Scope = "type"
	default:
		d.Scope = "category"
	}
	return d, aboutContact(e.Contact), err
}

func (f *facts) refusal(ev occurrence) (any, about, error) {
	var r outbox.Refusal
	err := ev.entry.Decode(&r)
	d := RefusalData{f.mail(ev.entry), optional.Pointer(r.Category), optional.Pointer(r.Code), optional.Pointer(r.Enhanced), optional.Pointer(r.Text)}
	person := aboutContact(ev.entry.Contact)
	switch ev.eventType {
	case EmailBounced:
		return bounceData{d, string(outbox.ShownBounce(r.Class))}, person, err
	case EmailDeferred:
		next := deferralData{RefusalData: d}
		if r.NextAttemptAt != nil {
			next.NextAttemptAt = new(timestamp(*r.NextAttemptAt))
		}
		return next, person, err
	}
	return d, person, err
}

func (f *facts) sequence(ev occurrence) (any, about, error) {
	var of struct {
		Enrollment string `json:"enrollment_id"`
		Reason     string `json:"exit_reason"`
		Outcome    string `json:"outcome"`
	}
	err := ev.entry.Decode(&of)
	d := SequenceData{f.contact(ev.entry), ev.entry.Name, of.Enrollment}
	person := aboutContact(ev.entry.Contact)
	switch ev.eventType {
	case SequenceCompleted:
		return sequenceCompleted{d, of.Outcome}, person, err
	case SequenceExited:
		return sequenceExited{d, of.Reason, of.Outcome}, person, err
	}
	return d, person, err
}

func (f *facts) suppression(e journal.Entry) (any, about, error) {
	var d suppressionData
	err := e.Decode(&d)
	d.ContactID = optional.Pointer(e.Contact)
	if !e.Contact.IsZero() {
		if _, ok := f.emails[e.Contact]; !ok { // it is anonymised
			d.Email, d.Reason = nil, nil
		}
		return d, aboutContact(e.Contact), err
	}
	var who about
	if d.Email != nil {
		who.email = *d.Email
	}
	return d, who, err
}

// unpersonal returns the data of events that are about no contact.
func (f *facts) unpersonal(ev occurrence) (any, about, error) {
	e := ev.entry
	switch ev.eventType {
	case DomainVerified, DomainFailed, DomainPaused:
		domain := id.Read[id.Domain](e.Name)
		var why struct {
			Reason string `json:"reason"`
			PauseRate
		}
		err := e.Decode(&why)
		d, subject := DomainData{domain, optional.Pointer(f.domains[domain])}, about{subject: id.ToSource(domain)}
		switch ev.eventType {
		case DomainVerified:
			return d, subject, err
		case DomainPaused:
			return domainPaused{d, why.Reason, why.PauseRate}, subject, err
		}
		return domainTrouble{d, why.Reason}, subject, err
	case MTADown, MTARecovered:
		config := id.Read[id.Lane](e.Name)
		return mtaData{config, optional.Pointer(f.lanes[config])}, about{subject: id.ToSource(config)}, nil
	case ImportCompleted:
		d := importData{JobID: e.Name}
		err := e.Decode(&d.Result)
		return d, about{subject: id.Read[id.Source](e.Name)}, err
	}
	return f.broadcast(ev)
}

func (f *facts) broadcast(ev occurrence) (any, about, error) {
	b := id.Read[id.Broadcast](ev.entry.Name)
	var why struct {
		PauseReason string `json:"pause_reason"`
		Code        string `json:"code"`
	}
	err := ev.entry.Decode(&why)
	d, subject := BroadcastData{b, optional.Pointer(f.broadcasts[b])}, about{subject: id.ToSource(b)}
	switch ev.eventType {
	case BroadcastPaused:
		return broadcastPaused{d, why.PauseReason}, subject, err
	case BroadcastFailed:
		return broadcastFailed{d, why.Code}, subject, err
	}
	return d, subject, err
}
