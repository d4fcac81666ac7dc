// Package search finds records of all kinds by their names, for a search box.
//
// Contacts are found by the index of the search for contacts; other records are few, and their names are
// compared one by one.
package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/library"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Type is a kind of record.
type Type string

// The types, in the order of results.
const (
	Contact    Type = "contact"
	Segment    Type = "segment"
	Broadcast  Type = "broadcast"
	Template   Type = "template"
	Block      Type = "block"
	Message    Type = "message"
	Sequence   Type = "sequence"
	Automation Type = "automation"
	Form       Type = "form"
	Domain     Type = "domain"
	Identity   Type = "identity"
)

// Types returns all types, in the order of results.
func Types() []Type {
	return []Type{Contact, Segment, Broadcast, Template, Block, Message, Sequence, Automation, Form, Domain, Identity}
}

// Limits of a search.
const (
	MaxText      = contactsearch.MaxSearch // characters
	DefaultLimit = 8                       // results of each type
	MaxLimit     = 25

	// maxCompared is how many of the newest records of a type are compared.
	maxCompared = 5000
	// maxContacts is how many of the newest contacts that match are ranked.
	maxContacts = 50
)

// Result is a record that was found.
type Result struct {
	Type     Type
	ID       string
	Title    string
	Subtitle string
	Status   string // empty: records of the type have none
	Match    *[2]int

	rank int
}

// Find returns up to limit records of each of some types, the best first. Nothing matches a text without
// words.
func Find(ctx context.Context, db *sqldb.DB, tenant id.Tenant, text string, types []Type, limit int) ([]Result, error) {
	f := finder{db: db, tenant: tenant, text: text, terms: contactsearch.Terms(text)}
	found := []Result{}
	if len(f.terms) == 0 {
		return found, nil
	}
	read := map[Type]func(context.Context) error{
		Contact: f.contacts, Segment: f.segments, Broadcast: f.broadcasts, Template: f.templates, Block: f.blocks, Message: f.messages,
		Sequence: f.sequences, Automation: f.automations, Form: f.forms, Domain: f.domains, Identity: f.identities,
	}
	for _, t := range Types() {
		if !slices.Contains(types, t) {
			continue
		}
		f.found = nil
		if err := read[t](ctx); err != nil {
			return nil, err
		}
		slices.SortStableFunc(f.found, func(a, b Result) int { return cmp.Compare(a.rank, b.rank) })
		found = append(found, f.found[:min(len(f.found), limit)]...)
	}
	return found, nil
}

// finder is the state of one search.
type finder struct {
	db     *sqldb.DB
	tenant id.Tenant
	text   string
	terms  []string
	found  []Result // of one type
}

// add adds a record if it matches by its title, its subtitle or one of the other texts.
func (f *finder) add(t Type, key interface{ String() string }, title, subtitle, status string, more ...string) {
	rank, at := match(f.terms, t == Contact, title, append(more, subtitle)...)
	if rank == nothing {
		if t != Contact {
			return
		}
		rank = other // it matches by a name that is not shown
	}
	r := Result{Type: t, ID: key.String(), Title: title, Subtitle: subtitle, Status: status, rank: rank}
	if at != nil {
		r.Match = &[2]int{at.Start, at.End}
	}
	f.found = append(f.found, r)
}

func (f *finder) contacts(ctx context.Context) error {
	page, err := contact.List(ctx, f.db, f.tenant, contact.Query{Selector: contact.Selector{Search: f.text}, Limit: maxContacts})
	if err != nil {
		return err
	}
	list := page.Contacts
	if strings.Contains(f.text, "@") { // it may be older than those
		c, err := contact.ByEmail(ctx, f.db, f.tenant, f.text)
		if err != nil && !errors.Is(err, contact.ErrNotFound) {
			return err
		}
		if err == nil && c.Status != contact.Suppressed && !slices.ContainsFunc(list, func(o contact.Contact) bool { return o.ID == c.ID }) {
			list = append([]contact.Contact{c}, list...)
		}
	}
	for _, c := range list {
		name, company := nameOf(c), ""
		if c.Company != nil {
			company = *c.Company
		}
		if name == "" {
			f.add(Contact, c.ID, c.Email, company, string(c.Status))
			continue
		}
		f.add(Contact, c.ID, name, c.Email, string(c.Status), company)
	}
	return nil
}

func nameOf(c contact.Contact) string {
	if c.FullName != nil && *c.FullName != "" {
		return *c.FullName
	}
	var parts []string
	for _, p := range []*string{c.FirstName, c.LastName} {
		if p != nil && *p != "" {
			parts = append(parts, *p)
		}
	}
	return strings.Join(parts, " ")
}

func (f *finder) segments(ctx context.Context) error {
	list, err := segment.List(ctx, f.db, f.tenant, segment.Filter{})
	for _, s := range list {
		f.add(Segment, s.ID, s.Name, s.Key, "", string(s.Type))
	}
	return err
}

func (f *finder) broadcasts(ctx context.Context) error {
	list, err := broadcast.Titles(ctx, f.db, f.tenant, maxCompared)
	for _, b := range list {
		f.add(Broadcast, b.ID, b.Name, b.Subject, string(b.Status))
	}
	return err
}

func (f *finder) templates(ctx context.Context) error {
	list, err := template.List(ctx, f.db, f.tenant, template.Filter{}, false)
	for _, t := range list {
		f.add(Template, t.ID, t.Name, t.Slug, "")
	}
	return err
}

func (f *finder) blocks(ctx context.Context) error {
	list, err := template.ListBlocks(ctx, f.db, f.tenant, template.Filter{}, false)
	for _, b := range list {
		status := "inactive"
		if b.Active {
			status = "active"
		}
		f.add(Block, b.ID, b.Name, b.Slug, status)
	}
	return err
}

func (f *finder) messages(ctx context.Context) error {
	list, _, err := library.List(ctx, f.db, f.tenant, library.Filter{Statuses: library.Statuses(), Limit: maxCompared})
	for _, e := range list {
		f.add(Message, e.ID, e.Name, e.Slug, string(e.Status))
	}
	return err
}

func (f *finder) sequences(ctx context.Context) error {
	list, err := sequence.List(ctx, f.db, f.tenant, sequence.Filter{})
	for _, s := range list {
		f.add(Sequence, s.ID, s.Name, "", string(s.Status))
	}
	return err
}

func (f *finder) automations(ctx context.Context) error {
	list, _, err := automation.List(ctx, f.db, f.tenant, automation.Query{Limit: maxCompared})
	for _, a := range list {
		f.add(Automation, a.ID, a.Name, "", string(a.Status))
	}
	return err
}

func (f *finder) forms(ctx context.Context) error {
	list, err := form.List(ctx, f.db, f.tenant, form.Draft, form.Published, form.Archived)
	for _, x := range list {
		f.add(Form, x.ID, x.Name, x.Slug, string(x.Status))
	}
	return err
}

func (f *finder) domains(ctx context.Context) error {
	list, err := sender.Domains(ctx, f.db, f.tenant)
	for _, d := range list {
		f.add(Domain, d.ID, d.Name, "", string(d.Status))
	}
	return err
}

func (f *finder) identities(ctx context.Context) error {
	list, err := sender.Identities(ctx, f.db, f.tenant)
	for _, i := range list {
		status := "inactive"
		if i.Active {
			status = "active"
		}
		f.add(Identity, i.ID, i.DisplayName, i.Address, status)
	}
	return err
}
