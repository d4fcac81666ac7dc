package score

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/journal"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/tenant"
)

// Which of a contact's scores it is about.
const (
	Prospect = "prospect"
	Customer = "customer"
)

// Moved is the data of a score_changed entry: one per contact and batch, with
// the rules that had a part in it; none when the score has faded, or was reset by
// a move to another stage.
type Moved struct {
	Score string   `json:"score"`
	From  float64  `json:"from"`
	To    float64  `json:"to"`
	Rules []string `json:"rules,omitempty"`
	Decay bool     `json:"decay,omitempty"`
	Reset bool     `json:"reset,omitempty"` // written by package contact
}

// Broadcasts says which broadcasts sends belong to; sends of others are left out.
type Broadcasts func(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]id.Broadcast, error)

// Follower gives points for what the journal says contacts did.
func Follower(parse Parser, of Broadcasts, now func() time.Time) journal.Follower {
	return journal.Follower{Name: "score", Types: Triggers(), Follow: func(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
		triggers := Triggers()
		byTenant := map[id.Tenant][]journal.Entry{}
		for _, e := range entries {
			if !e.Contact.IsZero() && slices.Contains(triggers, e.Type) {
				byTenant[e.Tenant] = append(byTenant[e.Tenant], e)
			}
		}
		for _, t := range slices.Sorted(maps.Keys(byTenant)) {
			if err := follow(ctx, tx, t, byTenant[t], parse, of, now()); err != nil {
				return fmt.Errorf("score contacts: %w", err)
			}
		}
		return nil
	}}
}

// hit is an act that a rule gives points for.
type hit struct {
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
	var more related
	if more.broadcasts, err = of(ctx, tx, t, s.sends(entries)); err != nil {
		return err
	}
	if more.origins, err = contact.Origins(ctx, tx, t, s.created(entries)); err != nil {
		return err
	}
	hits, err := s.hits(entries, parse, more, zone)
	if err != nil || len(hits) == 0 {
		return err
	}
	ids := map[id.Contact]bool{}
	for _, h := range hits {
		ids[h.Contact] = true
	}
	list, err := contact.LockScores(ctx, tx, t, slices.SortedFunc(maps.Keys(ids), id.Compare))
	if err != nil {
		return err
	}
	days, err := loadTally(ctx, tx, t, hits, zone)
	if err != nil {
		return err
	}
	moved := s.play(list, hits, days)
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

// sends returns the sends of the mails that rules are about.
func (s Settings) sends(entries []journal.Entry) []id.Send {
	seen := map[id.Send]bool{}
	for _, e := range entries {
		if !e.Send.IsZero() && s.relevant([]journal.Entry{e}) {
			seen[e.Send] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), id.Compare)
}

// created returns the contacts that were created, if a rule has filters that may look
// at where they came from.
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

func (s Settings) hits(entries []journal.Entry, parse Parser, more related, zone *time.Location) ([]hit, error) {
	rules := s.read(parse)
	var list []hit
	for _, e := range entries {
		if !s.relevant([]journal.Entry{e}) {
			continue
		}
		a, counts, err := read(e, more)
		if err != nil {
			return nil, err
		}
		if !counts {
			continue
		}
		for _, r := range rules {
			if r.matches(a, zone) {
				list = append(list, hit{a, r.Rule})
			}
		}
	}
	return list, nil
}

// change is what has become of the contacts that were scored.
type change struct {
	scored []contact.Scored
	told   map[id.Contact]Moved
}

// play gives the points of hits, in their order, to the contacts.
func (s Settings) play(list []contact.Scored, hits []hit, days *tally) change {
	byID := make(map[id.Contact]*contact.Scored, len(list))
	for i := range list {
		byID[list[i].Contact] = &list[i]
	}
	m := change{told: map[id.Contact]Moved{}}
	for _, h := range hits {
		c, ok := byID[h.Contact]
		if !ok {
			continue
		}
		which, at := scoreOf(c)
		if at == nil || !days.take(h) {
			continue
		}
		told, known := m.told[h.Contact]
		if !known {
			told = Moved{Score: which, From: *at}
		}
		*at = s.clamp(*at + float64(h.rule.Points))
		told.To = *at
		if !slices.Contains(told.Rules, h.rule.ID) {
			told.Rules = append(told.Rules, h.rule.ID)
		}
		m.told[h.Contact] = told
	}
	for _, c := range list {
		if _, ok := m.told[c.Contact]; ok {
			m.scored = append(m.scored, c)
		}
	}
	return m
}

// scoreOf returns which of a contact's scores moves; nil: neither.
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

// save writes the scores, and tells of those that are another than before.
func (m change) save(ctx context.Context, tx *sqldb.DB, t id.Tenant, now time.Time) error {
	if err := contact.SaveScores(ctx, tx, t, m.scored, now); err != nil {
		return err
	}
	var entries []journal.Entry
	for _, c := range m.scored {
		if told := m.told[c.Contact]; told.From != told.To {
			entries = append(entries, journal.Entry{Tenant: t, Type: journal.ScoreChanged, Contact: c.Contact, At: now, Data: told})
		}
	}
	return journal.Append(ctx, tx, entries...)
}
