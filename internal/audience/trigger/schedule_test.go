package trigger

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

const layout = "2006-01-02 15:04 -07:00"

func day(t testing.TB, text string) *calendar.Date {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return &calendar.Date{At: at, Day: true}
}

func moment(t testing.TB, text string) *calendar.Date {
	t.Helper()
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return &calendar.Date{At: at.UTC()}
}

func offset(amount int, unit calendar.Unit, direction string) *calendar.Offset {
	return &calendar.Offset{Span: calendar.Span{Amount: amount, Unit: unit}, Direction: direction}
}

// TestDatesAreDue computes when triggers fire for a date after a time, one occurrence after the other.
func TestDatesAreDue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, zone, after string
		date              *calendar.Date
		dates             dates
		want              []string // followed by nothing, unless it is yearly
	}{
		{"a day begins at midnight of the contact", "America/New_York", "2026-03-02 09:00 +00:00", day(t, "2026-05-01"), dates{Repeat: Once},
			[]string{"2026-05-01 00:00 -04:00"}},
		{"a time of day", "Asia/Tokyo", "2026-03-02 09:00 +00:00", day(t, "2026-05-01"), dates{Time: "09:30", Repeat: Once}, []string{"2026-05-01 09:30 +09:00"}},
		{"days before", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "2026-05-01"), dates{Offset: offset(3, calendar.Day, "before"), Time: "09:00", Repeat: Once},
			[]string{"2026-04-28 09:00 +02:00"}},
		{"hours after a moment", "Europe/Berlin", "2026-03-02 09:00 +00:00", moment(t, "2026-05-01 13:20 +02:00"), dates{Offset: offset(2, calendar.Hour, "after"), Repeat: Once},
			[]string{"2026-05-01 15:20 +02:00"}},
		{"the past", "UTC", "2026-03-02 09:00 +00:00", day(t, "2026-03-01"), dates{Repeat: Once}, nil},
		{"this very moment has passed", "UTC", "2026-03-02 09:00 +00:00", day(t, "2026-03-02"), dates{Time: "09:00", Repeat: Once}, nil},
		{"the past, but due in the future", "UTC", "2026-03-02 09:00 +00:00", day(t, "2025-12-01"), dates{Offset: offset(20, calendar.Week, "after"), Repeat: Once},
			[]string{"2026-04-20 00:00 +00:00"}},
		{"anniversaries", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "1990-05-04"), dates{Time: "09:00", Repeat: Yearly},
			[]string{"2026-05-04 09:00 +02:00", "2027-05-04 09:00 +02:00", "2028-05-04 09:00 +02:00"}},
		{"the anniversary of this year has passed", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "1990-03-02"), dates{Time: "09:00", Repeat: Yearly},
			[]string{"2027-03-02 09:00 +01:00", "2028-03-02 09:00 +01:00"}},
		{"before the anniversary of the next year", "UTC", "2026-12-20 09:00 +00:00", day(t, "1990-01-02"), dates{Offset: offset(1, calendar.Week, "before"), Repeat: Yearly},
			[]string{"2026-12-26 00:00 +00:00", "2027-12-26 00:00 +00:00"}},
		{"after the anniversary of an earlier year", "UTC", "2026-03-02 09:00 +00:00", day(t, "1990-06-01"), dates{Offset: offset(400, calendar.Day, "after"), Repeat: Yearly},
			[]string{"2026-07-06 00:00 +00:00", "2027-07-06 00:00 +00:00"}},
		{"five years before", "UTC", "2026-03-02 09:00 +00:00", day(t, "2020-06-01"), dates{Offset: offset(1826, calendar.Day, "before"), Repeat: Yearly},
			[]string{"2026-06-01 00:00 +00:00", "2027-06-02 00:00 +00:00"}},
		{"a future date and its anniversaries", "UTC", "2026-03-02 09:00 +00:00", day(t, "2040-06-01"), dates{Repeat: Yearly},
			[]string{"2040-06-01 00:00 +00:00", "2041-06-01 00:00 +00:00"}},
		{"February 29", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "1992-02-29"), dates{Time: "09:00", Repeat: Yearly},
			[]string{"2027-02-28 09:00 +01:00", "2028-02-29 09:00 +01:00", "2029-02-28 09:00 +01:00"}},
		{"the day after February 29", "UTC", "2026-03-02 09:00 +00:00", day(t, "1992-02-29"), dates{Offset: offset(1, calendar.Day, "after"), Repeat: Yearly},
			[]string{"2027-03-01 00:00 +00:00", "2028-03-01 00:00 +00:00"}},
		{"no February 29 in 2100", "UTC", "2099-03-02 09:00 +00:00", day(t, "1992-02-29"), dates{Repeat: Yearly}, []string{"2100-02-28 00:00 +00:00", "2101-02-28 00:00 +00:00"}},
		{"a moment keeps its time of day over changes of the clock", "America/New_York", "2026-03-02 09:00 +00:00", moment(t, "2025-03-10 08:15 -04:00"), dates{Repeat: Yearly},
			[]string{"2026-03-10 08:15 -04:00", "2027-03-10 08:15 -05:00"}},
		{"a moment on February 29", "Asia/Tokyo", "2026-03-02 09:00 +00:00", moment(t, "2024-02-28 20:00 +00:00"), dates{Repeat: Yearly},
			[]string{"2027-02-28 05:00 +09:00", "2028-02-29 05:00 +09:00"}},
		{"the clock skips the time", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "2026-03-29"), dates{Time: "02:30", Repeat: Once}, []string{"2026-03-29 03:00 +02:00"}},
		{"the clock skips the time of one year", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "1990-03-29"), dates{Time: "02:30", Repeat: Yearly},
			[]string{"2026-03-29 03:00 +02:00", "2027-03-29 02:30 +02:00"}},
		{"the clock shows the time twice", "Europe/Berlin", "2026-03-02 09:00 +00:00", day(t, "1990-10-25"), dates{Time: "02:30", Repeat: Yearly},
			[]string{"2026-10-25 02:30 +02:00", "2027-10-25 02:30 +02:00"}},
		{"a day that the zone skipped", "Pacific/Apia", "2010-03-02 09:00 +00:00", day(t, "1990-12-30"), dates{Time: "10:00", Repeat: Yearly},
			[]string{"2010-12-30 10:00 -10:00", "2011-12-31 10:00 +14:00", "2012-12-30 10:00 +14:00"}},
		{"no date", "UTC", "2026-03-02 09:00 +00:00", nil, dates{Repeat: Yearly}, nil},
	} {
		z, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		next := tt.dates.reschedule(coming{}, tt.date, z, moment(t, tt.after).At)
		for i, want := range tt.want {
			if next.due == nil || !next.due.Equal(moment(t, want).At) {
				t.Errorf("%s: occurrence %d is due at %v, want %s", tt.name, i, next.due, want)
				break
			}
			next = tt.dates.passed(next, tt.date, z)
		}
		if next.due != nil && (tt.dates.Repeat == Once || tt.want == nil) {
			t.Errorf("%s: due at %s, want nothing more", tt.name, next.due)
		}
	}
}

// TestAnOccurrenceIsDueOnce moves a contact between time zones, and changes its date and back, at
// random times, and checks that no occurrence fires twice and that none of an unchanged date is lost.
func TestAnOccurrenceIsDueOnce(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Pacific/Apia", "America/Santiago"}
	rapid.Check(t, func(t *rapid.T) {
		z, now := time.UTC, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		base := time.Date(1988, 2, 1+rapid.IntRange(0, 800).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		d := dates{Time: rapid.SampledFrom([]string{"", "02:30", "09:00", "23:59"}).Draw(t, "time"), Repeat: Yearly}
		if rapid.Bool().Draw(t, "offset") {
			d.Offset = offset(rapid.IntRange(0, 500).Draw(t, "amount"), calendar.Day, rapid.SampledFrom([]string{"before", "after"}).Draw(t, "direction"))
		}
		date, began := &calendar.Date{At: base, Day: true}, now
		c := d.reschedule(coming{}, date, z, now)
		fired := map[occurrence]int{}
		years := []int{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				now = now.Add(time.Duration(rapid.IntRange(1, 24*100).Draw(t, "hours")) * time.Hour)
				for c.due != nil && !c.due.After(now) {
					if fired[c.occurrence]++; fired[c.occurrence] > 1 {
						t.Fatalf("%v fired twice", c.occurrence)
					}
					years = append(years, c.year)
					c = d.passed(c, date, z)
				}
			case 2:
				name := rapid.SampledFrom(zones).Draw(t, "zone")
				var err error
				if z, err = time.LoadLocation(name); err != nil {
					t.Fatal(err)
				}
				c = d.reschedule(c, date, z, now)
			case 3:
				other := &calendar.Date{At: base.AddDate(0, 0, rapid.IntRange(-3, 3).Draw(t, "days")), Day: true}
				if !other.At.Equal(date.At) {
					date, began, years = other, now, nil
				}
				c = d.reschedule(c, date, z, now)
			}
		}
		for i := 1; i < len(years); i++ {
			if years[i] != years[i-1]+1 {
				t.Fatalf("since %s the anniversaries of %v fired, want each", began, years)
			}
		}
	})
}
