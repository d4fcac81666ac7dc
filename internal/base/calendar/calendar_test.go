package calendar

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMomentsShowTheirTime checks moments of random zones against the clock: one shows the wanted time
// unless the clock skips it, and no earlier one does.
func TestMomentsShowTheirTime(t *testing.T) {
	t.Parallel()
	names := []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Tehran", "Africa/Casablanca", "Pacific/Apia", "America/St_Johns", "Asia/Beirut"}
	rapid.Check(t, func(t *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom(names).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		day := time.Date(2008, 1, 1+rapid.IntRange(0, 9000).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		minutes := rapid.IntRange(0, 1439).Draw(t, "minute")
		want := day.Add(time.Duration(minutes) * time.Minute)
		got := Moment(day, 0, time.Duration(minutes)*time.Minute, z)
		shown, before := Shown(got.In(z)), Shown(got.Add(-time.Nanosecond).In(z))
		switch {
		case shown.Equal(want):
			for earlier := got.Add(-3 * time.Hour); earlier.Before(got); earlier = earlier.Add(time.Minute) {
				if Shown(earlier.In(z)).Equal(want) {
					t.Fatalf("%s in %s is %s, but %s shows it earlier", want, z, got, earlier)
				}
			}
		case !before.Before(want) || !shown.After(want):
			t.Fatalf("%s in %s is %s, which the clock does not skip", want, z, got.In(z))
		}
	})
}
