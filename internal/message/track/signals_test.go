package track

import (
	"net/http"
	"testing"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	const chrome = "Mozilla/5.0 (Windows NT 10.0) Chrome/142.0.0.0 Safari/537.36"
	browser := []string{"User-Agent", chrome, "Accept", "text/html,*/*;q=0.8", "Accept-Language", "de", "Accept-Encoding", "gzip"}
	for _, tt := range []struct {
		name          string
		headers       []string
		minor         int
		https, direct bool
		want          Signals
	}{
		{"a browser over http", browser, 1, false, true, 0},
		{"a browser over https", append(browser, "Sec-Fetch-Site", "none"), 1, true, true, 0},
		{"a navigation", append(browser, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1"), 1, true, true, Navigated},
		{"an image", append(browser, "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"), 1, true, true, 0},
		{"nothing", nil, 0, true, true, NoLanguage | NoEncoding | HTTP10 | NoFetchMetadata},
		{"HTTP/1.0 of a proxy of ours", browser, 0, false, false, 0},
		{"anything", []string{"Accept", " */* ", "Accept-Language", "en", "Accept-Encoding", "br"}, 1, false, true, AnyAccept},
		{"brands that agree", append(browser, "Sec-CH-UA", `"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`), 1, false, true, 0},
		{"brands of another version", append(browser, "Sec-CH-UA", `"Chromium";v="120"`), 1, false, true, BrandMismatch},
		{"brands of a browser that sends none", []string{"User-Agent", "Mozilla/5.0 Firefox/145.0", "Accept-Language", "en", "Accept-Encoding", "br", "Sec-CH-UA", `"Chromium";v="142"`}, 1, false, true, BrandMismatch},
	} {
		r := &http.Request{Header: http.Header{}, ProtoMajor: 1, ProtoMinor: tt.minor}
		for i := 0; i < len(tt.headers); i += 2 {
			r.Header.Set(tt.headers[i], tt.headers[i+1])
		}
		if got := ReadSignals(r, tt.https, tt.direct); got != tt.want {
			t.Errorf("%s: %b, want %b", tt.name, got, tt.want)
		}
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"198.51.100.7": "198.51.100.0/24", "::ffff:198.51.100.7": "198.51.100.0/24",
		"2001:db8:1:2::5": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "": "", "unknown": "unknown",
	} {
		if got := Network(ip); got != want {
			t.Errorf("Network(%q) = %q, want %q", ip, got, want)
		}
	}
}
