// Package broadcasttest gives a test a tenant that is able to send: an email
// type, a verified domain, a sender, a lane of type sink and a list.
package broadcasttest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Now is when these tests happen.
var Now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// By is the user who creates broadcasts.
var By = auth.Actor{Type: "api_key", ID: "key", Name: "test"}

// Account is a tenant that can send.
type Account struct {
	t        testing.TB
	DB       *sqldb.DB
	MJML     *mjml.Compiler
	Tenant   id.Tenant
	Type     sender.EmailType
	Domain   sender.Domain
	Identity sender.Identity
	Lane     lane.Config
	List     segment.Segment
}

// Box returns the secret key of these tests.
func Box(t testing.TB) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// New makes an account.
func New(t testing.TB, db *sqldb.DB, slug string) *Account {
	t.Helper()
	ctx, box := t.Context(), Box(t)
	a := &Account{t: t, DB: db, MJML: mjml.New()}
	t.Cleanup(a.MJML.Close)
	made, err := tenant.Create(ctx, db, slug, "Account "+slug, "UTC", Now)
	a.must(err)
	a.Tenant = made.ID
	a.Type, err = sender.CreateEmailType(ctx, db, a.Tenant, sender.EmailTypeFields{DisplayName: new("Newsletter")}, Now)
	a.must(err)
	domain := slug + ".example.com"
	_, err = sender.CreateDomain(ctx, db, box, a.Tenant, sender.DomainDraft{Domain: domain}, Now)
	a.must(err)
	a.Domain, err = sender.ForceVerify(ctx, db, a.Tenant, domain, "127.0.0.1:8080", Now)
	a.must(err)
	a.Identity = a.AddIdentity("news")
	a.Lane, err = lane.Create(ctx, db, box, a.Tenant, lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}, lane.Rules{}, Now)
	a.must(err)
	a.List = a.AddList("Readers")
	return a
}

// SendOf returns the send of a broadcast.
func (a *Account) SendOf(b id.Broadcast) id.Send {
	a.t.Helper()
	head, err := broadcast.Head(a.t.Context(), a.DB, a.Tenant, b)
	a.must(err)
	return head.Send
}

// Author writes at a time of the test's choice.
func (a *Account) Author(now time.Time) draft.Author {
	return draft.Author{DB: a.DB, MJML: a.MJML, Now: now}
}

func (a *Account) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// AddIdentity makes a sender of the account's email type.
func (a *Account) AddIdentity(local string) sender.Identity {
	a.t.Helper()
	i, err := sender.CreateIdentity(a.t.Context(), a.DB, a.Tenant, sender.IdentityFields{
		Address: new(local + "@" + a.Domain.Name), DisplayName: new("News"),
		EmailTypes: &[]id.EmailType{a.Type.ID}, Active: new(true),
	}, Now)
	a.must(err)
	return i
}

// AddList makes an empty list.
func (a *Account) AddList(name string) segment.Segment {
	a.t.Helper()
	s, err := segment.CreateList(a.t.Context(), a.DB, a.Tenant, segment.Change{Name: &name}, Now)
	a.must(err)
	return s
}

// AddContacts makes n contacts and puts them on a list.
func (a *Account) AddContacts(list id.Segment, prefix string, n int) []contact.Contact {
	a.t.Helper()
	made := make([]contact.Contact, n)
	ids := make([]id.Contact, n)
	for i := range n {
		c, err := contact.Create(a.t.Context(), a.DB, a.Tenant, fmt.Sprintf("%s%d@example.com", prefix, i), contact.Change{},
			contact.Rules{Listed: suppression.QueueListed}, Now)
		a.must(err)
		made[i], ids[i] = c, c.ID
	}
	_, err := segment.Add(a.t.Context(), a.DB, a.Tenant, list, segment.People{IDs: ids}, Now)
	a.must(err)
	return made
}

// Change returns what makes a complete broadcast to the account's list.
func (a *Account) Change() broadcast.Change {
	return broadcast.Change{
		Content: &draft.Change{Parts: map[draft.Field]*string{
			draft.Subject:  new("Spring news"),
			draft.BodyHTML: new(`<p>Hello {{ first_name }}, <a href="https://example.org/a">read on</a></p>`),
		}},
		EmailType: &a.Type.ID, Lane: &a.Lane.ID, Include: &[]id.Segment{a.List.ID},
		Start: &broadcast.Start{At: new(Now)},
	}
}

// Create makes a draft from Change and what edits does to it.
func (a *Account) Create(edits ...func(*broadcast.Change)) broadcast.Broadcast {
	a.t.Helper()
	ch := a.Change()
	for _, edit := range edits {
		edit(&ch)
	}
	b, err := broadcast.Create(a.t.Context(), a.Author(Now), a.Tenant, ch, By)
	a.must(err)
	return b
}

// Schedule makes a draft and schedules it.
func (a *Account) Schedule(edits ...func(*broadcast.Change)) broadcast.Broadcast {
	a.t.Helper()
	b := a.Create(edits...)
	a.must(broadcast.Schedule(a.t.Context(), a.DB, a.Tenant, b.ID, Now))
	return a.Load(b.ID)
}

// Load returns the current state of a broadcast.
func (a *Account) Load(bid id.Broadcast) broadcast.Broadcast {
	a.t.Helper()
	b, err := broadcast.Load(a.t.Context(), a.DB, a.Tenant, bid)
	a.must(err)
	return b
}
