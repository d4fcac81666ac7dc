package field

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/biter777/countries"
)

// ValidTimeZone reports whether name is an IANA time zone. "Local" is not one.
func ValidTimeZone(name string) bool {
	if name == "" || name == "Local" {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

var countryCodes = sync.OnceValue(func() map[string]bool {
	codes := map[string]bool{}
	for _, c := range countries.All() {
		if code := c.Alpha2(); len(code) == 2 {
			codes[code] = true
		}
	}
	return codes
})

// CountryCode returns s, in upper case, when it is an ISO 3166-1 alpha-2 code.
func CountryCode(s string) (string, bool) {
	code := strings.ToUpper(s)
	return code, len(s) == 2 && countryCodes()[code]
}

var currencyCodes = sync.OnceValue(func() map[string]bool {
	codes := map[string]bool{}
	for _, c := range countries.AllCurrencies() {
		if code := c.Alpha(); len(code) == 3 {
			codes[code] = true
		}
	}
	return codes
})

// CurrencyCode returns s, in upper case, when it is an ISO 4217 code.
func CurrencyCode(s string) (string, bool) {
	code := strings.ToUpper(s)
	return code, len(s) == 3 && currencyCodes()[code]
}
