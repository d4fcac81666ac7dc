package recipient_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// printed is the subject of the mails of these tests.
const printed = `{{ first_name }}/{{ plan }}/{{ tags | join: "+" }}/{{ email }}/{{ email_domain }}`

// eachQuiet runs f with two accounts, without mails that wait.
func eachQuiet(t *testing.T, f func(p, other *post)) {
	t.Helper()
	each(t, func(p, other *post) {
		for _, q := range []*post{p, other} {
			for _, text := range []string{`UPDATE outbox SET state = 'cancelled' WHERE tenant_id = $1`, `DELETE FROM send_ready WHERE tenant_id = $1`} {
				_, err := q.DB.Exec(q.Context(), text, q.Tenant)
				q.must(err)
			}
		}
		f(p, other)
	})
}

// mail is a mail that an engine has claimed.
type mail struct {
	*post
	send  id.Send
	item  outbox.Item
	began time.Time
}

// claim sends a mail with a subject to the contact, up to where it has been rendered, as engine/deliver does.
func (p *post) claim(subject string, at time.Time) *mail {
	p.Helper()
	m := &mail{post: p, send: id.New[id.Send](), began: at}
	p.must(p.DB.InTx(p.Context(), func(tx *sqldb.DB) error {
		if err := outbox.Create(p.Context(), tx, outbox.Send{Tenant: p.Tenant, ID: m.send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, at); err != nil {
			return err
		}
		frozen, err := content.Freeze(p.Context(), tx, p.Tenant, content.Source{Subject: subject, HTML: `<p>Hello</p>`, Send: m.send, Context: content.Context{EmailType: p.Type.ID}}, at)
		if err != nil {
			return err
		}
		_, err = outbox.AddMessages(p.Context(), tx, p.Tenant, m.send, []outbox.Message{{
			Contact: p.contact.ID, Email: p.now().Email, Content: frozen, Identity: p.Identity.ID, Lane: p.Lane.ID, DueAt: at,
		}})
		if err != nil {
			return err
		}
		return outbox.Start(p.Context(), tx, p.Tenant, m.send, at)
	}))
	m.take(at)
	return m
}

// take claims the mail and reads the contact's values.
func (m *mail) take(at time.Time) {
	m.Helper()
	m.must(m.node.Renew(m.Context(), at.Add(time.Minute)))
	items, err := m.node.Claim(m.Context(), m.Tenant, m.send, 1, at)
	if err != nil || len(items) != 1 {
		m.Fatalf("%d messages claimed, %v", len(items), err)
	}
	m.item = items[0]
	c, err := m.reader.Contents.Get(m.Context(), m.Tenant, m.item.Content)
	m.must(err)
	people, err := contact.Recipients(m.Context(), m.DB, m.Tenant, []id.Contact{m.contact.ID}, render.Reads(c))
	m.must(err)
	m.item.ContactVersion = people[0].Version
}

// end makes the attempt and stores its result.
func (m *mail) end(r outbox.Result, at time.Time) *mail {
	m.Helper()
	begun, err := m.node.Commit(m.Context(), nil, []outbox.Item{m.item}, at)
	if err != nil || len(begun) != 1 {
		m.Fatalf("%d attempts begun, %v", len(begun), err)
	}
	r.Item, r.At = m.item, at
	_, err = m.node.Commit(m.Context(), []outbox.Result{r}, nil, at)
	m.must(err)
	return m
}

var accepted = outbox.Result{State: outbox.Delivered, Answered: true, Code: 250}

// mailed sends a mail that is accepted at once.
func (p *post) mailed(subject string, at time.Time) *mail {
	p.Helper()
	return p.claim(subject, at).end(accepted, at)
}

// follow lets the contact's activity count what was sent.
func (p *post) follow() {
	p.Helper()
	p.must((&journal.Engine{DB: p.DB, Followers: []journal.Follower{contact.Follower()}}).Drain(p.Context()))
}

// change changes the contact.
func (p *post) change(ch contact.Change, at time.Time) {
	p.Helper()
	list, err := contact.SaveAll(p.Context(), p.DB, p.Tenant, []contact.Draft{{ID: p.contact.ID, Change: ch}}, contact.Rules{}, at)
	p.must(err)
	p.must(list[0].Err)
}

func name(s string) contact.Change {
	return contact.Change{Texts: map[contact.Text]*string{contact.FirstName: &s}}
}

// now returns the contact as it is.
func (p *post) now() contact.Contact {
	p.Helper()
	c, err := contact.ByID(p.Context(), p.DB, p.Tenant, p.contact.ID)
	p.must(err)
	return c
}

// shown returns the subject of the mail, and with which values it was rendered.
func (m *mail) shown() string {
	m.Helper()
	r, err := m.reader.Find(m.Context(), m.Tenant, m.send, m.contact.ID)
	m.must(err)
	if r.Mail == nil {
		return ""
	}
	return r.Mail.Subject + " " + string(r.Mail.RenderedWith)
}

// stored returns the number of versions that are stored of the account's contacts.
func (p *post) stored() (n int) {
	p.Helper()
	p.must(p.DB.QueryRow(p.Context(), `SELECT COUNT(*) FROM contact_version WHERE tenant_id = $1`, p.Tenant).Scan(&n))
	return n
}

// planned gives the account a custom field, and the contact a value of each kind that mails print.
func (p *post) planned() {
	p.Helper()
	_, err := contact.CreateField(p.Context(), p.DB, p.Tenant, field.Draft{Key: "plan", Name: "Plan", Type: field.String}, now)
	p.must(err)
	ch := name("Ann")
	ch.CustomFields, ch.Tags = map[string]any{"plan": "gold"}, &[]string{"vip"}
	p.change(ch, now.Add(-time.Minute))
}

func minutes(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }

// TestAMailIsShownWithTheValuesItWasSentWith changes each kind of value after a mail was sent, before and after it was
// counted. The other account's contact has the same id.
func TestAMailIsShownWithTheValuesItWasSentWith(t *testing.T) {
	for what, c := range map[string]struct {
		change contact.Change
		later  string // what a mail says that is sent after the change
		stored int
	}{
		"a text":         {name("Eve"), "Eve/gold/vip/ann@acme.example/acme.example", 1},
		"a custom field": {contact.Change{CustomFields: map[string]any{"plan": nil}}, "Ann//vip/ann@acme.example/acme.example", 1},
		"a tag":          {contact.Change{Tags: &[]string{"old"}}, "Ann/gold/vip+old/ann@acme.example/acme.example", 1},
		"the address":    {contact.Change{Email: new("eve@acme.test")}, "Ann/gold/vip/eve@acme.test/acme.test", 0},
		"nothing":        {name("Ann"), "Ann/gold/vip/ann@acme.example/acme.example", 0},
	} {
		for _, followed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, counted %t", what, followed), func(t *testing.T) {
				eachQuiet(t, func(p, other *post) {
					_, err := p.DB.Exec(p.Context(), `UPDATE contact SET id = $2 WHERE tenant_id = $1`, other.Tenant, p.contact.ID)
					p.must(err)
					other.contact.ID = p.contact.ID
					p.planned()
					other.planned()
					before, others := p.mailed(printed, now), other.mailed(printed, now)
					if followed {
						p.follow()
					}
					p.change(c.change, minutes(1))
					after := p.mailed(printed, minutes(2))
					for m, want := range map[*mail]string{
						before: "Ann/gold/vip/ann@acme.example/acme.example sent", after: c.later + " sent",
						others: "Ann/gold/vip/ann@other.example/other.example sent",
					} {
						if got := m.shown(); got != want {
							t.Errorf("shown %q, want %q", got, want)
						}
					}
					if n := p.stored(); n != c.stored || other.stored() != 0 {
						t.Errorf("%d versions are stored, want %d; %d of the other account", n, c.stored, other.stored())
					}
				})
			})
		}
	}
}

// TestVersionsAreStoredOnlyForMails makes several changes between several mails.
func TestVersionsAreStoredOnlyForMails(t *testing.T) {
	eachQuiet(t, func(p, _ *post) {
		p.change(name("A"), minutes(1)) // no mail was sent
		first := p.mailed("{{ first_name }}", minutes(2))
		second := p.mailed("{{ first_name }}", minutes(3))
		p.follow()
		p.must(contact.Unsubscribe(p.Context(), p.DB, p.Tenant, p.contact.ID, contact.UnsubscribeScope{TypeKey: "news"}, minutes(4))) // no mail prints it
		for i, n := range []string{"B", "C", "D"} {
			p.change(name(n), minutes(5+i))
		}
		third := p.mailed("{{ first_name }}", minutes(10))
		p.follow()
		_, err := contact.Delete(p.Context(), p.DB, p.Tenant, []id.Contact{p.contact.ID}, minutes(11))
		p.must(err)
		p.change(name("E"), minutes(12))
		p.change(name("F"), minutes(13))
		var got []string
		for _, m := range []*mail{first, second, third} {
			got = append(got, m.shown())
		}
		if diff := cmp.Diff([]string{"A sent", "A sent", "D sent"}, got); diff != "" {
			t.Errorf("the mails:\n%s", diff)
		}
		if n := p.stored(); n != 2 {
			t.Errorf("%d versions are stored, want 2", n)
		}
	})
}

// TestAContactThatChangesInTheMiddleOfASend changes it while a server is being asked.
func TestAContactThatChangesInTheMiddleOfASend(t *testing.T) {
	eachQuiet(t, func(p, _ *post) {
		p.change(name("A"), minutes(0))
		m := p.claim("{{ first_name }}", minutes(1))
		p.change(name("B"), minutes(2))
		if m.end(accepted, minutes(3)); m.shown() != "A sent" {
			t.Errorf("shown %q", m.shown())
		}
		// Two drafts of one contact in one transaction end one version.
		m = p.claim("{{ first_name }}", minutes(4))
		list, err := contact.SaveAll(p.Context(), p.DB, p.Tenant, []contact.Draft{{ID: p.contact.ID, Change: name("C")}, {ID: p.contact.ID, Change: name("D")}}, contact.Rules{}, minutes(5))
		p.must(err)
		if m.end(accepted, minutes(6)); m.shown() != "B sent" || list[1].Contact.Version != p.now().Version || p.stored() != 2 {
			t.Errorf("shown %q; the contact is %+v, %d versions are stored", m.shown(), list[1].Contact, p.stored())
		}
	})
}

// TestTheLastAttemptIsShown changes the contact between the attempts of a mail, and after a refusal.
func TestTheLastAttemptIsShown(t *testing.T) {
	eachQuiet(t, func(p, _ *post) {
		p.change(name("A"), minutes(0))
		m := p.claim("{{ first_name }}", minutes(1)).end(outbox.Result{State: outbox.Queued, Due: minutes(30), Answered: true, Code: 450}, minutes(1))
		p.change(name("B"), minutes(2))
		if got := m.shown(); got != "A sent" {
			t.Errorf("while it waits: %q", got)
		}
		m.take(minutes(31))
		m.end(outbox.Result{State: outbox.Bounced, BounceType: "hard", Answered: true, Code: 550}, minutes(31))
		p.follow()
		p.change(name("C"), minutes(32))
		if got := m.shown(); got != "B sent" {
			t.Errorf("after it bounced: %q", got)
		}
		// A process that dies in the middle of an attempt leaves open what it printed.
		m = p.claim("{{ first_name }}", minutes(33)).end(outbox.Result{State: outbox.Queued, Due: minutes(34), Answered: true, Code: 450}, minutes(33))
		m.take(minutes(35))
		_, err := p.node.Commit(p.Context(), nil, []outbox.Item{m.item}, minutes(35))
		p.must(err)
		if _, uncertain, err := (&outbox.Node{DB: p.DB, Owner: "next"}).Reap(p.Context(), minutes(36), true); err != nil || uncertain != 1 {
			t.Fatalf("%d messages are uncertain, %v", uncertain, err)
		}
		if got := m.shown(); got != "C current" {
			t.Errorf("after a crash: %q", got)
		}
	})
}

// TestMailsWhoseValuesAreGoneAreShownWithTodays removes what is stored, or never stores it.
func TestMailsWhoseValuesAreGoneAreShownWithTodays(t *testing.T) {
	for what, c := range map[string]struct {
		subject string
		act     func(p *post)
		want    string
		stored  int
	}{
		"the mail is older than versions": {"{{ first_name }}", func(p *post) {
			_, err := p.DB.Exec(p.Context(), `UPDATE outbox SET contact_version = NULL WHERE tenant_id = $1`, p.Tenant)
			p.must(err)
		}, "Eve current", 1},
		"just within retention": {"{{ first_name }}", func(p *post) {
			n, err := contact.PruneVersions(p.Context(), p.DB, p.Tenant, minutes(1), 10)
			p.must(err)
			if n != 0 {
				p.Errorf("%d versions deleted", n)
			}
		}, "Ann sent", 1},
		"retention": {"{{ first_name }}", func(p *post) {
			n, err := contact.PruneVersions(p.Context(), p.DB, p.Tenant, minutes(2), 10)
			p.must(err)
			if n != 1 {
				p.Errorf("%d versions deleted", n)
			}
		}, "Eve current", 0},
		"anonymised": {"{{ first_name }}", func(p *post) {
			_, err := contact.Anonymize(p.Context(), p.DB, p.Tenant, []id.Contact{p.contact.ID}, nil, minutes(2))
			p.must(err)
		}, "", 0},
		"a field was deleted that the mail prints": {"{{ plan }}", func(p *post) {
			fields, err := field.List(p.Context(), p.DB, p.Tenant)
			p.must(err)
			p.must(contact.DeleteField(p.Context(), p.DB, p.Tenant, fields[0].ID, usage.Finders{}, minutes(2)))
		}, "None current", 0},
		"it prints a score":          {"{{ prospect_score }} {{ first_name }}", func(p *post) {}, "0.0 Ann current", 1},
		"it prints when it was made": {"{{ created_at | date: '%Y' }} {{ first_name }}", func(p *post) {}, "2026 Ann sent", 1},
		"it prints the status": {"{{ global_status }} {{ do_not_contact }}", func(p *post) {
			p.change(contact.Change{DoNotContact: new(true)}, minutes(2))
			_, err := contact.Delete(p.Context(), p.DB, p.Tenant, []id.Contact{p.contact.ID}, minutes(3))
			p.must(err)
		}, "active false sent", 1},
	} {
		t.Run(what, func(t *testing.T) {
			eachQuiet(t, func(p, other *post) {
				for _, q := range []*post{p, other} {
					q.planned()
				}
				m, others := p.mailed(strings.Replace(c.subject, "{{ plan }}", `{{ plan | default: "None" }}`, 1), now), other.mailed("{{ first_name }}", now)
				for _, q := range []*post{p, other} {
					q.change(name("Eve"), minutes(1))
				}
				c.act(p)
				if got := m.shown(); got != c.want || p.stored() != c.stored {
					t.Errorf("shown %q with %d versions stored, want %q with %d", got, p.stored(), c.want, c.stored)
				}
				if got := others.shown(); got != "Ann sent" || other.stored() != 1 {
					t.Errorf("the other account's mail is shown %q with %d versions stored", got, other.stored())
				}
			})
		})
	}
}

// TestWhatIsStoredOfAContactIsBounded mails and changes a contact often, and one with long values.
func TestWhatIsStoredOfAContactIsBounded(t *testing.T) {
	eachQuiet(t, func(p, _ *post) {
		var mails []*mail
		for i := range 25 {
			p.change(name(fmt.Sprint("A", i)), minutes(10*i))
			mails = append(mails, p.mailed("{{ first_name }}", minutes(10*i+1)))
		}
		p.follow()
		p.change(name("Z"), minutes(1000))
		if got := []string{mails[4].shown(), mails[5].shown(), mails[24].shown()}; !slices.Equal(got, []string{"Z current", "A5 sent", "A24 sent"}) || p.stored() != 20 {
			t.Errorf("the mails are shown %q, with %d versions stored", got, p.stored())
		}
		long := contact.Change{CustomFields: map[string]any{}}
		for i := range 6 {
			key := fmt.Sprint("long_", i)
			_, err := contact.CreateField(p.Context(), p.DB, p.Tenant, field.Draft{Key: key, Name: key, Type: field.String}, now)
			p.must(err)
			long.CustomFields[key] = strings.Repeat("x", 4000)
		}
		p.change(long, minutes(1001))
		m := p.mailed("{{ first_name }}", minutes(1002))
		if p.change(name("Y"), minutes(1003)); m.shown() != "Y current" {
			t.Errorf("with long values the mail is shown %q", m.shown())
		}
	})
}

// TestFormerValuesAreExported exports a person's data.
func TestFormerValuesAreExported(t *testing.T) {
	eachQuiet(t, func(p, other *post) {
		for _, q := range []*post{p, other} {
			q.planned()
			q.mailed("{{ first_name }}", now)
			q.change(name("Eve of "+string(q.Identity.Address)), minutes(1))
		}
		parts, err := contact.Personal(p.Context(), p.DB, p.now(), nil, outbox.Broadcasts)
		p.must(err)
		i := slices.IndexFunc(parts, func(r contact.PersonalRecord) bool { return r.Name == "former_values" })
		var got []string
		for v, err := range parts[i].Records {
			p.must(err)
			got = append(got, fmt.Sprintf("%+v", v))
		}
		want := []string{"{Version:2 UntilAt:" + minutes(1).String() + " Values:map[custom_fields:map[plan:gold] first_name:Ann tags:[vip]]}"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the former values:\n%s", diff)
		}
	})
}
