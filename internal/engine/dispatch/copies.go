package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/route"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// copyPage is how many seed copies one transaction adds.
const copyPage = 1000

// addCopies adds the next page of the seed copies of a prepared broadcast. It reports whether there
// are more.
func (e *Engine) addCopies(ctx context.Context, run broadcast.Run) (more bool, err error) {
	b, err := broadcast.Head(ctx, e.DB, run.Tenant, run.Broadcast)
	if err != nil {
		return false, err
	}
	terms, err := outbox.LoadTerms(ctx, e.DB, b.Tenant, b.Send)
	if err != nil {
		return false, err
	}
	states, err := lane.StatesOf(ctx, e.DB, b.Tenant, route.Lanes(terms.Routes))
	if err != nil {
		return false, err
	}
	c := copies{b: b, contents: run.Contents, picker: route.NewPicker(terms.Routes), down: map[id.Lane]bool{}}
	for l, health := range states {
		c.down[l] = health.State == lane.Down
	}
	more, err = run.AddCopies(ctx, e.DB, copyPage, e.Now(), c.messages)
	if err == nil && !more {
		e.Log.Info("seed copies added", "tenant", b.Tenant, "broadcast", b.ID)
	}
	return more, err
}

// copies makes the seed copies of a broadcast.
type copies struct {
	b        broadcast.Broadcast
	contents map[string]id.Content // by variant
	picker   *route.Picker
	down     map[id.Lane]bool
}

// messages returns the copies for seeds: one from each identity in use, without addresses that are
// suppressed or those of contacts. A seed gets the same variant as a contact with its id would.
func (c copies) messages(ctx context.Context, tx *sqldb.DB, s broadcast.Seeding, seeds []seedlist.Seed) ([]outbox.Message, error) {
	emails := make([]string, len(seeds))
	for i, seed := range seeds {
		emails[i] = seed.Email
	}
	listed, err := suppression.Listed(ctx, tx, c.b.Tenant, emails)
	if err != nil {
		return nil, err
	}
	contacts, err := seedlist.WithContacts(ctx, tx, c.b.Tenant, seeds)
	if err != nil {
		return nil, err
	}
	var list []outbox.Message
	for _, seed := range seeds {
		if listed[seed.Email] || contacts[seed.Email] {
			continue
		}
		to := outbox.ForSeed(seed.ID)
		variant := c.b.Assign(to)
		// All that a copy consists of is derived from ids. A page that is made again after a crash has the
		// same visits, which the outbox leaves out, and the same times.
		for n, identity := range s.Identities {
			hash := sha256.Sum256([]byte(s.Send.String() + ":" + seed.ID.String() + ":" + identity.String()))
			list = append(list, outbox.Message{
				Contact: to, Visit: n, Email: seed.Email, Content: c.contents[variant], ContentVersion: c.b.ContentVersion, Variant: variant,
				Identity: identity, Lane: c.picker.Pick(to, identity, c.down).Lane, DueAt: s.DueTime(binary.BigEndian.Uint64(hash[:])),
			})
		}
	}
	return list, nil
}
