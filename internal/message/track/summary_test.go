package track

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestClientOf(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]Client{
		"":            "",
		"Mozilla/5.0": "apple_mail.unknown",
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)":                                                    "gmail.unknown",
		"YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html":                                                                     "yahoo_mail.unknown",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0":  "gmail.unknown",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                              "chrome.desktop",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":                "edge.desktop",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)":                                                     "apple_mail.desktop",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":                        "safari.desktop",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148":                                "apple_mail.mobile",
		"Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148":                                         "apple_mail.tablet",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36":                        "chrome.mobile",
		"Mozilla/5.0 (Linux; Android 15; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Safari/537.36":           "samsung_internet.tablet",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0":                                                                 "thunderbird.desktop",
		"Outlook-iOS/711.2620504.prod.iphone (4.28.0)":                                                                                                 "outlook.mobile",
		"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; .NET4.0C; Microsoft Outlook 16.0.17928; ms-office; MSOffice 16)": "outlook.desktop",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0":                                                             "firefox.desktop",
		"something else": "",
	} {
		if got := ClientOf(agent); got != want {
			t.Errorf("ClientOf(%q) = %q, want %q", agent, got, want)
		}
	}
	if c := Client(""); c.Program() != OtherClient || c.Device() != UnknownDevice {
		t.Errorf("an unknown client is %s on %s", c.Program(), c.Device())
	}
}

// The median of times that are counted by range is within a tenth of the median of the times.
func TestMedianDelay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		middle := rapid.Int64Range(0, 80*24*3600).Draw(r, "median")
		around := rapid.IntRange(0, 50).Draw(r, "around")
		counts := map[string]int{}
		add := func(seconds int64) { counts[strconv.Itoa(delayOf(time.Duration(seconds)*time.Second))]++ }
		add(middle)
		for range around {
			add(rapid.Int64Range(0, middle).Draw(r, "earlier"))
			add(rapid.Int64Range(middle, 100*24*3600).Draw(r, "later"))
		}
		got, ok := MedianDelay(counts)
		if off := math.Abs(got.Seconds() - float64(middle)); !ok || off > max(2, float64(middle)/9) && middle < 75*24*3600 {
			r.Errorf("the median of %d s is %v, %v", middle, got, ok)
		}
	})
	if _, ok := MedianDelay(map[string]int{"3": 0, "x": 5, "-1": 2}); ok {
		t.Error("nothing has a median")
	}
}

// The summary of a message does not depend on the order of its hits, and changes back with their
// classes.
func TestSummariesAreOfAllHits(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		draw := rapid.Custom(func(r *rapid.T) Hit {
			after := time.Duration(rapid.IntRange(0, 100_000).Draw(r, "after")) * time.Second
			h := Hit{
				At: noon.Add(after), SinceSent: new(after), Class: rapid.SampledFrom([]Class{Pending, Bot, Privacy, Human}).Draw(r, "class"),
				Client: rapid.SampledFrom([]Client{"", "gmail.unknown", "firefox.desktop"}).Draw(r, "client"), Late: rapid.IntRange(0, 9).Draw(r, "late") == 0,
			}
			if rapid.Bool().Draw(r, "click") {
				h.Click, h.URL = true, rapid.SampledFrom([]string{"a", "b"}).Draw(r, "url")
			}
			return h
		})
		hits := rapid.SliceOfN(draw, 0, 8).Draw(r, "hits")
		of := func(h *Hit) Class { return h.Class }
		sums := func(hits []Hit) *ofSend {
			s := newOfSend()
			s.apply(summarize(hits, of), "DE", 1)
			return s
		}
		one, other := sums(hits), sums(rapid.Permutation(hits).Draw(r, "order"))
		if d := cmp.Diff(one, other, cmp.AllowUnexported(ofSend{})); d != "" {
			r.Errorf("another order has other sums:\n%s", d)
		}
		var c changes
		e := &engagement{country: "DE"}
		none := func(*Hit) Class { return Bot }
		c.addSummary(e, summarize(hits, none), summarize(hits, of))
		c.addSummary(e, summarize(hits, of), summarize(hits, none))
		for k, s := range c.of(e.send).attributes {
			if s != (AttributeSums{}) {
				r.Errorf("%v is left of withdrawn hits: %+v", k, s)
			}
		}
		for url, l := range c.of(e.send).links {
			if l.Unique != 0 || l.Total != 0 || !c.of(e.send).withdrawn[url] {
				r.Errorf("%s is left of withdrawn clicks: %+v", url, l)
			}
		}
	})
}
