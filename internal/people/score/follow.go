package score

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The names of the two scores.
const (
	Prospect = "prospect"
	Customer = "customer"
)

// Changed is the data of a score_changed entry. There is one per contact and batch of
// entries, with the rules that applied; decays and resets have no rules.
type Changed struct {
	Score string   `json:"score"`
	From  float64  `json:"from"`
	To    float64  `json:"to"`
	Rules []string `json:"rules,omitempty"`
	Decay bool     `json:"decay,omitempty"`
	Reset bool     `json:"reset,omitempty"` // written by package contact
}

// Broadcasts returns the broadcasts of sends, without sends that have another source.
type Broadcasts func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]id.Broadcast, error)

// Follower adds points for journal entries.
func Follower(parse Parser, of Broadcasts, now func() time.Time) journal.Follower {
	return journal.Follower{Name: "score", Types: Triggers(), Follow: journal.PerTenant(func(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry) error {
		return follow(ctx, tx, t, entries, parse, of, now())
	})}
}

// award is an entry with a rule that matches it.
type award struct {
	occurrence
	rule *Rule
}

func follow(ctx context.Context, tx *sqldb.DB, t id.Tenant, entries []journal.Entry, parse Parser, of Broadcasts, now time.Time) error {
	s, err := Load(ctx, tx, t)
	if err != nil || !s.Enabled || !s.relevant(entries) {
		return err
	}
	account, err := tenant.ByID(ctx, tx, t)
	if errors.Is(err, tenant.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	zone := account.Location()
	var more entryContext
	if more.broadcasts, err = of(ctx, tx, t, s.sends(entries)); err != nil {
		return err
	}
	if more.origins, err = contact.Origins(ctx, tx, t, s.created(entries)); err != nil {
		return err
	}
	awards, err := s.awards(entries, parse, more, zone)
	if err != nil || len(awards) == 0 {
		return err
	}
	ids := map[id.Contact]bool{}
	for _, h := range awards {
		ids[h.Contact] = true
	}
	list, err := contact.LockScores(ctx, tx, t, slices.SortedFunc(maps.Keys(ids), id.Compare))
	if err != nil {
		return err
	}
	days, err := loadDailyCounts(ctx, tx, t, awards, zone)
	if err != nil {
		return err
	}
	moved := s.award(list, awards, days)
	if err := days.save(ctx, tx, t); err != nil {
		return err
	}
	return moved.save(ctx, tx, t, now)
}

// relevant reports whether any entry is of a type that a rule is about.
func (s Settings) relevant(entries []journal.Entry) bool {
	return slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Trigger == e.Type })
	})
}

// sends returns the sends of relevant entries.
func (s Settings) sends(entries []journal.Entry) []id.Send {
	seen := map[id.Send]bool{}
	for _, e := range entries {
		if !e.Send.IsZero() && s.relevant([]journal.Entry{e}) {
			seen[e.Send] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), id.Compare)
}

// created returns the contacts of contact_created entries, if a rule about these has
// filters, which may compare their origin.
func (s Settings) created(entries []journal.Entry) []id.Contact {
	looks := func(r Rule) bool { return r.Trigger == journal.ContactCreated && len(r.Match.Filters) > 0 }
	if !slices.ContainsFunc(s.Rules, looks) {
		return nil
	}
	seen := map[id.Contact]bool{}
	for _, e := range entries {
		if e.Type == journal.ContactCreated {
			seen[e.Contact] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), id.Compare)
}

func (s Settings) awards(entries []journal.Entry, parse Parser, more entryContext, zone *time.Location) ([]award, error) {
	rules := s.compile(parse)
	var list []award
	for _, e := range entries {
		if !s.relevant([]journal.Entry{e}) {
			continue
		}
		a, counts, err := occurrenceOf(e, more)
		if err != nil {
			return nil, err
		}
		if !counts {
			continue
		}
		for _, r := range rules {
			if r.matches(a, zone) {
				list = append(list, award{a, r.Rule})
			}
		}
	}
	return list, nil
}

// awarded is the result of awards.
type awarded struct {
	scored  []contact.Scored
	changes map[id.Contact]Changed
}

// award adds the points of awards, in their order, to the scores of contacts.
func (s Settings) award(list []contact.Scored, awards []award, days *dailyCounts) awarded {
	byID := make(map[id.Contact]*contact.Scored, len(list))
	for i := range list {
		byID[list[i].Contact] = &list[i]
	}
	m := awarded{changes: map[id.Contact]Changed{}}
	for _, h := range awards {
		c, ok := byID[h.Contact]
		if !ok {
			continue
		}
		which, at := scoreOf(c)
		if at == nil || !days.add(h) {
			continue
		}
		changed, known := m.changes[h.Contact]
		if !known {
			changed = Changed{Score: which, From: *at}
		}
		*at = s.clamp(*at + float64(h.rule.Points))
		changed.To = *at
		if !slices.Contains(changed.Rules, h.rule.ID) {
			changed.Rules = append(changed.Rules, h.rule.ID)
		}
		m.changes[h.Contact] = changed
	}
	for _, c := range list {
		if _, ok := m.changes[c.Contact]; ok {
			m.scored = append(m.scored, c)
		}
	}
	return m
}

// scoreOf returns the score that gets points; nil: neither.
func scoreOf(c *contact.Scored) (string, *float64) {
	switch c.Category {
	case contact.Prospect:
		return Prospect, &c.Prospect
	case contact.Customer:
		return Customer, &c.Customer
	}
	return "", nil
}

func (s Settings) clamp(v float64) float64 { return min(max(v, float64(s.Min)), float64(s.Max)) }

// save writes the scores, and a journal entry for each that changed.
func (m awarded) save(ctx context.Context, tx *sqldb.DB, t id.Tenant, now time.Time) error {
	if err := contact.SaveScores(ctx, tx, t, m.scored, now); err != nil {
		return err
	}
	var entries []journal.Entry
	for _, c := range m.scored {
		if changed := m.changes[c.Contact]; changed.From != changed.To {
			entries = append(entries, journal.Entry{Tenant: t, Type: journal.ScoreChanged, Contact: c.Contact, At: now, Data: changed})
		}
	}
	return journal.Append(ctx, tx, entries...)
}
