package calendar

import (
	"strings"
	"testing"
	"time"
)

func TestZoneNames(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(zoneList) {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
		for _, given := range []string{name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "_", " ")} {
			if got, ok := ZoneName(given); got != name || !ok {
				t.Errorf("%q = %q %t, want %q", given, got, ok, name)
			}
		}
	}
	for _, given := range []string{"", "Local", "local", "Europe", "europe/", "Europe/Nowhere", "../UTC", "/etc/localtime", " UTC"} {
		if got, ok := ZoneName(given); ok {
			t.Errorf("%q = %q", given, got)
		}
	}
}
