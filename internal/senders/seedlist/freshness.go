package seedlist

import "time"

// Freshness says whether a list is up to date.
type Freshness string

// The states of freshness, in their order in the life of a list.
const (
	NeverUpdated Freshness = "never_synced"
	NoRotation   Freshness = "no_rotation"
	Fresh        Freshness = "fresh"
	DueSoon      Freshness = "due_soon"
	Grace        Freshness = "grace"
	Stale        Freshness = "stale"
)

const (
	day     = 24 * time.Hour
	dueSoon = 5 * day // before the rotation
)

// RotatesAt returns when the list is due for an update, or nil.
func (l List) RotatesAt() *time.Time {
	if l.SeedsUpdatedAt == nil || l.RotationDays == nil {
		return nil
	}
	return new(l.SeedsUpdatedAt.Add(time.Duration(*l.RotationDays) * day))
}

// StaleAt returns from when on the list is stale, or nil.
func (l List) StaleAt() *time.Time {
	at := l.RotatesAt()
	if at != nil {
		*at = at.Add(time.Duration(l.GraceDays) * day)
	}
	return at
}

// Freshness returns the state of the list. The list is due soon in the last five days before its
// rotation, or in the second half of a period of less than ten days.
func (l List) Freshness(now time.Time) Freshness {
	rotates := l.RotatesAt()
	switch {
	case l.SeedsUpdatedAt == nil:
		return NeverUpdated
	case rotates == nil:
		return NoRotation
	case !now.Before(*l.StaleAt()):
		return Stale
	case !now.Before(*rotates):
		return Grace
	case !now.Before(rotates.Add(-min(dueSoon, time.Duration(*l.RotationDays)*day/2))):
		return DueSoon
	}
	return Fresh
}
