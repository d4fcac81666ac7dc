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
// change, since they had these revisions, at a time when the journal ended at pos. What the program does with each contact, such as to
// count it in a segment, is nothing. It locks the contacts.
func Unclaimed(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, revisions map[id.Contact]int64, at time.Time, pos int64) (free []Contact, kept map[id.Contact]Kept, err error) {
	ids := make([]id.Contact, 0, len(revisions))
	for c := range revisions {
		ids = append(ids, c)
	}
	slices.SortFunc(ids, id.Compare)
	seen, err := lockSeen(ctx, tx, tenant, ids, ids, at, pos)
	if err != nil {
		return nil, nil, fmt.Errorf("find contacts with which nothing happened: %w", err)
	}
	kept = map[id.Contact]Kept{}
	for i := range seen.list {
		c := &seen.list[i]
		if why := seen.claim(c, revisions[c.ID], at); why != "" {
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

// lockSeen locks contacts, and reads what happened with those of them that are asked for.
func lockSeen(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ids, asked []id.Contact, at time.Time, pos int64) (s seen, err error) {
	if s.list, err = lockByID(ctx, tx, tenant, ids); err != nil || len(asked) == 0 {
		return s, err
	}
	if s.since, err = journal.Since(ctx, tx, tenant, asked, pos); err != nil {
		return s, err
	}
	s.mailed = map[id.Contact]bool{}
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT contact_id FROM outbox
		WHERE tenant_id = $1 AND contact_id`+tx.In(2)+` AND (state = 'queued' OR sent_at >= $3)`, tenant, sqldb.List(tx, asked), sqldb.Micros(at))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		s.mailed[c] = true
		return err
	})
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
