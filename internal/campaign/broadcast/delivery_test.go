package broadcast_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTheDaysOfASend(t *testing.T) {
	t.Parallel()
	const start spread.Day = "2026-03-02"
	skipped := []spread.Day{"2026-03-03"}
	for name, c := range map[string]struct {
		delivery broadcast.Delivery
		spread   bool
		days     []spread.Day
		next     spread.Day
	}{
		"now":                      {broadcast.Delivery{}, false, []spread.Day{start}, "2026-03-03"},
		"over one day":             {broadcast.Delivery{Mode: broadcast.OverDays, WindowDays: 1}, false, []spread.Day{start}, "2026-03-03"},
		"over days":                {broadcast.Delivery{Mode: broadcast.OverDays, WindowDays: 3, Skipped: skipped}, true, []spread.Day{start, "2026-03-04"}, "2026-03-05"},
		"by date":                  {broadcast.Delivery{Mode: broadcast.ByDate, WindowDate: "2026-03-04", Skipped: skipped}, true, []spread.Day{start, "2026-03-04"}, "2026-03-05"},
		"by today":                 {broadcast.Delivery{Mode: broadcast.ByDate, WindowDate: start}, true, []spread.Day{start}, "2026-03-03"},
		"by a date that is over":   {broadcast.Delivery{Mode: broadcast.ByDate, WindowDate: "2026-02-01"}, true, nil, start},
		"by now, with days unused": {broadcast.Delivery{Mode: broadcast.Now, WindowDays: 9, WindowDate: "2026-09-01"}, false, []spread.Day{start}, "2026-03-03"},
	} {
		days, next := c.delivery.Days(start)
		if diff := cmp.Diff(c.days, days); diff != "" || next != c.next || c.delivery.Spread() != c.spread {
			t.Errorf("%s: days %v, then %s", name, days, next)
		}
	}
	days, next := broadcast.Delivery{Mode: broadcast.ByDate, WindowDate: "9999-12-31"}.Days(start)
	if len(days) != spread.MaxDays || next != start.Add(spread.MaxDays) {
		t.Errorf("a window without an end has %d days, then %s", len(days), next)
	}
}

// An outdated last day does not make an unrelated change fail, but the draft cannot be scheduled
// with it.
func TestALastDayThatHasPassed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := broadcasttest.New(t, db, "acme")
		b := a.Create(func(ch *broadcast.Change) {
			ch.Delivery = &broadcast.DeliveryChange{Mode: new(broadcast.ByDate), WindowDate: new(new("2026-03-04"))}
		})
		later := broadcasttest.Now.Add(72 * time.Hour)
		update := func(ch broadcast.Change) error {
			_, err := broadcast.Update(t.Context(), a.Author(later), a.Tenant, b.ID, ch)
			return err
		}
		if err := update(broadcast.Change{Name: new("Other")}); err != nil {
			t.Errorf("a new name: %v", err)
		}
		if err := update(broadcast.Change{Delivery: &broadcast.DeliveryChange{Overflow: new(broadcast.Holdback)}}); err != nil {
			t.Errorf("another overflow: %v", err)
		}
		for what, err := range map[string]error{
			"the mode again": update(broadcast.Change{Delivery: &broadcast.DeliveryChange{Mode: new(broadcast.ByDate)}}),
			"scheduling":     broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, later),
		} {
			if f, ok := fault.As(err); !ok || f.Kind != fault.Invalid || f.Code != "INVALID_INPUT" {
				t.Errorf("%s: %v, want INVALID_INPUT", what, err)
			}
		}
		if err := broadcast.Reschedule(t.Context(), db, a.Tenant, b.ID, nil, later); !errors.Is(err, broadcast.ErrNotSending) {
			t.Errorf("a draft is rescheduled: %v", err)
		}
		if err := broadcast.Schedule(t.Context(), db, a.Tenant, b.ID, broadcasttest.Now); err != nil {
			t.Errorf("in time: %v", err)
		}
	})
}
