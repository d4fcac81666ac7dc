package classify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Agents and addresses as they occur.
const (
	chrome   = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	firefox  = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
	edge     = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"
	apple    = "Mozilla/5.0"
	outlook  = "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/8.0; Microsoft Outlook 16.0.4266; ms-office; MSOffice 16)"
	google   = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
	prefetch = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0"
	yahoo    = "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html"
	slack    = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"

	home       = "198.51.100.7"
	office     = "203.0.113.40"
	microsoft  = "40.94.20.11"
	proofpoint = "148.163.150.9"
	barracuda  = "64.235.150.2"
	gmailIP    = "66.249.84.1"
	appleIP    = "172.224.230.5"
)

// act is one request of a scenario and its expected class.
type act struct {
	at    time.Duration // since acceptance
	link  int           // 0: an open; else a click on this link
	agent string
	ip    string
	want  string // class, and rule if one decided
}

type scenario struct {
	name  string
	links int
	acts  []act
}

func (a act) hit() track.Hit {
	h := track.Hit{At: noon.Add(a.at), SinceSent: new(a.at), Method: "GET", Agent: a.agent, IP: a.ip, Class: track.Pending}
	h.Method, h.Agent = method(h.Agent)
	if a.link > 0 {
		h.Click, h.Link, h.URL = true, a.link-1, fmt.Sprintf("https://example.org/%d", a.link)
	}
	return h
}

// method splits off a method that is written before the agent.
func method(agent string) (string, string) {
	for _, m := range []string{"HEAD ", "OPTIONS "} {
		if rest, ok := strings.CutPrefix(agent, m); ok {
			return strings.TrimSpace(m), rest
		}
	}
	return "GET", agent
}

// verdict returns the class of a hit, and the rules unless it is a person's, to which only signals add.
func verdict(h track.Hit) string {
	if h.Class == track.Human {
		return string(h.Class)
	}
	return strings.TrimSpace(string(h.Class) + " " + h.Rule)
}

func sweep(from, step time.Duration, links int, agent, ip, want string) []act {
	var acts []act
	for i := range links {
		acts = append(acts, act{from + time.Duration(i)*step, i + 1, agent, ip, want})
	}
	return acts
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

// scenarios are known behaviours of scanners, proxies and people, and the limits of the rules.
var scenarios = []scenario{
	{"Apple prefetches at once, again after hours", 3, []act{
		{3 * sec, 0, apple, appleIP, "privacy P1"}, {6 * time.Hour, 0, apple, appleIP, "privacy P1"}}},
	{"Gmail prefetches, then the recipient opens", 3, []act{
		{2 * sec, 0, prefetch, gmailIP, "privacy P2"}, {5 * time.Minute, 0, google, gmailIP, "human"}}},
	{"Gmail's prefetch agent from elsewhere", 3, []act{{9 * sec, 0, prefetch, home, "human"}}},
	{"Yahoo's proxy", 3, []act{{40 * sec, 0, yahoo, "98.136.1.1", "human"}}},
	{"Outlook opens, its user clicks", 3, []act{{90 * sec, 0, outlook, microsoft, "human"}, {120 * sec, 2, edge, home, "human"}}},
	{"Defender detonates ten links, a person clicks two hours later", 10, append(slices.Concat(
		sweep(40*sec, 90*ms, 4, chrome, microsoft, "bot R6"), sweep(40500*ms, 80*ms, 10, edge, "40.94.20.99", "bot R6")),
		act{39 * sec, 0, chrome, microsoft, "bot R6"}, act{2 * time.Hour, 3, firefox, home, "human"})},
	{"one link, scanned by an unknown network with a browser's face: an accepted miss", 1, []act{{45 * sec, 1, chrome, "192.0.2.99", "human"}}},
	{"Proofpoint at delivery and at the click", 3, []act{
		{5 * sec, 1, chrome, proofpoint, "bot R3"}, {time.Hour, 1, chrome, proofpoint, "bot R3"}, {time.Hour + 3*sec, 1, chrome, home, "human"}}},
	{"Barracuda asks first, then fetches", 3, []act{{8 * sec, 1, "HEAD " + chrome, barracuda, "bot R1"}, {9 * sec, 1, chrome, barracuda, "bot R3"}}},
	{"a mailbox' image proxy inside a scanner's network", 3, []act{{9 * sec, 0, google, barracuda, "human"}, {9 * sec, 1, google, barracuda, "bot R3"}}},
	{"forwarded to a colleague", 4, []act{{time.Hour, 1, chrome, home, "human"}, {3 * time.Hour, 0, firefox, office, "human"}, {3*time.Hour + 30*sec, 2, firefox, office, "human"}}},
	{"images blocked", 4, []act{{time.Hour, 1, chrome, home, "human"}}},
	{"a double click", 4, []act{{time.Hour, 1, chrome, home, "human"}, {time.Hour + 300*ms, 1, chrome, home, "human"}, {time.Hour + 900*ms, 1, chrome, home, "human"}}},
	{"three links in forty seconds", 4, sweep(time.Hour, 20*sec, 3, chrome, home, "human")},
	{"previews in a chat, days later", 4, []act{{72 * time.Hour, 1, slack, "3.80.1.1", "bot R2"}, {72*time.Hour + 60*sec, 1, chrome, home, "human"}}},
	{"no agent", 4, []act{{time.Hour, 1, "", home, "bot R2"}, {time.Hour, 0, "  ", home, "bot R2"}}},
	{"asked about, not fetched", 4, []act{{time.Hour, 1, "OPTIONS " + chrome, home, "bot R1"}, {time.Hour, 0, "HEAD " + chrome, home, "bot R1"}}},
	{"faster than anybody reads", 4, []act{
		{sec, 0, chrome, home, "bot R5"}, {sec + ms, 0, chrome, home, "human"}, {2 * sec, 1, chrome, home, "bot R5"}, {2*sec + ms, 2, chrome, office, "human"}}},
	{"before the receiver has accepted the mail", 4, []act{{-300 * ms, 0, chrome, office, "bot R5"}, {-200 * ms, 1, chrome, office, "bot R5"}}},
	{"three links, ten seconds apart", 4, []act{
		{time.Hour, 1, chrome, home, "bot R6"}, {time.Hour + 5*sec, 2, chrome, home, "bot R6"}, {time.Hour + 10*sec, 3, chrome, home, "bot R6"}}},
	{"three links, a little more", 4, []act{
		{time.Hour, 1, chrome, home, "human"}, {time.Hour + 5*sec, 2, chrome, home, "human"}, {time.Hour + 10*sec + ms, 3, chrome, home, "human"}}},
	{"both of two links", 2, []act{{time.Hour, 1, chrome, home, "bot R6"}, {time.Hour + 4*sec, 2, chrome, home, "bot R6"}}},
	{"the only link, twice", 1, []act{{time.Hour, 1, chrome, home, "human"}, {time.Hour + 4*sec, 1, chrome, home, "human"}}},
	{"opens beside a sweep", 3, append(sweep(time.Hour, sec, 3, chrome, home, "bot R6"),
		act{time.Hour - 60*sec, 0, chrome, "198.51.100.200", "bot R6"}, act{time.Hour + 63*sec, 0, chrome, home, "human"},
		act{time.Hour + 30*sec, 0, chrome, office, "human"})},
	{"a sweep of one network in IPv6", 3, append(sweep(time.Hour, sec, 3, chrome, "2001:db8:1:2::5", "bot R6"),
		act{time.Hour, 0, chrome, "2001:db8:1:2:ffff::1", "bot R6"}, act{time.Hour, 0, firefox, "2001:db8:1:3::1", "human"})},
	{"Private Relay without a click", 3, []act{{time.Hour, 0, chrome, appleIP, "privacy P3"}}},
	{"Private Relay with a click", 3, []act{{time.Hour, 0, chrome, appleIP, "human"}, {time.Hour + 60*sec, 1, chrome, appleIP, "human"}}},
	{"Private Relay, and a click another day", 3, []act{{time.Hour, 0, chrome, appleIP, "privacy P3"}, {25 * time.Hour, 1, chrome, home, "human"}}},
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			for try := range 5 {
				acts := slices.Clone(s.acts)
				if try > 0 { // the order of arrival does not matter
					rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
				}
				c := Case{Links: s.links, FanOut: func(*track.Hit) bool { return false }}
				for _, a := range acts {
					c.Hits = append(c.Hits, a.hit())
				}
				c.Judge()
				for i, a := range acts {
					if got := verdict(c.Hits[i]); got != a.want {
						t.Errorf("at %v, link %d, from %s: %s, want %s", a.at, a.link, a.ip, got, a.want)
					}
				}
			}
		})
	}
}

// world is a database with sends whose messages were accepted at noon.
type world struct {
	db     *sqldb.DB
	engine *Engine
	now    time.Time
	live   bool
	sends  map[id.Message]placed
}

// placed is the tenant and the send of a message.
type placed struct {
	tenant id.Tenant
	send   id.Send
}

func newWorld(db *sqldb.DB) *world {
	w := &world{db: db, now: noon, live: true, sends: map[id.Message]placed{}}
	w.engine = &Engine{DB: db, Now: func() time.Time { return w.now }, Live: func(context.Context, id.Tenant, id.Send) (bool, error) { return w.live, nil }}
	return w
}

// send puts n messages of a content with this many links into the outbox.
func (w *world) send(t *testing.T, links, n int) []outbox.Message {
	t.Helper()
	var html strings.Builder
	for i := range links {
		fmt.Fprintf(&html, `<a href="https://example.org/%d">%d</a>`, i+1, i+1)
	}
	b, send := id.New[id.Broadcast](), id.New[id.Send]()
	tenant := idtest.Tenant()
	var messages []outbox.Message
	err := w.db.InTx(t.Context(), func(tx *sqldb.DB) error {
		c, err := content.Freeze(t.Context(), tx, tenant, content.Source{
			Subject: "Hello", HTML: html.String(), Tracking: true, Send: send, Context: content.Context{Broadcast: b},
		}, noon)
		if err != nil {
			return err
		}
		if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: tenant, ID: send, Source: outbox.FromBroadcast(b)}, outbox.Terms{}, noon); err != nil {
			return err
		}
		messages = nil
		for range n {
			messages = append(messages, outbox.Message{ID: id.New[id.Message](), Contact: id.New[id.Contact](), Email: "a@example.org", Content: c, DueAt: noon})
		}
		if _, err := outbox.AddMessages(t.Context(), tx, tenant, send, messages); err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), `UPDATE outbox SET state = 'delivered', sent_at = $1 WHERE tenant_id = $2`, noon.UnixMicro(), tenant)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// sendOf returns the tenant and the send of a message.
func (w *world) sendOf(t *testing.T, m id.Message) (tenant id.Tenant, send id.Send) {
	t.Helper()
	p, ok := w.sends[m]
	if !ok {
		if err := w.db.QueryRow(t.Context(), `SELECT tenant_id, send_id FROM outbox WHERE id = $1`, m).Scan(&p.tenant, &p.send); err != nil {
			t.Fatal(err)
		}
		w.sends[m] = p
	}
	return p.tenant, p.send
}

// hit returns the hit of an act on a message.
func (w *world) hit(t *testing.T, m outbox.Message, a act) track.Hit {
	t.Helper()
	h := a.hit()
	h.Tenant, h.Send = w.sendOf(t, m.ID)
	h.Message, h.Contact = m.ID, m.Contact
	return h
}

func (w *world) record(t *testing.T, m outbox.Message, acts ...act) {
	t.Helper()
	var hits []track.Hit
	for _, a := range acts {
		hits = append(hits, w.hit(t, m, a))
	}
	if err := w.db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
		t.Fatal(err)
	}
}

func (w *world) run(t *testing.T, at time.Time) {
	t.Helper()
	w.now = at
	if err := w.engine.pass(t.Context(), false); err != nil {
		t.Fatal(err)
	}
}

func (w *world) verdicts(t *testing.T, m outbox.Message) map[string]string {
	t.Helper()
	tenant, _ := w.sendOf(t, m.ID)
	hits, err := track.HitsOf(t.Context(), w.db, tenant, []id.Message{m.ID})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, h := range hits {
		out[key(h.At.Sub(noon), h.Click, h.Link, h.IP)] = verdict(h)
	}
	return out
}

func key(at time.Duration, click bool, link int, ip string) string {
	return fmt.Sprint(at, click, link, ip)
}

// repeated reports whether a is the same request as another one, within a second.
func repeated(a act, acts []act) bool {
	return slices.ContainsFunc(acts, func(b act) bool {
		return a.at != b.at && noon.Add(a.at).Unix() == noon.Add(b.at).Unix() && a.link == b.link && a.ip == b.ip && a.agent == b.agent
	})
}

func (w *world) expect(t *testing.T, m outbox.Message, acts []act) {
	t.Helper()
	got := w.verdicts(t, m)
	for _, a := range acts {
		h := a.hit()
		k := key(a.at, h.Click, h.Link, h.IP)
		if v, ok := got[k]; ok && v != a.want {
			t.Errorf("at %v, link %d, from %s: %s, want %s", a.at, a.link, a.ip, v, a.want)
		} else if !ok && !repeated(a, acts) {
			t.Errorf("at %v, link %d, from %s: not recorded", a.at, a.link, a.ip)
		}
	}
}

// The classifier runs every minute while hits arrive. Its final result depends neither on that nor
// on the order of arrival.
func TestScenariosAsTheyHappen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(db)
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				messages := w.send(t, s.links, 3)
				acts := slices.SortedStableFunc(slices.Values(s.acts), func(a, b act) int { return int(a.at - b.at) })
				for i := 0; i < len(acts); { // one after the other, with a pass after each gap
					w.record(t, messages[0], acts[i])
					if i++; i == len(acts) || acts[i].at-acts[i-1].at > 20*sec {
						w.run(t, noon.Add(acts[i-1].at+20*sec))
					}
				}
				w.expect(t, messages[0], s.acts)

				w.record(t, messages[1], acts...) // all at once
				rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
				for _, a := range acts { // in any order
					w.record(t, messages[2], a)
				}
				w.run(t, noon.Add(80*time.Hour))
				w.expect(t, messages[1], s.acts)
				w.expect(t, messages[2], s.acts)
			})
		}
	})
}
