package calendar

import (
	_ "embed"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

//go:embed zones.txt
var zoneList string

// zoneNames are the names of time zones, by their names in lower case: the files of a computer's own zones
// cannot be found by another spelling. They are those of package tzdata.
var zoneNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq(zoneList) {
		names[strings.ToLower(name)] = name
	}
	return names
})

// ZoneName returns the name of an IANA time zone that is given in any case, and with spaces for underscores.
// "Local" is not one.
func ZoneName(s string) (string, bool) {
	if name, ok := zoneNames()[strings.ReplaceAll(strings.ToLower(s), " ", "_")]; ok {
		return name, true
	}
	if s == "" || s == "Local" {
		return "", false
	}
	_, err := time.LoadLocation(s) // a zone that is newer than the list
	return s, err == nil
}
