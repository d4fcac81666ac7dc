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

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/track"
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
	At             time.Time
	Source         string // email, website, form, api or account
	Title          string
	Properties     json.RawMessage // a JSON object
	Broadcast      id.Broadcast
	send           id.Send // of a journal entry; its source is loaded later
	Sequence       id.Sequence
	Classification track.Class // of an open or a click
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
const entryTypes = ` type NOT IN ('email_sent', 'email_delivered', 'contact_created') AND type NOT IN ('email_opened', 'email_clicked', 'segment_entered', 'segment_left') `

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
		SELECT id, type, COALESCE(name, ''), send_id, occurred_at, COALESCE(data, '{}') FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id = $2 AND contact_id IS NOT NULL AND `+entryTypes+only+`
			AND (occurred_at < $3 OR occurred_at = $3 AND id < $4)
		ORDER BY occurred_at DESC, id DESC LIMIT $5`, args...)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (Item, error) {
		var i Item
		var name, data string
		err := scan(&i.ID, sqldb.ToText(&i.Type), &name, &i.send, sqldb.ToTime(&i.At), &data)
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
			Source     string
			Properties json.RawMessage
		}
		if json.Unmarshal(i.Properties, &said) == nil { // it was encoded by journal.Append
			i.Properties = said.Properties
		}
		if len(i.Properties) == 0 {
			i.Properties = json.RawMessage("{}")
		}
		i.EventName, i.Source, i.Title = name, cmp.Or(said.Source, "api"), name
	case journal.PageViewed:
		i.Source, i.Title = "website", "Viewed "+name
	case journal.FormSubmitted:
		i.Source, i.Title = "form", "Submitted the form "+name
	case journal.OptInRequested, journal.OptInConfirmed:
		i.Source, i.Title = "form", titleOf(i.Type)+" by the form "+name
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		i.Sequence, i.Source, i.Title = id.Read[id.Sequence](name), "account", titleOf(i.Type)
	case journal.EmailDeferred, journal.EmailBounced, journal.EmailComplained, journal.EmailUnsubscribed, journal.EmailFailed:
		i.Source, i.Title = "email", titleOf(i.Type)
	case journal.TagAdded, journal.TagRemoved:
		i.Source, i.Title = "account", titleOf(i.Type)+": "+name
	default:
		i.Source, i.Title = "account", titleOf(i.Type)
	}
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
		SELECT m.id, m.state, s.source_kind, s.source_id, m.sent_at FROM outbox m
		JOIN send s ON s.tenant_id = m.tenant_id AND s.id = m.send_id
		WHERE m.tenant_id = $1 AND m.contact_id = $2 AND m.sent_at IS NOT NULL
			AND (m.sent_at < $3 OR m.sent_at = $3 AND m.id < $4)
		ORDER BY m.sent_at DESC, m.id DESC LIMIT $5`, r.c.Tenant, r.c.ID, at, last, r.q.Limit+1)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		i := Item{Type: journal.EmailSent, Source: "email", Properties: json.RawMessage("{}")}
		var state string
		var from outbox.Source
		err := scan(&i.ID, &state, &from.Kind, &from.ID, sqldb.ToTime(&i.At))
		if state == "delivered" {
			i.Type = journal.EmailDelivered
		}
		i.Title = titleOf(i.Type)
		i.cameFrom(from)
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
		SELECT h.id, h.kind, h.class, COALESCE(h.url, ''), s.source_kind, s.source_id, h.at FROM hit h
		JOIN send s ON s.tenant_id = h.tenant_id AND s.id = h.send_id
		WHERE h.tenant_id = $1 AND h.contact_id = $2 AND (h.kind = 'open' OR h.url IS NOT NULL) AND (h.at < $3 OR h.at = $3 AND h.id < $4)
		ORDER BY h.at DESC, h.id DESC LIMIT $5`, r.c.Tenant, r.c.ID, at, last, r.q.Limit+1)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		i := Item{Type: journal.EmailOpened, Source: "email", Properties: json.RawMessage("{}")}
		var kind, url string
		var from outbox.Source
		err := scan(&i.ID, &kind, sqldb.ToText(&i.Classification), &url, &from.Kind, &from.ID, sqldb.ToTime(&i.At))
		if kind == "click" {
			i.Type = journal.EmailClicked
			text, _ := json.Marshal(map[string]string{"link_url": url}) // strings always encode
			i.Properties = text
		}
		i.Title = titleOf(i.Type)
		i.cameFrom(from)
		r.add(i)
		return err
	})
	return err
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

// sources loads the sources of the sends of journal entries.
func (r *reader) sources(ctx context.Context) error {
	var sends []id.Send
	for _, i := range r.found {
		if !i.send.IsZero() {
			sends = append(sends, i.send)
		}
	}
	from, err := outbox.Sources(ctx, r.db, r.tenant, sends)
	for at := range r.found {
		i := &r.found[at]
		i.cameFrom(from[i.send])
		i.send = id.Send{}
	}
	return err
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
