package liquid

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dateFilter prints a date by the directives of strftime, in the time zone of
// the Env. What is no date is printed as it is.
func dateFilter(s *state, in any, args []any) any {
	format := s.text(args[0])
	if format == "" {
		return in
	}
	t, ok := s.date(in)
	if !ok {
		return in
	}
	if !s.charge(len(format) + strings.Count(format, "%")*maxWidth) {
		return nil
	}
	return string(strftime(nil, t, format))
}

// timeZone moves a date to a time zone, for the date filters that follow.
func timeZone(s *state, in any, args []any) any {
	zone, ok := args[0].(*time.Location)
	if !ok {
		var err error
		if zone, err = loadZone(s.text(args[0])); err != nil {
			return s.fail("%s", err)
		}
	}
	t, ok := s.date(in)
	if !ok {
		return in
	}
	return zoned{t.In(zone)}
}

// prepareTimeZone looks up a time zone that is written in the template.
func prepareTimeZone(args []expr) error {
	l, ok := args[0].(literal)
	if !ok {
		return nil
	}
	name, _ := l.v.(string)
	zone, err := loadZone(name)
	args[0] = literal{zone}
	return err
}

func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf(`unknown time zone "%.40s"`, name)
	}
	return zone, nil
}

// date reads a value as a time in the zone it is to be printed in: that of the
// Env, unless the filter time_zone has chosen another. A text without a zone
// is a time of that zone's clocks.
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

// layouts are the ways of writing a date that the date filter reads.
var layouts = []string{
	time.RFC3339Nano,
	time.DateOnly,
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05 MST",
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
	time.RFC1123,
	time.RFC850,
	time.ANSIC,
	time.UnixDate,
	time.RubyDate,
}

// parseDate reads a text as a date: a number of seconds, one of the words now
// and today, or one of the layouts.
func parseDate(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimFunc(text, isSpace)
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
	return time.Time{}, false
}

// validYear bounds what a number of seconds may mean to years of four digits.
func validYear(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// directive is one conversion of a strftime format: %, flags, width, letter.
type directive struct {
	letter byte
	pad    byte // '0', ' ', '-' for none; 0 for the letter's own
	upper  bool
	swap   bool // change of case
	colons int
	width  int
}

const maxWidth = 64

// strftime appends t in the format. What is no directive is appended as it is.
func strftime(dst []byte, t time.Time, format string) []byte {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return append(dst, format...)
		}
		dst = append(dst, format[:i]...)
		d, n := parseDirective(format[i:])
		start := len(dst)
		dst = d.append(dst, t)
		if len(dst) == start && d.letter != 'Z' {
			dst = append(dst, format[i:i+n]...)
		}
		format = format[i+n:]
	}
}

// parseDirective reads the directive at the start of format and returns its
// length.
func parseDirective(format string) (directive, int) {
	var d directive
	n := 1
flags:
	for ; n < len(format); n++ {
		switch c := format[n]; c {
		case '-', '0':
			d.pad = c
		case '_':
			d.pad = ' '
		case '^':
			d.upper = true
		case '#':
			d.swap = true
		case ':':
			d.colons++
		default:
			break flags
		}
	}
	for ; n < len(format) && isDigit(format[n]); n++ {
		d.width = min(d.width*10+int(format[n]-'0'), maxWidth)
	}
	if n < len(format) {
		d.letter = format[n]
		n++
	}
	return d, n
}

// append appends t as the directive says, and nothing when it is none.
func (d directive) append(dst []byte, t time.Time) []byte {
	year, week := t.ISOWeek()
	switch d.letter {
	case 'Y':
		return d.number(dst, t.Year(), 4, '0')
	case 'C':
		return d.number(dst, t.Year()/100, 2, '0')
	case 'y':
		return d.number(dst, t.Year()%100, 2, '0')
	case 'm':
		return d.number(dst, int(t.Month()), 2, '0')
	case 'B':
		return d.text(dst, t.Month().String())
	case 'b', 'h':
		return d.text(dst, t.Month().String()[:3])
	case 'd':
		return d.number(dst, t.Day(), 2, '0')
	case 'e':
		return d.number(dst, t.Day(), 2, ' ')
	case 'j':
		return d.number(dst, t.YearDay(), 3, '0')
	case 'H':
		return d.number(dst, t.Hour(), 2, '0')
	case 'k':
		return d.number(dst, t.Hour(), 2, ' ')
	case 'I':
		return d.number(dst, hour12(t), 2, '0')
	case 'l':
		return d.number(dst, hour12(t), 2, ' ')
	case 'M':
		return d.number(dst, t.Minute(), 2, '0')
	case 'S':
		return d.number(dst, t.Second(), 2, '0')
	case 'L':
		return d.fraction(dst, t, 3)
	case 'N':
		return d.fraction(dst, t, 9)
	case 'p':
		if d.swap {
			return d.text(dst, t.Format("pm"))
		}
		return d.text(dst, t.Format("PM"))
	case 'P':
		return d.text(dst, t.Format("pm"))
	case 'A':
		return d.text(dst, t.Weekday().String())
	case 'a':
		return d.text(dst, t.Weekday().String()[:3])
	case 'u':
		return d.number(dst, (int(t.Weekday())+6)%7+1, 1, '0')
	case 'w':
		return d.number(dst, int(t.Weekday()), 1, '0')
	case 'G':
		return d.number(dst, year, 4, '0')
	case 'g':
		return d.number(dst, year%100, 2, '0')
	case 'V':
		return d.number(dst, week, 2, '0')
	case 'U':
		return d.number(dst, (t.YearDay()+6-int(t.Weekday()))/7, 2, '0')
	case 'W':
		return d.number(dst, (t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2, '0')
	case 's':
		return strconv.AppendInt(dst, t.Unix(), 10)
	case 'Z':
		return d.text(dst, t.Format("MST"))
	case 'z':
		return d.text(dst, t.Format([]string{"-0700", "-07:00", "-07:00:00"}[min(d.colons, 2)]))
	case 'n':
		return append(dst, '\n')
	case 't':
		return append(dst, '\t')
	case '%':
		return append(dst, '%')
	}
	if format := combined(d.letter); format != "" {
		return d.text(dst, string(strftime(nil, t, format)))
	}
	return dst
}

// combined returns what a directive stands for that is made of others.
func combined(letter byte) string {
	switch letter {
	case 'c':
		return "%a %b %e %H:%M:%S %Y"
	case 'D', 'x':
		return "%m/%d/%y"
	case 'F':
		return "%Y-%m-%d"
	case 'T', 'X':
		return "%H:%M:%S"
	case 'R':
		return "%H:%M"
	case 'r':
		return "%I:%M:%S %p"
	case 'v':
		return "%e-%^b-%Y"
	case '+':
		return "%a %b %e %H:%M:%S %Z %Y"
	}
	return ""
}

func hour12(t time.Time) int { return (t.Hour()+11)%12 + 1 }

func (d directive) number(dst []byte, n, width int, pad byte) []byte {
	if d.pad == '-' {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	if d.pad != 0 {
		pad = d.pad
	}
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	digits := strconv.Itoa(n)
	for range max(width, d.width) - len(digits) {
		dst = append(dst, pad)
	}
	return append(dst, digits...)
}

func (d directive) text(dst []byte, text string) []byte {
	if d.upper || d.swap && d.letter != 'p' {
		text = strings.ToUpper(text)
	}
	pad := byte(' ')
	if d.pad == '0' {
		pad = '0'
	}
	for range d.width - len(text) {
		dst = append(dst, pad)
	}
	return append(dst, text...)
}

// fraction appends the first digits of the fraction of the second.
func (d directive) fraction(dst []byte, t time.Time, digits int) []byte {
	if d.width > 0 {
		digits = d.width
	}
	nanos := fmt.Sprintf("%09d", t.Nanosecond())
	if digits <= len(nanos) {
		return append(dst, nanos[:digits]...)
	}
	return append(append(dst, nanos...), strings.Repeat("0", digits-len(nanos))...)
}
