package visitor

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// mayLink reports whether a link of a strength may be made: no stronger one to another contact
// was made in the present session. The browser of a person who signed in keeps that identity
// when another address is entered, and can become another person's later.
func (v *visitor) mayLink(s Strength) bool {
	return v.contact.IsZero() || s >= v.strength || v.linkedAt == nil || v.linkedAt.Before(v.session)
}

// link links the visitor to a contact. What was kept of an unknown visitor becomes the
// contact's. If the visitor was another contact's, its past stays with that one.
func (b *batch) link(ctx context.Context, v *visitor, c id.Contact, s Strength, at time.Time) error {
	if v.contact == c {
		v.strength, v.linkedAt = max(v.strength, s), new(at)
		return nil
	}
	if !v.mayLink(s) {
		return nil
	}
	if !v.contact.IsZero() {
		v.first, v.last = nil, nil
	}
	v.contact, v.strength, v.linkedAt = c, s, new(at)
	b.visit(c, contact.Visits{First: v.first.visit(), Last: v.last.visit()})
	if v.kept == 0 {
		return nil
	}
	return b.releaseKept(ctx, v)
}

// releaseKept attributes the kept requests of a visitor to its contact, also those that this
// batch has kept.
func (b *batch) releaseKept(ctx context.Context, v *visitor) error {
	list, bytes, err := takeKept(ctx, b.tx, b.account.ID, v.id)
	if err != nil {
		return err
	}
	for _, r := range list {
		b.done = append(b.done, attributed{v.contact, r})
	}
	b.add.kept -= int64(len(list))
	b.add.bytes -= bytes
	kept := b.kept[:0]
	for _, k := range b.kept {
		if k.visitor == v.id {
			b.done = append(b.done, attributed{v.contact, k.request})
			b.add.kept--
		} else {
			kept = append(kept, k)
		}
	}
	b.kept, v.kept = kept, 0
	return nil
}

// unlink makes the visitor unknown, as if it were seen for the first time.
func (v *visitor) unlink() {
	v.contact, v.strength, v.linkedAt = id.Contact{}, Unlinked, nil
	v.first, v.last, v.message, v.hit, v.claimedAt, v.claimDue = nil, nil, id.Message{}, id.Hit{}, nil, nil
}

// withdraw makes the visitor unknown if its link rests on a click that was not a person's.
func (v *visitor) withdraw(d verdict) {
	if v.strength == Clicked && v.contact == d.contact && v.linkedAt != nil && v.linkedAt.Equal(d.at) {
		message, hit, claimed, due := v.message, v.hit, v.claimedAt, v.claimDue
		v.unlink()
		v.message, v.hit, v.claimedAt, v.claimDue = message, hit, claimed, due
	}
}
