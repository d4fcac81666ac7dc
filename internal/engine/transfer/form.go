package transfer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/packetboat/packetboat/internal/base/calendar"
)

// form is how the cells of a column write dates or numbers, as an example of it. For booleans it is the two words,
// that for true first: "ja/nein".
type form string

// The forms of dates and numbers.
const (
	yearFirst    form = "YYYY-MM-DD"
	dayFirst     form = "DD.MM.YYYY"
	monthFirst   form = "MM/DD/YYYY"
	pointDecimal form = "1,234.50"
	commaDecimal form = "1.234,50"
)

// trimmed returns a cell without spaces and invisible marks at its ends: zero-width characters, byte order marks and
// marks of the direction of writing, which come along when text is copied.
func trimmed(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
	})
}

var (
	numericDate = regexp.MustCompile(`^(\d{1,4})([./-]|\. ?| )(\d{1,2})([./-]|\. ?| )(\d{4}|\d{1,2})(?:,? +(.+)|T(.+))?$`)
	dayAndMonth = regexp.MustCompile(`^(\d{1,2})(?:\.|st|nd|rd|th)?[ -](\pL{3,})\.?[ ,-]+(\d{4}|\d\d)(?:,? +(.+))?$`)
	monthAndDay = regexp.MustCompile(`^(\pL{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?:,? +(.+))?$`)
	clockForm   = regexp.MustCompile(`^(\d{1,2})(?:[:.h](\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?: ?([AaPp])\.?[Mm]\.?| ?(?:Uhr|h))?$`)
)

// months are the names of the months in English and German.
var months = [12][]string{
	{"january", "januar", "jänner"}, {"february", "februar"}, {"march", "märz"}, {"april"}, {"may", "mai"}, {"june", "juni"}, {"july", "juli"}, {"august"},
	{"september"}, {"october", "oktober"}, {"november"}, {"december", "dezember"},
}

// monthOf returns the number of the month with a name, which may be cut, or "".
func monthOf(name string) string {
	for i, names := range months {
		if slices.ContainsFunc(names, func(full string) bool { return strings.HasPrefix(full, strings.ToLower(name)) }) {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

// parseDate parses a date, with or without a time of day, that is written in numbers in a form, or so that only one
// is possible: with the year first, or with the name of the month. Years of two digits are 1930 to 2029, as in
// spreadsheets.
func parseDate(cell string, f form) (time.Time, bool) {
	if t, ok := calendar.ParseMoment(cell); ok {
		return t, true
	}
	if t, ok := calendar.ParseDay(cell); ok {
		return t, true
	}
	if len(cell) > 64 {
		return time.Time{}, false
	}
	if p := numericDate.FindStringSubmatch(cell); p != nil {
		if strings.TrimSpace(p[2]) != strings.TrimSpace(p[4]) {
			return time.Time{}, false
		}
		first, second, third, clock := p[1], p[3], p[5], p[6]+p[7]
		switch {
		case len(first) == 4 && len(third) <= 2:
			return dateOf(first, second, third, clock)
		case len(first) > 2 || len(third) == 1:
			return time.Time{}, false
		case f == monthFirst:
			return dateOf(third, first, second, clock)
		case f == dayFirst:
			return dateOf(third, second, first, clock)
		}
		return time.Time{}, false
	}
	if p := dayAndMonth.FindStringSubmatch(cell); p != nil {
		return dateOf(p[3], monthOf(p[2]), p[1], p[4])
	}
	if p := monthAndDay.FindStringSubmatch(cell); p != nil {
		return dateOf(p[3], monthOf(p[1]), p[2], p[4])
	}
	return time.Time{}, false
}

// dateOf returns the date with these digits, at a time of day that may be empty.
func dateOf(year, month, day, clock string) (time.Time, bool) {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	if len(year) == 2 {
		if y += 1900; y < 1930 {
			y += 100
		}
	}
	date := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if y < 1 || date.Month() != time.Month(m) || date.Day() != d {
		return time.Time{}, false
	}
	if clock == "" {
		return date, true
	}
	of, ok := parseClock(clock)
	return date.Add(of), ok
}

// parseClock parses a time of day, as the time since midnight.
func parseClock(s string) (time.Duration, bool) {
	p := clockForm.FindStringSubmatch(s)
	if p == nil || p[2] == "" && p[4] == "" { // a number alone is no time
		return 0, false
	}
	hour, _ := strconv.Atoi(p[1])
	minute, _ := strconv.Atoi(p[2])
	second, _ := strconv.Atoi(p[3])
	if p[4] != "" {
		if hour < 1 || hour > 12 {
			return 0, false
		}
		hour %= 12
		if strings.EqualFold(p[4], "p") {
			hour += 12
		}
	}
	of := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return of, hour < 24 && minute < 60 && second < 60
}

// clockText returns a time of day as fields of times have it.
func clockText(of time.Duration) string {
	layout := "15:04:05"
	if of%time.Minute == 0 {
		layout = "15:04"
	}
	return time.Time{}.Add(of).Format(layout)
}

var (
	plainNumber  = regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$`)
	pointNumber  = regexp.MustCompile(`^([+-]?)(\d+|[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+|(?:'\d{3})+))?(?:\.(\d+))?$`)
	commaNumber  = regexp.MustCompile(`^([+-]?)(\d+|[1-9]\d{0,2}(?:(?:\.\d{3})+|(?: \d{3})+|(?:'\d{3})+))?(?:,(\d+))?$`)
	currencySign = regexp.MustCompile(`^(?:\p{Sc}|[A-Z]{3}) ?|(?: ?\p{Sc}| [A-Z]{3}| ?%)$`)
	unifySigns   = strings.NewReplacer("\u00A0", " ", "\u202F", " ", "\u2009", " ", "’", "'", "\u2212", "-")
)

// parseNumber parses a number in a form. Thousands may also be set apart by spaces and apostrophes, and a currency or
// a percent sign may stand beside it.
func parseNumber(cell string, f form) (float64, bool) {
	if len(cell) > 64 {
		return 0, false
	}
	s := cell
	if f != commaDecimal && plainNumber.MatchString(s) {
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil
	}
	s = unifySigns.Replace(s)
	s = currencySign.ReplaceAllString(s, "")
	pattern := pointNumber
	if f == commaDecimal {
		pattern = commaNumber
	}
	p := pattern.FindStringSubmatch(s)
	if p == nil || p[2] == "" && p[3] == "" {
		return 0, false
	}
	whole := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, p[2])
	n, err := strconv.ParseFloat(p[1]+whole+"."+p[3], 64)
	return n, err == nil
}

// The words for true and false.
var (
	yesWords = strings.Fields("true yes 1 y t on ja j wahr oui vrai si sí sì sim tak x ✓ ✔")
	noWords  = strings.Fields("false no 0 n f off nein falsch non faux não nee nie nej")
)

// parseBoolean parses a word for true or false: of a form, or else any known one.
func parseBoolean(cell string, f form) (value, ok bool) {
	if yes, no, given := strings.Cut(string(f), "/"); given {
		value = strings.EqualFold(cell, strings.TrimSpace(yes))
		return value, value || strings.EqualFold(cell, strings.TrimSpace(no))
	}
	word := strings.ToLower(cell)
	value = slices.Contains(yesWords, word)
	return value, value || slices.Contains(noWords, word)
}

// kind is what the forms of a column are about.
type kind string

const (
	plainKind   kind = "" // the column has no forms
	dateKind    kind = "date"
	numberKind  kind = "number"
	booleanKind kind = "boolean"
)

// parseForm returns the form that a caller names, in whatever characters its parts are set apart; "" if columns of
// the kind have no such form.
func (k kind) parseForm(s string) form {
	switch k {
	case dateKind:
		letters := strings.Map(func(r rune) rune {
			if r = unicode.ToUpper(r); r >= 'A' && r <= 'Z' {
				return r
			}
			return -1
		}, s)
		for _, f := range []form{yearFirst, dayFirst, monthFirst} {
			long := strings.NewReplacer("-", "", ".", "", "/", "").Replace(string(f))
			if letters == long || letters == strings.Replace(long, "YYYY", "YY", 1) && f != yearFirst {
				return f
			}
		}
	case numberKind:
		for _, f := range []form{pointDecimal, commaDecimal} {
			if s == string(f) || s == strings.NewReplacer("1,2", "12", "1.2", "12").Replace(string(f)) {
				return f
			}
		}
	case booleanKind:
		yes, no, ok := strings.Cut(s, "/")
		if yes, no = trimmed(yes), trimmed(no); ok && yes != "" && no != "" && !strings.EqualFold(yes, no) && len(s) <= maxSample {
			return form(yes + "/" + no)
		}
	}
	return ""
}

// choices describes the forms that a caller may name.
func (k kind) choices() string {
	switch k {
	case dateKind:
		return "must be one of YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY"
	case numberKind:
		return "must be one of 1,234.50 and 1.234,50"
	case booleanKind:
		return "must be one of the forms of two words, that for true first, such as yes/no"
	}
	return "is for columns of dates, numbers and booleans only"
}

// tally counts which forms the cells of a column fit.
type tally struct {
	kind                kind
	first, second, both int // cells that fit only the one form, only the other, or both in different ways
	dots, commas        int // of both: dates with dots, or numbers with a point; numbers with a comma
	year                int // dates that begin with the year
	yes, no             string
}

// add counts a cell.
func (t *tally) add(cell string) {
	if cell = trimmed(cell); cell == "" {
		return
	}
	switch t.kind {
	case dateKind:
		if len(cell) >= 4 && strings.Trim(cell[:4], "0123456789") == "" {
			t.year++
			return
		}
		d, isDay := parseDate(cell, dayFirst)
		m, isMonth := parseDate(cell, monthFirst)
		t.count(isDay, isMonth, d.Equal(m), cell)
	case numberKind:
		p, isPoint := parseNumber(cell, pointDecimal)
		c, isComma := parseNumber(cell, commaDecimal)
		t.count(isPoint, isComma, p == c, cell)
	case booleanKind:
		value, ok := parseBoolean(cell, "")
		switch {
		case ok && value && t.yes == "":
			t.yes = cell
		case ok && !value && t.no == "":
			t.no = cell
		}
	}
}

func (t *tally) count(first, second, same bool, cell string) {
	switch {
	case first && second && !same:
		t.both++
		if strings.Contains(cell, ".") {
			t.dots++
		}
		if strings.Contains(cell, ",") {
			t.commas++
		}
	case first && !second:
		t.first++
	case second && !first:
		t.second++
	}
}

// form returns the form that most cells fit, if it matters. If more than one is as likely, it returns them all.
// Dates with dots begin with the day, and a file that separates cells with commas has no decimal comma, one with
// semicolons no decimal point, unless its other cells say so.
func (t *tally) form(separator byte) (f form, either []form) {
	switch t.kind {
	case dateKind:
		switch {
		case t.first+t.second+t.both == 0 && t.year > 0:
			return yearFirst, nil
		case t.first+t.second+t.both == 0:
			return "", nil
		case t.first > t.second || t.first == t.second && t.dots > 0 && t.dots == t.both:
			return dayFirst, nil
		case t.second > t.first:
			return monthFirst, nil
		}
		return dayFirst, []form{dayFirst, monthFirst}
	case numberKind:
		switch {
		case t.first+t.second+t.both == 0:
			return "", nil
		case t.first > t.second || t.first == t.second && separator == ',' && t.commas == 0:
			return pointDecimal, nil
		case t.second > t.first || separator == ';' && t.dots == 0:
			return commaDecimal, nil
		}
		return pointDecimal, []form{pointDecimal, commaDecimal}
	case booleanKind:
		if t.yes != "" && t.no != "" {
			return form(t.yes + "/" + t.no), nil
		}
	}
	return "", nil
}
