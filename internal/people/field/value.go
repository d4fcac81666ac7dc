package field

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Limits of one value.
const (
	maxString  = 4096
	maxElement = 64
	maxTags    = 50
	maxURL     = 2048
)

// Value validates v, as decoded from JSON and not nil, and returns it as contacts store it. If it
// is invalid, ok is false and expected describes valid values.
//
// Of a value of type contact only the format is checked; package contact checks that the contact
// exists.
func (f Field) Value(v any) (value any, expected string, ok bool) {
	switch f.Type {
	case Number, Currency:
		n, isNumber := v.(float64)
		return n, "a number", isNumber && !math.IsInf(n, 0) && !math.IsNaN(n)
	case Boolean:
		b, isBool := v.(bool)
		return b, "true or false", isBool
	case Tags:
		list, fits := tags(v)
		return list, fmt.Sprintf("an array of at most %d strings of 1 to %d characters", maxTags, maxElement), fits
	}
	s, isString := v.(string)
	if !isString {
		return nil, f.expects(), false
	}
	s, fits := f.text(s)
	return s, f.expects(), fits
}

// expects describes the valid values of a field of strings.
func (f Field) expects() string {
	switch f.Type {
	case Enum:
		if f.Constraint == Strict {
			return "one of " + strings.Join(f.EnumValues, ", ")
		}
	case String:
		if f.Constraint == Strict && len(f.EnumValues) > 0 {
			return "one of " + strings.Join(f.EnumValues, ", ")
		}
	case Date:
		return "a date as YYYY-MM-DD"
	case DateTime:
		return "a date-time of RFC 3339"
	case Time:
		return "a time as HH:MM or HH:MM:SS"
	case Email:
		return "an email address"
	case URL:
		return "an http or https URL"
	case TimeZone:
		return "the IANA name of a time zone"
	case Country:
		return "a country code of two letters (ISO 3166-1)"
	case Contact:
		return "the id of a contact"
	}
	return fmt.Sprintf("a string of at most %d characters", maxString)
}

func (f Field) text(s string) (string, bool) {
	s = norm.NFC.String(s)
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return "", false
	}
	switch f.Type {
	case String, Enum:
		closed := f.Constraint == Strict && (f.Type == Enum || len(f.EnumValues) > 0)
		return s, utf8.RuneCountInString(s) <= maxString && (!closed || slices.Contains(f.EnumValues, s))
	case Date:
		day, ok := calendar.ParseDay(s)
		return day.Format(time.DateOnly), ok
	case DateTime:
		return dateTime(s)
	case Time:
		return clock(s)
	case Email:
		a, err := address.Normalize(s)
		return a, err == nil
	case URL:
		return s, webAddress(s)
	case TimeZone:
		return calendar.ZoneName(s)
	case Country:
		return CountryCode(s)
	case Contact:
		c, ok := id.Parse[id.Contact](s)
		return c.String(), ok
	}
	return "", false
}

func tags(v any) ([]any, bool) {
	list, isList := v.([]any)
	if !isList || len(list) > maxTags {
		return nil, false
	}
	out := make([]any, 0, len(list))
	for _, e := range list {
		s, isString := e.(string)
		s = strings.TrimSpace(norm.NFC.String(s))
		if n := utf8.RuneCountInString(s); !isString || n == 0 || n > maxElement || strings.ContainsRune(s, 0) {
			return nil, false
		}
		if !slices.Contains(out, any(s)) {
			out = append(out, s)
		}
	}
	return out, true
}

// dateTime parses the forms of calendar.ParseMoment and days, and returns the canonical form: UTC with
// milliseconds.
func dateTime(s string) (string, bool) {
	t, ok := calendar.ParseMoment(s)
	if !ok {
		t, ok = calendar.ParseDay(s)
	}
	return t.Format("2006-01-02T15:04:05.000Z"), ok
}

func clock(s string) (string, bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if len(s) == len(layout) {
			_, err := time.Parse(layout, s)
			return s, err == nil
		}
	}
	return "", false
}

func webAddress(s string) bool {
	if len(s) > maxURL || strings.ContainsAny(s, " \t\r\n\"<>") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
