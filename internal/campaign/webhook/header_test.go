package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

// headersOf reads headers as a request gives them.
func headersOf(t *testing.T, text string) (h webhook.Headers) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// A value that a request leaves out is that of the step before the change, or the only one of the others,
// if it was given for the same scheme, host and port.
func TestHeadersKeepTheirValuesForOneAddressOnly(t *testing.T) {
	b, tenant := box(t), id.Tenant(7)
	stored := func(url, text string) webhook.HeaderSource {
		h, err := headersOf(t, text).Seal(b, tenant, url, webhook.HeaderSource{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return webhook.HeaderSource{URL: url, Headers: h}
	}
	own := stored("https://a.example/hook", `{"Authorization": "one", "X-Empty": ""}`)
	other := stored("https://a.example/else", `{"Authorization": "two", "X-Other": "three"}`)
	third := stored("https://a.example/third", `{"X-Other": "four"}`)
	for name, c := range map[string]struct {
		url, text string
		others    []webhook.HeaderSource
		want      string // the value of the only header; empty: a problem
	}{
		"a text":                     {"https://b.example/", `{"Authorization": "new"}`, nil, "new"},
		"kept":                       {"https://a.example/hook", `{"Authorization": null}`, nil, "one"},
		"another path":               {"https://A.example/other?x=1", `{"Authorization": null}`, nil, "one"},
		"another case of the name":   {"https://a.example/hook", `{"authorization": null}`, nil, "one"},
		"its own before others":      {"https://a.example/hook", `{"Authorization": null}`, []webhook.HeaderSource{other}, "one"},
		"of the only other":          {"https://a.example/hook", `{"X-Other": null}`, []webhook.HeaderSource{own, other}, "three"},
		"of two that are the same":   {"https://a.example/hook", `{"X-Other": null}`, []webhook.HeaderSource{other, other}, "three"},
		"of two others":              {"https://a.example/hook", `{"X-Other": null}`, []webhook.HeaderSource{other, third}, ""},
		"another host":               {"https://b.example/hook", `{"Authorization": null}`, []webhook.HeaderSource{own, other}, ""},
		"a longer host":              {"https://a.example.evil.example/", `{"Authorization": null}`, nil, ""},
		"another port":               {"https://a.example:8443/hook", `{"Authorization": null}`, nil, ""},
		"without TLS":                {"http://a.example/hook", `{"Authorization": null}`, nil, ""},
		"a name that nobody stored":  {"https://a.example/hook", `{"X-New": null}`, []webhook.HeaderSource{other}, ""},
		"a sealed text of a request": {"https://a.example/hook", `{"Authorization": {"sealed": "v1.x"}}`, nil, ""},
	} {
		sealed, err := headersOf(t, c.text).Seal(b, tenant, c.url, own, c.others)
		if c.want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "headers.") {
				t.Errorf("%s: %v, want a problem of the header", name, err)
			}
			continue
		}
		texts, openErr := sealed.Open(b, tenant, c.url)
		if err != nil || openErr != nil || len(texts) != 1 {
			t.Errorf("%s: %v, %v, %v", name, texts, err, openErr)
		}
		for _, text := range texts {
			if text != c.want {
				t.Errorf("%s: the value is %q, want %q", name, text, c.want)
			}
		}
		if raw, _ := json.Marshal(sealed); strings.Contains(string(raw), c.want) {
			t.Errorf("%s: stored in plain: %s", name, raw)
		}
		for place, open := range map[string]func() (map[string]string, error){
			"host":   func() (map[string]string, error) { return sealed.Open(b, tenant, "https://evil.example/hook") },
			"tenant": func() (map[string]string, error) { return sealed.Open(b, tenant+1, c.url) },
		} {
			if got, err := open(); err == nil {
				t.Errorf("%s: opened for another %s: %v", name, place, got)
			}
		}
	}
	for _, text := range []string{`{"X": 5}`, `{"X": ["a"]}`, `{"X": {}}`, `{"X": {"sealed": ""}}`, `{"X": {"sealed": 5}}`, `{"X": true}`} {
		var h webhook.Headers
		if err := json.Unmarshal([]byte(text), &h); err == nil {
			t.Errorf("%s was accepted: %v", text, h)
		}
	}
	if shown, err := json.Marshal(own.Headers.Shown()); err != nil || string(shown) != `{"Authorization":null,"X-Empty":null}` {
		t.Errorf("shown as %s, %v", shown, err)
	}
	if texts, err := own.Headers.Open(b, tenant, own.URL); err != nil || texts["X-Empty"] != "" || len(texts) != 2 {
		t.Errorf("an empty value: %v, %v", texts, err)
	}
}
