// Package preference shows the recipient of a mail which mail it gets, and stores what it chooses.
//
// A recipient chooses by category, and by email type for types that are in no category. What it chose
// is stored with the contact; the proof in package consent. A choice ends an unsubscription from all
// mail, but never a bounce, a complaint or an entry of the suppression list.
package preference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrGone means that the contact was deleted or anonymised.
var ErrGone = errors.New("the contact is gone")

// Item is a category, or an email type without one.
type Item struct {
	Category    id.Category
	TypeKey     string // empty for a category
	Name        string
	Description string
	Subscribed  bool // whether the recipient gets such mail
	OfMail      bool // whether the mail is one of these

	refused bool // by a choice for the item, whatever the contact's status
}

// Field returns the name of the item's form field: category.<id> or type.<type_key>.
func (i Item) Field() string {
	if i.TypeKey != "" {
		return "type." + i.TypeKey
	}
	return "category." + i.Category.String()
}

func (i Item) choice(subscribed bool) contact.Choice {
	return contact.Choice{TypeKey: i.TypeKey, Category: i.Category, Subscribed: subscribed}
}

// Choices are what the recipient of a mail gets.
type Choices struct {
	Items        []Item
	Unsubscribed bool // from all mail
	Stopped      bool // no mail is sent whatever is chosen, for example because of a bounce

	none bool // the contact gets no mail until it subscribes
}

// Left reports whether the recipient has left what the mail is of, or all mail, by a choice of its own.
func (c Choices) Left(everything bool) bool {
	of := c.OfMail()
	return c.Unsubscribed || !everything && of != nil && of.refused
}

// OfMail returns the item that the mail is of; nil: it has none, since its type was deleted.
func (c Choices) OfMail() *Item {
	if i := slices.IndexFunc(c.Items, func(i Item) bool { return i.OfMail }); i >= 0 {
		return &c.Items[i]
	}
	return nil
}

// Load returns the choices of the recipient of a mail of a type, which is zero if it was deleted. The
// error may be ErrGone.
func Load(ctx context.Context, db *sqldb.DB, m outbox.Record, typ sender.EmailType) (Choices, error) {
	out, err := load(ctx, db, m, typ)
	if err != nil && !errors.Is(err, ErrGone) {
		err = fmt.Errorf("load the preferences of a recipient: %w", err)
	}
	return out, err
}

func load(ctx context.Context, db *sqldb.DB, m outbox.Record, typ sender.EmailType) (Choices, error) {
	c, err := contact.ByID(ctx, db, m.Tenant, m.Contact)
	if errors.Is(err, contact.ErrNotFound) || err == nil && c.AnonymizedAt != nil {
		return Choices{}, ErrGone
	}
	if err != nil {
		return Choices{}, err
	}
	categories, err := sender.Categories(ctx, db, m.Tenant)
	if err != nil {
		return Choices{}, err
	}
	types, err := sender.EmailTypes(ctx, db, m.Tenant)
	if err != nil {
		return Choices{}, err
	}
	out := Choices{Unsubscribed: c.Status == contact.Unsubscribed || c.UnsubscribedAt != nil}
	switch c.Status {
	case contact.Bounced, contact.Complained, contact.Suppressed:
		out.Stopped = true
	}
	out.Stopped = out.Stopped || c.DoNotContact || c.DeliverabilityStatus == contact.Blocked
	out.none = out.Unsubscribed || c.Status == contact.Pending
	add := func(i Item, choice, given bool) {
		i.refused = given && !choice
		i.Subscribed = !i.refused && !out.none
		out.Items = append(out.Items, i)
	}
	used := map[id.Category]bool{} // by types that mail may have
	for _, t := range types {
		if t.Active || t.ID == typ.ID {
			used[t.Category] = true
		}
	}
	for _, k := range categories {
		if used[k.ID] {
			choice, given := c.CategorySubscriptions[k.ID]
			add(Item{Category: k.ID, Name: k.Name, Description: k.Description, OfMail: k.ID == typ.Category}, choice, given)
		}
	}
	for _, t := range types {
		if t.Category.IsZero() && (t.Active || t.ID == typ.ID) {
			choice, given := c.Subscriptions[t.Key]
			add(Item{TypeKey: t.Key, Name: t.DisplayName, Description: t.Description, OfMail: t.ID == typ.ID}, choice, given)
		}
	}
	return out, nil
}

// Action is a button of the page.
type Action string

// The buttons.
const (
	Save           Action = "save"
	UnsubscribeAll Action = "unsubscribe_all"
	Resubscribe    Action = "resubscribe" // to what the mail is of
)

// Answer is a submitted page.
type Answer struct {
	Action   Action
	Selected map[string]bool // by Item.Field
	Shown    []string        // fields; other items do not change. Empty: all
	Proof    consent.Proof   // with the text of the button
	Question string          // the text above the items
}

// Apply stores what the recipient of a mail chose, and returns the choices after that. It may be
// repeated. The error may be ErrGone.
func Apply(ctx context.Context, db *sqldb.DB, m outbox.Record, typ sender.EmailType, a Answer, now time.Time) (Choices, error) {
	var after Choices
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := load(ctx, tx, m, typ)
		if err != nil {
			return err
		}
		choices := a.choices(before)
		if len(choices) == 0 {
			after = before
			return nil
		}
		if _, err := track.RecordChoices(ctx, tx, m, choices, func(c contact.Choice) consent.Proof { return a.proof(before, c) }, now); err != nil {
			return err
		}
		after, err = load(ctx, tx, m, typ)
		return err
	})
	if errors.Is(err, contact.ErrNotFound) || errors.Is(err, contact.ErrAnonymized) {
		err = ErrGone
	}
	if err != nil && !errors.Is(err, ErrGone) {
		err = fmt.Errorf("store the preferences of a recipient: %w", err)
	}
	return after, err
}

// choices returns what an answer changes.
func (a Answer) choices(before Choices) []contact.Choice {
	switch a.Action {
	case UnsubscribeAll:
		return []contact.Choice{{}}
	case Resubscribe:
		if of := before.OfMail(); of != nil {
			return []contact.Choice{of.choice(true)}
		}
		return []contact.Choice{{Subscribed: true}}
	}
	var list []contact.Choice
	for _, i := range before.Items {
		if !i.Subscribed && a.selects(i) {
			list = append(list, i.choice(true))
		}
	}
	begins := before.none && len(list) > 0 // which must not bring back what is not selected
	for _, i := range before.Items {
		if !a.selects(i) && (i.Subscribed && a.shows(i) || begins && !i.refused) {
			list = append(list, i.choice(false))
		}
	}
	return list
}

func (a Answer) selects(i Item) bool { return a.shows(i) && a.Selected[i.Field()] }

func (a Answer) shows(i Item) bool { return len(a.Shown) == 0 || slices.Contains(a.Shown, i.Field()) }

// proof returns the proof of one choice: that of a box has the text above the boxes and its own.
func (a Answer) proof(shown Choices, c contact.Choice) consent.Proof {
	p := a.Proof
	if a.Action != Save {
		return p
	}
	p.Wording = a.Question
	for _, i := range shown.Items {
		if i.TypeKey == c.TypeKey && i.Category == c.Category {
			p.Wording += " " + i.Name
			if i.Description != "" {
				p.Wording += ": " + i.Description
			}
		}
	}
	return p
}
