package liquid

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/clip"
)

// dateFilter prints a date by the directives of strftime, in the time zone of the Env. A value that is
// not a date is printed unchanged.
func dateFilter(s *state, in any, args []any) any {
	format := s.text(args[0])
	if format == "" {
		return in
	}
	t, ok := s.date(in)
	if !ok {
		s.noteUnread(in)
		return in
	}
	if !s.charge(len(format) + strings.Count(format, "%")*maxWidth) {
		return nil
	}
	return string(strftime(nil, t, format))
}

// noteUnread tells the Env of a value that is no date.
func (s *state) noteUnread(v any) {
	n, ok := s.env.(Noter)
	if !ok {
		return
	}
	if text := s.text(v); strings.TrimFunc(text, isSpace) != "" {
		n.Note(s.line, fmt.Sprintf("%q is no date that can be read, and stays as it is", clip.Ellipsis(text, 60)))
	}
}

// timeZone converts a date to a time zone, for the date filters that follow.
func timeZone(s *state, in any, args []any) any {
	zone, ok := args[0].(*time.Location)
	if !ok {
		var err error
		if !s.charge(zoneCost) {
			return nil
		}
		if zone, err = loadZone(s.text(args[0])); err != nil {
			return s.fail("%s", err)
		}
	}
	t, ok := s.date(in)
	if !ok {
		s.noteUnread(in)
		return in
	}
	return zoned{t.In(zone)}
}

// zoneCost is the work of looking up a time zone, which may read the file system.
const zoneCost = 4 << 10

// prepareTimeZone looks up a time zone that is a literal in the template.
func prepareTimeZone(args []expr, zones map[string]*time.Location) error {
	l, ok := args[0].(literal)
	if !ok {
		return nil
	}
	name, _ := l.v.(string)
	zone, known := zones[name]
	if !known {
		var err error
		if zone, err = loadZone(name); err != nil {
			return err
		}
		zones[name] = zone
	}
	args[0] = literal{zone}
	return nil
}

func loadZone(name string) (*time.Location, error) {
	if len(name) <= 64 {
		if zone, ok := calendar.ZoneName(name); ok {
			return time.LoadLocation(zone)
		}
	}
	return nil, fmt.Errorf(`unknown time zone "%.40s"`, name)
}

// date reads a value as a time in the zone in which it will be printed: that of the Env, unless the
// filter time_zone has set another. A text without a zone is a time in that zone.
func (s *state) date(v any) (time.Time, bool) {
	now := s.env.Now()
	switch v := v.(type) {
	case time.Time:
		return v.In(now.Location()), true
	case zoned:
		return v.Time, true
	case int64:
		return time.Unix(v, 0).In(now.Location()), validYear(time.Unix(v, 0))
	case Raw:
		return s.date(string(v))
	case string:
		return parseDate(v, now)
	}
	return time.Time{}, false
}

// layouts are the formats that the date filter accepts.
var layouts = []string{
	time.RFC3339Nano,
	time.DateOnly,
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
	"2006/01/02",
	"2006-01",
	"January 2, 2006 15:04:05",
	"January 2, 2006 15:04",
	"January 2, 2006 3:04 PM",
	"January 2, 2006",
	"January 2 2006",
	"January 2006",
	"Jan 2, 2006 15:04:05",
	"Jan 2, 2006 15:04",
	"Jan 2, 2006 3:04 PM",
	"Jan 2, 2006",
	"Jan 2 2006",
	"2 January 2006 15:04:05",
	"2 January 2006 15:04",
	"2 January 2006",
	"2 Jan 2006 15:04:05",
	"2 Jan 2006 15:04",
	"2 Jan 2006",
	"2.1.2006",
	"Monday, January 2, 2006",
	time.RFC1123Z,
	time.ANSIC,
	time.RubyDate,
}

// parseDate parses a text as a date: a number of seconds, one of the words now and today, one of the layouts,
// or another form of parseWritten.
func parseDate(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimFunc(numberPrefix(text), isSpace)
	if text == "" || len(text) > 64 {
		return time.Time{}, false
	}
	if text == "now" || text == "today" {
		return now, true
	}
	if digitsOnly(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		t := time.Unix(n, 0)
		return t.In(now.Location()), err == nil && validYear(t)
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t.In(now.Location()), true
		}
	}
	return parseWritten(text, now)
}

// validYear reports whether a year has at most four digits, which bounds numbers of seconds.
func validYear(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }
