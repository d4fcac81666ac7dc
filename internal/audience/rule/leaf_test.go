package rule_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	day   = 24 * time.Hour
	month = &rule.Window{InTheLast: &rule.Span{Amount: 30, Unit: rule.Day}}
)

// scene is the history for the tests of leaves. The names describe what happened to the contacts.
type scene struct {
	*history
	names map[id.Contact]string
	lists []id.Segment
}

func (s *scene) addPerson(name string) id.Contact {
	c := s.history.addPerson(name)
	s.names[c] = name
	return c
}

func at(daysAgo int) time.Time { return noon.Add(-time.Duration(daysAgo) * day) }

func newScene() *scene {
	s := &scene{history: newHistory(), names: map[id.Contact]string{}, lists: []id.Segment{id.New[id.Segment](), id.New[id.Segment]()}}
	p := s.history
	p.sends[idtest.Named[id.Send]("spring")] = rule.Send{Type: idtest.Named[id.EmailType]("type-news"), Source: outbox.FromBroadcast(idtest.Named[id.Broadcast]("spring news"))}
	p.sends[idtest.Named[id.Send]("summer")] = rule.Send{Type: idtest.Named[id.EmailType]("type-deals"), Source: outbox.FromSequence(idtest.Named[id.Sequence]("summer deals"))}
	p.sends[idtest.Named[id.Send]("welcome")] = rule.Send{Source: outbox.FromSequence(idtest.Named[id.Sequence]("welcome"))}
	s.addPerson("blank") // without any history
	reader := s.addPerson("reader")
	m := p.addMail(reader, idtest.Named[id.Send]("spring"), at(3))
	m.Variant = "a"
	spring := *m
	p.addOpen(&spring, track.Human, at(3).Add(time.Hour))
	p.addClick(&spring, track.Human, at(3).Add(2*time.Hour))
	p.corroborated[spring.ID] = true
	m = p.addMail(reader, idtest.Named[id.Send]("summer"), at(2))
	m.Variant = "a"
	summer := *m
	p.addOpen(&summer, track.Privacy, at(2))

	robot := s.addPerson("robot") // opened and clicked by machines only
	m = p.addMail(robot, idtest.Named[id.Send]("spring"), at(3))
	m.Variant = "b"
	p.addOpen(m, track.Bot, at(3))
	p.addClick(m, track.Bot, at(3))
	pending := s.addPerson("pending")
	p.addOpen(p.addMail(pending, idtest.Named[id.Send]("spring"), at(3)), track.Pending, at(3))
	clicker := s.addPerson("clicker") // images off
	old := *p.addMail(clicker, idtest.Named[id.Send]("spring"), at(60))
	p.addClick(&old, track.Human, at(59)).URL = "https://example.org/B"

	again := s.addPerson("again") // opened one mail many times
	often := *p.addMail(again, idtest.Named[id.Send]("spring"), at(1))
	p.addOpen(&often, track.Human, at(1))
	p.addOpen(&often, track.Human, at(0))

	bounced := s.addPerson("bounced")
	m = p.addMail(bounced, idtest.Named[id.Send]("spring"), at(40))
	m.State, m.EndedAt = outbox.Bounced, new(at(20)) // long after it was accepted
	withdrawn := s.addPerson("withdrawn")            // had bounced, by the journal
	p.addReport(p.addMail(withdrawn, idtest.Named[id.Send]("spring"), at(40)), journal.EmailBounced, at(40))
	failed := s.addPerson("failed")
	m = p.addMail(failed, idtest.Named[id.Send]("spring"), at(3))
	m.State, m.SentAt = outbox.Failed, nil
	leaver := s.addPerson("leaver")
	m = p.addMail(leaver, idtest.Named[id.Send]("spring"), at(3))
	p.addReport(m, journal.EmailUnsubscribed, at(1))
	p.addReport(m, journal.EmailComplained, at(1))
	vague := s.addPerson("vague") // a complaint without a message
	p.entries = append(p.entries, journal.Entry{Tenant: p.tenant, Type: journal.EmailComplained, Contact: vague, At: at(1)})

	buyer := s.addPerson("buyer")
	p.addEvent(buyer, journal.CustomEvent, "order_placed", at(10), map[string]any{"value": 50.0, "items": []any{map[string]any{"sku": "TEE"}, map[string]any{"sku": "Mug"}}})
	p.addEvent(buyer, journal.CustomEvent, "order_placed", at(50), map[string]any{"value": 5.0, "coupon": "spring"})
	p.addEvent(buyer, journal.PageViewed, "https://shop.example/Cart?a=1", at(10), nil)
	p.addEvent(buyer, journal.FormSubmitted, "contest", at(10), nil)
	p.addEvent(clicker, journal.CustomEvent, "page_viewed", at(10), nil) // a custom event named like a built-in one

	student := s.addPerson("student")
	p.addEvent(student, journal.SequenceEnrolled, onboarding.String(), at(10), nil)
	graduate := s.addPerson("graduate")
	p.addEvent(graduate, journal.SequenceEnrolled, onboarding.String(), at(50), nil)
	p.addEvent(graduate, journal.SequenceCompleted, onboarding.String(), at(10), nil)
	returned := s.addPerson("returned")
	p.addEvent(returned, journal.SequenceEnrolled, onboarding.String(), at(50), nil)
	p.addEvent(returned, journal.SequenceExited, onboarding.String(), at(45), nil)
	p.addEvent(returned, journal.SequenceEnrolled, onboarding.String(), at(40), nil)

	p.addToList(student, s.lists[0], at(40))
	p.addToList(graduate, s.lists[0], at(10))
	p.addToList(graduate, s.lists[1], at(40))
	p.suppressed = []string{"robot@example.org", "stranger@example.org"}
	p.people[slices.IndexFunc(p.people, func(c person) bool { return c.id == leaver })].types = `{"news": false, "deals": false}`
	p.people[slices.IndexFunc(p.people, func(c person) bool { return c.id == buyer })].categories = offersConsent(false)
	return s
}

// otherTenant returns the history of another tenant with contacts of the same ids, in which
// everything happened now.
func (s *scene) otherTenant() *history {
	o := newHistory()
	o.people = s.people
	for i, c := range s.people {
		for send, sent := range s.sends {
			o.sends[send] = sent
			m := *o.addMail(c.id, send, at(0))
			o.mails[len(o.mails)-1].Variant = "a"
			o.corroborated[m.ID] = true
			o.addOpen(&m, track.Human, at(0))
			o.addClick(&m, track.Human, at(0))
			o.addReport(&m, journal.EmailUnsubscribed, at(0))
			o.addReport(&m, journal.EmailComplained, at(0))
			if i%2 == 0 {
				o.mails[len(o.mails)-1].State = outbox.Bounced
			}
		}
		o.addEvent(c.id, journal.CustomEvent, "order_placed", at(0), map[string]any{"value": 1000.0})
		o.addEvent(c.id, journal.PageViewed, "https://shop.example/Cart?a=1", at(0), nil)
		o.addEvent(c.id, journal.FormSubmitted, "contest", at(0), nil)
		o.addEvent(c.id, journal.SequenceEnrolled, onboarding.String(), at(0), nil)
		for _, l := range s.lists {
			o.addToList(c.id, l, at(0))
		}
		o.suppressed = append(o.suppressed, c.email)
	}
	return o
}

var onboarding = idtest.Must[id.Sequence]("0190b0a0-0000-7000-8000-000000000001")

func TestLeavesAboutHistory(t *testing.T) {
	t.Parallel()
	const all = "blank reader robot pending clicker again bounced withdrawn failed leaver vague buyer student graduate returned"
	did := func(e rule.EmailEvent) rule.Email { return rule.Email{Event: e, Operator: rule.Did} }
	with := func(e rule.Email, change func(*rule.Email)) rule.Email { change(&e); return e }
	times := func(e rule.Email, o rule.CountOperator, n int) rule.Email {
		e.Count = &rule.Count{Operator: o, N: n}
		return e
	}
	spring := func(e rule.EmailEvent, l rule.Level) rule.Broadcast {
		return rule.Broadcast{ID: idtest.Named[id.Broadcast]("spring news"), Event: e, Level: l, Operator: rule.Did}
	}
	order := rule.Event{Name: "order_placed", Operator: rule.Did}
	inSequence := func(o rule.Operator, w *rule.Window) rule.InSequence {
		return rule.InSequence{Sequence: onboarding, Operator: o, Window: w}
	}
	table := []struct {
		name string
		leaf rule.Condition
		want string // names; "but" and the names of the others
	}{
		{"sent", did(rule.Sent), "reader robot pending clicker again bounced withdrawn leaver"},
		{"not sent", with(did(rule.Sent), func(e *rule.Email) { e.Operator = rule.DidNot }), "blank failed vague buyer student graduate returned"},
		{"sent lately", with(did(rule.Sent), func(e *rule.Email) { e.Window = month }), "reader robot pending again leaver"},
		{"sent a type", with(did(rule.Sent), func(e *rule.Email) { e.Types = []string{"deals", "gone"} }), "reader"},
		{"sent a deleted type", with(did(rule.Sent), func(e *rule.Email) { e.Types = []string{"gone"} }), ""},
		{"not sent a deleted type", with(did(rule.Sent), func(e *rule.Email) { e.Types, e.Operator = []string{"gone"}, rule.DidNot }), all},
		{"sent a deleted type at most once", times(with(did(rule.Sent), func(e *rule.Email) { e.Types = []string{"gone"} }), rule.AtMost, 1), all},
		{"sent twice", times(did(rule.Sent), rule.AtLeast, 2), "reader"},
		{"sent exactly once", times(did(rule.Sent), rule.Exactly, 1), "robot pending clicker again bounced withdrawn leaver"},
		{"sent never", times(did(rule.Sent), rule.Exactly, 0), "blank failed vague buyer student graduate returned"},
		{"sent at most once", times(did(rule.Sent), rule.AtMost, 1), "but reader"},
		{"delivered", did(rule.Delivered), "reader robot pending clicker again withdrawn leaver"},
		{"bounced", did(rule.Bounced), "bounced"},
		{"bounced lately, though sent before", with(did(rule.Bounced), func(e *rule.Email) { e.Window = month }), "bounced"},
		{"opened", did(rule.Opened), "reader clicker again"},
		{"opened lately", with(did(rule.Opened), func(e *rule.Email) { e.Window = month }), "reader again"},
		{"opened, confirmed", with(did(rule.Opened), func(e *rule.Email) { e.Level = rule.Confirmed }), "reader"},
		{"opened, apparent", with(did(rule.Opened), func(e *rule.Email) { e.Level = rule.Apparent }), "reader robot pending again"},
		{"opened two messages", times(did(rule.Opened), rule.AtLeast, 2), "reader"},
		{"opened one message", times(did(rule.Opened), rule.Exactly, 1), "clicker again"},
		{"opened at most one message", times(did(rule.Opened), rule.AtMost, 1), "but reader"},
		{"opened news", with(did(rule.Opened), func(e *rule.Email) { e.Types = []string{"news"} }), "reader clicker again"},
		{"not opened deals", with(did(rule.Opened), func(e *rule.Email) { e.Types, e.Operator = []string{"deals"}, rule.DidNot }), "but reader"},
		{"clicked", did(rule.Clicked), "reader clicker"},
		{"clicked, apparent", with(did(rule.Clicked), func(e *rule.Email) { e.Level = rule.Apparent }), "reader robot clicker"},
		{"complained", did(rule.Complained), "leaver"},
		{"unsubscribed", with(did(rule.LeftBy), func(e *rule.Email) { e.Types = []string{"news"} }), "leaver"},
		{"unsubscribed by a message of another type", with(did(rule.LeftBy), func(e *rule.Email) { e.Types = []string{"deals"} }), ""},

		{"broadcast, recipient", spring(rule.Recipient, ""), "reader robot pending clicker again bounced withdrawn failed leaver"},
		{"broadcast, delivered", spring(rule.Delivered, ""), "reader robot pending clicker again withdrawn leaver"},
		{"broadcast, engaged", spring(rule.Engaged, rule.Verified), "reader clicker again"},
		{"broadcast, engaged, confirmed", spring(rule.Engaged, rule.Confirmed), "reader clicker"},
		{"broadcast, engaged, apparent", spring(rule.Engaged, rule.Apparent), "reader robot pending clicker again"},
		{"broadcast, a link", rule.Broadcast{ID: idtest.Named[id.Broadcast]("spring news"), Event: rule.Clicked, LinkURL: "https://example.org/B", Operator: rule.Did}, "clicker"},
		{"broadcast, a link in another case", rule.Broadcast{ID: idtest.Named[id.Broadcast]("spring news"), Event: rule.Clicked, LinkURL: "https://example.org/b", Operator: rule.Did}, ""},
		{"broadcast, a variant opened", rule.Broadcast{ID: idtest.Named[id.Broadcast]("spring news"), Event: rule.Opened, Variant: "a", Operator: rule.Did}, "reader"},
		{"broadcast, a variant sent", rule.Broadcast{ID: idtest.Named[id.Broadcast]("spring news"), Event: rule.Sent, Variant: "b", Operator: rule.Did}, "robot"},
		{"broadcast, unsubscribed by", spring(rule.LeftBy, ""), "leaver"},
		{"broadcast, complained about another", rule.Broadcast{ID: idtest.Named[id.Broadcast]("summer deals"), Event: rule.Complained, Operator: rule.Did}, ""},
		{"deleted broadcast", rule.Broadcast{ID: idtest.Named[id.Broadcast]("gone"), Event: rule.Sent, Operator: rule.DidNot}, all},
		{"sequence mail of a node", rule.SequenceEmail{Sequence: idtest.Named[id.Sequence]("summer deals"), Node: "a", Event: rule.Opened, Operator: rule.Did}, "reader"},

		{"event", order, "buyer"},
		{"any event", rule.Event{Operator: rule.Did}, "clicker buyer"},
		{"event twice", rule.Event{Name: "order_placed", Operator: rule.Did, Count: &rule.Count{Operator: rule.AtLeast, N: 2}}, "buyer"},
		{"event twice lately", rule.Event{Name: "order_placed", Operator: rule.Did, Window: month, Count: &rule.Count{Operator: rule.AtLeast, N: 2}}, ""},
		{"event in another case", rule.Event{Name: "Order_placed", Operator: rule.Did}, ""},
		{"event at most once", rule.Event{Name: "order_placed", Operator: rule.Did, Count: &rule.Count{Operator: rule.AtMost, N: 1}}, "but buyer"},
		{"event with a value above ten, lately", rule.Event{Name: "order_placed", Operator: rule.Did, Window: month, Filters: []rule.Property{{Path: "value", Operator: rule.GreaterThan, Value: 10.0}}}, "buyer"},
		{"two filters that no one event passes", rule.Event{Name: "order_placed", Operator: rule.Did, Filters: []rule.Property{
			{Path: "value", Operator: rule.GreaterThan, Value: 10.0}, {Path: "coupon", Operator: rule.IsSet}}}, ""},
		{"any element of an array", rule.Event{Operator: rule.Did, Filters: []rule.Property{{Path: "items[].sku", Operator: rule.Equals, Value: "mug"}}}, "buyer"},
		{"a custom event named like a built-in one", rule.Event{Name: "page_viewed", Operator: rule.Did}, "clicker"},
		{"page", rule.PageView{URL: "https://shop.example/cart?a=1", Match: rule.Equals, Operator: rule.Did}, "buyer"},
		{"page by its start", rule.PageView{URL: "https://SHOP.example/", Match: rule.StartsWith, Operator: rule.Did}, "buyer"},
		{"page by a part", rule.PageView{URL: "cart", Match: rule.Contains, Window: month, Operator: rule.Did}, "buyer"},
		{"page by a part with wildcards of LIKE", rule.PageView{URL: "c_rt%", Match: rule.Contains, Operator: rule.Did}, ""},
		{"no page lately", rule.PageView{Match: rule.Equals, Window: month, Operator: rule.DidNot}, "but buyer"},
		{"form", rule.Form{Slug: "contest", Operator: rule.Did}, "buyer"},
		{"another form", rule.Form{Slug: "other", Operator: rule.Did}, ""},
		{"no form", rule.Form{Operator: rule.DidNot}, "but buyer"},

		{"subscribed to a type", rule.Subscription{TypeKey: "news", Operator: rule.Subscribed}, "but leaver"},
		{"unsubscribed from a type of a category", rule.Subscription{TypeKey: "deals", Operator: rule.Unsubscribed}, "buyer"},
		{"unsubscribed from a category", rule.Subscription{Category: idtest.Named[id.Category]("offers"), Operator: rule.Unsubscribed}, "buyer"},
		{"subscribed to a deleted type", rule.Subscription{TypeKey: "gone", Operator: rule.Subscribed}, ""},
		{"unsubscribed from a deleted category", rule.Subscription{Category: idtest.Named[id.Category]("gone"), Operator: rule.Unsubscribed}, ""},
		{"on a list", rule.List{Keys: []string{"list-0"}, Operator: rule.In}, "student graduate"},
		{"on any of two", rule.List{Keys: []string{"list-1", "list-0", "gone"}, Operator: rule.In}, "student graduate"},
		{"on a list, lately", rule.List{Keys: []string{"list-0", "list-1"}, Added: month, Operator: rule.In}, "graduate"},
		{"not on a list", rule.List{Keys: []string{"list-1"}, Operator: rule.NotIn}, "but graduate"},
		{"on a deleted list", rule.List{Keys: []string{"gone"}, Operator: rule.In}, ""},
		{"not on a deleted list", rule.List{Keys: []string{"gone", "dynamic"}, Operator: rule.NotIn}, all},
		{"suppressed", rule.Suppression{Operator: rule.Listed}, "robot"},
		{"not suppressed", rule.Suppression{Operator: rule.NotListed}, "but robot"},

		{"in a sequence", inSequence(rule.Active, nil), "student returned"},
		{"in a sequence, lately enrolled", inSequence(rule.Active, month), "student"},
		{"ever in a sequence", inSequence(rule.Ever, nil), "student graduate returned"},
		{"lately in a sequence", inSequence(rule.Ever, month), "student"},
		{"never in a sequence", inSequence(rule.Never, nil), "but student graduate returned"},
		{"completed a sequence", inSequence(rule.Completed, month), "graduate"},
		{"exited a sequence", inSequence(rule.Exited, nil), "returned"},
		{"exited a sequence, lately", inSequence(rule.Exited, month), ""},
		{"in another sequence", rule.InSequence{Sequence: idtest.Named[id.Sequence]("other"), Operator: rule.Active}, ""},
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newScene()
		s.otherTenant().write(t, db)
		s.write(t, db)
		subjects := s.load(t, db)
		env := historyEnv(noon, time.UTC, s.lists...)
		for _, tt := range table {
			want := strings.Fields(tt.want)
			if rest, but := strings.CutPrefix(tt.want, "but "); but {
				out := strings.Fields(rest)
				want = slices.DeleteFunc(strings.Fields(all), func(n string) bool { return slices.Contains(out, n) })
			}
			slices.Sort(want)
			for how, matched := range map[string]map[id.Contact]bool{
				"SQL":   s.inSQL(t, db, singleLeaf(tt.leaf), env),
				"Match": s.inMemory(t, subjects, singleLeaf(tt.leaf), env),
			} {
				var got []string
				for c := range matched {
					got = append(got, s.names[c])
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s, by %s: selects %v, want %v", tt.name, how, got, want)
				}
			}
		}
	})
}
