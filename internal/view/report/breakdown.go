package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Group is the results of a group of recipients.
type Group struct {
	Recipients, Delivered, Bounced int
	Opened                         int // verified
	Clicked                        int // by people
	Unsubscribed                   int
}

func (g Group) plus(o Group) Group {
	return Group{
		g.Recipients + o.Recipients, g.Delivered + o.Delivered, g.Bounced + o.Bounced,
		g.Opened + o.Opened, g.Clicked + o.Clicked, g.Unsubscribed + o.Unsubscribed,
	}
}

// Rate returns n as a share of the group's recipients.
func (g Group) Rate(n int) float64 { return rate(n, g.Recipients) }

// Named is the results for one value of a property.
type Named[K comparable] struct {
	Value K
	Group
}

// Counted is the recipients who opened (verified) and clicked, for one value of an attribute of
// their opens and clicks.
type Counted struct {
	Value           string
	Opened, Clicked int
}

// Breakdown is the engagement with a send, by properties of its messages and by attributes of opens
// and clicks. Each list is sorted by size.
type Breakdown struct {
	Variants   map[string]Group
	Identities []Named[id.Identity]
	Providers  []Named[mx.Provider] // of the recipients' mail
	Programs   []Counted
	Devices    []Counted
	Countries  []Counted // of the contacts; empty: unknown
}

// Engagement returns the breakdown of a send.
func Engagement(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Breakdown, error) {
	mixes, err := outbox.LoadMixes(ctx, db, tenant, send)
	if err != nil {
		return Breakdown{}, err
	}
	people, err := track.LoadSumsByMix(ctx, db, tenant, send)
	if err != nil {
		return Breakdown{}, err
	}
	attributes, err := track.LoadAttributes(ctx, db, tenant, send)
	if err != nil {
		return Breakdown{}, err
	}
	b := Breakdown{Variants: map[string]Group{}}
	identities, providers := map[id.Identity]Group{}, map[mx.Provider]Group{}
	for _, m := range mixes {
		e := people[m.N]
		g := Group{
			Recipients: m.Total, Delivered: m.Delivered, Bounced: m.Bounced,
			Opened: e.VerifiedOpened, Clicked: e.HumanClicked, Unsubscribed: e.Unsubscribed,
		}
		if m.Variant != "" {
			b.Variants[m.Variant] = b.Variants[m.Variant].plus(g)
		}
		provider := cmp.Or(m.Provider, mx.Other)
		identities[m.Identity], providers[provider] = identities[m.Identity].plus(g), providers[provider].plus(g)
	}
	b.Identities, b.Providers = named(identities, id.Compare), named(providers, cmp.Compare)
	b.Programs, b.Devices, b.Countries = counted(attributes, track.AttributeProgram), counted(attributes, track.AttributeDevice), counted(attributes, track.AttributeCountry)
	return b, nil
}

// named returns groups by size, the largest first.
func named[K comparable](groups map[K]Group, compare func(a, b K) int) []Named[K] {
	list := make([]Named[K], 0, len(groups))
	for value, g := range groups {
		list = append(list, Named[K]{value, g})
	}
	slices.SortFunc(list, func(a, b Named[K]) int {
		return cmp.Or(cmp.Compare(b.Recipients, a.Recipients), compare(a.Value, b.Value))
	})
	return list
}

// counted returns the values of an attribute that have opens or clicks, those with the most first.
func counted(sums map[track.AttributeValue]track.AttributeSums, by track.Attribute) []Counted {
	list := []Counted{}
	for k, s := range sums {
		if k.Attribute == by && (s.Opened > 0 || s.Clicked > 0) {
			list = append(list, Counted{k.Value, s.Opened, s.Clicked})
		}
	}
	slices.SortFunc(list, func(a, b Counted) int {
		return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(b.Clicked, a.Clicked), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// Period is the results of a send within an hour or a day.
type Period struct {
	At       time.Time // its beginning
	Messages outbox.TimeSums
	People   track.TimeSums
}

// Timing is the results of a send by time.
type Timing struct {
	Series      []Period       // those in which something happened
	MedianOpen  *time.Duration // from acceptance to the first verified open; nil: there is none
	MedianClick *time.Duration
}

// Times returns the timing of a send, by hour or by day of a time zone.
func Times(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send, zone *time.Location, byDay bool) (Timing, error) {
	messages, err := outbox.LoadTimes(ctx, db, tenant, send)
	if err != nil {
		return Timing{}, err
	}
	people, err := track.LoadTimes(ctx, db, tenant, send)
	if err != nil {
		return Timing{}, err
	}
	begin := hourOf
	if byDay {
		begin = dayOf
	}
	periods := map[time.Time]Period{}
	for at, s := range messages {
		p := periods[begin(at, zone)]
		p.Messages = p.Messages.Plus(s)
		periods[begin(at, zone)] = p
	}
	for at, s := range people {
		p := periods[begin(at, zone)]
		p.People = p.People.Plus(s)
		periods[begin(at, zone)] = p
	}
	t := Timing{Series: []Period{}}
	for _, at := range slices.SortedFunc(maps.Keys(periods), time.Time.Compare) {
		p := periods[at]
		p.At = at
		if p.Messages != (outbox.TimeSums{}) || p.People != (track.TimeSums{}) {
			t.Series = append(t.Series, p)
		}
	}
	attributes, err := track.LoadAttributes(ctx, db, tenant, send)
	if err != nil {
		return Timing{}, err
	}
	opens, clicks := map[string]int{}, map[string]int{}
	for k, s := range attributes {
		if k.Attribute == track.AttributeDelay {
			opens[k.Value], clicks[k.Value] = s.Opened, s.Clicked
		}
	}
	t.MedianOpen, t.MedianClick = median(opens), median(clicks)
	return t, nil
}

func median(delays map[string]int) *time.Duration {
	if d, ok := track.MedianDelay(delays); ok {
		return &d
	}
	return nil
}

// hourOf returns the beginning of the hour of a time in a zone. Offsets of zones are multiples of 15
// minutes, so that the hours of some begin within an hour of UTC.
func hourOf(at time.Time, zone *time.Location) time.Time {
	local := at.In(zone)
	return at.Add(-time.Duration(local.Minute())*time.Minute - time.Duration(local.Second())*time.Second).UTC()
}

// dayOf returns the beginning of the day of a time in a zone.
func dayOf(at time.Time, zone *time.Location) time.Time {
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone).UTC()
}
