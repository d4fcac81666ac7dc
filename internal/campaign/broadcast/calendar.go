package broadcast

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// Calendar computes when the messages of a planned send may be sent.
type Calendar struct {
	delivery Delivery
	window   spread.Window
	zone     *time.Location
	offset   time.Duration // of the batches, from the start of the window
	at       time.Time     // nothing is sent before
}

// CalendarOf returns the calendar for a plan of b that is made at a time.
func CalendarOf(t tenant.Tenant, b Broadcast, at time.Time) Calendar {
	hash := sha256.Sum256([]byte(b.ID.String()))
	seconds := binary.BigEndian.Uint32(hash[:4]) % uint32(spread.Quarter/time.Second)
	return Calendar{b.Delivery, t.Settings.Window(), t.Location(), time.Duration(seconds) * time.Second, at}
}

func (c Calendar) today() spread.Day { return spread.DayOf(c.at, c.zone) }

// batches returns the times of a day's batches. A send that is not spread is sent at once, and on
// later days when the window opens.
func (c Calendar) batches(day spread.Day) []time.Time {
	if !c.delivery.Spread() && day == c.today() {
		return []time.Time{c.at}
	}
	list := c.window.Batches(day, c.zone, c.offset, c.at)
	if !c.delivery.Spread() {
		return list[:min(1, len(list))]
	}
	return list
}

// capacity returns the maximum number of messages that the broadcast's rate limit allows on a day.
func (c Calendar) capacity(day spread.Day) spread.Cap {
	if len(c.batches(day)) == 0 {
		return spread.UpTo(0)
	}
	if c.delivery.PerHour == 0 {
		return spread.Cap{}
	}
	window := c.window
	if !c.delivery.Spread() && day == c.today() {
		window = spread.AllDay
	}
	return spread.UpTo(int(math.Ceil(float64(c.delivery.PerHour) * window.Hours(day, c.zone, c.at))))
}

// days returns the remaining days of the window, and the first day by which it may be extended.
func (c Calendar) days(start spread.Day) (left []spread.Day, next spread.Day) {
	today := c.today()
	if !c.delivery.Spread() {
		start = today
	}
	all, next := c.delivery.Days(start)
	return slices.DeleteFunc(all, func(d spread.Day) bool { return d < today }), max(next, today)
}

// PlanSlot is a time at which N messages of a lane are due.
type PlanSlot struct {
	Day spread.Day // empty: these messages are held back
	Due time.Time
	N   int
}

// Slots returns the slots of a plan for a lane, ordered by time: the quota of each day, divided
// among the day's batches. Messages that are held back come last.
func (c Calendar) Slots(p Planning, lane string) []PlanSlot {
	var slots []PlanSlot
	for _, q := range p.Quotas {
		if q.Lane != lane {
			continue
		}
		batches := c.batches(q.Day)
		if len(batches) == 0 { // the window was changed after the plan was made
			batches = []time.Time{c.at}
		}
		for i, n := range spread.Shares(q.N, len(batches)) {
			if n > 0 {
				slots = append(slots, PlanSlot{q.Day, batches[i], n})
			}
		}
	}
	if n := p.HeldBack[lane]; n > 0 {
		slots = append(slots, PlanSlot{N: n})
	}
	return slots
}

// times returns the batch times of a plan, relative to now.
func (c Calendar) times(p Planning, now time.Time) (at outbox.Times) {
	lanes := map[string]bool{}
	for _, q := range p.Quotas {
		lanes[q.Lane] = true
	}
	for l := range lanes {
		for _, s := range c.Slots(p, l) {
			if s.Day != "" {
				at = at.Add(&s.Due, now)
			}
		}
	}
	return at
}
