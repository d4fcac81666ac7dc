package classify

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// line writes the act of a recipient, counted from 1, as a line of a scenario.
func (a act) line(recipient int) string {
	kind := "open"
	if a.link > 0 {
		kind = "click"
	}
	method, agent := method(a.agent)
	text, err := json.Marshal(map[string]any{
		"dt_ms": a.at.Milliseconds(), "kind": kind, "link": a.link, "recipient": recipient, "method": method, "ua": agent, "ip": a.ip,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// replay reads a file with one scenario and classifies its events.
func replay(t testing.TB, lines ...string) Replay {
	t.Helper()
	list, err := ReadScenarios(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d scenarios, %v", len(list), err)
	}
	return list[0].Classify(nil)
}

const header = `{"scenario":"test","links":3,"mx":"","delivered_at":"2026-11-21T12:00:00Z","live":true,"recipients":12}`

func TestScenariosFromFiles(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		acts := slices.Clone(s.acts)
		for try := range 3 { // the order of lines does not matter
			lines := []string{fmt.Sprintf(`{"scenario":%q,"links":%d,"delivered_at":"2026-11-21T12:00:00Z"}`, s.name, s.links)}
			var want []string
			for _, a := range acts {
				lines = append(lines, a.line(1))
				want = append(want, a.want)
			}
			expected, err := json.Marshal(map[string]any{"expected": map[string]any{"classes": want}})
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, append(lines, string(expected))...)
			for i, a := range acts { // equal requests of one second are one
				if v := got.Events[i]; string(v.Class) != strings.Fields(a.want)[0] && !repeated(a, acts) {
					t.Errorf("%s, try %d: open or click %d is %+v, want %s", s.name, try, i+1, v, a.want)
				}
			}
			rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
		}
	}
}

// A file gives the same verdicts as the engine with a database.
func TestScenariosAreClassifiedAsByTheEngine(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(db)
		messages := w.send(t, 3, 12)
		lines := []string{header}
		var acts []act
		of := []int{}
		for range 120 {
			a := act{at: time.Duration(rnd.IntN(400)) * sec, link: max(0, rnd.IntN(6)-2)}
			a.ip = []string{home, office, office, office, appleIP, microsoft, barracuda}[rnd.IntN(7)]
			a.agent = []string{chrome, chrome, firefox, google, outlook, apple, "HEAD " + chrome}[rnd.IntN(7)]
			m := rnd.IntN(12)
			if slices.ContainsFunc(acts, func(b act) bool { return a.at == b.at && a.link == b.link && a.ip == b.ip }) {
				continue // the test identifies verdicts of a message by these
			}
			acts, of, lines = append(acts, a), append(of, m), append(lines, a.line(m+1))
			w.record(t, messages[m], a)
		}
		w.run(t, noon.Add(time.Hour))
		got := replay(t, lines...)
		for i, a := range acts {
			h := a.hit()
			h.Class, h.Rule = got.Events[i].Class, got.Events[i].Rule
			if want := w.verdicts(t, messages[of[i]])[key(a.at, h.Click, h.Link, h.IP)]; want != verdict(h) {
				t.Errorf("seed %d: open or click %d (%+v) is %q, by the engine %q", seed, i, a, verdict(h), want)
			}
		}
	})
}

func TestEventsThatAreNotStored(t *testing.T) {
	t.Parallel()
	one := act{at: time.Hour, link: 1, agent: chrome, ip: home}
	again, other := one, one
	again.at, other.at = time.Hour+500*ms, time.Hour+sec
	got := replay(t, header, one.line(1), again.line(1), other.line(1), one.line(2), strings.Replace(one.line(1), `"recipient":1`, `"recipient":0`, 1))
	want := []Verdict{{"human", "G2", true}, {"human", "G2", false}, {"human", "G2", true}, {"human", "G2", true}, {}}
	if diff := cmp.Diff(want, got.Events); diff != "" || got.Counters.TotalClicked != 2 {
		t.Errorf("%s, %+v", diff, got.Counters)
	}
	lines := []string{header}
	for i := range 1100 {
		lines = append(lines, act{at: time.Hour + time.Duration(i)*time.Minute, agent: chrome, ip: home}.line(3))
	}
	got = replay(t, lines...)
	if !got.Events[999].Stored || got.Events[1000].Stored {
		t.Error("more or less than 1,000 hits of a message are stored")
	}
}

func TestWhenEventsAreJudged(t *testing.T) {
	t.Parallel()
	early, late := act{at: time.Minute, agent: chrome, ip: home}.line(1), act{at: time.Minute + 5*sec, agent: chrome, ip: home}.line(2)
	for _, tt := range []struct {
		asOf    string
		live    bool
		classes [2]string
	}{
		{`,"as_of_ms":80000`, true, [2]string{"human", "pending"}},
		{`,"as_of_ms":79999`, true, [2]string{"pending", "pending"}},
		{`,"as_of_ms":65000`, false, [2]string{"human", "human"}},
		{`,"as_of_ms":64999`, false, [2]string{"human", "pending"}}, // the second is in the future
		{``, true, [2]string{"human", "human"}},
	} {
		got := replay(t, fmt.Sprintf(`{"scenario":"x","recipients":2,"links":0,"live":%t,"delivered_at":"2026-11-21T12:00:00Z"%s}`, tt.live, tt.asOf), early, late)
		for i, v := range got.Events {
			if string(v.Class) != tt.classes[i] {
				t.Errorf("%s, live %t: open %d is %q, want %s", tt.asOf, tt.live, i, v.Class, tt.classes[i])
			}
		}
	}
}

func TestKindsOfLines(t *testing.T) {
	t.Parallel()
	event := func(rest string) string { return fmt.Sprintf(`{"ip":%q,"ua":%q,%s}`, home, chrome, rest) }
	cloud := func(rest string) string { return fmt.Sprintf(`{"ip":%q,"ua":%q,%s}`, microsoft, chrome, rest) }
	for _, tt := range []struct {
		name, header string
		lines        []string
		want         string // of the first open or click
	}{
		{"the invisible link", header, []string{event(`"dt_ms":3600000,"kind":"click","link":1`), event(`"dt_ms":3600500,"kind":"honeypot"`)}, "bot R4"},
		{"a declared prefetch", header, []string{event(`"dt_ms":3600000,"kind":"click","link":1,"headers":{"sec-purpose":"prefetch;prerender"}`)}, "bot R1"},
		{"strange headers twice", header, []string{event(`"dt_ms":30000,"kind":"click","link":1,"headers":{"Accept":["*/*"]}`), event(`"dt_ms":60000,"kind":"click","link":2`)}, "bot H1 T3"},
		{"no headers are known", header, []string{event(`"dt_ms":30000,"kind":"click","link":1`), event(`"dt_ms":60000,"kind":"click","link":2`)}, "human T3"},
		{"an old version of HTTP", header, []string{event(`"dt_ms":30000,"kind":"open","http":"1.0"`)}, "human H1 T3"},
		{"the recipient's own mail server", strings.Replace(header, `"mx":""`, `"mx":"a.mail.protection.outlook.com"`, 1), []string{cloud(`"dt_ms":45000,"kind":"click","link":1`)}, "bot T3 N2 N2b"},
		{"a proof", strings.Replace(header, `"mx":""`, `"mx":"a.mail.protection.outlook.com"`, 1), []string{cloud(`"dt_ms":45000,"kind":"click","link":1`), `{"dt_ms":90000,"kind":"proof"}`}, "human T3 N2 N2b G4"},
		{"known from another mail", strings.Replace(header, `"mx":""`, `"mx":"a.mail.protection.outlook.com"`, 1), []string{cloud(`"dt_ms":45000,"kind":"click","link":1`), cloud(`"dt_ms":-86400000,"kind":"familiar"`)}, "bot T3 N2 N2b G3"},
		{"acceptance unknown", `{"scenario":"x","links":1}`, []string{event(`"dt_ms":1000,"kind":"click","link":1`)}, "human"},
	} {
		v := replay(t, append([]string{tt.header}, tt.lines...)...).Events[0]
		if got := verdictText(v.Class, v.Rule); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestTenRecipientsOfOneAddressInAFile(t *testing.T) {
	t.Parallel()
	lines := []string{header}
	for i := range 10 {
		lines = append(lines, act{at: time.Hour + time.Duration(i)*sec, agent: chrome, ip: office}.line(i+1))
	}
	nine, ten := replay(t, lines[:10]...), replay(t, lines...)
	if nine.Counters.TotalOpened != 9 || ten.Counters.BotOpened != 10 || ten.Events[0].Rule != "R7" {
		t.Errorf("nine %+v, ten %+v", nine.Counters, ten.Counters)
	}
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	open := act{at: time.Hour, agent: chrome, ip: home}.line(1)
	for _, tt := range []struct{ expected, difference string }{
		{`{"classes":["human"],"counters":{"total_opened":1,"confirmed_opened":1,"total_clicked":0}}`, ""},
		{`{"classes":["human G2"]}`, ""},
		{`{}`, ""},
		{`{"classes":["human G1"]}`, `open or click 1 is "human G2", expected "human G1"`},
		{`{"classes":["human","bot"]}`, "2 classes are expected of 1 opens and clicks"},
		{`{"counters":{"total_opened":2}}`, "total_opened is 1, expected 2"},
		{`{"counters":{"opens":2}}`, `there is no counter "opens"`},
	} {
		got := replay(t, header, open, `{"expected":`+tt.expected+`}`)
		if *got.AsExpected != (tt.difference == "") || strings.Join(got.Differences, "; ") != tt.difference {
			t.Errorf("%s: %q", tt.expected, got.Differences)
		}
	}
	if got := replay(t, header, open); got.AsExpected != nil {
		t.Error("a comparison without an expectation")
	}
}

func TestMalformedScenarios(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lines, mistake string }{
		{"", "there is no scenario"},
		{`{"dt_ms":1,"kind":"open"}`, "line 1: the first line"},
		{"\n{", "line 2: "},
		{"[1]", "line 1: "},
		{header + "\n" + `{"x":1}`, "line 2: none of the keys"},
		{header + "\n" + `{"kind":"open","who":1}`, `unknown field "who"`},
		{header + "\n" + `{"kind":"view"}`, "kind must be"},
		{header + "\n" + `{"kind":"click"}`, "link must be 1 to 3"},
		{header + "\n" + `{"kind":"click","link":4}`, "link must be 1 to 3"},
		{header + "\n" + `{"kind":"open","link":1}`, "only for clicks"},
		{header + "\n" + `{"kind":"open","recipient":13}`, "recipient must be 1 to 12"},
		{header + "\n" + `{"kind":"open","recipient":-1}`, "recipient must be"},
		{header + "\n" + `{"kind":"open","ip":"localhost"}`, "not an address"},
		{header + "\n" + `{"kind":"open","http":"0.9"}`, "http must be"},
		{header + "\n" + `{"kind":"open","dt_ms":1.5}`, "line 2: "},
		{header + "\n" + `{"kind":"open","dt_ms":9000000000000}`, "more than 10 years"},
		{header + "\n" + `{"kind":"open","headers":{"Accept":1}}`, "line 2: "},
		{header + "\n" + `{"expected":null}`, "null"},
		{header + "\n" + `{"expected":{}}` + "\n" + `{"kind":"open"}`, "must follow"},
		{`{"scenario":""}`, "1 to 200 bytes"},
		{`{"scenario":"x","links":-1}`, "links must be"},
		{`{"scenario":"x","recipients":0}`, "recipients must be"},
		{`{"scenario":"x","delivered_at":"1066-10-14T09:00:00Z"}`, "the years 2000 to 2200"},
		{`{"scenario":"x","delivered_at":"yesterday"}`, "line 1: "},
		{`{"scenario":"` + strings.Repeat("x", maxScenarioLine) + `"}`, "line 1 is longer"},
	} {
		_, err := ReadScenarios(strings.NewReader(tt.lines))
		if err == nil || !strings.Contains(err.Error(), tt.mistake) {
			t.Errorf("%.80q: %v, want %q", tt.lines, err, tt.mistake)
		}
	}
}

// Any input gives an error or the same result twice, with counters that agree with each other.
func FuzzScenario(f *testing.F) {
	f.Add(header + "\n" + act{at: time.Hour, agent: chrome, ip: home}.line(1) + "\n" + act{at: time.Hour, link: 1, agent: apple, ip: microsoft}.line(2))
	f.Add(header + "\n" + `{"dt_ms":3,"kind":"proof"}` + "\n" + `{"dt_ms":-3,"kind":"familiar","ip":"::1"}` + "\n" + `{"kind":"honeypot","ip":"::ffff:192.0.2.1","headers":{"a":["b"]}}` + "\n" + `{"expected":{"classes":["x"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		list, err := ReadScenarios(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range list {
			got := s.Classify(nil)
			if diff := cmp.Diff(got, s.Classify(nil)); diff != "" {
				t.Errorf("a second run differs: %s", diff)
			}
			c := got.Counters
			if c.ConfirmedOpened > c.TotalOpened || c.TotalOpened > c.VerifiedOpened || c.TotalClicked > c.VerifiedOpened || c.ApparentOpened > s.Recipients {
				t.Errorf("counters %+v", c)
			}
		}
	})
}
