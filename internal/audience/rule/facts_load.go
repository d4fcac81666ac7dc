package rule

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Load returns the subjects for Match, ordered by id; unknown ids are skipped. The number of
// statements does not depend on the number of contacts, so call it with pages.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) ([]Subject, error) {
	l := loader{db: db, tenant: tenant, byID: make(map[id.Contact]*Subject, len(ids))}
	contacts, err := contact.Load(ctx, db, tenant, ids)
	if err != nil || len(contacts) == 0 {
		return nil, err
	}
	l.sends = map[id.Send]Send{}
	for _, c := range contacts {
		l.byID[c.ID] = &Subject{Contact: c, History: History{Lists: map[id.Segment]time.Time{}, Sends: l.sends}}
	}
	l.ids = sqldb.List(db, ids)
	for _, read := range []func(context.Context) error{l.lists, l.messages, l.hits, l.loadJournalEvents, l.events, l.addresses, l.types} {
		if err := read(ctx); err != nil {
			return nil, fmt.Errorf("load the history of contacts: %w", err)
		}
	}
	out := make([]Subject, 0, len(contacts))
	for _, c := range ids {
		if s := l.byID[c]; s != nil {
			out = append(out, *s)
			delete(l.byID, c) // a duplicate id has one result
		}
	}
	return out, nil
}

// loader loads the histories of some contacts, one table at a time.
type loader struct {
	db     *sqldb.DB
	tenant id.Tenant
	ids    any // the contacts, as an argument from sqldb.List
	byID   map[id.Contact]*Subject
	sends  map[id.Send]Send
}

// each reads rows whose first column is the contact, scans the others into dest, and calls put with
// the contact's subject.
func (l *loader) each(rows *sqldb.Rows, err error, put func(s *Subject) error, dest ...any) error {
	var whose id.Contact
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		if err := scan(append([]any{&whose}, dest...)...); err != nil {
			return err
		}
		return put(l.byID[whose])
	})
	return err
}

func (l *loader) lists(ctx context.Context) error {
	var list id.Segment
	var at int64
	rows, err := l.db.Query(ctx, `
		SELECT contact_id, segment_id, added_at FROM segment_member
		WHERE tenant_id = $1 AND contact_id`+l.db.In(2), l.tenant, l.ids)
	return l.each(rows, err, func(s *Subject) error {
		s.Lists[list] = sqldb.Time(at)
		return nil
	}, &list, &at)
}

func (l *loader) messages(ctx context.Context) error {
	var m Message
	var variant sql.NullString
	var sent, ended sql.NullInt64
	rows, err := l.db.Query(ctx, `
		SELECT m.contact_id, m.id, m.send_id, x.variant_id, m.state, m.sent_at, COALESCE(n.ended_at, m.sent_at) FROM outbox AS m
		JOIN outbox_mix AS x ON x.tenant_id = m.tenant_id AND x.send_id = m.send_id AND x.n = m.mix
		LEFT JOIN outbox_note AS n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
		WHERE m.tenant_id = $1 AND m.contact_id`+l.db.In(2), l.tenant, l.ids)
	return l.each(rows, err, func(s *Subject) error {
		m.Variant, m.SentAt, m.EndedAt = variant.String, sqldb.NullTime(sent), sqldb.NullTime(ended)
		s.Messages = append(s.Messages, m)
		l.sends[m.Send] = Send{}
		return nil
	}, &m.ID, &m.Send, &variant, &m.State, &sent, &ended)
}

func (l *loader) hits(ctx context.Context) error {
	var h Hit
	var kind string
	var url sql.NullString
	var at, flags int64
	rows, err := l.db.Query(ctx, `
		SELECT h.contact_id, h.message_id, h.send_id, h.kind, h.url, h.at, h.class, COALESCE(e.flags, 0)
		FROM hit AS h LEFT JOIN engagement AS e ON e.tenant_id = h.tenant_id AND e.message_id = h.message_id
		WHERE h.tenant_id = $1 AND h.contact_id`+l.db.In(2)+` AND (h.kind = 'open' OR h.url IS NOT NULL)`, l.tenant, l.ids)
	return l.each(rows, err, func(s *Subject) error {
		h.Click, h.URL, h.At = kind == "click", url.String, sqldb.Time(at)
		h.Corroborated = track.Flags(flags)&track.Confirmed != 0
		s.Hits = append(s.Hits, h)
		l.sends[h.Send] = Send{}
		return nil
	}, &h.Message, &h.Send, &kind, &url, &at, &h.Class, &flags)
}

// The entries of a contact are read through the index journal_contact, whose predicate the
// statement must repeat verbatim. Further conditions on type are written as an expression (type ||
// ”), because PostgreSQL would otherwise choose journal_rare and read all such entries of the
// tenant.
const ofContacts = ` AND contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created') `

func (l *loader) loadJournalEvents(ctx context.Context) error {
	var t JournalEvent
	var what journal.Type
	var send id.Send
	var at int64
	inGroup, args := journal.InGroup(l.db, l.tenant, l.tenant, l.ids)
	rows, err := l.db.Query(ctx, `
		SELECT contact_id, type, message_id, send_id, occurred_at FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id`+l.db.In(2)+ofContacts+`
			AND type || '' IN ('email_complained', 'email_unsubscribed') AND message_id IS NOT NULL`, args...)
	return l.each(rows, err, func(s *Subject) error {
		t.Complaint, t.Send, t.At = what == journal.EmailComplained, send, sqldb.Time(at)
		s.Complaints = append(s.Complaints, t)
		l.sends[t.Send] = Send{}
		return nil
	}, &what, &t.Message, &send, &at)
}

func (l *loader) events(ctx context.Context) error {
	var h NamedEvent
	var at int64
	var data string
	inGroup, args := journal.InGroup(l.db, l.tenant, l.tenant, l.ids)
	rows, err := l.db.Query(ctx, `
		SELECT contact_id, type, name, occurred_at, COALESCE(data, '{}') FROM journal
		WHERE tenant_id = $1`+inGroup+` AND contact_id`+l.db.In(2)+ofContacts+`
			AND type IN ('event', 'page_viewed', 'form_submitted', 'sequence_enrolled', 'sequence_completed', 'sequence_exited')
			AND name IS NOT NULL
		ORDER BY occurred_at`, args...)
	return l.each(rows, err, func(s *Subject) error {
		h.At, h.Properties = sqldb.Time(at), nil
		if h.Type == journal.CustomEvent {
			var e journal.Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return fmt.Errorf("an event of contact %s: %w", s.Contact.ID, err)
			}
			h.Properties = e.Properties
		}
		s.Events = append(s.Events, h)
		return nil
	}, &h.Type, &h.Name, &at, &data)
}

// addresses loads data about the contacts' addresses.
func (l *loader) addresses(ctx context.Context) error {
	var suppressed bool
	var record, provider sql.NullString
	rows, err := l.db.Query(ctx, `
		SELECT c.id, x.email IS NOT NULL, d.mx_record, d.smtp_provider FROM contact AS c
		LEFT JOIN suppression AS x ON x.tenant_id = c.tenant_id AND x.email = c.email
		LEFT JOIN mail_domain AS d ON d.domain = c.email_domain
		WHERE c.tenant_id = $1 AND c.id`+l.db.In(2), l.tenant, l.ids)
	return l.each(rows, err, func(s *Subject) error {
		s.Suppressed, s.MXRecord, s.SMTPProvider = suppressed, record.String, provider.String
		return nil
	}, &suppressed, &record, &provider)
}

// types loads the sends that the other rows refer to.
func (l *loader) types(ctx context.Context) error {
	names := make([]id.Send, 0, len(l.sends))
	for s := range l.sends {
		names = append(names, s)
	}
	rows, err := l.db.Query(ctx, `
		SELECT id, email_type_id, source_kind, source_id FROM send WHERE tenant_id = $1 AND id`+l.db.In(2), l.tenant, sqldb.List(l.db, names))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var known Send
		err := scan(&send, &known.Type, &known.Source.Kind, &known.Source.ID)
		l.sends[send] = known
		return err
	})
	return err
}
