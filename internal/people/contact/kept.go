package contact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Kept is why an undo leaves something of a contact as it is.
type Kept string

// The reasons. KeptMailed to KeptEnrolled are about contacts that are deleted, or unconfirmed again, only if nothing
// happened with them.
const (
	KeptMailed     Kept = "mailed"     // the contact got a mail since, or is getting one
	KeptSubmitted  Kept = "submitted"  // it submitted a form or confirmed a subscription
	KeptEnrolled   Kept = "enrolled"   // it was added to a sequence
	KeptEvent      Kept = "event"      // it has an event or a page view
	KeptChanged    Kept = "changed"    // it was changed since: a field, a tag, a list, a subscription
	KeptRefusal    Kept = "refusal"    // it was recorded that the contact wants less mail, which no undo takes back
	KeptDeleted    Kept = "deleted"    // the contact is deleted
	KeptAnonymized Kept = "anonymized" // the contact is anonymised
	KeptInvalid    Kept = "invalid"    // the former value is not valid any more
	KeptWithdrawn  Kept = "withdrawn"  // the contact is withdrawn already
)

// Unclaimed returns which contacts have had nothing since they were created, and why others had: no mail, no event and no
// change, since they had these revisions and the journal ended at pos. What the program does with each contact, such as to
// count it in a segment, is nothing. It locks the contacts.
func Unclaimed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, revisions map[id.Contact]int64, pos int64, now time.Time) (free []Contact, kept map[id.Contact]Kept, err error) {
	ids := make([]id.Contact, 0, len(revisions))
	for c := range revisions {
		ids = append(ids, c)
	}
	slices.SortFunc(ids, id.Compare)
	seen, err := lockSeen(ctx, tx, tenant, ids, pos, now)
	if err != nil {
		return nil, nil, fmt.Errorf("find contacts with which nothing happened: %w", err)
	}
	kept = map[id.Contact]Kept{}
	for i := range seen.list {
		c := &seen.list[i]
		if why := seen.claim(c, revisions[c.ID], c.CreatedAt); why != "" {
			kept[c.ID] = why
			continue
		}
		free = append(free, *c)
	}
	return free, kept, nil
}

// seen is what is known about contacts that may be changed back. Their rows are locked.
type seen struct {
	list   []Contact
	mailed map[id.Contact]bool
	since  map[id.Contact][]journal.Type
}

func lockSeen(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids []id.Contact, pos int64, now time.Time) (s seen, err error) {
	p := &mergeState{b: &batch{tenant: tenant, now: micros(now)}}
	q := tx.Batch()
	p.mailing = queueMailing(q, tenant)
	if err := q.Run(ctx); err != nil {
		return s, err
	}
	if s.list, err = lockByID(ctx, tx, tenant, ids); err != nil || len(s.list) == 0 {
		return s, err
	}
	if s.mailed, err = p.beingMailed(ctx, tx, ids); err != nil {
		return s, err
	}
	s.since, err = journal.Since(ctx, tx, tenant, ids, pos)
	return s, err
}

// claim returns what happened with a contact since a time at which it had a revision; empty: nothing.
func (s seen) claim(c *Contact, revision int64, at time.Time) Kept {
	switch {
	case c.AnonymizedAt != nil:
		return KeptAnonymized
	case c.Withdrawn:
		return KeptWithdrawn
	case c.Status == Suppressed:
		return KeptDeleted
	case s.mailed[c.ID] || c.mailedSince(at):
		return KeptMailed
	}
	var worst Kept
	for _, t := range s.since[c.ID] {
		if why := claimOf(t); slices.Index(claims, why) > slices.Index(claims, worst) {
			worst = why
		}
	}
	if worst == "" && c.Revision != revision {
		return KeptChanged
	}
	return worst
}

// claims are the reasons that entries of the journal are, the most telling one last.
var claims = []Kept{"", KeptChanged, KeptEvent, KeptEnrolled, KeptSubmitted, KeptMailed}

// claimOf returns the reason that an entry is.
func claimOf(t journal.Type) Kept {
	switch t {
	case journal.SegmentEntered, journal.SegmentLeft, journal.DateReached, journal.ScoreChanged:
		return ""
	case journal.CustomEvent, journal.PageViewed:
		return KeptEvent
	case journal.FormSubmitted, journal.OptInRequested, journal.OptInConfirmed:
		return KeptSubmitted
	case journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited:
		return KeptEnrolled
	}
	if strings.HasPrefix(string(t), "email_") {
		return KeptMailed
	}
	return KeptChanged
}
