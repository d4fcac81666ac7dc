package track

import (
	"context"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Engaged is the data of a journal entry about an open or a click that is not a machine's.
// One entry is written for each such hit after it is classified, and one with Withdrawn if
// later verdicts leave the message without any.
type Engaged struct {
	Classification Class  `json:"classification"`
	First          bool   `json:"first,omitempty"`     // the first of the message
	Withdrawn      bool   `json:"withdrawn,omitempty"` // the message does not count as opened or clicked any more
	LinkURL        string `json:"link_url,omitempty"`  // of a click, as authored
}

// engagementEntries returns the journal entries about a change of flags, and about those of
// the hits, ordered by time, that count now and did not before.
func engagementEntries(old, now Flags, hits []Hit) []journal.Entry {
	var list []journal.Entry
	note := func(t journal.Type, h Hit, data Engaged) {
		list = append(list, journal.Entry{
			Tenant: h.Tenant, Type: t, Contact: h.Contact, Send: h.Send, Message: h.Message, At: h.At, Data: data,
		})
	}
	for _, what := range []struct {
		typ   journal.Type
		flag  Flags
		shows func(Hit) bool // a human click also counts as an open
	}{
		{journal.EmailOpened, VerifiedOpened, func(h Hit) bool { return h.Class.counts() }},
		{journal.EmailClicked, HumanClicked, func(h Hit) bool { return h.Click && h.Class == Human }},
	} {
		first := -1
		switch i := slices.IndexFunc(hits, what.shows); {
		case now&what.flag != 0 && old&what.flag == 0:
			note(what.typ, hits[i], newEngaged(hits[i], what.typ, true))
			first = i
		case now&what.flag == 0 && old&what.flag != 0 && len(hits) > 0:
			note(what.typ, hits[len(hits)-1], Engaged{Classification: Bot, Withdrawn: true})
		}
		for i, h := range hits {
			if i != first && h.Class.counts() && !h.oldClass.counts() && what.shows(h) && h.Click == (what.flag == HumanClicked) {
				note(what.typ, h, newEngaged(h, what.typ, false))
			}
		}
	}
	return list
}

func newEngaged(h Hit, t journal.Type, first bool) Engaged {
	e := Engaged{Classification: h.Class, First: first}
	if t == journal.EmailClicked {
		e.LinkURL = h.URL
	}
	return e
}

// Sums are the unique recipients of a send by what they did.
type Sums struct {
	ApparentOpened, VerifiedOpened, HumanOpened, Confirmed, BotOpened, PendingOpened int
	HumanClicked, BotClicked, PendingClicked, Unsubscribed, Complained               int
}

// fields returns pointers to the sums in the order of the flags' bits.
func (s *Sums) fields() []*int {
	return []*int{
		&s.ApparentOpened, &s.VerifiedOpened, &s.HumanOpened, &s.Confirmed, &s.BotOpened, &s.PendingOpened,
		&s.HumanClicked, &s.BotClicked, &s.PendingClicked, &s.Unsubscribed, &s.Complained,
	}
}

func (s *Sums) add(o Sums) {
	from := o.fields()
	for i, p := range s.fields() {
		*p += *from[i]
	}
}

// LoadSums returns the sums of a send, zeros if there are none.
func LoadSums(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Sums, error) {
	var all Sums
	byMix, err := LoadSumsByMix(ctx, db, tenant, send)
	for _, s := range byMix {
		all.add(s)
	}
	return all, err
}

// LoadSumsByMix returns the sums of a send by the mix of the messages (outbox.LoadMixes).
func LoadSumsByMix(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (map[int64]Sums, error) {
	rows, err := db.Query(ctx, `
		SELECT mix, `+strings.Join(sumColumns, ", ")+` FROM engagement_sum WHERE tenant_id = $1 AND send_id = $2`, tenant, send)
	byMix := map[int64]Sums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var mix int64
		var part Sums
		dest := []any{&mix}
		for _, p := range part.fields() {
			dest = append(dest, p)
		}
		err := scan(dest...)
		part.add(byMix[mix])
		byMix[mix] = part
		return err
	})
	return byMix, err
}

// LoadSumsOf returns the sums of several sends. Sends without sums are not in the result.
func LoadSumsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, sends []id.Send) (map[id.Send]Sums, error) {
	rows, err := db.Query(ctx, `
		SELECT send_id, `+strings.Join(sumColumns, ", ")+` FROM engagement_sum WHERE tenant_id = $1 AND send_id`+db.In(2), tenant, sqldb.List(db, sends))
	found := map[id.Send]Sums{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var send id.Send
		var part Sums
		dest := []any{&send}
		for _, p := range part.fields() {
			dest = append(dest, p)
		}
		err := scan(dest...)
		part.add(found[send])
		found[send] = part
		return err
	})
	return found, err
}
