// Package activity tells what happened to a contact and what it did, newest
// first.
//
// Nothing is kept for that: it reads, and never writes, the contact's entries in
// the journal, its mails in the outbox, and its opens and clicks, which are hits.
// The names of broadcasts come from a function of the caller's.
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

// ID is the id of an item: of an entry of the journal, a message, a hit or, for its
// creation, the contact.
type ID = id.UUID[item]

type item struct{}

// idOf returns the id of the item that stands for a record.
func idOf[T ~[16]byte](record T) ID { return ID(record) }

// Item is one thing that happened.
type Item struct {
	ID             ID
	Type           journal.Type
	EventName      string // of a custom event
	At             time.Time
	Source         string // where it came from: email, website, form, api or account
	Title          string
	Properties     json.RawMessage // an object
	Broadcast      id.Broadcast
	send           id.Send // of which what it came from is still to be read
	Sequence       id.Sequence
	Classification track.Class // of an open or a click
}

// Position is a place in the list: behind an item.
type Position struct {
	At time.Time
	ID ID
}

// Query asks for a page.
type Query struct {
	Types []journal.Type // none: all
	After *Position
	Limit int
}

// Names returns the names of those of the broadcasts that exist.
type Names func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Broadcast) (map[id.Broadcast]string, error)

// List returns a page of what happened to a contact, and where the next begins.
func List(ctx context.Context, db *sqldb.DB, c contact.Contact, q Query, names Names) ([]Item, *Position, error) {
	r := reader{db: db, c: c, q: q, names: names}
	for _, read := range []func(context.Context) error{r.entries, r.mails, r.hits, r.creation} {
		if err := read(ctx); err != nil {
			return nil, nil, fmt.Errorf("list the activity of a contact: %w", err)
		}
	}
	slices.SortFunc(r.found, func(a, b Item) int {
		return cmp.Or(b.At.Compare(a.At), id.Compare(b.ID, a.ID))
	})
	var next *Position
	if len(r.found) > q.Limit {
		r.found = r.found[:q.Limit]
		last := r.found[q.Limit-1]
		next = &Position{last.At, last.ID}
	}
	if err := r.sources(ctx); err != nil {
		return nil, nil, fmt.Errorf("list the activity of a contact: %w", err)
	}
	return r.found, next, r.name(ctx)
}

// reader gathers the newest of each source; no page needs more of any.
type reader struct {
	db    *sqldb.DB
	c     contact.Contact
	q     Query
	names Names
	found []Item
}

// before are the parameters that begin a page.
func (r *reader) before() (int64, ID) {
	if r.q.After == nil {
		return 1 << 62, ID{}
	}
	return sqldb.Micros(r.q.After.At), r.q.After.ID
}

// wants reports whether any of the types is asked for.
func (r *reader) wants(types ...journal.Type) bool {
	return len(r.q.Types) == 0 || slices.ContainsFunc(types, func(t journal.Type) bool { return slices.Contains(r.q.Types, t) })
}

// add keeps an item that is asked for.
func (r *reader) add(i Item) {
	if r.wants(i.Type) {
		r.found = append(r.found, i)
	}
}

// told are the types that other sources tell more of.
const told = ` type NOT IN ('email_sent', 'email_delivered', 'contact_created') AND type NOT IN ('email_opened', 'email_clicked') `

func (r *reader) entries(ctx context.Context) error {
	at, last := r.before()
	only, args := "", []any{r.c.Tenant, r.c.ID, at, last, r.q.Limit + 1}
	if len(r.q.Types) > 0 {
		only = ` AND type` + r.db.In(6)
		args = append(args, sqldb.List(r.db, r.q.Types))
	}
	rows, err := r.db.Query(ctx, `
		SELECT id, type, COALESCE(name, ''), send_id, occurred_at, COALESCE(data, '{}') FROM journal
		WHERE tenant_id = $1`+journal.InGroup(r.db, r.c.Tenant)+` AND contact_id = $2 AND contact_id IS NOT NULL AND `+told+only+`
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

// describe says what an entry is about.
func (i *Item) describe(name string) {
	switch i.Type {
	case journal.CustomEvent:
		i.EventName, i.Source, i.Title = name, "api", name
		var said struct{ Properties json.RawMessage }
		if json.Unmarshal(i.Properties, &said) == nil && len(said.Properties) > 0 {
			i.Properties = said.Properties
		}
	case journal.PageViewed:
		i.Source, i.Title = "website", "Viewed "+name
	case journal.FormSubmitted:
		i.Source, i.Title = "form", "Submitted the form "+name
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		i.Sequence, i.Source, i.Title = id.Read[id.Sequence](name), "account", titleOf(i.Type)
	case journal.EmailBounced, journal.EmailComplained, journal.EmailUnsubscribed, journal.EmailFailed:
		i.Source, i.Title = "email", titleOf(i.Type)
	case journal.TagAdded, journal.TagRemoved:
		i.Source, i.Title = "account", titleOf(i.Type)+": "+name
	default:
		i.Source, i.Title = "account", titleOf(i.Type)
	}
}

// titleOf makes a sentence's beginning of a type: "Stage changed".
func titleOf(t journal.Type) string {
	s := strings.ReplaceAll(string(t), "_", " ")
	return strings.ToUpper(s[:1]) + s[1:]
}

// cameFrom notes what sent the mail that the item is about.
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
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (struct{}, error) {
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
		return struct{}{}, err
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
		WHERE h.tenant_id = $1 AND h.contact_id = $2 AND (h.at < $3 OR h.at = $3 AND h.id < $4)
		ORDER BY h.at DESC, h.id DESC LIMIT $5`, r.c.Tenant, r.c.ID, at, last, r.q.Limit+1)
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (struct{}, error) {
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
		return struct{}{}, err
	})
	return err
}

// creation is the first thing that happened.
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

// sources reads what sent the mails that entries of the journal are about.
func (r *reader) sources(ctx context.Context) error {
	var sends []id.Send
	for _, i := range r.found {
		if !i.send.IsZero() {
			sends = append(sends, i.send)
		}
	}
	from, err := outbox.Sources(ctx, r.db, r.c.Tenant, sends)
	for at := range r.found {
		i := &r.found[at]
		i.cameFrom(from[i.send])
		i.send = id.Send{}
	}
	return err
}

// name puts the names of broadcasts into the titles.
func (r *reader) name(ctx context.Context) error {
	var ids []id.Broadcast
	for _, i := range r.found {
		if !i.Broadcast.IsZero() {
			ids = append(ids, i.Broadcast)
		}
	}
	names, err := r.names(ctx, r.db, r.c.Tenant, ids)
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
