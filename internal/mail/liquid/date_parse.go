package liquid

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dates are also read as Time.parse of Ruby does, which Shopify's Liquid uses: a date and a time in many
// forms, in either order. What is absent of a date is that of today, and of a time 0. Unlike there, what is
// neither is not passed over.

const (
	monthName = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	ordinal   = `(?:st|nd|rd|th)?`
)

// zoneName is a zone as zoneOf reads it.
var zoneName = `((?:` + strings.Join(slices.Sorted(maps.Keys(zoneHours)), "|") + `)(?:[+-]\d{1,2}(?::?\d{2})?)?\b|[+-]\d{1,2}(?::?\d{2})?)`

var (
	clockTime   = regexp.MustCompile(`(?:^|[\s,])(\d{1,2})(?:\s*:\s*(\d{2})(?:\s*:\s*(\d{2})(?:[.,](\d{1,9})\d*)?)?(?:\s*([ap])\.?m\b\.?)?|\s*([ap])\.?m\b\.?)(?:\s*` + zoneName + `)?(?:$|[\s,])`)
	dateAndTime = regexp.MustCompile(`(\d)t(\d)`)
	compactDate = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})(?:t(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d{1,9})\d*)?)?\s*` + zoneName + `?)?$`)
	weekday     = regexp.MustCompile(`\b(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*\b\.?,?`)
	fillers     = regexp.MustCompile(`^(?:[\s,]|\bat\b|\bon\b|\bof\b|\bthe\b)*$`)

	dayMonth  = regexp.MustCompile(`\b(\d{1,2})` + ordinal + `\.?[-\s/]*(?:of\s+)?` + monthName + `,?(?:[-\s/.]*'?(\d{1,4})\b)?`)
	monthDay  = regexp.MustCompile(`\b` + monthName + `[-\s/]*(\d{1,2})` + ordinal + `\b(?:[-\s,/.]*'?(\d{1,4})\b)?`)
	monthYear = regexp.MustCompile(`\b` + monthName + `,?[-\s/]*(\d{4})\b`)
	yearMonth = regexp.MustCompile(`\b(\d{4})[-\s/]*` + monthName + `[-\s/]*(\d{1,2})\b`)
	monthOnly = regexp.MustCompile(`\b` + monthName)
	numbers   = regexp.MustCompile(`\b(\d{1,4})(-|/|\.)\s*(\d{1,2})(?:(-|/|\.)\s*(\d{1,4}))?\b`)
	weekDate  = regexp.MustCompile(`\b(\d{4})-?w(\d{2})(?:-?([1-7]))?\b`)
	dayOfYear = regexp.MustCompile(`\b(\d{4})-(\d{3})\b`)
)

// written is a date and a time as they are written; 0 is an absent part of a date.
type written struct {
	year, month, day  int
	hour, minute, sec int
	nanos             int
	zone              *time.Location
	hasDate, hasTime  bool
}

// parseWritten parses a text in one of the forms above.
func parseWritten(text string, now time.Time) (time.Time, bool) {
	w := written{zone: now.Location()}
	rest := strings.ToLower(text)
	if m := compactDate.FindStringSubmatch(rest); m != nil {
		w.year, w.month, w.day, w.hasDate = number10(m[1]), number10(m[2]), number10(m[3]), true
		if m[4] != "" && !w.time(m[4], m[5], m[6], m[7], "", m[8]) {
			return time.Time{}, false
		}
		return w.in(now)
	}
	rest = dateAndTime.ReplaceAllString(weekday.ReplaceAllString(rest, " "), "$1 $2")
	if m := clockTime.FindStringSubmatchIndex(rest); m != nil {
		part := func(n int) string { return submatch(rest, m, n) }
		if !w.time(part(1), part(2), part(3), part(4), part(5)+part(6), part(7)) {
			return time.Time{}, false
		}
		rest = rest[:m[0]] + " " + rest[m[1]:]
	}
	rest, ok := w.readDate(rest)
	if !ok {
		return time.Time{}, false
	}
	if !fillers.MatchString(rest) {
		return time.Time{}, false
	}
	return w.in(now)
}

// submatch returns the n-th part of a match, nothing if it is absent.
func submatch(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}

// readDate reads the date in a text, and returns the text without it. It returns false for a date that
// does not exist.
func (w *written) readDate(text string) (string, bool) {
	var m []int
	part := func(n int) string { return submatch(text, m, n) }
	find := func(form *regexp.Regexp) bool {
		m = form.FindStringSubmatchIndex(text)
		return m != nil
	}
	w.hasDate = true
	switch {
	case find(yearMonth):
		w.year, w.month, w.day = number10(part(1)), monthOf(part(2)), number10(part(3))
	case find(dayMonth):
		w.year, w.month, w.day = fullYear(part(3)), monthOf(part(2)), number10(part(1))
	case find(monthDay):
		w.year, w.month, w.day = fullYear(part(3)), monthOf(part(1)), number10(part(2))
	case find(monthYear):
		w.year, w.month, w.day = number10(part(2)), monthOf(part(1)), 1
	case find(weekDate):
		w.ofWeek(number10(part(1)), number10(part(2)), cmp.Or(number10(part(3)), 1))
	case find(dayOfYear):
		day := time.Date(number10(part(1)), 1, number10(part(2)), 0, 0, 0, 0, time.UTC)
		if day.Year() != number10(part(1)) {
			return text, false
		}
		w.year, w.month, w.day = day.Year(), int(day.Month()), day.Day()
	case find(numbers) && w.ofNumbers(part(1), part(2), part(3), part(4), part(5)):
	case find(monthOnly):
		w.month, w.day = monthOf(part(1)), 1
	default:
		w.hasDate = false
		return text, true
	}
	return text[:m[0]] + " " + text[m[1]:], true
}

// ofNumbers sets a date that is written in numbers: the year first or, if the last number alone has more
// than two digits, last. Two numbers with a slash are month and day.
func (w *written) ofNumbers(a, mark, b, mark2, c string) bool {
	switch {
	case c == "" && mark == "/" && len(a) <= 2:
		w.month, w.day = number10(a), number10(b)
		return true
	case c == "" && len(a) == 4 && mark != ".":
		w.year, w.month, w.day = number10(a), number10(b), 1
		return true
	case c == "" || mark != mark2:
		return false
	case len(a) <= 2 && len(c) > 2:
		a, c = c, a
	}
	w.year, w.month, w.day = fullYear(a), number10(b), number10(c)
	return true
}

// ofWeek sets a date by its week (ISO 8601).
func (w *written) ofWeek(year, week, day int) {
	first := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in the first week
	monday := first.AddDate(0, 0, -(int(first.Weekday())+6)%7)
	t := monday.AddDate(0, 0, 7*(week-1)+day-1)
	w.year, w.month, w.day = t.Year(), int(t.Month()), t.Day()
}

// time sets the time, and reports whether there is such a one.
func (w *written) time(hour, minute, sec, fraction, half, zone string) bool {
	w.hasTime = true
	w.hour, w.minute, w.sec = number10(hour), number10(minute), number10(sec)
	if half != "" {
		if w.hour < 1 || w.hour > 12 {
			return false
		}
		w.hour %= 12
		if half == "p" {
			w.hour += 12
		}
	}
	if fraction != "" {
		w.nanos = number10((fraction + "000000000")[:9])
	}
	ok := w.hour <= 24 && w.minute <= 59 && w.sec <= 60 && (w.hour < 24 || w.minute+w.sec == 0)
	if zone == "" || !ok {
		return ok
	}
	w.zone, ok = zoneOf(zone)
	return ok
}

// in returns the time, with what is absent from now.
func (w *written) in(now time.Time) (time.Time, bool) {
	if !w.hasDate && !w.hasTime {
		return time.Time{}, false
	}
	today := now.In(w.zone)
	if !w.hasDate {
		w.year, w.month, w.day = today.Year(), int(today.Month()), today.Day()
	}
	w.year = cmp.Or(w.year, today.Year())
	day := time.Date(w.year, time.Month(w.month), w.day, 0, 0, 0, 0, time.UTC)
	if int(day.Month()) != w.month || day.Day() != w.day {
		return time.Time{}, false
	}
	t := time.Date(w.year, time.Month(w.month), w.day, w.hour, w.minute, w.sec, w.nanos, w.zone)
	return t.In(now.Location()), validYear(t)
}

// number10 returns a number of digits, 0 for none.
func number10(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// fullYear returns a year, of which two digits are the last ones since 1969; 0 for none.
func fullYear(digits string) int {
	n := number10(digits)
	switch {
	case digits == "" || len(digits) > 2:
		return n
	case n >= 69:
		return 1900 + n
	}
	return 2000 + n
}

// monthOf returns a month by the first letters of its name.
func monthOf(name string) int {
	return strings.Index("jan feb mar apr may jun jul aug sep oct nov dec", name)/4 + 1
}

// zoneHours are the zones whose names dates are written with (RFC 5322 section 4.3, and others that Ruby
// knows), in hours.
var zoneHours = map[string]int{
	"z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9,
	"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10,
}

// zoneOf returns a zone by its name or by its difference from UTC.
func zoneOf(name string) (*time.Location, bool) {
	at := strings.IndexAny(name, "+-")
	if at < 0 {
		hours, ok := zoneHours[name]
		return time.FixedZone(strings.ToUpper(name), hours*3600), ok
	}
	digits := strings.ReplaceAll(name[at+1:], ":", "")
	hours, minutes := number10(digits), 0
	if len(digits) > 2 {
		hours, minutes = number10(digits[:len(digits)-2]), number10(digits[len(digits)-2:])
	}
	if hours > 23 || minutes > 59 {
		return nil, false
	}
	seconds := hours*3600 + minutes*60
	if name[at] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), true
}
