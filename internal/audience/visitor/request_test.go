package visitor

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const siteKey = "pk_abcdefghijklmnopqrstuvwxyz"

func TestRequestsAreValidated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct {
		name string
		kind Kind
		body string // without the braces and the fields that all requests have
		ok   bool
	}{
		{"a page", Page, `"url": "https://a.example/"`, true},
		{"a page with other fields", Page, `"url": "https://a.example/", "more": [1]`, true},
		{"no URL", Page, ``, false},
		{"a URL without a host", Page, `"url": "https:///x"`, false},
		{"a file", Page, `"url": "file:///etc/passwd"`, false},
		{"a script", Page, `"url": "javascript:alert(1)"`, false},
		{"a long query", Page, `"url": "https://a.example/?` + long + `"`, true},
		{"a long path", Page, `"url": "https://a.example/` + long + `"`, false},
		{"a title that is a number", Page, `"url": "https://a.example/", "title": 1`, false},
		{"a referrer of another scheme", Page, `"url": "https://a.example/", "referrer": "android-app://x/"`, true},
		{"identify", Identify, `"email": "a@example.org"`, true},
		{"identify nobody", Identify, ``, false},
		{"traits that are a list", Identify, `"email": "a@example.org", "traits": []`, false},
		{"a long token", Identify, `"email": "a@example.org", "identity_token": "` + long + `"`, false},
		{"an event", Event, `"event_name": " signup "`, true},
		{"an event without a name", Event, `"event_name": "  "`, false},
		{"an event with a long name", Event, `"event_name": "` + strings.Repeat("é", 129) + `"`, false},
		{"properties", Event, `"event_name": "x", "properties": {"a": [{"b": {"c": 1}}]}`, true},
		{"no properties", Event, `"event_name": "x", "properties": null`, true},
		{"properties that are a list", Event, `"event_name": "x", "properties": [1]`, false},
		{"deep properties", Event, `"event_name": "x", "properties": {"a":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}`, false},
		{"deep text", Event, `"event_name": "x", "properties": {"a": "[[[[[[[[[[\"[["}`, true},
		{"large properties", Event, `"event_name": "x", "properties": {"a": "` + strings.Repeat("x", 32<<10) + `"}`, false},
	} {
		body := `{"site_key": "` + siteKey + `", "visitor_id": "v"`
		if tt.body != "" {
			body += ", " + tt.body
		}
		if _, _, _, ok := Parse(tt.kind, []byte(body+"}"), noon); ok != tt.ok {
			t.Errorf("%s: Parse = %v, want %v", tt.name, ok, tt.ok)
		}
	}
	for _, body := range []string{
		``, `null`, `[]`, `"x"`, `{`, `{"site_key": "` + siteKey + `", "visitor_id": "", "url": "https://a.example/"}`,
		`{"site_key": "pk_x", "visitor_id": "v", "url": "https://a.example/"}`, `{"visitor_id": "v", "url": "https://a.example/"}`,
		`{"site_key": "` + siteKey + `", "visitor_id": "` + long + `", "url": "https://a.example/"}`, strings.Repeat(" ", MaxBody+1),
	} {
		if _, _, _, ok := Parse(Page, []byte(body), noon); ok {
			t.Errorf("Parse(%.80s) accepts it", body)
		}
	}
}

func TestAPageIsStoredWithoutWhatIsNotItsAddress(t *testing.T) {
	t.Parallel()
	body := `{"site_key": "` + siteKey + `", "visitor_id": "v", "url": "https://user:secret@shop.example/a%20b?x=1&_ev=TOKEN&y=%5B#part",
		"title": "A\u0000B", "referrer": "https://other.example/p?q=secret#x", "timezone": "Mars/Olympus"}`
	r, key, binding, ok := Parse(Page, []byte(body), noon)
	if !ok || key != siteKey || binding != "TOKEN" {
		t.Fatalf("Parse = %q, %q, %v", key, binding, ok)
	}
	if r.URL != "https://shop.example/a%20b?x=1&y=%5B" || r.Title != "AB" || r.Referrer != "https://other.example/p" || r.Timezone != "" {
		t.Errorf("stored %+v", r)
	}
}

func FuzzRequests(f *testing.F) {
	for _, kind := range []string{"page", "identify", "event"} {
		f.Add(kind, `{"site_key": "`+siteKey+`", "visitor_id": "v", "url": "https://a.example/?_ev=x&utm_source=a", "referrer": "http://[::1]/",
			"email": "a@example.org", "traits": {"custom_fields": {}}, "event_name": "x", "properties": {"a": [1, "\u0000"]}}`)
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		r, key, binding, ok := Parse(Kind(kind), []byte(body), noon)
		if !ok {
			return
		}
		if !siteKeyShaped(key) || r.Visitor.IsZero() {
			t.Errorf("Parse(%q) = %+v, %q", body, r, key)
		}
		for name, s := range map[string]string{"url": r.URL, "title": r.Title, "referrer": r.Referrer, "event": r.EventName, "type": r.EventType} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || len(s) > maxURL {
				t.Errorf("%s = %q", name, s)
			}
		}
		if r.Kind == Page {
			u, err := url.Parse(r.URL)
			if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
				t.Errorf("url = %q, %v", r.URL, err)
			}
			if _, again := cutParameter(u.RawQuery, BindingParameter); again != "" {
				t.Errorf("url %q still has the token; binding %q", r.URL, binding)
			}
			got, _ := touchOf(r, []string{"shop.example"})
			if got.Source == "" || got.Medium == "" || utf8.RuneCountInString(got.Source) > maxUTM {
				t.Errorf("touch = %+v", got)
			}
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Request
		if err := json.Unmarshal(text, &back); err != nil || back.URL != r.URL || back.Visitor != r.Visitor || !back.At.Equal(r.At) {
			t.Errorf("stored as %s, read as %+v, %v", text, back, err)
		}
	})
}

func TestTouchesNameTheCampaignOrTheOtherWebsite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page, referrer   string
		source, medium   string
		campaign, from   string // from: the stored referrer
		tagged, external bool
	}{
		{"https://shop.example/", "", "direct", "none", "", "", false, false},
		{"https://shop.example/", "https://news.example.org/a/b", "news.example.org", "referral", "", "news.example.org/a/b", false, true},
		{"https://shop.example/", "https://news.example.org/", "news.example.org", "referral", "", "news.example.org", false, true},
		{"https://www.shop.co.uk/", "https://blog.shop.co.uk/a", "direct", "none", "", "", false, false},
		{"https://a.co.uk/", "https://b.co.uk/a", "b.co.uk", "referral", "", "b.co.uk/a", false, true},
		{"https://shop.example/", "https://pay.acme.example/a", "direct", "none", "", "", false, false}, // a tracked domain
		{"http://127.0.0.1:1/", "http://127.0.0.1:2/", "direct", "none", "", "", false, false},
		{"https://shop.example/?utm_source=n&utm_medium=email&utm_campaign=c", "https://news.example.org/", "n", "email", "c", "news.example.org", true, true},
		{"https://shop.example/?utm_campaign=c", "https://news.example.org/", "news.example.org", "referral", "c", "news.example.org", true, true},
		{"https://shop.example/?utm_source=%20", "", "direct", "none", "", "", false, false},
	} {
		got, from := touchOf(Request{URL: tt.page, Referrer: tt.referrer, At: noon}, []string{"acme.example"})
		if got.Source != tt.source || got.Medium != tt.medium || got.Campaign != tt.campaign || got.Referrer != tt.from || from != (origin{tt.tagged, tt.external}) {
			t.Errorf("touchOf(%s from %s) = %+v, %+v", tt.page, tt.referrer, got, from)
		}
	}
}

// TestSessionsDetermineTouches compares the touches of a visitor with those derived from the
// list of its page views.
func TestSessionsDetermineTouches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &visitor{}
		b := &batch{}
		at := noon
		var first, last *touch
		var before time.Time
		for i := range rapid.IntRange(1, 12).Draw(t, "pages") {
			at = at.Add(rapid.SampledFrom([]time.Duration{time.Second, 29 * time.Minute, 30 * time.Minute, 40 * time.Hour}).Draw(t, "pause"))
			r := Request{
				Kind: Page, At: at, URL: fmt.Sprintf("https://shop.example/%d%s", i, rapid.SampledFrom([]string{"", "?utm_source=n"}).Draw(t, "query")),
				Referrer: rapid.SampledFrom([]string{"", "https://shop.example/", "https://news.example.org/"}).Draw(t, "referrer"),
			}
			begins := i == 0 || at.Sub(before) >= 30*time.Minute
			before = at
			want, from := touchOf(r, nil)
			if first == nil {
				first = &want
			}
			if from.campaign || begins && from.external {
				last = &want
			}
			b.page(v, stored{Request: r}, v.arrive(at))
			if *v.first != *first || (v.last == nil) != (last == nil) || last != nil && *v.last != *last {
				t.Fatalf("after page %d: first %+v, last %+v; want %+v, %+v", i, v.first, v.last, first, last)
			}
		}
	})
}
