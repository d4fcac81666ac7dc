package broadcast

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SeedChoice are the seed lists that get copies of a broadcast; nil: those that are included by
// default, because they are attached to one of its senders.
type SeedChoice struct{ Lists *[]id.SeedList }

// checkSeedLists reports an id that is not that of a seed list.
func checkSeedLists(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c *SeedChoice) error {
	if c == nil || c.Lists == nil {
		return nil
	}
	wanted := distinct(*c.Lists)
	if len(wanted) <= seedlist.MaxLists {
		found, err := seedlist.ByIDs(ctx, db, tenant, wanted)
		if err != nil || len(found) == len(wanted) {
			return err
		}
	}
	return fault.Input(fault.Field{Path: "seed_list_ids", Message: "has ids that are not those of seed lists"})
}

// seedLists returns the seed lists that get copies of b.
func (b Broadcast) seedLists(ctx context.Context, db *sqldb.DB, facts func() (Preconditions, error)) ([]seedlist.List, error) {
	if b.SeedLists != nil {
		return seedlist.ByIDs(ctx, db, b.Tenant, *b.SeedLists)
	}
	lists, err := seedlist.All(ctx, db, b.Tenant)
	lists = slices.DeleteFunc(lists, func(l seedlist.List) bool { return !l.IncludeByDefault || len(l.Identities) == 0 })
	if err != nil || len(lists) == 0 {
		return nil, err
	}
	f, err := facts()
	if err != nil {
		return nil, err
	}
	senders := map[id.Identity]bool{}
	for _, c := range slices.Concat(f.Candidates, f.Paused) {
		senders[c.Identity.ID] = true
	}
	return slices.DeleteFunc(lists, func(l seedlist.List) bool {
		return !slices.ContainsFunc(l.Identities, func(i seedlist.Identity) bool { return senders[i.ID] })
	}), nil
}

// staleSeedLists returns the names of the seed lists of b that get no copies because they are stale.
func (f Preconditions) staleSeedLists(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) ([]string, error) {
	lists, err := b.seedLists(ctx, db, func() (Preconditions, error) { return f, nil })
	var names []string
	for _, l := range lists {
		if l.Freshness(now) == seedlist.Stale {
			names = append(names, l.Name)
		}
	}
	return names, err
}

// Seeding is the progress of adding the copies for seeds to a send of their own. It begins when the
// audience of the broadcast is in the outbox: then the identities in use are known.
type Seeding struct {
	Send       id.Send       `json:"send"`
	Lists      []id.SeedList `json:"lists"`                 // whose copies are to be added
	After      id.Seed       `json:"after,omitzero"`        // of the first list, the last seed processed
	Stale      int           `json:"stale_seeds,omitempty"` // number of active seeds of stale lists
	Identities []id.Identity `json:"identities,omitempty"`  // in use; each sends a copy to each seed
	From       time.Time     `json:"from,omitzero"`         // copies are due in the time after it,
	Length     time.Duration `json:"length,omitempty"`      // of this length
	Done       bool          `json:"done,omitempty"`        // all copies were added
}

// begun reports whether the send of the copies was created.
func (s *Seeding) begun() bool { return s != nil && !s.From.IsZero() }

// AwaitsCopies reports whether seed copies are to be added.
func (r Run) AwaitsCopies() bool { return r.Seeding != nil && !r.Seeding.Done }

// newSeeding returns the initial progress for b, which begins to be sent, or nil if no seed list is
// chosen. Which lists are stale is decided here.
func newSeeding(ctx context.Context, tx *sqldb.DB, b Broadcast, now time.Time) (*Seeding, error) {
	lists, err := b.seedLists(ctx, tx, func() (Preconditions, error) { return LoadPreconditions(ctx, tx, b) })
	if err != nil || len(lists) == 0 {
		return nil, err
	}
	s := &Seeding{Send: id.New[id.Send](), Lists: []id.SeedList{}}
	for _, l := range lists {
		if l.Freshness(now) == seedlist.Stale {
			s.Stale += l.Counts.Active
		} else if l.Counts.Active > 0 {
			s.Lists = append(s.Lists, l.ID)
		}
	}
	if len(s.Lists) == 0 && s.Stale == 0 {
		return nil, nil
	}
	return s, nil
}

// maxCopyTime is the time over which copies are spread at most.
const maxCopyTime = time.Hour

// copyRate is the assumed number of messages per second of a send without a limit, for the time over
// which its copies are spread. When a send has ended, its remaining copies are sent at once.
const copyRate = 20

// begin sets over which time copies are spread: while the messages of the broadcast are sent.
func (s *Seeding) begin(ctx context.Context, tx *sqldb.DB, b Broadcast, now time.Time) error {
	var err error
	if s.Identities, err = outbox.Senders(ctx, tx, b.Tenant, b.Send); err != nil {
		return err
	}
	p, err := outbox.Load(ctx, tx, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	at, err := outbox.Batches(ctx, tx, b.Tenant, b.Send, now)
	if err != nil {
		return err
	}
	s.From, s.Length = sqldb.Time(now.UnixMicro()), 0
	if at.Next != nil && !at.Overdue {
		s.From = at.Next.UTC()
	}
	if p.Phase != outbox.Done {
		rate := float64(copyRate)
		if b.Delivery.PerHour > 0 {
			rate = min(rate, float64(b.Delivery.PerHour)/maxCopyTime.Seconds())
		}
		s.Length = min(time.Duration(float64(p.Waiting)/rate*float64(time.Second)), maxCopyTime)
	}
	if at.Last != nil {
		s.Length = min(max(s.Length, at.Last.Sub(s.From)), maxCopyTime)
	}
	terms, err := outbox.LoadTerms(ctx, tx, b.Tenant, b.Send)
	if err != nil {
		return err
	}
	return outbox.Create(ctx, tx, outbox.Send{Tenant: b.Tenant, ID: s.Send, Source: outbox.FromSeedCopies(b.ID)}, outbox.Terms{Routes: terms.Routes}, now)
}

// AddCopies adds a page of the copies of a prepared broadcast. make returns the messages for some
// seeds. It reports whether there are more pages. Only the transaction that finds the progress as in r
// adds anything, so any number of processes may call it.
func (r Run) AddCopies(ctx context.Context, db *sqldb.DB, page int, now time.Time, make func(ctx context.Context, tx *sqldb.DB, s Seeding, seeds []seedlist.Seed) ([]outbox.Message, error)) (more bool, err error) {
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		more = false
		// The broadcast's row is the lock: two dispatchers, of which one has lost its leadership without
		// knowing it, add one page after the other, and the second reads where the first ended.
		b, err := lockBroadcast(ctx, tx, r.Tenant, r.Broadcast)
		if err != nil {
			return err
		}
		run, err := LoadRun(ctx, tx, r.Tenant, r.Broadcast)
		if err != nil || b.Status != Sending || run.PreparedAt == nil || run.EndedAt != nil || !run.AwaitsCopies() {
			return err
		}
		s := run.Seeding
		if !s.begun() {
			if err := s.begin(ctx, tx, b, now); err != nil {
				return err
			}
		}
		if len(s.Lists) > 0 && len(s.Identities) > 0 {
			limit := max(1, page/len(s.Identities))
			seeds, err := seedlist.ActiveSeeds(ctx, tx, r.Tenant, s.Lists[0], s.After, limit)
			if err != nil {
				return err
			}
			messages, err := make(ctx, tx, *s, seeds)
			if err != nil {
				return err
			}
			if _, err := outbox.AddMessages(ctx, tx, r.Tenant, s.Send, messages); err != nil {
				return err
			}
			// Behind the last seed that was read, not the last that got a copy: a page whose addresses are
			// all suppressed would be read for ever.
			if len(seeds) == limit {
				s.After = seeds[len(seeds)-1].ID
			} else {
				s.Lists, s.After = s.Lists[1:], id.Seed{}
			}
			more = len(s.Lists) > 0
		}
		s.Done = !more
		if err := run.writeSeeding(ctx, tx); err != nil || more {
			return err
		}
		return run.startCopies(ctx, tx, now)
	})
	if err != nil {
		return false, fmt.Errorf("add seed copies: %w", err)
	}
	return more, nil
}

func (r Run) writeSeeding(ctx context.Context, tx *sqldb.DB) error {
	doc, err := json.Marshal(r.Seeding)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE broadcast_run SET seeding = $3 WHERE tenant_id = $1 AND broadcast_id = $2`, r.Tenant, r.Broadcast, string(doc))
	return err
}

// startCopies opens the send of copies after its last page. If the broadcast's send has ended
// meanwhile, the copies are sent at once.
func (r Run) startCopies(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	// The follower that ends the broadcast makes the copies due, if it finds them. If the send ended before
	// the last page, nobody else does.
	p, err := outbox.Load(ctx, tx, r.Tenant, r.Send)
	if err != nil {
		return err
	}
	if p.Phase == outbox.Done {
		if err := outbox.Hasten(ctx, tx, r.Tenant, r.Seeding.Send, now); err != nil {
			return err
		}
	}
	// Sealed while it is held, so that a send without copies ends when it is opened.
	if err := outbox.Seal(ctx, tx, r.Tenant, r.Seeding.Send, now); err != nil {
		return err
	}
	return outbox.Start(ctx, tx, r.Tenant, r.Seeding.Send, now)
}

// copiesEnded reports whether no copy of a broadcast with a status waits or is to be added.
func (r Run) copiesEnded(ctx context.Context, db *sqldb.DB, status Status) (bool, error) {
	switch {
	case r.Seeding == nil:
		return true, nil
	case !r.Seeding.Done && !status.Ended():
		return false, nil
	case !r.Seeding.begun():
		return true, nil
	}
	p, err := outbox.Load(ctx, db, r.Tenant, r.Seeding.Send)
	return p.Phase == outbox.Done, err
}

// hastenCopies sends the copies that wait for their time at once.
func (r Run) hastenCopies(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	if !r.Seeding.begun() {
		return nil
	}
	return outbox.Hasten(ctx, tx, r.Tenant, r.Seeding.Send, now)
}

// pauseCopies pauses the copies of a broadcast, if there are any.
func pauseCopies(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast) error {
	r, err := LoadRun(ctx, tx, tenant, bid)
	if err != nil || !r.Seeding.begun() {
		return err
	}
	return outbox.Pause(ctx, tx, tenant, r.Seeding.Send)
}

// resumeCopies continues the copies of a broadcast, if there are any and all were added.
func (r Run) resumeCopies(ctx context.Context, tx *sqldb.DB, now time.Time) error {
	if !r.Seeding.begun() || !r.Seeding.Done {
		return nil
	}
	return outbox.Start(ctx, tx, r.Tenant, r.Seeding.Send, now)
}

// cancelCopies cancels the copies of a broadcast, if there are any.
func cancelCopies(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, bid id.Broadcast, now time.Time) error {
	r, err := LoadRun(ctx, tx, tenant, bid)
	if err != nil || !r.Seeding.begun() {
		return err
	}
	return outbox.Cancel(ctx, tx, tenant, r.Seeding.Send, now)
}

// SeedCopies is the number of copies of a broadcast for seeds.
type SeedCopies struct {
	Sent         int // accepted, or refused for the address
	SkippedStale int // not sent because their list was stale
}

// loadSeedCopies returns the number of copies of a run.
func (r Run) loadSeedCopies(ctx context.Context, db *sqldb.DB) (SeedCopies, error) {
	if r.Seeding == nil {
		return SeedCopies{}, nil
	}
	c := SeedCopies{SkippedStale: r.Seeding.Stale * len(r.Seeding.Identities)}
	if !r.Seeding.begun() {
		return c, nil
	}
	p, err := outbox.Load(ctx, db, r.Tenant, r.Seeding.Send)
	c.Sent = p.Sent
	return c, err
}

// DueTime returns when a copy is due: its hash determines its place in the time of all copies.
func (s Seeding) DueTime(hash uint64) time.Time {
	return s.From.Add(time.Duration(float64(s.Length) * (float64(hash>>11) / (1 << 53))))
}
