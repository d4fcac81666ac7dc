package recipient_test

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
	"github.com/packetboat/packetboat/internal/view/recipient"
)

var now = broadcasttest.Now

// post is an account with an open send to one contact.
type post struct {
	*testing.T
	*broadcasttest.Account
	reader  *recipient.Reader
	keys    *track.Keys
	send    id.Send
	contact contact.Contact
	node    *outbox.Node
}

// each runs f with two accounts on both databases. Each has a send to a contact of its own; the sends
// have the same id.
func each(t *testing.T, f func(p, other *post)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		keys, clock := track.NewKeys(broadcasttest.Box(t)), func() time.Time { return now }
		reader := &recipient.Reader{
			DB: db, Contents: &content.Cache{DB: db}, Senders: &render.Senders{DB: db, Now: clock},
			Renderer: &render.Renderer{Keys: keys, BaseURL: &url.URL{Scheme: "https", Host: "mail.example.net"}},
		}
		node := &outbox.Node{DB: db, Owner: "node"}
		if err := node.Renew(t.Context(), now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		send := id.New[id.Send]()
		open := func(slug string) *post {
			p := &post{T: t, Account: broadcasttest.New(t, db, slug), reader: reader, keys: keys, send: send, node: node}
			c, err := contact.Create(t.Context(), db, p.Tenant, "ann@"+slug+".example", contact.Change{Texts: map[contact.Text]*string{contact.FirstName: new("Ann of " + slug)}}, contact.Rules{}, now)
			p.must(err)
			p.contact = c
			p.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: p.Tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, now); err != nil {
					return err
				}
				frozen, err := content.Freeze(t.Context(), tx, p.Tenant, content.Source{
					Subject: "For {{ first_name }}", HTML: `<p>Hello {{ first_name }}, <a href="https://example.org/a">read</a></p>`, Tracking: true,
					Send: send, Context: content.Context{EmailType: p.Type.ID},
				}, now)
				if err != nil {
					return err
				}
				_, err = outbox.AddMessages(t.Context(), tx, p.Tenant, send, []outbox.Message{{
					Contact: c.ID, Email: c.Email, Content: frozen, Identity: p.Identity.ID, Lane: p.Lane.ID, DueAt: now,
				}})
				if err != nil {
					return err
				}
				return outbox.Start(t.Context(), tx, p.Tenant, send, now)
			}))
			return p
		}
		f(open("acme"), open("other"))
	})
}

func (p *post) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// try hands over the message, with a result at a time.
func (p *post) try(r outbox.Result, at time.Time) {
	p.Helper()
	items, err := p.node.Claim(p.Context(), p.Tenant, p.send, 1, at)
	if err != nil || len(items) != 1 {
		p.Fatalf("%d messages claimed, %v", len(items), err)
	}
	begun, err := p.node.Commit(p.Context(), nil, items, at)
	if err != nil || len(begun) != 1 {
		p.Fatalf("%d attempts begun, %v", len(begun), err)
	}
	r.Item, r.At = items[0], at
	_, err = p.node.Commit(p.Context(), []outbox.Result{r}, nil, at)
	p.must(err)
}

func (p *post) accept() {
	p.Helper()
	p.try(outbox.Result{State: outbox.Delivered, Answered: true, Code: 250, Reply: "queued as 7"}, now)
}

func (p *post) find() *recipient.Recipient {
	p.Helper()
	r, err := p.reader.Find(p.Context(), p.Tenant, p.send, p.contact.ID)
	p.must(err)
	return r
}

// TestOnlyRecipientsOfTheAccountAreFound asks for contacts that the send has no mail for.
func TestOnlyRecipientsOfTheAccountAreFound(t *testing.T) {
	each(t, func(p, other *post) {
		for name, c := range map[string]struct {
			send    id.Send
			contact id.Contact
		}{
			"nobody":              {p.send, id.New[id.Contact]()},
			"another send":        {id.New[id.Send](), p.contact.ID},
			"the other account's": {p.send, other.contact.ID},
		} {
			if r, err := p.reader.Find(p.Context(), p.Tenant, c.send, c.contact); !errors.Is(err, outbox.ErrNoRecipient) || r != nil {
				p.Errorf("%s: %+v, %v; want ErrNoRecipient", name, r, err)
			}
		}
	})
}

// TestAMailIsShownOnceAServerWasGivenIt looks before the first attempt, after one that was put off, and after the mail
// was accepted.
func TestAMailIsShownOnceAServerWasGivenIt(t *testing.T) {
	each(t, func(p, other *post) {
		if r := p.find(); r.Email != p.contact.Email || r.State != outbox.Queued || r.Mail != nil || len(r.Attempts) != 0 || len(r.Hits) != 0 {
			p.Errorf("before the first attempt: %+v", r)
		}
		later := now.Add(time.Minute)
		p.try(outbox.Result{State: outbox.Queued, Due: later, Answered: true, Code: 450, Enhanced: "4.2.1", Error: "try later"}, now)
		if r := p.find(); r.Mail == nil || len(r.Attempts) != 1 {
			p.Errorf("after an attempt that was put off: %+v", r)
		}
		p.must(p.node.Renew(p.Context(), later.Add(time.Minute)))
		p.try(outbox.Result{State: outbox.Delivered, Answered: true, Code: 250, Reply: "queued as 7"}, later)
		r := p.find()
		var attempts []string
		for _, a := range r.Attempts {
			attempts = append(attempts, fmt.Sprint(a.At.Sub(now), " ", a.Code, " ", a.Reply, " ", a.Lane == p.Lane.ID))
		}
		if diff := cmp.Diff([]string{"0s 450 4.2.1 try later true", "1m0s 250 queued as 7 true"}, attempts); diff != "" {
			p.Errorf("the attempts:\n%s", diff)
		}
		m := r.Mail
		if m == nil || m.Subject != "For Ann of acme" || m.FromName != "News" || m.From != "news@acme.example.com" || !strings.Contains(m.HTML, "Hello Ann of acme") || !strings.Contains(m.Text, "Hello Ann of acme") {
			p.Fatalf("the mail: %+v", m)
		}
		tokens := regexp.MustCompile(`/_q/(.)/([^"]+)"`).FindAllStringSubmatch(m.HTML, -1)
		if len(tokens) != 3 || strings.Contains(m.HTML, "/_q/o/") {
			p.Errorf("the mail has %d links and pages, want 3 and no pixel: %s", len(tokens), m.HTML)
		}
		for _, found := range tokens {
			kind := map[string]track.Kind{"c": track.ClickLink, "p": track.Preferences, "u": track.Unsubscribe}[found[1]]
			if token, err := p.keys.Verify(kind, found[2]); err != nil || !token.Preview {
				p.Errorf("following %s has effects: %+v, %v", found[0], token, err)
			}
		}
		if r := other.find(); r.Email != other.contact.Email || r.State != outbox.Queued || r.Mail != nil || len(r.Attempts) != 0 {
			p.Errorf("the other account's recipient: %+v", r)
		}
	})
}

// TestHitsAreThoseOfTheRecipient shows opens and clicks in order of time, and how many were deleted.
func TestHitsAreThoseOfTheRecipient(t *testing.T) {
	each(t, func(p, other *post) {
		for _, q := range []*post{p, other} {
			q.accept()
			message := q.find().ID
			hit := func(seconds int, address string) track.Hit {
				return track.Hit{Tenant: q.Tenant, Message: message, Method: "GET", At: now.Add(time.Duration(seconds) * time.Second), Click: address != "", URL: address}
			}
			hits := []track.Hit{hit(90, "https://example.org/a"), hit(30, "")}
			if q == other {
				hits = hits[1:]
			}
			for i := range hits {
				hits[i].Prepare()
			}
			q.must(q.DB.InTx(q.Context(), func(tx *sqldb.DB) error {
				if err := track.Record(q.Context(), tx, hits); err != nil {
					return err
				}
				found, err := track.LoadEvidence(q.Context(), tx, q.Tenant, []id.Message{message})
				if err != nil {
					return err
				}
				for i := range found.Hits {
					found.Hits[i].Class = track.Human
				}
				return found.ApplyVerdicts(q.Context(), found.Hits)
			}))
		}
		r := p.find()
		if len(r.Hits) != 2 || r.Hits[0].Click || r.Hits[1].URL != "https://example.org/a" || *r.Hits[1].SinceSent != 90*time.Second || r.Deleted != 0 {
			p.Errorf("the hits: %+v, %d deleted", r.Hits, r.Deleted)
		}
		_, err := track.Prune(p.Context(), p.DB, p.Tenant, now.Add(time.Minute), 10)
		p.must(err)
		if r := p.find(); len(r.Hits) != 1 || !r.Hits[0].Click || r.Deleted != 1 {
			p.Errorf("after retention: %+v, %d deleted", r.Hits, r.Deleted)
		}
		if r := other.find(); len(r.Hits) != 1 || r.Deleted != 0 {
			p.Errorf("the other account's hits: %+v, %d deleted", r.Hits, r.Deleted)
		}
	})
}

// TestMailsAreShownWithWhatIsLeft removes what a mail was made of.
func TestMailsAreShownWithWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		remove func(p *post) error
		want   string // the sender, the subject; empty: no mail
	}{
		"the contact was erased": {func(p *post) error {
			_, err := contact.Anonymize(p.Context(), p.DB, p.Tenant, []id.Contact{p.contact.ID}, nil, now)
			return err
		}, ""},
		"the content is gone": {func(p *post) error {
			_, err := p.DB.Exec(p.Context(), `DELETE FROM content WHERE tenant_id = $1`, p.Tenant)
			return err
		}, ""},
		"the identity was deleted": {func(p *post) error {
			return sender.DeleteIdentity(p.Context(), p.DB, p.Tenant, p.Identity.ID, usage.Finders{})
		}, " <>: For Ann of acme"},
		"the name is too long for a subject": {func(p *post) error {
			_, err := p.DB.Exec(p.Context(), `UPDATE contact SET first_name = $2 WHERE tenant_id = $1`, p.Tenant, strings.Repeat("long ", 1000))
			return err
		}, ""},
		"the name has changed": {func(p *post) error {
			_, err := p.DB.Exec(p.Context(), `UPDATE contact SET first_name = 'Eve' WHERE tenant_id = $1`, p.Tenant)
			return err
		}, "News <news@acme.example.com>: For Eve"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(p, other *post) {
				p.accept()
				other.accept()
				p.must(c.remove(p))
				r, got := p.find(), ""
				if r.Mail != nil {
					got = fmt.Sprintf("%s <%s>: %s", r.Mail.FromName, r.Mail.From, r.Mail.Subject)
				}
				if got != c.want || len(r.Attempts) != 1 {
					p.Errorf("the mail is %q with %d attempts, want %q with one", got, len(r.Attempts), c.want)
				}
				if r := other.find(); r.Mail == nil || r.Mail.Subject != "For Ann of other" {
					p.Errorf("the other account's mail: %+v", r.Mail)
				}
			})
		})
	}
}
