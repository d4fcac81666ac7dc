package track_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

type mail struct {
	tenant  id.Tenant
	send    id.Send
	message id.Message
	contact id.Contact
}

func newMail(tenant id.Tenant, send id.Send) mail {
	return mail{tenant, send, id.New[id.Message](), id.New[id.Contact]()}
}

// newMails returns mails of two tenants whose sends have the same id.
func newMails() (m, other mail) {
	send := id.New[id.Send]()
	return newMail(idtest.Tenant(), send), newMail(idtest.Tenant(), send)
}

func (m mail) hit(h track.Hit) track.Hit {
	h.Tenant, h.Send, h.Message, h.Contact = m.tenant, m.send, m.message, m.contact
	if h.Method == "" {
		h.Method = "GET"
	}
	if h.Click && h.URL == "" {
		h.URL = "https://example.org/"
	}
	return h
}

func record(t *testing.T, db *sqldb.DB, hits ...track.Hit) {
	t.Helper()
	if err := db.InTx(t.Context(), func(tx *sqldb.DB) error { return track.Record(t.Context(), tx, hits) }); err != nil {
		t.Fatal(err)
	}
}

// hitsOf returns the stored hits of a mail.
func hitsOf(t *testing.T, db *sqldb.DB, m mail) []track.Hit {
	t.Helper()
	hits, err := track.HitsOf(t.Context(), db, m.tenant, []id.Message{m.message})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// classify sets the class of all hits of a message to the result of as.
func classify(t *testing.T, db *sqldb.DB, m mail, as func(track.Hit) track.Class) {
	t.Helper()
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		found, err := track.LoadEvidence(t.Context(), tx, m.tenant, []id.Message{m.message})
		if err != nil {
			return err
		}
		hits := slices.Clone(found.Hits)
		for i := range hits {
			hits[i].Class = as(hits[i])
		}
		return found.ApplyVerdicts(t.Context(), hits)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sums(t *testing.T, db *sqldb.DB, tenant id.Tenant, send id.Send) track.Sums {
	t.Helper()
	s, err := track.LoadSums(t.Context(), db, tenant, send)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sumsOfHits computes the sums of a send from the hits of its messages.
func sumsOfHits(t *testing.T, db *sqldb.DB, tenant id.Tenant, mails []mail, left map[id.Message]bool) track.Sums {
	t.Helper()
	var s track.Sums
	v := reflect.ValueOf(&s).Elem()
	for _, m := range mails {
		f := track.Derive(hitsOf(t, db, m))
		if left[m.message] {
			f |= track.Unsubscribed
		}
		for i := range v.NumField() {
			v.Field(i).SetInt(v.Field(i).Int() + int64(f>>i&1))
		}
	}
	return s
}

func TestSumsEqualTheSumsOfHits(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 1))
		tenants := []id.Tenant{idtest.Tenant(), idtest.Tenant()}
		mails := map[id.Tenant][]mail{}
		for _, tenant := range tenants {
			for range 5 {
				mails[tenant] = append(mails[tenant], newMail(tenant, idtest.Named[id.Send]("same-name")))
			}
		}
		left := map[id.Message]bool{}
		classes := []track.Class{track.Bot, track.Human, track.Privacy, track.Pending}
		for step := range 60 {
			tenant := tenants[rnd.IntN(2)]
			m := mails[tenant][rnd.IntN(5)]
			switch rnd.IntN(5) {
			case 0, 1:
				var hits []track.Hit
				for range 1 + rnd.IntN(6) {
					tn := tenants[rnd.IntN(2)]
					h := open("", time.Duration(rnd.IntN(2_000_000))*time.Millisecond)
					h.Click = rnd.IntN(2) == 0
					hits = append(hits, mails[tn][rnd.IntN(5)].hit(h))
				}
				record(t, db, hits...)
			case 4:
				err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
					fresh, err := track.SetFlag(t.Context(), tx, tenant, m.send, m.message, track.Unsubscribed, noon)
					if fresh == left[m.message] {
						t.Errorf("step %d: SetFlag = %v", step, fresh)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				left[m.message] = true
			default:
				classify(t, db, m, func(h track.Hit) track.Class {
					c := classes[rnd.IntN(4)]
					if h.Click && c == track.Privacy {
						c = track.Human
					}
					return c
				})
			}
			if step%10 != 9 {
				continue
			}
			for _, tenant := range tenants {
				if got, want := sums(t, db, tenant, idtest.Named[id.Send]("same-name")), sumsOfHits(t, db, tenant, mails[tenant], left); got != want {
					t.Fatalf("step %d: sums are %+v, rows add up to %+v", step, got, want)
				}
			}
		}
	})
}

func TestSumsAreCorrectAfterConcurrentWrites(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tenant := idtest.Tenant()
		sends := []id.Send{idtest.Named[id.Send]("a"), idtest.Named[id.Send]("b"), idtest.Named[id.Send]("c")}
		var mails []mail
		for i := range 6 {
			mails = append(mails, newMail(tenant, sends[i%3]))
		}
		var wg sync.WaitGroup
		for w := range 6 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(w), 1))
				for range 12 {
					var hits []track.Hit
					for _, i := range rnd.Perm(len(mails)) {
						hits = append(hits, mails[i].hit(open("", time.Duration(rnd.IntN(2000))*time.Second)))
					}
					record(t, db, hits...)
					classify(t, db, mails[rnd.IntN(len(mails))], func(track.Hit) track.Class { return track.Human })
				}
			})
		}
		wg.Wait()
		for _, s := range sends {
			var of []mail
			for _, m := range mails {
				if m.send == s {
					of = append(of, m)
				}
			}
			if got, want := sums(t, db, tenant, s), sumsOfHits(t, db, tenant, of, nil); got != want {
				t.Errorf("sums of %s are %+v, rows add up to %+v", s, got, want)
			}
		}
	})
}

func TestHitsAreLoadedAsRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m, other := newMails()
		h := m.hit(click("", 90*time.Second))
		h.Link, h.URL, h.IP, h.Prefetch, h.Method = 3, "https://example.org/?a=ü", "192.0.2.7", true, "HEAD"
		h.Agent = "caf\xe9\x00 " + strings.Repeat("ü", 400)
		before := m.hit(unaccepted(open("", 0)))
		record(t, db, h, before, other.hit(open("", 0)))
		got, err := track.HitsOf(t.Context(), db, m.tenant, []id.Message{m.message, other.message})
		if err != nil || len(got) != 2 {
			t.Fatalf("HitsOf = %v, %v; want two hits", got, err)
		}
		first, g := got[0], got[1]
		if first.SinceSent != nil || first.Click || first.Class != track.Pending {
			t.Errorf("the open is loaded as %+v", first)
		}
		if !utf8.ValidString(g.Agent) || len(g.Agent) > 512 || !strings.HasPrefix(g.Agent, "caf\uFFFD\uFFFD ü") {
			t.Errorf("the agent is loaded as %q", g.Agent)
		}
		if g.Link != 3 || g.URL != h.URL || g.IP != h.IP || !g.Prefetch || g.Method != "HEAD" || !g.At.Equal(h.At) || *g.SinceSent != *h.SinceSent || !g.Click {
			t.Errorf("the click is loaded as %+v", g)
		}
		if s := sums(t, db, other.tenant, other.send); s.PendingOpened != 1 || s.PendingClicked != 0 {
			t.Errorf("the other tenant's sums are %+v", s)
		}
	})
}

func TestEqualRequestsOfASecondAreOneHit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m := newMail(idtest.Tenant(), id.New[id.Send]())
		h := m.hit(click("", 0))
		again := m.hit(click("", 300*time.Millisecond))
		later := m.hit(click("", 2*time.Second))
		elsewhere := h
		elsewhere.Link++
		head := h
		head.Method = "HEAD"
		record(t, db, h, again)
		record(t, db, again, later, elsewhere, head)
		if hits := hitsOf(t, db, m); len(hits) != 4 {
			t.Errorf("%d hits, want 4", len(hits))
		}
	})
}

func TestHitsOfAMessageAreLimited(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m, other := newMails()
		for round := range 3 {
			var hits []track.Hit
			for i := range 500 {
				hits = append(hits, m.hit(click("", time.Duration(round*500+i)*time.Second)))
			}
			record(t, db, append(hits, other.hit(open("", time.Duration(round)*time.Second)))...)
		}
		for _, tt := range []struct {
			mail
			want int
		}{{m, 1000}, {other, 3}} {
			if hits := hitsOf(t, db, tt.mail); len(hits) != tt.want {
				t.Errorf("%d hits are stored, want %d", len(hits), tt.want)
			}
		}
	})
}

func TestPendingHitsComeOldestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m, other := newMails()
		record(t, db, m.hit(open("", 30*time.Second)), m.hit(open("", 10*time.Second)), other.hit(open("", 20*time.Second)), m.hit(open("", 40*time.Second)))
		got, more, err := track.PendingPage(t.Context(), db, time.Time{}, noon.Add(30*time.Second), 10)
		if err != nil || more {
			t.Fatal(more, err)
		}
		var at []int
		for _, h := range got {
			at = append(at, int(h.At.Sub(noon).Seconds()))
		}
		if !slices.Equal(at, []int{10, 20, 30}) {
			t.Errorf("PendingPage returns the hits of seconds %v", at)
		}
		if got, more, err := track.PendingPage(t.Context(), db, time.Time{}, noon.Add(time.Hour), 2); err != nil || len(got) != 2 || !more {
			t.Errorf("PendingPage returns %d, %v, %v; want the limit, 2, and more", len(got), more, err)
		}
		if rest, more, err := track.PendingPage(t.Context(), db, got[1].At, noon.Add(time.Hour), 2); err != nil || more || len(rest) != 2 || rest[0].ID != got[2].ID {
			t.Errorf("the next page is %v, %v, %v", rest, more, err)
		}
	})
}

func TestOnlyHumanHitsAreJournaled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		m := newMail(idtest.Tenant(), id.New[id.Send]())
		var got []string
		e := &journal.Engine{DB: db}
		e.Followers = append(e.Followers, journal.Follower{Name: "f", Follow: func(_ context.Context, _ *sqldb.DB, entries []journal.Entry) error {
			for _, entry := range entries {
				var d track.Engaged
				if err := entry.Decode(&d); err != nil {
					return err
				}
				if entry.Contact != m.contact || entry.Message != m.message || entry.Send != m.send {
					t.Errorf("an entry about another mail: %+v", entry)
				}
				data, err := json.Marshal(d)
				got = append(got, fmt.Sprintf("%s +%.0fs %s", entry.Type, entry.At.Sub(noon).Seconds(), data))
				if err != nil {
					return err
				}
			}
			return nil
		}})
		want := func(step string, lines ...string) {
			t.Helper()
			got = nil
			if err := e.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, lines) {
				t.Errorf("%s: entries\n%s\nwant\n%s", step, strings.Join(got, "\n"), strings.Join(lines, "\n"))
			}
		}
		human := func(track.Hit) track.Class { return track.Human }
		bot := func(track.Hit) track.Class { return track.Bot }

		record(t, db, m.hit(open("", 5*time.Second)))
		want("pending")
		classify(t, db, m, bot)
		want("a machine")
		classify(t, db, m, human)
		want("a person after all", `email_opened +5s {"classification":"human","first":true}`)
		classify(t, db, m, human)
		want("the same again")
		record(t, db, m.hit(click("", 60*time.Second)), m.hit(open("", 90*time.Second)))
		want("more, pending")
		classify(t, db, m, human)
		want("more of the same person",
			`email_opened +90s {"classification":"human"}`,
			`email_clicked +60s {"classification":"human","first":true,"link_url":"https://example.org/"}`)
		classify(t, db, m, bot)
		want("all of it a machine's",
			`email_opened +90s {"classification":"bot","withdrawn":true}`,
			`email_clicked +90s {"classification":"bot","withdrawn":true}`)
		classify(t, db, m, func(h track.Hit) track.Class {
			if h.Click {
				return track.Human
			}
			return track.Bot
		})
		want("a click shows that the mail was seen",
			`email_opened +60s {"classification":"human","first":true}`,
			`email_clicked +60s {"classification":"human","first":true,"link_url":"https://example.org/"}`)
	})
}
