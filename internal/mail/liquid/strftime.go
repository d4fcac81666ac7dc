package liquid

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// directive is one conversion of a strftime format: %, flags, width, letter.
type directive struct {
	letter byte
	pad    byte // '0', ' ', '-' for none; 0 for the default of the letter
	upper  bool
	swap   bool // change of case
	colons int
	width  int
}

const maxWidth = 64

// strftime appends t in the format. Text that is not a directive is appended unchanged.
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

// append appends t in the format of the directive, and nothing if the letter is unknown.
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

// combined returns the format of a directive that consists of others.
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
