package segment

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

const (
	// smallAccount is the number of contacts up to which segments are counted whenever they are read, and
	// sendableAccount up to which all contacts that could be mailed are: these are counted fast.
	smallAccount, sendableAccount = 5_000, 100_000

	currentFor  = time.Second            // how long these counts are used again, if contacts are as many as before
	currentTime = 500 * time.Millisecond // how long a reader waits for them
)

// currentCount is the count of a segment that was made for a reader, and what it depends on.
type currentCount struct {
	Counts
	at       time.Time
	revision int64
	contacts contact.ByStatus
}

// isCountable reports whether a segment of an account may be counted whenever it is read.
func (s Segment) isCountable(contacts contact.ByStatus) bool {
	n := contacts.Of(contact.Statuses()...)
	return n <= smallAccount || n <= sendableAccount && s.SystemKey == allSendable
}

// Current returns segments with present counts, if their tenant is small. Those of larger tenants, and those that
// cannot be counted within currentTime, have the counts that are stored, or that were made for a reader later. No
// counts are stored.
func (c *Counter) Current(ctx context.Context, tenant id.Tenant, list []Segment) ([]Segment, error) {
	contacts, err := contact.CountByStatus(ctx, c.DB, tenant)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	now := c.Now()
	if c.useCurrent(tenant, list, contacts, now) {
		return list, nil
	}
	within, cancel := fault.Within(ctx, currentTime)
	defer cancel()
	err = c.DB.Evaluate(within, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		if c.useCurrent(tenant, list, contacts, now) { // another reader has counted meanwhile
			return nil
		}
		env, err := Env(ctx, db, tenant, now)
		for i := 0; err == nil && i < len(list); i++ {
			err = c.countCurrent(ctx, db, tenant, &list[i], env, contacts)
		}
		return err
	})
	if ctx.Err() == nil && (fault.Late(within) || errors.Is(err, fault.ErrDeadline)) {
		return list, nil
	}
	return list, err
}

// useCurrent gives segments the counts that were made for readers, and reports whether none needs to be counted.
func (c *Counter) useCurrent(tenant id.Tenant, list []Segment, contacts contact.ByStatus, now time.Time) bool {
	all := true
	for i := range list {
		all = (c.useCount(tenant, &list[i], contacts, now) || !list[i].isCountable(contacts)) && all
	}
	return all
}

// useCount gives a segment the count that was made for a reader, and reports whether it is current.
func (c *Counter) useCount(tenant id.Tenant, s *Segment, contacts contact.ByStatus, now time.Time) bool {
	n, ok := c.current.Get(countKey{tenant, s.ID}, now)
	if !ok || n.revision != s.RuleRevision || s.EvaluatedAt != nil && n.at.Before(*s.EvaluatedAt) {
		return false
	}
	s.counted(n.Counts, n.at)
	return n.contacts == contacts && now.Sub(n.at).Abs() < currentFor
}

// countCurrent counts a segment within an evaluation, if it is countable and its count is not current.
func (c *Counter) countCurrent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s *Segment, env rule.Env, contacts contact.ByStatus) error {
	if !s.isCountable(contacts) || c.useCount(tenant, s, contacts, env.Now) {
		return nil
	}
	n, err := s.count(ctx, db, tenant, env)
	if errors.Is(err, ErrNotFound) { // it was deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	s.counted(n, env.Now)
	c.current.Put(countKey{tenant, s.ID}, currentCount{n, env.Now, s.RuleRevision, contacts}, env.Now, 0)
	return nil
}

// count counts the members of a list or segment.
func (s Segment) count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, env rule.Env) (Counts, error) {
	if s.Type == Static {
		return countList(ctx, db, tenant, s.ID)
	}
	tree, err := s.tree(env.Schema)
	if err != nil {
		return Counts{}, err
	}
	return count(ctx, db, tenant, tree, env)
}

// Sendable returns how many contacts of a tenant could be mailed, and when they were counted; nil before the first
// count.
func (c *Counter) Sendable(ctx context.Context, tenant id.Tenant) (n *int, at *time.Time, err error) {
	s, err := Find(ctx, c.DB, tenant, allSendable)
	if errors.Is(err, ErrNotFound) { // the program has more built-in segments than at its last start
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := c.Current(ctx, tenant, []Segment{s})
	if err != nil {
		return nil, nil, err
	}
	return list[0].Members, list[0].EvaluatedAt, nil
}
