package calendar

import (
	"regexp"
	"strings"
	"time"
)

// The forms of moments, with the parts year, month, day, hour, minute, second, fraction and zone.
var momentForms = []*regexp.Regexp{
	regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?` + zoneForm + `$`),
	regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?` + zoneForm + `$`),
}

const zoneForm = `(?: ?([Zz]|(?i:UTC|GMT)|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?))?`

// maxMoment is how long a moment may be written; a form has any number of digits behind the second.
const maxMoment = 64

// ParseMoment parses a date and time as RFC 3339, ISO 8601 or SQL write it: with T, t or a space between the two,
// and an offset such as Z, z, UTC, +02:00, +0200 or +02, or none, which means UTC. The seconds may be missing, and
// the punctuation too. A leap second is the second after it. The result is in UTC.
func ParseMoment(s string) (time.Time, bool) {
	if len(s) > maxMoment {
		return time.Time{}, false
	}
	for _, form := range momentForms {
		p := form.FindStringSubmatch(s)
		if p == nil {
			continue
		}
		second, leap := orZero(p[6]), p[6] == "60"
		if leap {
			second = "59"
		}
		text := p[1] + "-" + p[2] + "-" + p[3] + "T" + p[4] + ":" + p[5] + ":" + second + "." + orZero(p[7]) + offset(p[8])
		t, err := time.Parse(time.RFC3339Nano, text)
		t = t.UTC()
		if leap {
			t = t.Add(time.Second)
		}
		return t, err == nil && inEra(t) && (!leap || beginsMonth(t))
	}
	return time.Time{}, false
}

// beginsMonth reports whether a time is in the first second of a month, before which a second can be inserted.
func beginsMonth(t time.Time) bool {
	return t.Day() == 1 && t.Truncate(time.Second).Equal(t.Truncate(24*time.Hour))
}

func orZero(digits string) string {
	if digits == "" {
		return "00"
	}
	return digits
}

// offset returns an offset as RFC 3339 has it.
func offset(zone string) string {
	sign := strings.IndexAny(zone, "+-")
	if sign < 0 {
		return "Z"
	}
	digits := strings.ReplaceAll(zone[1:], ":", "") + "00"
	return zone[:1] + digits[:2] + ":" + digits[2:4]
}

// ParseDay parses a date as ISO 8601 writes it, with or without hyphens, also as the moment when it begins: where
// the time is 00:00, the date is meant. The result is the date at 00:00 UTC.
func ParseDay(s string) (time.Time, bool) {
	date := s
	_, moment := ParseMoment(s)
	for _, form := range momentForms {
		if p := form.FindStringSubmatch(s); moment && p != nil && strings.Trim(p[4]+p[5]+p[6]+p[7], "0") == "" {
			date = p[1] + p[2] + p[3]
		}
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if t, err := time.Parse(layout, date); err == nil && len(date) == len(layout) {
			return t, inEra(t)
		}
	}
	return time.Time{}, false
}

// inEra reports whether a time has a year of four digits.
func inEra(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }
