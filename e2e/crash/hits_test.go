package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const (
	hitClients    = 8
	hitRecipients = 100 // for each kill: a message keeps at most 1,000 hits
	// certainWithin is how soon an answer says that its hit is durable. The program
	// answers after 5 s in any case.
	certainWithin = 4 * time.Second
)

// hitKills returns how often a test of hits kills a process. PACKETBOAT_TEST_HIT_KILLS
// sets another number, for `make crash`.
func hitKills(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("PACKETBOAT_TEST_HIT_KILLS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PACKETBOAT_TEST_HIT_KILLS = %q, want a number of kills", text)
	}
	return n
}

// TestKilledProcessesRecordEachAnsweredHitOnce kills the program with SIGKILL while
// clients request the pixels and links of mails that it sent. After the last start,
// every hit that was answered has one row, one that was not has at most one, and
// engagements, sums and report agree with the rows.
func TestKilledProcessesRecordEachAnsweredHitOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		kills := hitKills(t, 5)
		h := newHits(t, address, kills)
		h.begin()
		for range kills {
			h.requested(50)
			e2etest.Wait(t, time.Duration(h.random.IntN(400))*time.Millisecond)
			h.restart(h.programs[0])
		}
		h.requested(50)
		h.end()
		h.check()
	})
}

// TestAKilledLeaderRecordsEachAnsweredHitOnce is the same for two processes, of which
// the one that records the hits of both is killed, and the other takes over.
func TestAKilledLeaderRecordsEachAnsweredHitOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if _, sqlite := e2etest.SQLiteDir(address); sqlite {
			t.Skip("SQLite is served by one process")
		}
		t.Parallel()
		kills := (hitKills(t, 1) + 9) / 10 // each waits for the end of the leader's lease
		h := newHits(t, address, 2*kills)
		h.pause = 40 * time.Millisecond
		dir := filepath.Join(h.programs[0].Dir, "second")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		second := h.programs[0].NewNode(dir)
		if err := second.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = second.Kill() })
		h.programs = append(h.programs, second)
		terms := map[*harness.Program]int{} // in which each was the leader
		leader := func() *harness.Program {
			p := e2etest.Eventually(t, func() (*harness.Program, bool) {
				for _, p := range h.programs {
					n, err := p.CountLines("leadership acquired", "classifier")
					if err != nil {
						t.Fatal(err)
					}
					if n > terms[p] {
						terms[p] = n
						return p, true
					}
				}
				return nil, false
			})
			if p == nil {
				t.Fatal("no process has become the leader of the classifier")
			}
			return p
		}
		h.begin()
		for range kills {
			p := leader()
			h.requested(50)
			e2etest.Wait(t, time.Duration(h.random.IntN(400))*time.Millisecond)
			h.restart(p)
		}
		leader() // takes over what the killed one left
		h.requested(50)
		h.end()
		h.check()
	})
}

// hits are clients that request what is in the mails of a broadcast, and what they
// were answered. Each request has an agent of its own, by which its row is found.
type hits struct {
	t         *testing.T
	random    *rand.Rand
	ready     *harness.Ready
	programs  []*harness.Program // that answer
	pause     time.Duration      // of a client between requests, at most
	broadcast string
	links     []trackedLink

	stop    context.CancelFunc
	clients sync.WaitGroup

	mu       sync.Mutex
	asked    map[string]trackedLink // by agent
	answered map[string]bool
}

// trackedLink is the pixel or a link of one mail.
type trackedLink struct {
	message id.Message
	url     string
	to      string // as authored; empty: the pixel
}

// newHits sends a broadcast to as many recipients as are needed for so many kills.
func newHits(t *testing.T, address string, kills int) *hits {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	store := t.TempDir()
	p, ready, s := e2etest.Start(t, address, "-store", store)
	h := &hits{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), ready: ready, programs: []*harness.Program{p}, pause: 10 * time.Millisecond,
		asked: map[string]trackedLink{}, answered: map[string]bool{},
	}
	db := e2etest.Database(t, p)
	defer db.Close()
	recipients := hitRecipients * kills
	if err := harness.Seed(t.Context(), db, ready.List, recipients, "example.org"); err != nil {
		t.Fatal(err)
	}
	lane, err := ready.Lane(t.Context(), "Sink", s.Address, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	h.broadcast, err = ready.Broadcast(t.Context(), lane, map[string]any{
		"subject": "Hello", "body_html": `<html><body><p><a href="https://example.com/a">First</a> <a href="https://example.com/b">Second</a></p></body></html>`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ready.Schedule(t.Context(), h.broadcast); err != nil {
		t.Fatal(err)
	}
	within, cancel := context.WithTimeout(t.Context(), e2etest.Patience)
	defer cancel()
	if _, err := ready.Await(within, h.broadcast, "completed"); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Messages()
	if err != nil {
		t.Fatal(err)
	}
	mails := e2etest.Stored(t, store)
	if len(taken) != recipients || len(mails) != recipients {
		t.Fatalf("%d mails arrived, %d are stored; want %d", len(taken), len(mails), recipients)
	}
	for _, m := range taken {
		message, mail := id.Read[id.Message](m.Ref), mails[m.Rcpt[0]]
		h.links = append(h.links,
			trackedLink{message, e2etest.Pixel(t, mail), ""},
			trackedLink{message, e2etest.Link(t, mail, "First"), "https://example.com/a"},
			trackedLink{message, e2etest.Link(t, mail, "Second"), "https://example.com/b"})
	}
	return h
}

// begin starts the clients.
func (h *hits) begin() {
	ctx, stop := context.WithCancel(h.t.Context())
	h.stop = stop
	for i := range hitClients {
		random := rand.New(rand.NewPCG(h.random.Uint64(), 2))
		h.clients.Go(func() { h.client(ctx, i, random) })
	}
	h.t.Cleanup(h.end)
}

// end stops the clients. Requests under way are finished.
func (h *hits) end() {
	h.stop()
	h.clients.Wait()
}

// client sends one request after another, until ctx ends. It uses a connection for
// each: net/http would send a request again whose connection was used before.
func (h *hits) client(ctx context.Context, number int, random *rand.Rand) {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for n := 0; ctx.Err() == nil; n++ {
		l := h.links[random.IntN(len(h.links))]
		agent := fmt.Sprintf("Client/%d.%d", number, n)
		h.mu.Lock()
		h.asked[agent] = l
		h.mu.Unlock()
		began := time.Now()
		status, err := h.request(client, h.programs[random.IntN(len(h.programs))], l, agent)
		want := http.StatusOK
		if l.to != "" {
			want = http.StatusFound
		}
		switch {
		case err != nil: // it may be recorded
		case status != want:
			h.t.Errorf("GET %s = %d, want %d", l.url, status, want)
		case time.Since(began) < certainWithin:
			h.mu.Lock()
			h.answered[agent] = true
			h.mu.Unlock()
		}
		select {
		case <-time.After(time.Duration(random.Int64N(int64(h.pause)))):
		case <-ctx.Done():
		}
	}
}

// request sends one request to a process, whatever host is in the mail, and reads the
// whole answer.
func (h *hits) request(client *http.Client, p *harness.Program, l trackedLink, agent string) (status int, err error) {
	target, err := url.Parse(l.url)
	if err != nil {
		return 0, err
	}
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		return 0, err
	}
	host := target.Host
	target.Host = base.Host
	req, err := http.NewRequest(http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, err
	}
	req.Host = host
	req.Header.Set("User-Agent", agent)
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// requested waits until n more requests were answered.
func (h *hits) requested(n int) {
	h.t.Helper()
	count := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.answered)
	}
	for want, end := count()+n, time.Now().Add(e2etest.Patience); count() < want; {
		if time.Now().After(end) {
			h.t.Fatalf("%d requests were answered, want %d", count(), want)
		}
		e2etest.Wait(h.t, 5*time.Millisecond)
	}
}

func (h *hits) restart(p *harness.Program) {
	h.t.Helper()
	if err := p.Kill(); err != nil {
		h.t.Fatal(err)
	}
	if err := p.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// check waits until the inbox is empty, ends the processes, and compares the rows with
// the answers, and all sums with the rows.
func (h *hits) check() {
	h.t.Helper()
	t, ctx := h.t, h.t.Context()
	db := e2etest.Database(t, h.programs[0])
	defer db.Close()
	left := e2etest.Eventually(t, func() (n int, empty bool) {
		if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM hit_inbox`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n, n == 0
	})
	if left > 0 {
		t.Fatalf("%d packs of hits are left in the inbox", left)
	}
	report := e2etest.Must(t, h.ready.Key, http.MethodGet, "/broadcasts/"+h.broadcast+"/report", nil)
	for _, p := range h.programs { // the classifier changes rows and sums
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	var tenant id.Tenant
	var send id.Send
	err := db.QueryRow(ctx, `SELECT tenant_id, send_id FROM broadcast WHERE id = $1`, id.Read[id.Broadcast](h.broadcast)).Scan(&tenant, &send)
	if err != nil {
		t.Fatal(err)
	}
	var messages []id.Message
	for i := 0; i < len(h.links); i += 3 {
		messages = append(messages, h.links[i].message)
	}
	list, err := track.HitsOf(ctx, db, tenant, messages)
	if err != nil {
		t.Fatal(err)
	}
	of := h.checkRows(list)
	want := h.checkEngagements(db, tenant, of)
	sums, err := track.LoadSums(ctx, db, tenant, send)
	if err != nil {
		t.Fatal(err)
	}
	if sums != want {
		t.Errorf("the sums are %+v, the rows say %+v", sums, want)
	}
	if report["apparent_opened"] != float64(want.ApparentOpened) {
		t.Errorf("the report says apparent_opened = %v, the rows say %d", report["apparent_opened"], want.ApparentOpened)
	}
	t.Logf("%d requests, %d answered, %d rows", len(h.asked), len(h.answered), len(list))
}

// checkRows compares the rows with the requests, and returns them by message.
func (h *hits) checkRows(list []track.Hit) map[id.Message][]track.Hit {
	h.t.Helper()
	of := map[id.Message][]track.Hit{}
	rows := map[string]int{}
	for _, r := range list {
		of[r.Message] = append(of[r.Message], r)
		rows[r.Agent]++
		if l, ok := h.asked[r.Agent]; !ok || l.message != r.Message || l.to != r.URL || r.Click != (l.to != "") {
			h.t.Errorf("the row of %s is of message %s, click %t, %q; the request was for %+v", r.Agent, r.Message, r.Click, r.URL, l)
		}
	}
	lost, repeated := 0, 0
	for agent := range h.asked {
		if rows[agent] > 1 {
			repeated++
		}
		if rows[agent] == 0 && h.answered[agent] {
			lost++
		}
	}
	if lost > 0 || repeated > 0 {
		h.t.Errorf("of %d answered hits %d have no row; of %d requests %d have several", len(h.answered), lost, len(h.asked), repeated)
	}
	return of
}

// checkEngagements compares the engagements with the rows that they count, and returns
// the sums that follow from the rows.
func (h *hits) checkEngagements(db *sqldb.DB, tenant id.Tenant, of map[id.Message][]track.Hit) track.Sums {
	h.t.Helper()
	var sums track.Sums
	rows, err := db.Query(h.t.Context(), `SELECT message_id, flags, hits FROM engagement WHERE tenant_id = $1`, tenant)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m id.Message
		var flags track.Flags
		var n int
		if err := scan(&m, &flags, &n); err != nil {
			return err
		}
		want := track.Derive(of[m])
		if n != len(of[m]) || flags != want {
			h.t.Errorf("message %s has %d hits and flags %b; its rows are %d, and say %b", m, n, flags, len(of[m]), want)
		}
		for flag, sum := range map[track.Flags]*int{
			track.ApparentOpened: &sums.ApparentOpened, track.VerifiedOpened: &sums.VerifiedOpened, track.HumanOpened: &sums.HumanOpened,
			track.Confirmed: &sums.Confirmed, track.BotOpened: &sums.BotOpened, track.PendingOpened: &sums.PendingOpened,
			track.HumanClicked: &sums.HumanClicked, track.BotClicked: &sums.BotClicked, track.PendingClicked: &sums.PendingClicked,
		} {
			if want&flag != 0 {
				*sum++
			}
		}
		delete(of, m)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for m := range of {
		h.t.Errorf("message %s has hits and no engagement", m)
	}
	return sums
}
