// Package activity lists the activity of a contact (List) and of all contacts of a tenant (Feed),
// newest first.
//
// It has no tables of its own: it reads entries of the journal, messages in the outbox, opens and
// clicks, which are hits, and the creation of contacts. The caller passes a function that returns
// the names of broadcasts.
package activity

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ID is the id of an item: that of a journal entry, a message, a hit or, for the creation, the
// contact.
type ID = id.UUID[item]

type item struct{}

// idOf returns the id of the item for a record.
func idOf[T ~[16]byte](record T) ID { return ID(record) }

// Item is one event of a contact's activity.
type Item struct {
	ID             ID
	Contact        id.Contact
	Type           journal.Type
	EventName      string // of a custom event
	EventType      string // of a custom event: the kind of activity, if one was given
	At             time.Time
	Source         string // email, website, form, api or account
	Title          string
	Properties     json.RawMessage // a JSON object
	Broadcast      id.Broadcast
	Sequence       id.Sequence
	Classification track.Class // of an open or a click
	Rules          []string    // ids of the rules that determined Classification

	send    id.Send // of a mail; its source and email type are loaded later
	message id.Message
}

// Position is a position in the list: after an item.
type Position struct {
	At time.Time
	ID ID
}

// Query selects a page.
type Query struct {
	Types     []journal.Type // empty: all
	EventName string         // only custom events with this name; empty: all
	After     *Position
	Limit     int
}

// Types returns the types that items may have.
func Types() []journal.Type {
	return []journal.Type{
		journal.ContactAnonymized, journal.ContactCreated, journal.ContactDeleted, journal.ContactRestored, journal.ContactUpdated,
		journal.EmailBounced, journal.EmailClicked, journal.EmailComplained, journal.EmailDeferred, journal.EmailDelivered, journal.EmailFailed,
		journal.EmailOpened, journal.EmailSent, journal.EmailUnsubscribed, journal.CustomEvent, journal.FormSubmitted, journal.ListAdded, journal.ListRemoved,
		journal.OptInConfirmed, journal.OptInRequested, journal.PageViewed, journal.ScoreChanged,
		journal.SequenceCompleted, journal.SequenceEnrolled, journal.SequenceExited, journal.StageChanged, journal.SubscriptionChanged,
		journal.SuppressionAdded, journal.SuppressionRemoved, journal.TagAdded, journal.TagRemoved,
	}
}

// ParseTypes parses the names of types. The error is a fault that lists the known ones.
func ParseTypes(names []string) ([]journal.Type, error) {
	known := Types()
	var list []journal.Type
	for _, n := range names {
		if !slices.Contains(known, journal.Type(n)) {
			texts := make([]string, len(known))
			for i, t := range known {
				texts[i] = string(t)
			}
			return nil, fault.Input(fault.Field{Path: "types", Message: "known types: " + strings.Join(texts, ",")})
		}
		list = append(list, journal.Type(n))
	}
	return list, nil
}

// Names returns the names of broadcasts by id; missing ones are left out.
type Names func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Broadcast) (map[id.Broadcast]string, error)

// List returns a page of a contact's activity, and the position of the next one.
func List(ctx context.Context, db *sqldb.DB, c contact.Contact, q Query, names Names) ([]Item, *Position, error) {
	r := reader{db: db, tenant: c.Tenant, c: c, q: q, names: names}
	for _, read := range []func(context.Context) error{r.entries, r.mails, r.hits, r.creation} {
		if err := read(ctx); err != nil {
			return nil, nil, fmt.Errorf("list the activity of a contact: %w", err)
		}
	}
	for i := range r.found {
		r.found[i].Contact = c.ID
	}
	return r.page(ctx)
}

// page returns the newest of the found items, with the sources and names that they refer to.
func (r *reader) page(ctx context.Context) ([]Item, *Position, error) {
	slices.SortFunc(r.found, func(a, b Item) int {
		return cmp.Or(b.At.Compare(a.At), id.Compare(b.ID, a.ID))
	})
	var next *Position
	if len(r.found) > r.q.Limit {
		r.found = r.found[:r.q.Limit]
		last := r.found[r.q.Limit-1]
		next = &Position{last.At, last.ID}
	}
	if err := r.sources(ctx); err != nil {
		return nil, nil, fmt.Errorf("read the sources of activity: %w", err)
	}
	return r.found, next, r.name(ctx)
}

// reader collects the newest items of each source; a page cannot need more of any.
type reader struct {
	db     *sqldb.DB
	tenant id.Tenant
	c      contact.Contact // none in a feed
	q      Query
	names  Names
	found  []Item
}

// before returns the parameters for the position of the page.
func (r *reader) before() (int64, ID) {
	if r.q.After == nil {
		return 1 << 62, ID{}
	}
	return sqldb.Micros(r.q.After.At), r.q.After.ID
}

// wants reports whether the query includes any of the types.
func (r *reader) wants(types ...journal.Type) bool {
	if r.q.EventName != "" && !slices.Contains(types, journal.CustomEvent) {
		return false
	}
	return len(r.q.Types) == 0 || slices.ContainsFunc(types, func(t journal.Type) bool { return slices.Contains(r.q.Types, t) })
}

// add adds an item if the query includes its type.
func (r *reader) add(i Item) {
	if r.wants(i.Type) {
		r.found = append(r.found, i)
	}
}

// entryTypes excludes types that other sources have more details of, and those that only triggers
// read. It is two conditions, because the first repeats the predicate of an index.
const entryTypes = ` type NOT IN ('email_sent', 'email_delivered', 'contact_created') AND type NOT IN ('email_opened', 'email_clicked', 'segment_entered', 'segment_left', 'date_reached') `

func (r *reader) entries(ctx context.Context) error {
	at, last := r.before()
	only, args := "", []any{r.c.Tenant, r.c.ID, at, last, r.q.Limit + 1}
	if len(r.q.Types) > 0 {
		only = ` AND type` + r.db.In(6)
		args = append(args, sqldb.List(r.db, r.q.Types))
	}
	if r.q.EventName != "" {
		args = append(args, r.q.EventName)
		only += fmt.Sprintf(` AND type = 'event' AND name || '' = $%d`, len(args))
	}
	inGroup, args := journal.InGroup(r.db, r.c.Tenant, args...)
	rows, err := r.db.Query(ctx, `
		SELECT id, type, COALESCE(name, ''), send_id, message_id, occurred_at, COALESCE(data, '{}') FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id = $2 AND contact_id IS NOT NULL AND `+entryTypes+only+`
			AND (occurred_at < $3 OR occurred_at = $3 AND id < $4)
		ORDER BY occurred_at DESC, id DESC LIMIT $5`, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Item, error) {
		var i Item
		var name, data string
		err := scan(&i.ID, sqldb.ToText(&i.Type), &name, &i.send, &i.message, sqldb.ToTime(&i.At), &data)
		i.Properties = json.RawMessage(data)
		i.describe(name)
		return i, err
	})
	if err != nil {
		return err
	}
	r.found = append(r.found, list...)
	return nil
}

// describe sets the fields that depend on the entry's type.
func (i *Item) describe(name string) {
	switch i.Type {
	case journal.CustomEvent:
		var said struct {
			Type       string
			Source     string
			Properties json.RawMessage
		}
		if json.Unmarshal(i.Properties, &said) == nil { // it was encoded by journal.Append
			i.Properties = said.Properties
		}
		if len(i.Properties) == 0 {
			i.Properties = json.RawMessage("{}")
		}
		i.EventName, i.EventType, i.Source, i.Title = name, said.Type, cmp.Or(said.Source, "api"), name
	case journal.PageViewed:
		i.Source, i.Title = "website", "Viewed "+name
		i.set("url", name)
	case journal.FormSubmitted:
		i.Source, i.Title = "form", "Submitted the form "+name
		i.set("form_slug", name)
	case journal.OptInRequested, journal.OptInConfirmed:
		i.Source, i.Title = "form", titleOf(i.Type)+" by the form "+name
		i.set("form_slug", name)
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		i.Sequence, i.Source, i.Title = id.Read[id.Sequence](name), "account", titleOf(i.Type)
	case journal.EmailDeferred, journal.EmailBounced, journal.EmailComplained, journal.EmailUnsubscribed, journal.EmailFailed:
		i.Source, i.Title = "email", titleOf(i.Type)
	case journal.TagAdded, journal.TagRemoved:
		i.Source, i.Title = "account", titleOf(i.Type)+": "+name
		i.set("tag", name)
	default:
		i.Source, i.Title = "account", titleOf(i.Type)
	}
}

// set sets a property, unless value is empty.
func (i *Item) set(name, value string) {
	if value == "" {
		return
	}
	properties := map[string]json.RawMessage{}
	if json.Unmarshal(i.Properties, &properties) != nil { // they are an object, as encoded by journal.Append
		return
	}
	properties[name], _ = json.Marshal(value) // texts always encode
	i.Properties, _ = json.Marshal(properties)
}

// titleOf turns a type into a title: "Stage changed".
func titleOf(t journal.Type) string {
	s := strings.ReplaceAll(string(t), "_", " ")
	return strings.ToUpper(s[:1]) + s[1:]
}

// cameFrom sets the source of the mail that the item is about.
func (i *Item) cameFrom(s outbox.Source) {
	if b, ok := s.Broadcast(); ok {
		i.Broadcast = b
	}
	if q, ok := s.Sequence(); ok {
		i.Sequence = q
	}
}

func (r *reader) mails(ctx context.Context) error {
	if !r.wants(journal.EmailSent, journal.EmailDelivered) {
		return nil
	}
	at, last := r.before()
	rows, err := r.db.Query(ctx, `
		SELECT id, state, send_id, sent_at FROM outbox
		WHERE tenant_id = $1 AND contact_id = $2 AND sent_at IS NOT NULL
			AND (sent_at < $3 OR sent_at = $3 AND id < $4)
		ORDER BY sent_at DESC, id DESC LIMIT $5`, r.c.Tenant, r.c.ID, at, last, r.q.Limit+1)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		i := Item{Type: journal.EmailSent, Source: "email", Properties: json.RawMessage("{}")}
		var state string
		err := scan(&i.message, &state, &i.send, sqldb.ToTime(&i.At))
		i.ID = idOf(i.message)
		if state == "delivered" {
			i.Type = journal.EmailDelivered
		}
		i.Title = titleOf(i.Type)
		r.add(i)
		return err
	})
	return err
}

func (r *reader) hits(ctx context.Context) error {
	if !r.wants(journal.EmailOpened, journal.EmailClicked) {
		return nil
	}
	at, last := r.before()
	rows, err := r.db.Query(ctx, `
		SELECT kind, `+hitColumns+` FROM hit
		WHERE tenant_id = $1 AND contact_id = $2 AND (kind = 'open' OR url IS NOT NULL) AND (at < $3 OR at = $3 AND id < $4)
		ORDER BY at DESC, id DESC LIMIT $5`, r.c.Tenant, r.c.ID, at, last, r.q.Limit+1)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var kind string
		i, err := scanHit(scan, &kind)
		if i.Type = journal.EmailOpened; kind == "click" {
			i.Type = journal.EmailClicked
		}
		i.Title = titleOf(i.Type)
		r.add(i)
		return err
	})
	return err
}

const hitColumns = ` id, contact_id, class, COALESCE(rule, ''), COALESCE(url, ''), send_id, message_id, at `

// scanHit scans columns that precede hitColumns, and hitColumns.
func scanHit(scan func(...any) error, before ...any) (Item, error) {
	i := Item{Source: "email", Properties: json.RawMessage("{}")}
	var rules, url string
	err := scan(append(before, &i.ID, &i.Contact, sqldb.ToText(&i.Classification), &rules, &url, &i.send, &i.message, sqldb.ToTime(&i.At))...)
	i.Rules = strings.Fields(rules)
	i.set("link_url", url)
	return i, err
}

// creation adds the contact's creation, its oldest item.
func (r *reader) creation(context.Context) error {
	at, last := r.before()
	created := sqldb.Micros(r.c.CreatedAt)
	if created > at || created == at && id.Compare(idOf(r.c.ID), last) >= 0 {
		return nil
	}
	data := map[string]any{}
	if r.c.Source != nil {
		data["source"] = *r.c.Source
	}
	text, err := json.Marshal(data)
	r.add(Item{
		ID: idOf(r.c.ID), Type: journal.ContactCreated, At: r.c.CreatedAt, Source: "account",
		Title: titleOf(journal.ContactCreated), Properties: text,
	})
	return err
}

// sources loads what the items that are about mails refer to: the source and the email type of the send, and the
// variant of the message.
func (r *reader) sources(ctx context.Context) error {
	var sends []id.Send
	var messages []id.Message
	for _, i := range r.found {
		if !i.send.IsZero() {
			sends = append(sends, i.send)
		}
		if !i.message.IsZero() {
			messages = append(messages, i.message)
		}
	}
	from, err := outbox.Sends(ctx, r.db, r.tenant, sends)
	if err != nil {
		return err
	}
	var types []id.EmailType
	for _, s := range from {
		if !s.EmailType.IsZero() {
			types = append(types, s.EmailType)
		}
	}
	keys, err := sender.TypeKeys(ctx, r.db, r.tenant, types)
	if err != nil {
		return err
	}
	variants, err := outbox.Variants(ctx, r.db, r.tenant, messages)
	if err != nil {
		return err
	}
	for at := range r.found {
		i := &r.found[at]
		s := from[i.send]
		i.cameFrom(s.Source)
		i.set("email_type_key", keys[s.EmailType])
		i.set("variant_id", variants[i.message])
	}
	return nil
}

// name appends the names of broadcasts to titles.
func (r *reader) name(ctx context.Context) error {
	var ids []id.Broadcast
	for _, i := range r.found {
		if !i.Broadcast.IsZero() {
			ids = append(ids, i.Broadcast)
		}
	}
	names, err := r.names(ctx, r.db, r.tenant, ids)
	if err != nil {
		return err
	}
	for at := range r.found {
		if i := &r.found[at]; names[i.Broadcast] != "" {
			i.Title += ": " + names[i.Broadcast]
		}
	}
	return nil
}
