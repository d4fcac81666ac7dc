package field

import (
	"strings"
	"sync"

	"github.com/biter777/countries"
)

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
