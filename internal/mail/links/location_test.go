package links_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func TestALocationIsASCII(t *testing.T) {
	for target, want := range map[string]string{
		"https://example.org/a?b=c#d":            "https://example.org/a?b=c#d",
		"https://example.org/a%20b?c=%C3%BC":     "https://example.org/a%20b?c=%C3%BC",
		"https://bücher.example/süß?q=grün #ö":   "https://xn--bcher-kva.example/s%C3%BC%C3%9F?q=gr%C3%BCn%20#%C3%B6",
		"https://bücher.example:8443":            "https://xn--bcher-kva.example:8443",
		"HTTP://[::1]:80/a b":                    "HTTP://[::1]:80/a%20b",
		"https://example.org/\r\nSet-Cookie: a":  "https://example.org/%0D%0ASet-Cookie:%20a",
		"https://example.org?\xff":               "https://example.org?%FF",
		"https://example.org/\u2028\u0085":       "https://example.org/%E2%80%A8%C2%85",
		"https://\u202eexample.org/":             "https://%E2%80%AEexample.org/",
		"https://under_score.example.org/?x=y z": "https://under_score.example.org/?x=y%20z",
	} {
		if got := links.Location(target); got != want {
			t.Errorf("Location(%q) = %q, want %q", target, got, want)
		}
	}
}

func TestABrowserFollowsALocation(t *testing.T) {
	var arrived string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/from" {
			arrived = r.URL.Path + "?" + r.URL.RawQuery
			return
		}
		w.Header().Set("Location", links.Location("http://"+r.Host+"/süß und\tso?q=grün\r\nX-Evil: 1"))
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL + "/from")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	if want := "/süß und\tso?" + "q=gr%C3%BCn%0D%0AX-Evil:%201"; arrived != want {
		t.Errorf("arrived at %q, want %q", arrived, want)
	}
	if _, err := url.Parse(links.Location("https://bücher.example/ü")); err != nil || res.Header.Get("X-Evil") != "" {
		t.Errorf("%v, headers %v", err, res.Header)
	}
}

func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"https://bücher.example/ü", "http://a\r\nb: c", "://", "https://example.org:ü/ x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		location := links.Location(target)
		for i := range len(location) {
			if c := location[i]; c <= 0x20 || c >= 0x7f {
				t.Fatalf("Location(%q) = %q", target, location)
			}
		}
		if again := links.Location(location); again != location {
			t.Fatalf("Location(%q) = %q", location, again)
		}
	})
}
