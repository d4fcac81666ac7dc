package trigger_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// at parses a time such as "2026-03-28 09:00 +01:00".
func at(t testing.TB, text string) time.Time {
	t.Helper()
	got, err := time.Parse("2006-01-02 15:04 -07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return got.UTC()
}

// TestContactsHaveTheirOwnTime reads zones and dates of contacts, also those that are missing.
func TestContactsHaveTheirOwnTime(t *testing.T) {
	t.Parallel()
	account := zone(t, "Europe/Berlin")
	for _, tt := range []struct {
		zone *string
		want string
	}{{nil, "Europe/Berlin"}, {new("Asia/Tokyo"), "Asia/Tokyo"}, {new("Nowhere/Land"), "Europe/Berlin"}} {
		if got := trigger.ZoneOf(contact.Contact{Timezone: tt.zone}, account); got.String() != tt.want {
			t.Errorf("the zone is %s, want %s", got, tt.want)
		}
	}
	schema := rule.Schema{Fields: field.Catalog{"day": {Type: field.Date}, "moment": {Type: field.DateTime}, "name": {Type: field.String}}}
	created := at(t, "2026-03-02 10:00 +00:00")
	c := contact.Contact{CreatedAt: created, CustomFields: map[string]any{"day": "2026-05-01", "moment": "2026-05-01T12:00:00Z", "name": "Ann", "number": 4.0}}
	for name, want := range map[string]*calendar.Date{
		"created_at":           {At: created},
		"custom_fields.day":    {At: at(t, "2026-05-01 00:00 +00:00"), Day: true},
		"custom_fields.moment": {At: at(t, "2026-05-01 12:00 +00:00")},
		"custom_fields.name":   nil,
		"custom_fields.number": nil,
		"custom_fields.absent": nil,
		"last_email_opened_at": nil,
		"":                     nil,
	} {
		got := trigger.DateOf(schema, name, c)
		if (got == nil) != (want == nil) || got != nil && (!got.At.Equal(want.At) || got.Day != want.Day) {
			t.Errorf("the date in %q is %+v, want %+v", name, got, want)
		}
	}
}

// birthdays declares a field and sets it for contacts; "" is none.
func (w *world) birthdays(people []contact.Contact, days ...string) {
	w.Helper()
	_, err := field.Create(w.Context(), w.DB, w.Tenant, field.Draft{Name: "Birthday", Key: "birthday", Type: field.Date}, w.now)
	w.must(err)
	for i, d := range days {
		if d != "" {
			w.change(people[i].ID, birthday(d))
		}
	}
}

func birthday(day string) contact.Change {
	return contact.Change{CustomFields: map[string]any{"birthday": day}}
}

func live(zone string) contact.Change {
	return contact.Change{Texts: map[contact.Text]*string{contact.Timezone: &zone}}
}

const onBirthday = `{"trigger_type": "date", "trigger_config": {"field": "custom_fields.birthday", "time": "09:00", "repeat": "yearly"}}`

// reach moves the clock to a time and reports what is due.
func (w *world) reach(text string) {
	w.Helper()
	w.now = at(w, text)
	w.tick()
	w.drain()
}

// TestTriggersByDateFire lets years pass in an account with birthdays.
func TestTriggersByDateFire(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWorld(t, db, "acme"), newWorld(t, db, "other")
		strangers := other.AddContacts(other.List.ID, "o", 2)
		other.birthdays(strangers, "1990-03-05", "1990-03-06")
		people := w.AddContacts(w.List.ID, "p", 9)
		w.birthdays(people, "1990-03-05", "1990-03-05", "1992-02-29", "", "1990-03-02", "", "1990-03-05", "1990-03-06", "1990-03-05")
		w.change(people[1].ID, live("Asia/Tokyo"))
		w.drain()
		h := w.watch(onBirthday, true)
		filtered := w.watch(`{"trigger_type": "date", "trigger_config": {"field": "custom_fields.birthday", "offset": {"amount": 1, "unit": "day", "direction": "before"},
			"time": "12:00", "repeat": "yearly", "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["vip"]}]}}}`, true)
		w.change(people[7].ID, contact.Change{Tags: &[]string{"vip"}})
		w.tick()
		w.drain()
		number := map[id.Contact]int{}
		for i, c := range people {
			number[c.ID] = i
		}
		check := func(when string, h trigger.Holder, want ...int) {
			t.Helper()
			got := []int{}
			for _, c := range w.fired[h.ID] {
				got = append(got, number[c])
			}
			slices.Sort(got)
			delete(w.fired, h.ID)
			if d := cmp.Diff(append([]int{}, want...), got); d != "" {
				t.Errorf("%s: contacts that fired the trigger (-want +got)\n%s", when, d)
			}
		}
		check("at the start, the ninth hour of March 2 has passed", h)
		w.reach("2026-03-04 23:59 +00:00")
		check("before March 5", h)
		w.reach("2026-03-05 00:00 +00:00")
		check("at nine in Tokyo", h, 1)
		check("the day before March 5 without the tag", filtered)

		w.change(people[5].ID, birthday("1980-03-05")) // is due later today
		w.change(people[6].ID, birthday("1990-04-01"))
		_, err := contact.Delete(t.Context(), db, w.Tenant, []id.Contact{people[8].ID}, w.now)
		w.must(err)
		made := w.AddContacts(w.List.ID, "new", 1)
		number[made[0].ID] = 9
		w.change(made[0].ID, birthday("2000-03-05"))
		w.change(people[1].ID, live("America/New_York")) // it has fired there; nine o'clock is yet to come here
		w.drain()
		w.reach("2026-03-05 08:59 +00:00")
		check("a minute before nine", h)
		w.reach("2026-03-05 09:00 +00:00")
		check("at nine", h, 0, 5, 9)
		w.reach("2026-03-05 09:00 +00:00")
		w.reach("2026-03-05 23:00 +00:00")
		check("again on the same day", h)
		check("the day before March 6", filtered, 7)

		w.change(people[0].ID, birthday("1990-03-07"))
		w.change(people[5].ID, birthday("1980-03-04")) // has passed
		w.drain()
		w.reach("2026-03-06 10:00 +00:00")
		check("on March 6", h, 7)
		w.change(people[0].ID, birthday("1990-03-05")) // has fired this year
		w.drain()
		w.reach("2026-12-31 10:00 +00:00")
		check("later in the year", h, 6)
		w.reach("2027-02-27 10:00 +00:00")
		check("on February 27", h)
		w.reach("2027-02-28 09:00 +00:00")
		check("on February 28 of a year without the 29th", h, 2)
		w.reach("2027-03-05 09:00 +00:00")
		check("in the next year", h, 0, 4, 5, 9)
		w.reach("2028-02-28 10:00 +00:00")
		check("on February 28 of a leap year", h, 1, 6, 7)
		w.reach("2028-02-29 10:00 +00:00")
		check("on February 29", h, 2)

		if n := other.count("date_due"); n != 0 {
			t.Errorf("the other account has %d dates", n)
		}
		w.unwatch(h)
		w.unwatch(filtered)
		w.tick()
		for _, table := range []string{"date_due", "date_watch"} {
			if n := w.count(table); n > 0 {
				t.Errorf("%s has %d rows when no trigger is active", table, n)
			}
		}
	})
}

// TestDatesFollowLate lets the journal and the engine fall behind the changes of contacts.
func TestDatesFollowLate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		people := w.AddContacts(w.List.ID, "p", 4)
		w.birthdays(people, "1990-03-05", "1990-03-05", "1990-03-05", "1990-03-05")
		w.drain()
		h := w.watch(onBirthday, true)
		w.tick()
		w.now = at(t, "2026-03-05 08:00 +00:00")
		w.change(people[0].ID, birthday("1990-03-08")) // moved away before it was due
		w.change(people[1].ID, live("America/New_York"))
		w.change(people[2].ID, live("Asia/Tokyo")) // nine o'clock passed unnoticed, because it was nine elsewhere
		w.tick()
		w.now = at(t, "2026-03-05 09:30 +00:00")
		w.tick()
		w.drain()
		w.tick()
		w.drain()
		count := func(want ...int) {
			t.Helper()
			for i, n := range want {
				got := 0
				for _, c := range w.fired[h.ID] {
					if c == people[i].ID {
						got++
					}
				}
				if got != n {
					t.Errorf("at %s: contact %d fired the trigger %d times, want %d", w.now, i, got, n)
				}
			}
		}
		count(0, 0, 1, 1)
		w.reach("2026-03-05 14:00 +00:00")
		count(0, 1, 1, 1)

		// A change that is followed after its date was due.
		w.now = at(t, "2026-03-06 08:00 +00:00")
		w.change(people[3].ID, birthday("1991-03-06"))
		w.now = at(t, "2026-03-06 10:00 +00:00")
		w.tick()
		w.drain()
		w.tick()
		w.drain()
		count(0, 1, 1, 2)

		// Another account zone moves what is to come.
		_, err := db.Exec(t.Context(), `UPDATE tenant SET timezone = 'Asia/Tokyo' WHERE tenant_id = $1`, w.Tenant)
		w.must(err)
		w.reach("2026-03-07 10:00 +00:00")
		w.reach("2026-03-07 23:59 +00:00")
		count(0, 1, 1, 2)
		w.reach("2026-03-08 00:00 +00:00")
		count(1, 1, 1, 2)

		// A trigger that changes is another one.
		w.unwatch(h)
		w.now = at(t, "2026-03-08 01:00 +00:00")
		var p fault.Problems
		changed := trigger.Parse(json.RawMessage(`{"trigger_type": "date", "trigger_config": {"field": "created_at", "offset": {"amount": 6, "unit": "day", "direction": "after"}, "time": "12:00"}}`), "", &p)
		w.must(p.Err())
		w.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return trigger.Watch(t.Context(), tx, w.Tenant, h, trigger.Watched{Trigger: changed}, w.now)
		}))
		w.holds[h.ID] = *changed
		w.tick()
		w.reach("2026-03-08 02:59 +00:00")
		count(1, 1, 1, 2)
		w.reach("2026-03-08 03:00 +00:00")
		count(2, 1, 2, 3)
		w.reach("2026-03-09 03:00 +00:00")
		count(2, 2, 2, 3)
		w.reach("2027-03-09 03:00 +00:00")
		count(2, 2, 2, 3)
	})
}

// TestOneAccountWithManyDatesDelaysNoOther makes more dates due than one scan finds.
func TestOneAccountWithManyDatesDelaysNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWorld(t, db, "acme"), newWorld(t, db, "other")
		people := other.AddContacts(other.List.ID, "o", 1)
		other.birthdays(people, "1990-03-05")
		h := other.watch(onBirthday, true)
		other.tick()
		rows := db.Table("holder_id UUID", "contact_id UUID", "version BIGINT", "due_at BIGINT", "value BIGINT", "year INTEGER")
		for range 6000 {
			rows.Add(id.New[id.Holder](), id.New[id.Contact](), 1, sqldb.Micros(w.now), 1, 0)
		}
		w.must(db.InTx(t.Context(), func(tx *sqldb.DB) error { return rows.Load(t.Context(), tx, "date_due", w.Tenant) }))
		other.now = at(t, "2026-03-05 09:00 +00:00")
		e := &trigger.Engine{DB: db, Now: func() time.Time { return other.now }, Log: quiet}
		_, err := e.Tick(t.Context())
		w.must(err)
		other.drain()
		if n := len(other.fired[h.ID]); n != 1 {
			t.Errorf("after one tick, %d contacts of the other account fired their trigger, want 1", n)
		}
	})
}

// TestTriggersByDateAreChecked parses triggers with and without faults.
func TestTriggersByDateAreChecked(t *testing.T) {
	t.Parallel()
	schema := rule.Schema{Fields: field.Catalog{"day": {Type: field.Date}, "name": {Type: field.String}}}
	for config, want := range map[string][]string{
		`{"field": "custom_fields.day"}`: nil,
		`{"field": "created_at", "offset": {"amount": 3, "unit": "week", "direction": "after"}, "time": "23:59", "repeat": "yearly"}`: nil,
		`{"field": "custom_fields.day", "offset": {"amount": 0, "unit": "day", "direction": "before"}, "repeat": "none"}`:             nil,
		`{}`:                                           {"trigger_config.field"},
		`{"field": "custom_fields.name"}`:              {"trigger_config.field"},
		`{"field": "custom_fields.gone"}`:              {"trigger_config.field"},
		`{"field": "last_email_opened_at"}`:            {"trigger_config.field"},
		`{"field": "created_at", "time": "24:00"}`:     {"trigger_config.time"},
		`{"field": "created_at", "repeat": "monthly"}`: {"trigger_config.repeat"},
		`{"field": "created_at", "offset": {"amount": 1, "unit": "month", "direction": "after"}}`:  {"trigger_config.offset.unit"},
		`{"field": "created_at", "offset": {"amount": -1, "unit": "day", "direction": "after"}}`:   {"trigger_config.offset.amount"},
		`{"field": "created_at", "offset": {"amount": 9999, "unit": "day", "direction": "after"}}`: {"trigger_config.offset.amount"},
		`{"field": "created_at", "offset": {"amount": 1, "unit": "day"}}`:                          {"trigger_config.offset.direction"},
		`{"field": "created_at", "to": 1}`:                                                         {"trigger_config.to"},
		`{"field": "created_at", "tag": "x"}`:                                                      {"trigger_config.tag"},
	} {
		var p fault.Problems
		tr := trigger.ParseConfig(trigger.Date, json.RawMessage(config), "", &p)
		if !p.Any() {
			tr.Refer(schema, "", &p)
		}
		var got []string
		if f, ok := fault.As(p.Err()); ok {
			details, _ := f.Details.(fault.Fields)
			for _, one := range details.Fields {
				got = append(got, one.Path)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: problems of %v, want %v", config, got, want)
		}
	}
}
