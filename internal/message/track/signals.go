package track

import (
	"net/http"
	"regexp"
	"strings"
)

// ReadSignals returns the signals of a request. https reports whether the client used it; direct
// whether the client, not a proxy of ours, made the HTTP request with this version.
func ReadSignals(r *http.Request, https, direct bool) Signals {
	var s Signals
	set := func(signal Signals, on bool) {
		if on {
			s |= signal
		}
	}
	h := r.Header
	mode, dest, user := h.Get("Sec-Fetch-Mode"), h.Get("Sec-Fetch-Dest"), h.Get("Sec-Fetch-User")
	set(NoLanguage, h.Get("Accept-Language") == "")
	set(AnyAccept, strings.TrimSpace(h.Get("Accept")) == "*/*")
	set(NoEncoding, h.Get("Accept-Encoding") == "")
	set(HTTP10, direct && r.ProtoMajor == 1 && r.ProtoMinor == 0)
	set(NoFetchMetadata, https && mode == "" && dest == "" && user == "" && h.Get("Sec-Fetch-Site") == "")
	set(Navigated, mode == "navigate" && dest == "document" && user == "?1")
	set(BrandMismatch, brandMismatch(r.UserAgent(), h.Get("Sec-CH-UA")))
	return s
}

var chromeMajor = regexp.MustCompile(`\bChrome/(\d{1,4})\b`)

// maxBrands is the length of a Sec-CH-UA header that is read; browsers send less.
const maxBrands = 512

// brandMismatch reports whether the brands of Sec-CH-UA contradict the user agent: only Chromium sends
// them, and one has the version of the agent.
func brandMismatch(agent, brands string) bool {
	if brands == "" || len(brands) > maxBrands {
		return false
	}
	m := chromeMajor.FindStringSubmatch(agent)
	return m == nil || !strings.Contains(brands, `"`+m[1]+`"`)
}

// DeclaresPrefetch reports whether a header says that no person has requested it yet.
func DeclaresPrefetch(h http.Header) bool {
	for _, name := range []string{"Purpose", "Sec-Purpose", "X-Purpose", "X-Moz"} {
		if strings.Contains(strings.ToLower(h.Get(name)), "prefetch") {
			return true
		}
	}
	return false
}
