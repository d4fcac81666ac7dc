package demo

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// program is with what a contact reads mail.
type program struct {
	share int // of all contacts, in percent
	// prefetch is set of mailbox providers that fetch images in advance, at delivery.
	prefetch *client
	// open fetches the images when the contact opens the mail; nil: the program shows none.
	open *client
	// click is the browser in which links are opened.
	click client
}

// client makes requests. In its agent, %CHROME% and %FIREFOX% are the versions of their time.
type client struct {
	agent    string
	networks []string // prefixes; none: a network of the contact's own
	header   map[string]string
}

// The headers of browsers.
var (
	ofImage = map[string]string{"Accept": "image/avif,image/webp,image/*,*/*;q=0.8", "Accept-Encoding": "gzip, deflate, br", "Accept-Language": "en"}
	ofPage  = map[string]string{
		"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Encoding": "gzip, deflate, br", "Accept-Language": "en",
		"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1", "Sec-Fetch-Site": "none",
	}
	ofProgram = map[string]string{"Accept": "*/*"}
)

const (
	chromeAgent  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%CHROME%.0.0.0 Safari/537.36"
	androidAgent = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%CHROME%.0.0.0 Mobile Safari/537.36"
	iphoneAgent  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"
	ipadAgent    = "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"
	macAgent     = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15"
	firefoxAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:%FIREFOX%.0) Gecko/20100101 Firefox/%FIREFOX%.0"
	birdAgent    = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.4.0"
	iosMailAgent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
	outlookAgent = "Mozilla/4.0 (compatible; ms-office; MSOffice 16)"
	edgeAgent    = chromeAgent + " Edg/%CHROME%.0.0.0"
	googleAgent  = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
)

// programs are the mail programs of the demo's readers. The networks are those of their operators; a
// reader's own is one for documentation (RFC 5737, RFC 3849), which belongs to nobody.
var programs = []program{
	{30, &client{"Mozilla/5.0", []string{"104.28.32.0/24", "172.224.226.0/24", "146.75.160.0/24"}, ofImage}, nil, client{iphoneAgent, nil, ofPage}},
	{6, &client{"Mozilla/5.0", []string{"104.28.33.0/24", "172.224.240.0/24"}, ofImage}, nil, client{macAgent, nil, ofPage}},
	{20, nil, &client{googleAgent, []string{"66.249.84.0/24", "66.102.8.0/24", "74.125.210.0/24"}, ofImage}, client{androidAgent, nil, ofPage}},
	{12, nil, &client{googleAgent, []string{"66.249.93.0/24", "74.125.208.0/24"}, ofImage}, client{chromeAgent, nil, ofPage}},
	{9, nil, &client{outlookAgent, nil, ofImage}, client{edgeAgent, nil, ofPage}},
	{8, nil, &client{chromeAgent, nil, ofImage}, client{chromeAgent, nil, ofPage}},
	{6, nil, &client{iosMailAgent, nil, ofImage}, client{iphoneAgent, nil, ofPage}},
	{3, nil, &client{ipadAgent, nil, ofImage}, client{ipadAgent, nil, ofPage}},
	{3, nil, &client{birdAgent, nil, ofImage}, client{firefoxAgent, nil, ofPage}},
	{3, nil, nil, client{firefoxAgent, nil, ofPage}},
}

// scanner follows the links of mail to companies with a gateway, from the network of its vendor.
var scanner = client{chromeAgent, []string{"148.163.130.0/24", "64.235.150.0/24", "91.220.42.0/24"}, ofProgram}

// seeded returns numbers that are always the same for the same texts.
func seeded(texts ...string) *rand.Rand {
	sum := fnv.New64a()
	for _, t := range texts {
		_, _ = sum.Write([]byte(t + "\x00"))
	}
	return rand.New(rand.NewPCG(sum.Sum64(), 1))
}

// programOf returns the mail program of a contact.
func programOf(email string) program {
	n := seeded("program", email).IntN(100)
	for _, p := range programs {
		if n -= p.share; n < 0 {
			return p
		}
	}
	return programs[0]
}

// readAct returns the act by which the readers of a broadcast read it. interest is how many of them do,
// relative to others.
func readAct(name string, interest float64) func(*History, context.Context) error {
	return func(h *History, ctx context.Context) error {
		b, err := h.broadcast(ctx, name)
		if err != nil {
			return err
		}
		return h.read(ctx, b.Send, func(m outbox.Record, found []links.Link) []track.Hit {
			keen := interest
			if m.Variant == "named" {
				keen *= 1.25
			}
			return h.reads(name, m, found, keen)
		})
	}
}

// readSequence has the readers of a sequence's mails that were sent between two times read them. They are
// new, and read more than others.
func (h *History) readSequence(ctx context.Context, name string, from, before time.Time) error {
	s, err := h.find(ctx, "/sequences", "name", name)
	if s == nil || err != nil {
		return err
	}
	seq, _ := id.Parse[id.Sequence](s.text("id"))
	sends, err := sequence.Sends(ctx, h.DB, h.Tenant, seq)
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(sends)) {
		err := h.read(ctx, sends[node], func(m outbox.Record, found []links.Link) []track.Hit {
			if m.SentAt == nil || m.SentAt.Before(from) || !m.SentAt.Before(before) {
				return nil
			}
			return h.reads(name+node, m, found, 2)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// read adds the requests that follow from the delivered messages of a send to those that are yet to come.
func (h *History) read(ctx context.Context, send id.Send, of func(m outbox.Record, found []links.Link) []track.Hit) error {
	contents := map[id.Content][]links.Link{}
	var err error
	for _, m := range h.delivered(ctx, send, &err) {
		if _, ok := contents[m.Content]; !ok {
			c, err := content.Load(ctx, h.DB, h.Tenant, m.Content)
			if err != nil {
				return err
			}
			contents[m.Content] = c.Links
		}
		h.hits = append(h.hits, of(m, contents[m.Content])...)
	}
	slices.SortFunc(h.hits, func(a, b track.Hit) int { return a.At.Compare(b.At) })
	return err
}

// delivered returns the delivered messages of a send, in the order of their addresses.
func (h *History) delivered(ctx context.Context, send id.Send, failed *error) []outbox.Record {
	var list []outbox.Record
	q := outbox.Recipients{Status: []outbox.Status{outbox.StatusDelivered}, Limit: 500}
	for more := true; more && *failed == nil; {
		var page []outbox.Record
		if page, more, *failed = outbox.List(ctx, h.DB, h.Tenant, send, q); len(page) > 0 {
			list = append(list, page...)
			q.After = page[len(page)-1].Contact
		}
	}
	slices.SortFunc(list, func(a, b outbox.Record) int { return cmp.Compare(a.Email, b.Email) })
	return list
}

// reads returns the requests that one recipient, its mailbox provider and its gateway make for a message.
func (h *History) reads(name string, m outbox.Record, found []links.Link, interest float64) []track.Hit {
	if m.SentAt == nil {
		return nil
	}
	var hits []track.Hit
	random := seeded(name, m.Email)
	// What people do does not depend on how long the send took.
	const steps = 10 * time.Minute
	sent := m.SentAt.Truncate(steps).Add(steps)
	add := func(c client, click int, at time.Time) {
		if at.After(h.end()) {
			return
		}
		hit := c.request(m.Email, at, click >= 0)
		hit.Tenant, hit.Message = h.Tenant, m.ID
		if click >= 0 {
			hit.Click, hit.Link, hit.URL = true, found[click].Index, found[click].URL
		}
		hits = append(hits, hit)
	}
	if _, host, _ := strings.Cut(m.Email, "@"); scannedHost(host) {
		at := m.SentAt.Truncate(time.Second).Add(2 * time.Second)
		add(scanner, -1, at)
		for i := range found {
			add(scanner, i, at.Add(seconds(i)))
		}
	}
	p := programOf(m.Email)
	loyalty := 0.35 + 1.1*seeded("loyalty", m.Email).Float64() // some read everything, some hardly anything
	if p.prefetch != nil && random.Float64() < 0.9 {
		add(*p.prefetch, -1, sent.Add(seconds(60+random.IntN(9000))))
	}
	if random.Float64() > 0.46*loyalty*interest {
		return hits
	}
	opened := daytime(sent.Add(seconds(120 + int(random.ExpFloat64()*6*3600))))
	if p.open != nil {
		add(*p.open, -1, opened)
		for range random.IntN(3) - 1 { // some read it again
			add(*p.open, -1, daytime(opened.Add(seconds(3600+random.IntN(30*3600)))))
		}
	}
	if len(found) == 0 || random.Float64() > 0.30*loyalty {
		return hits
	}
	clicked := opened.Add(seconds(20 + random.IntN(240)))
	for _, i := range random.Perm(len(found))[:1+random.IntN(2)] {
		if random.IntN(3) == 0 { // most choose what comes first
			i = 0
		}
		add(p.click, i, clicked)
		clicked = clicked.Add(seconds(40 + random.IntN(300)))
	}
	return hits
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// daytime moves a time of the night to the morning.
func daytime(t time.Time) time.Time {
	if t.Hour() < 5 {
		return t.Add(time.Duration(6) * time.Hour)
	}
	return t
}

func scannedHost(host string) bool {
	for name := range scanned {
		if slug.Derive(name, '-')+".example" == host {
			return true
		}
	}
	return false
}

// request returns the hit of a request, as the pages of recipients make it.
func (c client) request(email string, at time.Time, click bool) track.Hit {
	r := &http.Request{Method: http.MethodGet, Header: http.Header{}, ProtoMajor: 1, ProtoMinor: 1}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", ofItsTime(c.agent, at))
	return track.Hit{
		At: at, Method: r.Method, Agent: r.UserAgent(), IP: c.address(email), Click: click,
		Prefetch: track.DeclaresPrefetch(r.Header), Signals: track.ReadSignals(r, false, true),
	}
}

// ofItsTime fills in the versions that browsers have at a time: one every four weeks.
func ofItsTime(agent string, at time.Time) string {
	versions := int(at.Sub(time.Date(2025, 11, 4, 0, 0, 0, 0, time.UTC)) / (28 * day))
	return strings.NewReplacer("%CHROME%", fmt.Sprint(142+versions), "%FIREFOX%", fmt.Sprint(145+versions)).Replace(agent)
}

// address returns the address from which a contact's requests come.
func (c client) address(email string) string {
	random := seeded("address", email)
	networks := c.networks
	if len(networks) == 0 {
		networks = []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "2001:db8::/32", "2001:db8::/32"}
	}
	p := netip.MustParsePrefix(networks[random.IntN(len(networks))])
	if p.Addr().Is4() {
		a := p.Addr().As4()
		a[3] = byte(1 + random.IntN(250))
		return netip.AddrFrom4(a).String()
	}
	a := p.Addr().As16()
	a[4], a[5], a[6], a[7], a[15] = byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256)), 7
	return netip.AddrFrom16(a).String()
}

// recordHits records the requests of readers until a time. A request that is recorded already is the same
// hit.
func (h *History) recordHits(ctx context.Context, to time.Time) error {
	n, _ := slices.BinarySearchFunc(h.hits, to, func(hit track.Hit, to time.Time) int { return cmp.Compare(hit.At.UnixMicro(), to.UnixMicro()) })
	if n == 0 {
		return nil
	}
	due := h.hits[:n]
	h.hits = h.hits[n:]
	return h.DB.InTx(ctx, func(tx *sqldb.DB) error { return track.Record(ctx, tx, due) })
}

// leaveAct returns the act by which some recipients of a broadcast unsubscribe with a button of their mail
// program, and some complain.
func leaveAct(name string, unsubscribe, complain int) func(*History, context.Context) error {
	return func(h *History, ctx context.Context) error {
		b, err := h.broadcast(ctx, name)
		if err != nil {
			return err
		}
		list := h.delivered(ctx, b.Send, &err)
		if err != nil {
			return err
		}
		seeded("leavers", name).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for i, m := range list[:min(len(list), unsubscribe+complain)] {
			if i >= unsubscribe {
				_, err = track.RecordComplaint(ctx, h.DB, m, h.Clock.Now())
			} else {
				err = h.oneClick(ctx, m)
			}
			if err != nil {
				return err
			}
		}
		return h.Settle(ctx)
	}
}

// oneClick makes the request of a mail program that unsubscribes (RFC 8058).
func (h *History) oneClick(ctx context.Context, m outbox.Record) error {
	signer, err := h.Keys.Signer(h.Tenant, m.ID)
	if err != nil {
		return err
	}
	path := "/_q/u/" + string(signer.Append(nil, track.Unsubscribe, 0, ""))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.Host+path, strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(programOf(m.Email).click.address(m.Email)), 50000).String()
	_, err = h.serve(r)
	return err
}
