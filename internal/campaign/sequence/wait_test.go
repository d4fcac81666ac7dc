package sequence

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// at parses a time such as "2026-03-28 09:00 CET"; the zone is an offset.
func at(t testing.TB, text string) time.Time {
	t.Helper()
	got, err := time.Parse("2006-01-02 15:04 -07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return got.UTC()
}

// TestDurationsKeepTheTimeOfDay begins waits around the changes of clocks. Minutes and hours are
// those that pass; days and weeks keep the time of day of the account's zone.
func TestDurationsKeepTheTimeOfDay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, zone, from string
		span             calendar.Span
		want             string
	}{
		{"an hour over a gap", "Europe/Berlin", "2026-03-29 01:30 +01:00", calendar.Span{Amount: 1, Unit: calendar.Hour}, "2026-03-29 03:30 +02:00"},
		{"24 hours over a gap", "Europe/Berlin", "2026-03-28 12:00 +01:00", calendar.Span{Amount: 24, Unit: calendar.Hour}, "2026-03-29 13:00 +02:00"},
		{"a day over a gap", "Europe/Berlin", "2026-03-28 12:00 +01:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-03-29 12:00 +02:00"},
		{"a day into a gap", "Europe/Berlin", "2026-03-28 02:30 +01:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-03-29 03:00 +02:00"},
		{"a week into a gap", "America/New_York", "2026-03-01 02:15 -05:00", calendar.Span{Amount: 1, Unit: calendar.Week}, "2026-03-08 03:00 -04:00"},
		{"a day over an overlap", "Europe/Berlin", "2026-10-24 12:00 +02:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-10-25 12:00 +01:00"},
		{"a day into an overlap", "Europe/Berlin", "2026-10-24 02:30 +02:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-10-25 02:30 +02:00"},
		{"a day into an overlap of the west", "America/New_York", "2026-10-31 01:30 -04:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-11-01 01:30 -04:00"},
		{"a day from the second hour of an overlap", "Europe/Berlin", "2026-10-25 02:30 +01:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-10-26 02:30 +01:00"},
		{"a gap of half an hour", "Australia/Lord_Howe", "2026-10-03 02:10 +10:30", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-10-04 02:30 +11:00"},
		{"a gap at midnight", "America/Santiago", "2026-09-05 00:30 -04:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2026-09-06 01:00 -03:00"},
		{"a day that the zone skipped", "Pacific/Apia", "2011-12-29 10:00 -10:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2011-12-31 00:00 +14:00"},
		{"a leap day", "Europe/Berlin", "2028-02-28 10:00 +01:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2028-02-29 10:00 +01:00"},
		{"no leap day", "Europe/Berlin", "2100-02-28 10:00 +01:00", calendar.Span{Amount: 1, Unit: calendar.Day}, "2100-03-01 10:00 +01:00"},
		{"a zone without changes", "Asia/Kolkata", "2026-03-28 02:30 +05:30", calendar.Span{Amount: 1, Unit: calendar.Week}, "2026-04-04 02:30 +05:30"},
		{"minutes", "Asia/Kathmandu", "2026-03-28 23:50 +05:45", calendar.Span{Amount: 20, Unit: calendar.Minute}, "2026-03-29 00:10 +05:45"},
	} {
		w := WaitStep{Mode: ForDuration, Amount: tt.span.Amount, Unit: tt.span.Unit}
		if got := w.until(at(t, tt.from), time.UTC, zone(t, tt.zone), nil); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: %d %s after %s: %s, want %s", tt.name, tt.span.Amount, tt.span.Unit, tt.from, got.In(zone(t, tt.zone)), tt.want)
		}
		event := WaitStep{Mode: UntilEvent, Timeout: &tt.span}
		if got := event.until(at(t, tt.from), time.UTC, zone(t, tt.zone), nil); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: a timeout ends at %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestUntilTime waits for times of day on days of the week.
func TestUntilTime(t *testing.T) {
	t.Parallel()
	every := []int{1, 2, 3, 4, 5, 6, 7}
	for _, tt := range []struct {
		name, zone, from string
		days             []int
		time, want       string
	}{
		{"later today", "Europe/Berlin", "2026-03-02 08:00 +01:00", every, "09:00", "2026-03-02 09:00 +01:00"},
		{"this very moment", "Europe/Berlin", "2026-03-02 09:00 +01:00", every, "09:00", "2026-03-02 09:00 +01:00"},
		{"tomorrow", "Europe/Berlin", "2026-03-02 09:01 +01:00", every, "09:00", "2026-03-03 09:00 +01:00"},
		{"the next Friday", "Europe/Berlin", "2026-03-02 09:01 +01:00", []int{5}, "09:00", "2026-03-06 09:00 +01:00"},
		{"this Monday has passed", "Europe/Berlin", "2026-03-02 09:01 +01:00", []int{1}, "09:00", "2026-03-09 09:00 +01:00"},
		{"Sunday is 7", "Europe/Berlin", "2026-03-02 09:01 +01:00", []int{7}, "09:00", "2026-03-08 09:00 +01:00"},
		{"the first of several days", "Europe/Berlin", "2026-03-04 12:00 +01:00", []int{6, 2, 4}, "09:00", "2026-03-05 09:00 +01:00"},
		{"the weekday is that of the zone", "Pacific/Auckland", "2026-03-02 23:30 +13:00", []int{2}, "00:15", "2026-03-03 00:15 +13:00"},
		{"into a gap", "Europe/Berlin", "2026-03-28 12:00 +01:00", []int{7}, "02:30", "2026-03-29 03:00 +02:00"},
		{"from within a gap's day", "Europe/Berlin", "2026-03-29 03:01 +02:00", []int{7}, "02:30", "2026-04-05 02:30 +02:00"},
		{"into an overlap: the first", "Europe/Berlin", "2026-10-24 12:00 +02:00", []int{7}, "02:30", "2026-10-25 02:30 +02:00"},
		{"after the first of an overlap", "Europe/Berlin", "2026-10-25 02:31 +02:00", []int{7}, "02:30", "2026-11-01 02:30 +01:00"},
		{"a gap at midnight", "America/Santiago", "2026-09-05 12:00 -04:00", []int{7}, "00:00", "2026-09-06 01:00 -03:00"},
		{"a leap day", "Europe/Berlin", "2028-02-28 12:00 +01:00", []int{2}, "09:00", "2028-02-29 09:00 +01:00"},
	} {
		w := WaitStep{Mode: UntilTime, Days: tt.days, Time: tt.time, Zone: ContactZone}
		if got := w.until(at(t, tt.from), zone(t, tt.zone), time.UTC, nil); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: from %s until %s on %v: %s, want %s", tt.name, tt.from, tt.time, tt.days, got.In(zone(t, tt.zone)), tt.want)
		}
		w.Zone = AccountZone
		if got := w.until(at(t, tt.from), time.UTC, zone(t, tt.zone), nil); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: in the account's zone: %s, want %s", tt.name, got.In(zone(t, tt.zone)), tt.want)
		}
	}
}

// TestUntilDate waits for dates, with offsets and times.
func TestUntilDate(t *testing.T) {
	t.Parallel()
	day := func(text string) *calendar.Date {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return &calendar.Date{At: d, Day: true}
	}
	offset := func(amount int, unit calendar.Unit, direction string) *calendar.Offset {
		return &calendar.Offset{Span: calendar.Span{Amount: amount, Unit: unit}, Direction: direction}
	}
	moment := func(text string) *calendar.Date { return &calendar.Date{At: at(t, text)} }
	for _, tt := range []struct {
		name, zone string
		date       *calendar.Date
		offset     *calendar.Offset
		time, want string
	}{
		{"a day begins at midnight of the contact", "America/New_York", day("2026-05-01"), nil, "", "2026-05-01 00:00 -04:00"},
		{"a day with a time", "Asia/Tokyo", day("2026-05-01"), nil, "09:30", "2026-05-01 09:30 +09:00"},
		{"days before", "Europe/Berlin", day("2026-05-01"), offset(3, calendar.Day, "before"), "09:00", "2026-04-28 09:00 +02:00"},
		{"weeks after", "Europe/Berlin", day("2026-05-01"), offset(2, calendar.Week, "after"), "", "2026-05-15 00:00 +02:00"},
		{"hours before midnight", "Europe/Berlin", day("2026-05-01"), offset(2, calendar.Hour, "before"), "", "2026-04-30 22:00 +02:00"},
		{"hours before, and a time of that day", "Europe/Berlin", day("2026-05-01"), offset(2, calendar.Hour, "before"), "07:00", "2026-04-30 07:00 +02:00"},
		{"on the date itself", "Europe/Berlin", day("2026-05-01"), offset(0, calendar.Day, "before"), "08:00", "2026-05-01 08:00 +02:00"},
		{"a moment", "Europe/Berlin", moment("2026-05-01 13:20 +02:00"), nil, "", "2026-05-01 13:20 +02:00"},
		{"a moment whose time is replaced, on the contact's day", "Asia/Tokyo", moment("2026-05-01 23:00 +02:00"), nil, "08:00", "2026-05-02 08:00 +09:00"},
		{"a moment minutes before", "Europe/Berlin", moment("2026-05-01 13:20 +02:00"), offset(90, calendar.Minute, "before"), "", "2026-05-01 11:50 +02:00"},
		{"days over a gap", "Europe/Berlin", day("2026-04-01"), offset(1, calendar.Week, "before"), "12:00", "2026-03-25 12:00 +01:00"},
		{"into a gap", "Europe/Berlin", day("2026-03-30"), offset(1, calendar.Day, "before"), "02:30", "2026-03-29 03:00 +02:00"},
		{"into an overlap", "Europe/Berlin", day("2026-10-25"), nil, "02:30", "2026-10-25 02:30 +02:00"},
		{"a year after a leap day", "Europe/Berlin", day("2028-02-29"), offset(366, calendar.Day, "after"), "", "2029-03-01 00:00 +01:00"},
		{"the day before March", "Europe/Berlin", day("2028-03-01"), offset(1, calendar.Day, "before"), "10:00", "2028-02-29 10:00 +01:00"},
		{"a day that the zone skipped", "Pacific/Apia", day("2011-12-30"), nil, "10:00", "2011-12-31 10:00 +14:00"},
	} {
		w := WaitStep{Mode: UntilDate, Field: "custom_fields.due", Offset: tt.offset, Time: tt.time}
		if got := w.until(at(t, "2026-01-01 00:00 +00:00"), zone(t, tt.zone), time.UTC, tt.date); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, got.In(zone(t, tt.zone)), tt.want)
		}
	}
	now := at(t, "2026-01-01 00:00 +00:00")
	if got := (WaitStep{Mode: UntilDate, Field: "custom_fields.due"}).until(now, time.UTC, time.UTC, nil); !got.Equal(now) {
		t.Errorf("without a date the wait ends at %s, want now", got)
	}
	past := at(t, "2020-01-01 00:00 +00:00")
	if got := (WaitStep{Mode: UntilDate, At: &past}).until(now, time.UTC, time.UTC, nil); !got.Equal(past) {
		t.Errorf("a date in the past ends the wait at %s, want then", got)
	}
}

// TestSendWindows opens windows by day and night, around the changes of clocks.
func TestSendWindows(t *testing.T) {
	t.Parallel()
	work := []int{1, 2, 3, 4, 5}
	for _, tt := range []struct {
		name, zone, from string
		days             []int
		start, end, want string
	}{
		{"inside", "Europe/Berlin", "2026-03-02 10:00 +01:00", work, "09:00", "17:00", "2026-03-02 10:00 +01:00"},
		{"at its start", "Europe/Berlin", "2026-03-02 09:00 +01:00", work, "09:00", "17:00", "2026-03-02 09:00 +01:00"},
		{"at its end", "Europe/Berlin", "2026-03-02 17:00 +01:00", work, "09:00", "17:00", "2026-03-03 09:00 +01:00"},
		{"before", "Europe/Berlin", "2026-03-02 07:00 +01:00", work, "09:00", "17:00", "2026-03-02 09:00 +01:00"},
		{"on Friday evening", "Europe/Berlin", "2026-03-06 18:00 +01:00", work, "09:00", "17:00", "2026-03-09 09:00 +01:00"},
		{"until midnight", "Europe/Berlin", "2026-03-02 23:59 +01:00", work, "20:00", "24:00", "2026-03-02 23:59 +01:00"},
		{"over midnight, before it", "Europe/Berlin", "2026-03-06 23:00 +01:00", []int{5}, "22:00", "02:00", "2026-03-06 23:00 +01:00"},
		{"over midnight, after it: the window of Friday", "Europe/Berlin", "2026-03-07 01:00 +01:00", []int{5}, "22:00", "02:00", "2026-03-07 01:00 +01:00"},
		{"over midnight, after its end", "Europe/Berlin", "2026-03-07 02:00 +01:00", []int{5}, "22:00", "02:00", "2026-03-13 22:00 +01:00"},
		{"over midnight of another day", "Europe/Berlin", "2026-03-06 01:00 +01:00", []int{5}, "22:00", "02:00", "2026-03-06 22:00 +01:00"},
		{"it begins in a gap", "Europe/Berlin", "2026-03-29 00:00 +01:00", []int{7}, "02:30", "05:00", "2026-03-29 03:00 +02:00"},
		{"it ends in a gap", "Europe/Berlin", "2026-03-29 03:00 +02:00", []int{7}, "01:00", "02:30", "2026-04-05 01:00 +02:00"},
		{"the clock skips it", "Europe/Berlin", "2026-03-28 12:00 +01:00", []int{7}, "02:10", "02:40", "2026-04-05 02:10 +02:00"},
		{"the clock skips it, today", "Europe/Berlin", "2026-03-29 01:00 +01:00", []int{7}, "02:10", "02:40", "2026-04-05 02:10 +02:00"},
		{"it begins in an overlap", "Europe/Berlin", "2026-10-25 00:00 +02:00", []int{7}, "02:30", "05:00", "2026-10-25 02:30 +02:00"},
		{"the day is that of the zone", "Pacific/Auckland", "2026-03-02 08:00 +13:00", []int{1}, "08:00", "09:00", "2026-03-02 08:00 +13:00"},
		{"a leap day", "Europe/Berlin", "2028-02-28 18:00 +01:00", []int{2}, "09:00", "17:00", "2028-02-29 09:00 +01:00"},
	} {
		w := Window{Days: tt.days, Start: tt.start, End: tt.end, Zone: ContactZone}
		if got := w.opening(at(t, tt.from), zone(t, tt.zone), time.UTC); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, got.In(zone(t, tt.zone)), tt.want)
		}
		w.Zone = AccountZone
		if got := w.opening(at(t, tt.from), time.UTC, zone(t, tt.zone)); !got.Equal(at(t, tt.want)) {
			t.Errorf("%s: in the account's zone: %s, want %s", tt.name, got.In(zone(t, tt.zone)), tt.want)
		}
	}
}
