package rule_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// history is the contacts of a tenant and what happened to them, to be written to a database.
type history struct {
	tenant       id.Tenant
	people       []person
	mails        []sentMail
	hits         []rule.Hit
	hitContacts  []id.Contact // the contact of each hit
	corroborated map[id.Message]bool
	entries      []journal.Entry
	lists        map[id.Segment]map[id.Contact]time.Time
	sends        map[id.Send]rule.Send
	suppressed   []string // addresses
}

type person struct {
	id         id.Contact
	email      string
	types      string // JSON
	categories string
}

type sentMail struct {
	rule.Message
	contact id.Contact
}

// offersConsent returns the JSON of a consent to the category of offers.
func offersConsent(consent bool) string {
	return encoded(map[id.Category]bool{idtest.Named[id.Category]("offers"): consent})
}

func newHistory() *history {
	return &history{
		tenant: idtest.Tenant(), corroborated: map[id.Message]bool{},
		lists: map[id.Segment]map[id.Contact]time.Time{}, sends: map[id.Send]rule.Send{},
	}
}

// addPerson adds a contact.
func (p *history) addPerson(name string) id.Contact {
	c := person{id.New[id.Contact](), name + "@example.org", "{}", "{}"}
	p.people = append(p.people, c)
	return c.id
}

// addMail adds a delivered message.
func (p *history) addMail(c id.Contact, send id.Send, at time.Time) *sentMail {
	p.mails = append(p.mails, sentMail{rule.Message{ID: id.New[id.Message](), Send: send, State: outbox.Delivered, SentAt: &at, EndedAt: &at}, c})
	if _, ok := p.sends[send]; !ok {
		p.sends[send] = rule.Send{Source: outbox.FromBroadcast(id.New[id.Broadcast]())}
	}
	return &p.mails[len(p.mails)-1]
}

func (p *history) addHit(m *sentMail, click bool, class track.Class, at time.Time) *rule.Hit {
	h := rule.Hit{Message: m.ID, Send: m.Send, Click: click, Class: class, At: at}
	if click {
		h.URL = "https://example.org/a"
	}
	p.hits, p.hitContacts = append(p.hits, h), append(p.hitContacts, m.contact)
	return &p.hits[len(p.hits)-1]
}

func (p *history) addOpen(m *sentMail, class track.Class, at time.Time) *rule.Hit {
	return p.addHit(m, false, class, at)
}

func (p *history) addClick(m *sentMail, class track.Class, at time.Time) *rule.Hit {
	return p.addHit(m, true, class, at)
}

func (p *history) addReport(m *sentMail, what journal.Type, at time.Time) {
	p.entries = append(p.entries, journal.Entry{
		Tenant: p.tenant, Type: what, Contact: m.contact, Send: m.Send, Message: m.ID, At: at,
	})
}

func (p *history) addEvent(c id.Contact, what journal.Type, name string, at time.Time, properties map[string]any) {
	e := journal.Entry{Tenant: p.tenant, Type: what, Name: name, Contact: c, At: at}
	if what == journal.CustomEvent {
		e.Data = journal.Event{Properties: properties}
	}
	p.entries = append(p.entries, e)
}

func (p *history) addToList(c id.Contact, list id.Segment, at time.Time) {
	if p.lists[list] == nil {
		p.lists[list] = map[id.Contact]time.Time{}
	}
	p.lists[list][c] = at
}

// write stores the history in the tables that the program uses.
func (p *history) write(t testing.TB, db *sqldb.DB) {
	t.Helper()
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		for _, f := range []func(testing.TB, *sqldb.DB) error{p.writePeople, p.writeMails, p.writeHits, p.writeLists} {
			if err := f(t, tx); err != nil {
				return err
			}
		}
		return journal.Append(t.Context(), tx, p.entries...)
	})
	if err != nil {
		t.Fatalf("write a history: %v", err)
	}
}

func (p *history) writePeople(t testing.TB, tx *sqldb.DB) error {
	v := tx.Table("id UUID", "email TEXT", "types JSONB", "categories JSONB")
	for _, c := range p.people {
		v.Add(c.id, c.email, c.types, c.categories)
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO contact (tenant_id, id, email, email_domain, custom_fields, tags, subscriptions, category_subscriptions,
			global_status, do_not_contact, prospect_score, customer_score, created_at, updated_at, search_text)
		SELECT $1, v.id, v.email, 'example.org', '{}', '[]', v.types, v.categories, 'active', FALSE, 0, 0, 0, 0, ''
		FROM `+v.As("v", 2), v.Args(p.tenant)...)
	if err != nil {
		return err
	}
	v = tx.Table("id UUID")
	for _, c := range p.people {
		v.Add(c.id)
	}
	_, err = tx.Exec(t.Context(), `
		INSERT INTO contact_activity (tenant_id, contact_id, last_activity_pending, total_emails_sent, total_emails_opened,
			total_emails_clicked, soft_bounces, listed, deliverability_status, deliverability_updated_at)
		SELECT $1, v.id, FALSE, 0, 0, 0, 0, FALSE, 'healthy', 0 FROM `+v.As("v", 2), v.Args(p.tenant)...)
	if err != nil {
		return err
	}
	v = tx.Table("email TEXT")
	for _, a := range p.suppressed {
		v.Add(a)
	}
	_, err = tx.Exec(t.Context(), `INSERT INTO suppression (tenant_id, email, created_at) SELECT $1, v.email, 0 FROM `+v.As("v", 2), v.Args(p.tenant)...)
	return err
}

func (p *history) writeMails(t testing.TB, tx *sqldb.DB) error {
	last := map[id.Send]int64{}
	v := tx.Table("id UUID", "send_id UUID", "contact_id UUID", "variant_id TEXT", "state TEXT", "sent_at BIGINT", "ended_at BIGINT")
	for _, m := range p.mails {
		v.Add(m.ID, m.Send, m.contact, sqldb.Null(m.Variant), m.State, sqldb.NullMicros(m.SentAt), sqldb.NullMicros(m.EndedAt))
		if m.SentAt != nil {
			last[m.Send] = max(last[m.Send], m.SentAt.UnixMicro())
		}
	}
	for _, text := range []string{
		`INSERT INTO outbox_mix (tenant_id, send_id, n, content_id, content_version, variant_id, identity_id)
		SELECT DISTINCT ` + tx.Param(1, "INTEGER") + `, v.send_id, COALESCE(ASCII(v.variant_id), 0), v.send_id, 1, v.variant_id, v.send_id FROM ` + v.As("v", 2),
		`INSERT INTO outbox (tenant_id, id, send_id, contact_id, email, mix, lane_id, state, due_at, sent_at)
		SELECT ` + tx.Param(1, "INTEGER") + `, v.id, v.send_id, v.contact_id, '', COALESCE(ASCII(v.variant_id), 0), v.id, v.state, 0, v.sent_at FROM ` + v.As("v", 2),
		`INSERT INTO outbox_note (tenant_id, send_id, contact_id, message_id, state, ended_at)
		SELECT ` + tx.Param(1, "INTEGER") + `, v.send_id, v.contact_id, v.id, v.state, v.ended_at FROM ` + v.As("v", 2) + `
		WHERE v.state NOT IN ('sent', 'delivered')`,
	} {
		if tx.Dialect() == sqldb.SQLite {
			text = strings.ReplaceAll(text, "ASCII(", "UNICODE(")
		}
		if _, err := tx.Exec(t.Context(), text, v.Args(p.tenant)...); err != nil {
			return err
		}
	}
	v = tx.Table("id UUID", "kind TEXT", "source_id UUID", "type_id UUID", "last BIGINT")
	for s, sent := range p.sends {
		v.Add(s, string(sent.Source.Kind), sent.Source.ID, sqldb.Null(sent.Type), sqldb.Null(last[s]))
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO send (tenant_id, id, source_kind, source_id, phase, opened_at, last_send_at, email_type_id)
		SELECT $1, v.id, v.kind, v.source_id, 'open', 0, v.last, v.type_id FROM `+v.As("v", 2), v.Args(p.tenant)...)
	return err
}

func (p *history) writeHits(t testing.TB, tx *sqldb.DB) error {
	v := tx.Table("id UUID", "send_id UUID", "message_id UUID", "contact_id UUID", "kind TEXT", "url TEXT", "at BIGINT", "class TEXT")
	for i, h := range p.hits {
		kind := "open"
		if h.Click {
			kind = "click"
		}
		v.Add(id.New[id.Hit](), h.Send, h.Message, p.hitContacts[i], kind, sqldb.Null(h.URL), h.At.UnixMicro(), h.Class)
	}
	_, err := tx.Exec(t.Context(), `
		INSERT INTO hit (tenant_id, id, send_id, message_id, contact_id, kind, url, at, method, agent, ip, prefetch, class)
		SELECT $1, v.id, v.send_id, v.message_id, v.contact_id, v.kind, v.url, v.at, '', '', '', FALSE, v.class
		FROM `+v.As("v", 2), v.Args(p.tenant)...)
	if err != nil {
		return err
	}
	v = tx.Table("message_id UUID", "flags BIGINT")
	for m, corroborated := range p.corroborated {
		flags := track.ApparentOpened | track.HumanOpened
		if corroborated {
			flags |= track.Confirmed
		}
		v.Add(m, flags)
	}
	_, err = tx.Exec(t.Context(), `
		INSERT INTO engagement (tenant_id, message_id, send_id, flags) SELECT $1, v.message_id, v.message_id, v.flags FROM `+v.As("v", 2),
		v.Args(p.tenant)...)
	return err
}

func (p *history) writeLists(t testing.TB, tx *sqldb.DB) error {
	for list, members := range p.lists {
		_, err := tx.Exec(t.Context(), `
			INSERT INTO segment (tenant_id, id, segment_key, name, type, tags, created_at, updated_at)
			VALUES ($1, $2, $3, '', 'static', '[]', 0, 0)`, p.tenant, list, list.String())
		if err != nil {
			return err
		}
		v := tx.Table("contact_id UUID", "added_at BIGINT")
		for c, at := range members {
			v.Add(c, at.UnixMicro())
		}
		_, err = tx.Exec(t.Context(), `
			INSERT INTO segment_member (tenant_id, segment_id, contact_id, added_at)
			SELECT $1, $2, v.contact_id, v.added_at FROM `+v.As("v", 3), v.Args(p.tenant, list)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// inSQL returns the contacts that a tree selects in the database, which are the same for a page of them.
func (p *history) inSQL(t testing.TB, db *sqldb.DB, tree rule.Tree, env rule.Env) map[id.Contact]bool {
	t.Helper()
	matched := p.selected(t, db, tree, env)
	env.Paged = true
	if page := p.selected(t, db, tree, env); !maps.Equal(page, matched) {
		t.Errorf("%+v selects %v, and of a page %v", tree, matched, page)
	}
	return matched
}

func (p *history) selected(t testing.TB, db *sqldb.DB, tree rule.Tree, env rule.Env) map[id.Contact]bool {
	t.Helper()
	cond, err := tree.Condition(db, env)
	if err != nil {
		t.Fatalf("render %+v: %v", tree, err)
	}
	args := []any{p.tenant}
	text := cond.Text(func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	})
	join := ""
	if cond.Activity {
		join = contact.WithActivity
	}
	rows, err := db.Query(t.Context(), `SELECT c.id FROM contact c`+join+` WHERE c.tenant_id = $1 AND (`+text+`)`, args...)
	matched := map[id.Contact]bool{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (c id.Contact, err error) {
		err = scan(&c)
		matched[c] = true
		return c, err
	})
	if err != nil {
		t.Fatalf("query %+v: %v\n%s", tree, err, text)
	}
	return matched
}

// inMemory returns the contacts that a tree matches in memory.
func (p *history) inMemory(t testing.TB, subjects []rule.Subject, tree rule.Tree, env rule.Env) map[id.Contact]bool {
	t.Helper()
	matched := map[id.Contact]bool{}
	for _, s := range subjects {
		if tree.Match(env, s) {
			matched[s.Contact.ID] = true
		}
	}
	return matched
}

func (p *history) load(t testing.TB, db *sqldb.DB) []rule.Subject {
	t.Helper()
	ids := make([]id.Contact, len(p.people))
	for i, c := range p.people {
		ids[i] = c.id
	}
	subjects, err := rule.Load(t.Context(), db, p.tenant, ids)
	if err != nil || len(subjects) != len(ids) {
		t.Fatalf("Load = %d subjects, %v; want %d", len(subjects), err, len(ids))
	}
	return subjects
}

// singleLeaf returns a tree of one condition.
func singleLeaf(c rule.Condition) rule.Tree {
	return rule.Tree{Root: rule.Group{Logic: rule.And, Conditions: []rule.Condition{c}}}
}

func TestLoadReadsContactsInOrderAndOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		p, other := newHistory(), newHistory()
		ann, bob := p.addPerson("ann"), p.addPerson("bob")
		cid := other.addPerson("cid")
		at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		m := p.addMail(ann, idtest.Named[id.Send]("spring"), at)
		p.corroborated[m.ID] = true
		p.addOpen(m, track.Human, at)
		p.addEvent(ann, journal.CustomEvent, "order_placed", at, map[string]any{"value": 5.0})
		p.suppressed = []string{"bob@example.org"}
		p.write(t, db)
		other.write(t, db)
		if _, err := db.Exec(t.Context(), `INSERT INTO mail_domain (domain, mx_record, smtp_provider, next_at, tries) VALUES ('example.org', 'mx.example.org', 'other', 0, 0)`); err != nil {
			t.Fatal(err)
		}
		got, err := rule.Load(t.Context(), db, p.tenant, []id.Contact{bob, cid, ann, bob, id.New[id.Contact]()})
		if err != nil || len(got) != 2 || got[0].Contact.ID != bob || got[1].Contact.ID != ann {
			t.Fatalf("Load = %+v, %v; want bob and ann", got, err)
		}
		if !got[0].Suppressed || got[1].Suppressed || got[0].SMTPProvider != "other" || got[0].MXRecord != "mx.example.org" {
			t.Errorf("wrong facts about the addresses: %+v", got)
		}
		if a := got[1]; len(a.Messages) != 1 || len(a.Hits) != 1 || !a.Hits[0].Corroborated || len(a.Events) != 1 || a.Events[0].Properties["value"] != 5.0 {
			t.Errorf("Load(ann) = %+v", a.History)
		}
		if none, err := rule.Load(t.Context(), db, p.tenant, nil); err != nil || len(none) != 0 {
			t.Errorf("Load of unknown ids = %v, %v", none, err)
		}
	})
}

// historyEnv returns the environment of the tests about history. The lists have the keys list-0,
// list-1, ….
func historyEnv(now time.Time, zone *time.Location, lists ...id.Segment) rule.Env {
	return rule.Env{Now: now, Schema: rule.Schema{
		Zone: zone,
		Types: contact.Types{
			EmailTypes: []contact.EmailType{{ID: idtest.Named[id.EmailType]("type-news"), Key: "news"}, {ID: idtest.Named[id.EmailType]("type-deals"), Key: "deals", Category: idtest.Named[id.Category]("offers")}},
			Categories: []id.Category{idtest.Named[id.Category]("offers")},
		},
		Segments: func(key string) (rule.SegmentRule, bool) {
			for i, l := range lists {
				if key == fmt.Sprintf("list-%d", i) {
					return rule.SegmentRule{ID: l, Key: key, Static: true}, true
				}
			}
			if key == "dynamic" {
				return rule.SegmentRule{ID: idtest.Named[id.Segment]("dynamic"), Key: key}, true
			}
			return rule.SegmentRule{}, false
		},
	}}
}
