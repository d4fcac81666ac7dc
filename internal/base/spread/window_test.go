package spread_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/spread"
)

func TestParseWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, end string
		want       spread.Window
		ok         bool
	}{
		{"00:00", "24:00", spread.AllDay, true},
		{"08:30", "20:00", spread.Window{Start: 510, End: 1200}, true},
		{"23:59", "24:00", spread.Window{Start: 1439, End: 1440}, true},
		{"20:00", "08:00", spread.Window{}, false},
		{"08:00", "08:00", spread.Window{}, false},
		{"24:00", "24:00", spread.Window{}, false},
		{"8:00", "20:00", spread.Window{}, false},
		{"08:60", "20:00", spread.Window{}, false},
		{"08:00", "24:01", spread.Window{}, false},
		{"-8:00", "20:00", spread.Window{}, false},
		{"08:00:00", "20:00", spread.Window{}, false},
		{"", "", spread.Window{}, false},
	} {
		w, err := spread.ParseWindow(c.start, c.end)
		if (err == nil) != c.ok || w != c.want {
			t.Errorf("%s-%s: %v, %v", c.start, c.end, w, err)
		}
	}
}

func zone(t interface {
	Helper()
	Fatal(...any)
}, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestWindowsAreWallTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone     string
		day      spread.Day
		window   spread.Window
		from, to string // UTC
	}{
		{"UTC", "2026-03-02", spread.AllDay, "2026-03-02T00:00Z", "2026-03-03T00:00Z"},
		{"Europe/Amsterdam", "2026-07-01", spread.Window{Start: 480, End: 1200}, "2026-07-01T06:00Z", "2026-07-01T18:00Z"},
		{"Europe/Amsterdam", "2026-03-29", spread.AllDay, "2026-03-28T23:00Z", "2026-03-29T22:00Z"},                       // 23 hours
		{"Europe/Amsterdam", "2026-10-25", spread.AllDay, "2026-10-24T22:00Z", "2026-10-25T23:00Z"},                       // 25 hours
		{"Europe/Amsterdam", "2026-03-29", spread.Window{Start: 150, End: 240}, "2026-03-29T01:00Z", "2026-03-29T02:00Z"}, // 02:30 is left out
		{"Europe/Amsterdam", "2026-03-29", spread.Window{Start: 120, End: 180}, "2026-03-29T01:00Z", "2026-03-29T01:00Z"}, // all of it is
		{"Europe/Amsterdam", "2026-10-25", spread.Window{Start: 120, End: 180}, "2026-10-25T00:00Z", "2026-10-25T01:00Z"}, // used once
		{"Europe/Amsterdam", "2026-10-25", spread.Window{Start: 60, End: 150}, "2026-10-24T23:00Z", "2026-10-25T00:30Z"},
		{"America/Sao_Paulo", "2018-11-04", spread.AllDay, "2018-11-04T03:00Z", "2018-11-05T02:00Z"}, // midnight is left out
		{"Pacific/Apia", "2011-12-30", spread.AllDay, "2011-12-30T10:00Z", "2011-12-30T10:00Z"},      // the whole day is
		{"Australia/Lord_Howe", "2026-04-05", spread.AllDay, "2026-04-04T13:00Z", "2026-04-05T13:30Z"},
	} {
		from, to := c.window.Span(c.day, zone(t, c.zone))
		const form = "2006-01-02T15:04Z07:00"
		if f, e := from.UTC().Format(form), to.UTC().Format(form); f != c.from || e != c.to {
			t.Errorf("%s %s %v: %s to %s, not %s to %s", c.zone, c.day, c.window, f, e, c.from, c.to)
		}
	}
}

func TestBatchesLieInTheWindowAQuarterApart(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Havana"}
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		day := spread.Day("2026-01-01").Add(rapid.IntRange(0, 364).Draw(t, "day"))
		start := rapid.IntRange(0, 1439).Draw(t, "start")
		w := spread.Window{Start: start, End: rapid.IntRange(start+1, 1440).Draw(t, "end")}
		offset := time.Duration(rapid.IntRange(0, 15*60-1).Draw(t, "offset")) * time.Second
		from, to := w.Span(day, z)
		batches := w.Batches(day, z, offset, time.Time{})
		if to.After(from) && len(batches) == 0 {
			t.Fatalf("no batch between %v and %v", from, to)
		}
		if want := w.Hours(day, z, time.Time{}); want != to.Sub(from).Hours() {
			t.Fatalf("%v hours between %v and %v", want, from, to)
		}
		for i, at := range batches {
			if at.Before(from) || !at.Before(to) || spread.DayOf(at, z) != day || i > 0 && at.Sub(batches[i-1]) != spread.Quarter {
				t.Fatalf("batches %v of %v to %v", batches, from, to)
			}
		}
		if len(batches) > 0 {
			since := batches[len(batches)/2]
			if rest := w.Batches(day, z, offset, since); !slices.Equal(rest, batches[len(batches)/2:]) {
				t.Fatalf("since %v: %v", since, rest)
			}
		}
	})
}

func TestDays(t *testing.T) {
	t.Parallel()
	skipped := []spread.Day{"2026-03-03", "2026-03-09"}
	if got := spread.Over("2026-03-02", 3, skipped); !slices.Equal(got, []spread.Day{"2026-03-02", "2026-03-04"}) {
		t.Error(got)
	}
	if got := spread.Until("2026-03-02", "2026-03-04", skipped); !slices.Equal(got, []spread.Day{"2026-03-02", "2026-03-04"}) {
		t.Error(got)
	}
	if got := spread.Until("2026-03-02", "2026-03-01", nil); len(got) != 0 {
		t.Error(got)
	}
	if got := spread.Until("2026-03-02", "9999-12-31", nil); len(got) != spread.MaxDays {
		t.Error(len(got))
	}
}

// Where the clock skips midnight, the day begins after the change.
func TestDaysBegin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		day        spread.Day
		zone, want string
	}{
		{"2026-03-02", "UTC", "2026-03-02T00:00:00Z"},
		{"2026-03-02", "Asia/Kolkata", "2026-03-02T00:00:00+05:30"},
		{"2026-09-06", "America/Santiago", "2026-09-06T01:00:00-03:00"},
		{"2026-03-29", "Asia/Beirut", "2026-03-29T01:00:00+03:00"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.day.Start(zone).Format(time.RFC3339); got != test.want {
			t.Errorf("%s begins at %s in %s, want %s", test.day, got, test.zone, test.want)
		}
	}
}
