package classify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	var agents Agents
	for _, tt := range []struct {
		agent string
		want  bool
	}{
		{chrome, false}, {firefox, false}, {edge, false}, {apple, false}, {outlook, false}, {google, false}, {prefetch, false}, {yahoo, false},
		{"Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)", false},
		{"Outlook-iOS/723.4027091.prod.iphone (4.28.0)", false},
		{"Mail/3774.600.62 CFNetwork/1494.0.7 Darwin/23.4.0", false},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0", false},
		{"Mozilla/5.0 (Linux; Android 14; CUBOT NOTE 21) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36", false},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) Cisco WebEx/43.1 Chrome/108.0 Safari/537.36", false},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440.0]", false},
		{"", true}, {" \t", true}, {slack, true}, {"curl/8.5.0", true}, {"Wget/1.21", true}, {"python-requests/2.32.0", true}, {"Python/3.11 aiohttp/3.8", true},
		{"Go-http-client/1.1", true}, {"Java/17.0.1", true}, {"okhttp/4.12.0", true}, {"axios/1.7", true}, {"node-fetch/1.0", true},
		{"Apache-HttpClient/4.5.13 (Java/17)", true}, {"libwww-perl/6.67", true}, {"Mozilla/5.0 HeadlessChrome/120.0 Safari/537.36", true},
		{"PhantomJS/2.1", true}, {"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", true}, {"Twitterbot/1.0", true},
		{"LinkedInBot/1.0 (compatible; Mozilla/5.0)", true}, {"TelegramBot (like TwitterBot)", true}, {"Mozilla/5.0 (compatible; Discordbot/2.0)", true},
		{"facebookexternalhit/1.1", true}, {"WhatsApp/2.23", true}, {"SkypeUriPreview Preview/0.5", true}, {"Mozilla/5.0 BingPreview/1.0b", true},
		{"BarracudaCentral", true}, {"Mimecast URL Scanner", true}, {"Proofpoint URL Defense", true}, {"Symantec-Email-Security", true},
		{"Ahrefs SiteAudit", true}, {"Mediapartners-Google", true},
	} {
		for range 2 { // the second time from the cache
			if got := agents.Machine(tt.agent); got != tt.want {
				t.Errorf("Machine(%q) = %v", tt.agent, got)
			}
		}
	}
}

// The lists in testdata are agents as their makers, and the tests of public lists of agents, state them.
func TestProgramsAndTheirReaders(t *testing.T) {
	t.Parallel()
	for name, machine := range map[string]bool{"readers.txt": false, "programs.txt": true} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for agent := range strings.Lines(string(text)) {
			agent = strings.TrimSpace(agent)
			if isMachine(agent) != machine {
				t.Errorf("%s: %q is a machine: %v", name, agent, !machine)
			}
		}
	}
	for _, agent := range []string{
		yahoo, google,
		"Mozilla/5.0 (compatible; YandexImageResizer/2.0; +http://yandex.com/bots)",
		"RamblerMail/6.0 (incompatible; ImageProxy/6.0)",
		"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/55.0.2883.87 Safari/537.36 (via secureurl.fwdcdn.com - mail.ukr.net proxy)",
		"Mozilla/5.0 (compatible; MailruImageProxy/1.0)",
		"Mozilla/5.0 SeznamEmailProxy/2.0.174",
	} {
		if isMachine(agent) || !track.ImageProxy(agent) {
			t.Errorf("%q is no proxy of a mailbox provider", agent)
		}
	}
}

// A model of a device may have any name.
func TestModelsSayNothing(t *testing.T) {
	t.Parallel()
	words := []string{
		"PHANTOM", "Cubot", "BOT", "Spider", "CRAWLER", "Scanner", "Monitor", "Fetch", "Headless", "Barracuda", "Cisco", "Curl", "Wget",
		"Java", "OkHttp", "Preview", "Vade", "Checkpoint", "Slurp", "Uptime", "Reader", "Cron", "Viber", "WhatsApp", "Python",
	}
	for _, form := range []string{
		"Mozilla/5.0 (Linux; Android 13; %s PZ 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 13; %s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; U; Android 9; en-gb; X_%s Build/PPR1.180610.011) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30",
		"Mozilla/5.0 (Linux; Android 12; The %s 7 Build/SP1A.210812.016; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Mobile; %s F1; rv:84.0) Gecko/84.0 Firefox/84.0 KAIOS/3.0",
		"Mozilla/5.0 (compatible; MSIE 10.0; Windows Phone 8.0; Trident/6.0; IEMobile/10.0; NOKIA; %s)",
		"Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0; %s) AppleWebKit/537.36 (KHTML, like Gecko) Version/5.0 TV Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440.0;FBDV/%s;FBMD/%[1]s]",
		"%s_9 Linux/4.14 Android/10 Release/01.01.2020 Browser/AppleWebKit537.36 Chrome/90 Mobile Safari/537.36 System/Android 10",
		"SomeMail/6.1 (Android 14; %s 5G)",
		"Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36 Instagram 219.0 Android (28/9; 420dpi; 1080x2034; %s; %[1]s X; qcom; de_DE; 340)",
	} {
		for _, word := range words {
			if agent := fmt.Sprintf(form, word); isMachine(agent) {
				t.Errorf("%q is a machine", agent)
			}
		}
	}
}

// sweeps agrees with its definition.
func TestSweepCountsAnyTenSeconds(t *testing.T) {
	t.Parallel()
	checkOften(t, func(r *rapid.T) {
		links := rapid.IntRange(0, 5).Draw(r, "links")
		var hits []track.Hit
		for _, s := range rapid.SliceOfN(rapid.IntRange(0, 60), 1, 20).Draw(r, "seconds") {
			hits = append(hits, act{at: time.Duration(s) * sec, link: rapid.IntRange(0, max(links, 1)).Draw(r, "link")}.hit())
		}
		enough := 3
		if links == 2 {
			enough = 2
		}
		got := sweeps(hits, links)
		for i, h := range hits {
			want := false
			for from := h.At.Add(-10 * sec); h.Click && !from.After(h.At); from = from.Add(sec) {
				urls := map[string]bool{}
				for _, o := range hits {
					if o.Click && !o.At.Before(from) && o.At.Sub(from) <= 10*sec {
						urls[o.URL] = true
					}
				}
				want = want || len(urls) >= enough
			}
			if got[i] != want {
				r.Errorf("hit %d: swept = %v, want %v", i, got[i], want)
			}
		}
	})
}

func all(t *testing.T, w *world, messages []outbox.Message) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range messages {
		for k, v := range w.verdicts(t, m) {
			out[m.ID.String()+" "+k] = v
		}
	}
	return out
}

func TestOneAddressThatOpensForTenIsAMachine(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		messages := w.send(t, 5, 14)
		others := w.send(t, 5, 1)
		hits := func(i int, at time.Duration, agent string) {
			w.record(t, messages[i], act{at: at, agent: agent, ip: office})
		}
		want := map[string]string{}
		expect := func(step string) {
			t.Helper()
			if got := all(t, w, messages); !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", step, got, want)
			}
		}
		name := func(i int, at time.Duration) string {
			return messages[i].ID.String() + " " + key(at, false, 0, office)
		}
		at := func(i int) time.Duration { return time.Hour + time.Duration(i)*6*sec }
		for i := range 9 { // nine within 48 s may be an office
			hits(i, at(i), chrome)
			want[name(i, at(i))] = "human"
		}
		w.record(t, others[0], act{at: at(9), agent: chrome, ip: office}) // of another send
		hits(9, at(9), google)                                            // image proxies do not count
		want[name(9, at(9))] = "human"
		hits(10, time.Hour-sec*20, chrome) // within 60 s of some, but not of all
		want[name(10, time.Hour-sec*20)] = "human"
		w.run(t, noon.Add(time.Hour+80*sec))
		expect("nine people")

		hits(11, time.Hour+60*sec, "HEAD "+chrome) // the tenth comes later, and is a bot by rule R1
		want[name(11, time.Hour+60*sec)] = "bot R1"
		for i := range 9 {
			want[name(i, at(i))] = "bot R7"
		}
		w.run(t, noon.Add(time.Hour+140*sec))
		expect("ten recipients")
		s, err := track.LoadSums(t.Context(), w.db, first(w.sendOf(t, messages[0].ID)), second(w.sendOf(t, messages[0].ID)))
		if err != nil || s.HumanOpened != 2 || s.BotOpened != 10 || s.ApparentOpened != 12 {
			t.Errorf("sums are %+v, %v; want 2 of people, 10 of machines", s, err)
		}
	})
}

func first(t id.Tenant, _ id.Send) id.Tenant   { return t }
func second(_ id.Tenant, send id.Send) id.Send { return send }

func TestThirtyPeopleBehindOneAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		messages := w.send(t, 5, 30)
		for i, m := range messages {
			w.record(t, m, act{at: time.Hour + time.Duration(i)*20*sec, agent: chrome, ip: office})
		}
		w.run(t, noon.Add(2*time.Hour))
		for k, v := range all(t, w, messages) {
			if v != "human" {
				t.Errorf("%s: %s", k, v)
			}
		}
	})
}

// The verdicts do not depend on the order in which hits arrive nor on when the classifier runs, and
// a second run changes nothing.
func TestVerdictsDoNotDependOnWhenTheClassifierRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for round := range 2 {
			seed := rand.Uint64()
			rnd := rand.New(rand.NewPCG(seed, uint64(round)))
			w := newWorld(db)
			inSteps, atOnce := w.send(t, 4, 15), w.send(t, 4, 15)
			type one struct {
				m int
				act
			}
			var acts []one
			for range 80 {
				a := one{rnd.IntN(15), act{at: time.Hour + time.Duration(rnd.IntN(600))*sec, link: max(0, rnd.IntN(7)-2)}}
				a.ip = []string{home, office, office, office, appleIP}[rnd.IntN(5)]
				a.agent = []string{chrome, firefox, google, outlook, "HEAD " + chrome}[rnd.IntN(5)]
				if slices.ContainsFunc(acts, func(b one) bool { return a.m == b.m && a.at == b.at }) {
					continue // the test identifies verdicts by message and second
				}
				acts = append(acts, a)
			}
			slices.SortStableFunc(acts, func(a, b one) int { return int(a.at - b.at) })
			for i, a := range acts {
				w.record(t, inSteps[a.m], a.act)
				if i%9 == 0 {
					w.run(t, noon.Add(a.at))
				}
			}
			rnd.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
			for _, a := range acts {
				w.record(t, atOnce[a.m], a.act)
			}
			w.run(t, noon.Add(2*time.Hour))
			for i := range 15 {
				a, b := w.verdicts(t, inSteps[i]), w.verdicts(t, atOnce[i])
				if !maps.Equal(a, b) {
					t.Errorf("seed %d: message %d\nin steps %v\nat once  %v", seed, i, a, b)
				}
			}
			before := all(t, w, inSteps)
			w.run(t, noon.Add(3*time.Hour))
			if after := all(t, w, inSteps); !maps.Equal(before, after) {
				t.Errorf("seed %d: a second run changed verdicts", seed)
			}
			sa, err1 := track.LoadSums(t.Context(), db, first(w.sendOf(t, inSteps[0].ID)), second(w.sendOf(t, inSteps[0].ID)))
			sb, err2 := track.LoadSums(t.Context(), db, first(w.sendOf(t, atOnce[0].ID)), second(w.sendOf(t, atOnce[0].ID)))
			if err := errors.Join(err1, err2); err != nil || sa != sb {
				t.Errorf("seed %d: sums %+v and %+v, %v", seed, sa, sb, err)
			}
		}
	})
}

func TestFinishedSendsAreJudgedWithoutDelay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		m := w.send(t, 5, 1)[0]
		if last, err := LastRun(t.Context(), db); err != nil || last != nil {
			t.Errorf("LastRun = %v, %v before the first", last, err)
		}
		old, young := act{time.Hour, 0, chrome, home, "human"}, act{time.Hour + 30*sec, 1, chrome, home, "human"}
		w.record(t, m, old, young)
		pending := young
		pending.want = "pending"
		w.run(t, noon.Add(time.Hour+40*sec))
		w.expect(t, m, []act{old, pending})
		if last, err := LastRun(t.Context(), db); err != nil || last == nil || !last.Equal(w.now) {
			t.Errorf("LastRun = %v, %v; want %v", last, err, w.now)
		}
		w.live = false // the final pass does not wait
		w.run(t, noon.Add(time.Hour+41*sec))
		w.expect(t, m, []act{old, young})

		w.engine.Live = func(context.Context, id.Tenant, id.Send) (bool, error) { return false, errors.New("gone") }
		late, later := act{2 * time.Hour, 2, chrome, home, "human"}, act{2*time.Hour + 25*sec, 3, chrome, home, "pending"}
		w.record(t, m, late, later)
		w.now = noon.Add(2*time.Hour + 30*sec)
		if _, err := w.engine.Tick(t.Context()); err == nil {
			t.Error("Tick returned no error although a send could not be read")
		}
		w.expect(t, m, []act{late, later})
	})
}

// A hit may be recorded before the message's acceptance is; then the time since acceptance is set
// when the hit is judged.
func TestAHitThatOvertakesTheAcceptance(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		m := w.send(t, 5, 1)[0]
		tenant, send := w.sendOf(t, m.ID)
		h := act{at: -50 * ms, link: 1, agent: chrome, ip: home}.hit()
		h.Tenant, h.Send, h.Message, h.Contact, h.SinceSent = tenant, send, m.ID, m.Contact, nil
		if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, []track.Hit{h}) }); err != nil {
			t.Fatal(err)
		}
		w.run(t, noon.Add(time.Minute))
		w.expect(t, m, []act{{-50 * ms, 1, chrome, home, "bot R5"}})
	})
}

// Hits that were accepted before a pass are judged in it, though they are not recorded yet.
func TestAcceptedHitsAreJudgedWithTheirNeighbours(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		messages := w.send(t, 3, 10)
		for i, m := range messages {
			h := w.hit(t, m, act{at: time.Hour + time.Duration(i)*sec, agent: chrome, ip: office})
			if i%3 == 0 {
				w.record(t, m, act{at: time.Hour + time.Duration(i)*sec, agent: chrome, ip: office})
			} else if err := track.Accept(t.Context(), db, []track.Hit{h}); err != nil {
				t.Fatal(err)
			}
		}
		w.run(t, noon.Add(2*time.Hour))
		for k, v := range all(t, w, messages) {
			if v != "bot R7" {
				t.Errorf("%s: %s", k, v)
			}
		}
	})
}

func TestManyPendingHitsAreAllJudged(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		messages := w.send(t, 5, 40)
		for i, m := range messages {
			var acts []act
			for j := range 30 {
				acts = append(acts, act{at: time.Hour + time.Duration(i*30+j)*time.Minute, agent: chrome, ip: fmt.Sprintf("192.0.2.%d", i)})
			}
			w.record(t, m, acts...)
		}
		w.run(t, noon.Add(1000*time.Hour))
		for k, v := range all(t, w, messages) {
			if v != "human" {
				t.Errorf("%s: %s", k, v)
			}
		}
	})
}
