package rule_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var (
	someSends = []id.Send{
		idtest.Must[id.Send]("0190b0a0-0000-7000-8000-0000000000a1"), idtest.Must[id.Send]("0190b0a0-0000-7000-8000-0000000000a2"),
		idtest.Must[id.Send]("0190b0a0-0000-7000-8000-0000000000a3"), idtest.Must[id.Send]("0190b0a0-0000-7000-8000-0000000000a4"),
	}
	someSources = []outbox.Source{
		outbox.FromBroadcast(someBroadcasts[0]), outbox.FromBroadcast(someBroadcasts[1]),
		outbox.FromSequence(someSequences[0]), outbox.FromSequence(someSequences[0]), // two steps of one
	}
	someBroadcasts = []id.Broadcast{idtest.Must[id.Broadcast]("0190b0a0-0000-7000-8000-0000000000c1"), idtest.Must[id.Broadcast]("0190b0a0-0000-7000-8000-0000000000c2"), idtest.Must[id.Broadcast]("0190b0a0-0000-7000-8000-0000000000c3")}
	someSequences  = []id.Sequence{idtest.Must[id.Sequence]("0190b0a0-0000-7000-8000-0000000000c1"), idtest.Must[id.Sequence]("0190b0a0-0000-7000-8000-0000000000d2")}
	someLists      = []id.Segment{idtest.Must[id.Segment]("0190b0a0-0000-7000-8000-0000000000b1"), idtest.Must[id.Segment]("0190b0a0-0000-7000-8000-0000000000b2")}
	somePages      = []string{"https://shop.example/", "https://shop.example/Cart", "https://SHOP.example/cart?a=100%", "https://shop.example/Ünï"}
)

// randomHistory draws the history of some people.
func (s sample) randomHistory(people int) *history {
	p := newHistory()
	for i, send := range someSends {
		p.sends[send] = rule.Send{Type: []id.EmailType{idtest.Named[id.EmailType]("type-news"), idtest.Named[id.EmailType]("type-deals"), idtest.Named[id.EmailType]("type-news"), id.EmailType{}}[i], Source: someSources[i]}
	}
	for n := range people {
		c := p.addPerson(fmt.Sprintf("person%d", n))
		person := &p.people[len(p.people)-1]
		person.types = pick(s.Rand, "{}", `{"news": false}`, `{"news": true, "deals": false}`)
		person.categories = pick(s.Rand, "{}", offersConsent(false), offersConsent(true))
		if s.IntN(3) == 0 {
			p.suppressed = append(p.suppressed, person.email)
		}
		for _, l := range someLists {
			if s.IntN(2) == 0 {
				p.addToList(c, l, s.moment())
			}
		}
		for _, send := range someSends {
			if s.IntN(3) > 0 {
				s.addRandomMail(p, c, send)
			}
		}
		for range s.IntN(5) {
			s.addRandomEvent(p, c)
		}
	}
	return p
}

func (s sample) addRandomMail(p *history, c id.Contact, send id.Send) {
	m := p.addMail(c, send, s.moment())
	m.Variant = pick(s.Rand, "", "a", "b")
	switch m.State = pick(s.Rand, outbox.Sent, outbox.Delivered, outbox.Delivered, outbox.Bounced, outbox.Failed, outbox.Skipped, outbox.Queued); m.State {
	case outbox.Bounced:
		m.EndedAt = new(s.moment())
	case outbox.Failed, outbox.Skipped:
		m.SentAt = nil
	case outbox.Queued:
		m.SentAt, m.EndedAt = nil, nil
	}
	message := *m
	for range s.IntN(4) {
		class := pick(s.Rand, track.Pending, track.Bot, track.Human, track.Privacy)
		h := p.addHit(&message, class != track.Privacy && s.IntN(2) == 0, class, s.moment())
		if h.Click {
			h.URL = pick(s.Rand, somePages...)
		}
	}
	if s.IntN(3) == 0 {
		p.corroborated[message.ID] = s.IntN(2) == 0
	}
	for _, what := range []journal.Type{journal.EmailUnsubscribed, journal.EmailComplained} {
		if s.IntN(4) == 0 {
			p.addReport(&message, what, s.moment())
			if s.IntN(4) == 0 { // without a known message
				p.entries[len(p.entries)-1].Message = id.Message{}
			}
		}
	}
}

func (s sample) addRandomEvent(p *history, c id.Contact) {
	switch at := s.moment(); s.IntN(4) {
	case 0:
		p.addEvent(c, journal.PageViewed, pick(s.Rand, somePages...), at, nil)
	case 1:
		p.addEvent(c, journal.FormSubmitted, pick(s.Rand, "contest", "contact"), at, nil)
	case 2:
		what := pick(s.Rand, journal.SequenceEnrolled, journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited)
		p.addEvent(c, what, pick(s.Rand, someSequences...).String(), at, nil)
	default:
		p.addEvent(c, journal.CustomEvent, pick(s.Rand, "order_placed", "page_viewed"), at, map[string]any{
			"v": s.property(2), "w": s.property(0), "items": []any{map[string]any{"sku": s.property(0)}, s.property(1), map[string]any{"sku": s.property(0)}},
		})
	}
}

// property draws the value of a property of an event.
func (s sample) property(depth int) any {
	switch n := s.IntN(8 + depth); n {
	case 0:
		return nil
	case 1:
		return s.number()
	case 2:
		return s.IntN(2) == 0
	case 3:
		return s.day()
	case 4:
		return s.moment().In(s.zone).Format(pick(s.Rand, time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04"))
	case 8:
		return map[string]any{"v": s.property(depth - 1)}
	case 9:
		return []any{s.property(depth - 1), s.property(depth - 1)}
	}
	return pick(s.Rand, s.text(), "2026-02-30", "2026-3-1", "")
}

// history draws a leaf about history, as JSON.
func (s sample) history() map[string]any {
	l := map[string]any{"operator": pick(s.Rand, "did", "did_not")}
	counted := func() {
		if l["operator"] == "did" && s.IntN(2) == 0 {
			l["count"] = map[string]any{"operator": pick(s.Rand, "at_least", "at_most", "exactly"), "value": 1 + s.IntN(3)}
		}
	}
	mail := func(events ...string) {
		l["event"] = pick(s.Rand, append(events, "sent", "delivered", "opened", "opened", "clicked", "clicked", "bounced", "complained", "unsubscribed")...)
		l["level"] = pick(s.Rand, "verified", "confirmed", "apparent")
	}
	switch l["type"] = pick(s.Rand, "list", "email", "email", "email", "broadcast", "broadcast", "sequence_email", "event", "event", "event", "event_sequence", "event_sequence", "page_view", "form", "subscription", "sequence", "suppression"); l["type"] {
	case "list":
		l["operator"] = pick(s.Rand, "in", "not_in")
		l["segment_keys"] = pick(s.Rand, []string{"list-0"}, []string{"list-1", "list-0"})
		l["added"] = s.window()
	case "email":
		mail()
		counted()
		l["window"] = s.window()
		if s.IntN(2) == 0 {
			l["email_type_keys"] = pick(s.Rand, []string{"news"}, []string{"deals"}, []string{"deals", "news"})
		}
	case "broadcast":
		mail("recipient", "engaged")
		l["broadcast_id"] = pick(s.Rand, someBroadcasts...)
		if l["event"] == "clicked" && s.IntN(2) == 0 {
			l["link_url"] = pick(s.Rand, somePages...)
		}
		if s.IntN(3) == 0 {
			l["variant_id"] = pick(s.Rand, "a", "b")
		}
	case "sequence_email":
		mail()
		l["sequence_id"] = pick(s.Rand, someSequences...)
		l["node_id"] = pick[any](s.Rand, nil, "a")
	case "event":
		counted()
		l["event_name"] = pick[any](s.Rand, nil, "order_placed", "page_viewed")
		l["window"] = s.window()
		l["filters"] = s.filters(2)
	case "event_sequence":
		s.eventSequence(l)
	case "page_view":
		counted()
		l["url"] = pick[any](s.Rand, nil, somePages[0], somePages[1], "cart", "100%", "ünï")
		l["match"] = pick(s.Rand, "equals", "contains", "starts_with")
		l["window"] = s.window()
	case "form":
		l["form_slug"] = pick[any](s.Rand, nil, "contest")
		l["window"] = s.window()
	case "subscription":
		l["operator"] = pick(s.Rand, "subscribed", "unsubscribed")
		l["email_type_key"] = pick(s.Rand, "news", "deals")
	case "sequence":
		l["operator"] = pick(s.Rand, "active", "ever", "never", "completed", "exited")
		l["sequence_id"] = pick(s.Rand, someSequences...)
		l["window"] = s.window()
	case "suppression":
		l["operator"] = pick(s.Rand, "listed", "not_listed")
	}
	return l
}

// eventSequence draws the members of a leaf of that type.
func (s sample) eventSequence(l map[string]any) {
	l["operator"] = pick(s.Rand, "followed", "not_followed")
	for _, member := range []string{"first", "then"} {
		l[member] = map[string]any{"event_name": pick[any](s.Rand, nil, "order_placed", "page_viewed"), "filters": s.filters(1)}
	}
	l["within"] = map[string]any{"amount": 1 + s.IntN(10), "unit": pick(s.Rand, "hour", "day", "week")}
	l["window"] = s.window()
}

// filters draws up to most tests of properties.
func (s sample) filters(most int) []any {
	list := []any{}
	for range s.IntN(most + 1) {
		list = append(list, s.filter())
	}
	return list
}

func (s sample) window() any {
	switch s.IntN(4) {
	case 0:
		return nil
	case 1:
		return map[string]any{"in_the_last": s.span()}
	}
	w := map[string]any{}
	from, to := s.moment(), s.moment()
	if to.Before(from) {
		from, to = to, from
	}
	written := func(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000Z") }
	if s.IntN(2) == 0 {
		written = func(t time.Time) string { return t.In(s.zone).Format(time.DateOnly) }
	}
	if s.IntN(3) > 0 {
		w["from"] = written(from)
	}
	if len(w) == 0 || s.IntN(2) > 0 {
		w["to"] = written(to)
	}
	return w
}

// filter draws a test of a property of an event.
func (s sample) filter() map[string]any {
	f := map[string]any{"property": pick(s.Rand, "v", "v", "w", "v.v", "v[]", "v[].v", "items[].sku", "items", "items[]", "nothing")}
	kind := pick(s.Rand, "text", "number", "boolean", "date")
	op := pick(s.Rand, operators[kind]...)
	f["operator"] = op
	scalar := func() any {
		switch kind {
		case "number":
			return s.number()
		case "boolean":
			return s.IntN(2) == 0
		case "date":
			return s.date(true)
		}
		return s.needle()
	}
	switch op {
	case "is_set", "is_not_set", "is_true", "is_false":
	case "in", "not_in":
		f["value"] = []any{scalar(), s.needle(), s.number()}
	case "in_the_last", "not_in_the_last", "in_the_next", "more_than_ago", "anniversary_in_next":
		f["value"] = s.span()
	case "between":
		if kind == "number" {
			f["value"] = []any{0.5, 3}
		} else {
			f["value"] = []any{s.now.AddDate(0, -s.IntN(3), 0).Format(time.DateOnly), s.now.Format(pick(s.Rand, time.DateOnly, stamp))}
		}
	default:
		f["value"] = scalar()
	}
	return f
}

// SQL and Match agree on leaves about history.
func TestSQLAgreesWithMatchOnHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sample{rand.New(rand.NewPCG(3, 5)), time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC), loadZone(t, "Europe/Berlin")}
		p, other := s.randomHistory(120), s.randomHistory(5)
		other.people = nil // it has the same contacts' history, but no contacts
		for i := range other.hitContacts {
			other.hitContacts[i] = p.people[i%len(p.people)].id
		}
		for i := range other.entries {
			other.entries[i].Contact = p.people[i%len(p.people)].id
		}
		for i := range other.mails {
			other.mails[i].contact = p.people[i%len(p.people)].id
		}
		p.write(t, db)
		other.write(t, db)
		p.checkAgreement(t, db, s.now, []time.Duration{0, -10 * time.Hour, 12 * time.Hour, -28 * 24 * time.Hour}, func(s sample) string {
			return encoded(s.group(3, s.history))
		}, someLists...)
	})
}

// checkAgreement fails if SQL and Match select different contacts by random trees, at now plus one
// of the offsets and in various time zones. draw returns the JSON of a tree.
func (p *history) checkAgreement(t *testing.T, db *sqldb.DB, now time.Time, offsets []time.Duration, draw func(s sample) string, lists ...id.Segment) {
	t.Helper()
	subjects := p.load(t, db)
	rapid.Check(t, func(rt *rapid.T) {
		s := sample{rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), now, nil}
		s.zone = loadZone(t, pick(s.Rand, zones...))
		env := historyEnv(now.Add(pick(s.Rand, offsets...)), s.zone, lists...)
		text := draw(s)
		tree, err := rule.Reparse([]byte(text), env.Schema)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		got, want := slices.SortedFunc(maps.Keys(p.inSQL(t, db, tree, env)), id.Compare), slices.SortedFunc(maps.Keys(p.inMemory(t, subjects, tree, env)), id.Compare)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s at %s in %s\nSQL only: %v\nMatch only: %v", text, env.Now, env.Zone, without(got, want), without(want, got))
		}
	})
}

func loadZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
