package rule_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestEventSequences(t *testing.T) {
	t.Parallel()
	cart, order := rule.EventMatch{Name: "cart_updated"}, rule.EventMatch{Name: "order_placed"}
	value := func(m rule.EventMatch, op rule.Operator, n float64) rule.EventMatch {
		m.Filters = []rule.Property{{Path: "value", Operator: op, Value: n}}
		return m
	}
	days := func(n int) rule.Span { return rule.Span{Amount: n, Unit: rule.Day} }
	since := func(daysAgo int) *rule.Window { return &rule.Window{From: &rule.Date{Moment: at(daysAgo)}} }
	until := func(daysAgo int) *rule.Window { return &rule.Window{To: &rule.Date{Moment: at(daysAgo)}} }
	table := []struct {
		name          string
		first, then   rule.EventMatch
		within        rule.Span
		window        *rule.Window
		followed, not string
	}{
		{"in time", cart, order, days(7), nil, "buyer exact again late", "leaver"},
		{"a week is seven days", cart, order, rule.Span{Amount: 1, Unit: rule.Week}, nil, "buyer exact again late", "leaver"},
		{"within hours", cart, order, rule.Span{Amount: 48, Unit: rule.Hour}, nil, "buyer late", "exact again leaver fresh back reverse at-once"},
		{"the other way around", order, cart, days(7), nil, "reverse", "buyer exact again late"},
		{"in a longer time", cart, order, days(11), nil, "buyer exact again late", ""},
		{"only carts of a time", cart, order, days(7), since(25), "buyer again", "late leaver"},
		{"only early carts, with orders after the window", cart, order, days(7), until(25), "exact late", "again"},
		{"a second time", cart, cart, days(5), nil, "", "buyer exact again late leaver back reverse"},
		{"a second time, later", cart, cart, days(15), nil, "again back", "exact late"},
		{"with a property of the first", value(cart, rule.GreaterThan, 10), order, days(7), nil, "buyer", "leaver"},
		{"with a property of the second", cart, value(order, rule.GreaterThan, 10), days(7), nil, "buyer", "exact again late leaver"},
		{"of any cart, one that is not followed", value(cart, rule.LessOrEqual, 10), order, days(7), nil, "exact again late", ""},
		{"another event", cart, rule.EventMatch{Name: "refunded"}, days(7), nil, "", "buyer exact again late leaver"},
		{"no such event", rule.EventMatch{Name: "Cart_updated"}, order, days(7), nil, "", ""},
	}
	p, names := newHistory(), map[id.Contact]string{}
	add := func(name string, events ...any) { // a name, a time and a value of each
		c := p.addPerson(name)
		names[c] = name
		for i := 0; i < len(events); i += 3 {
			p.addEvent(c, journal.CustomEvent, events[i].(string), events[i+1].(time.Time), map[string]any{"value": events[i+2]})
		}
	}
	const c, o = "cart_updated", "order_placed"
	add("blank")
	add("buyer", c, at(10), 50.0, o, at(9), 50.0)
	add("exact", c, at(40), 5.0, o, at(33), 5.0) // at the last moment
	add("again", c, at(31), 5.0, c, at(20), 5.0, o, at(15), 5.0)
	add("late", c, at(60), 5.0, o, at(59), 5.0, c, at(22), 5.0, o, at(22).Add(7*day+time.Microsecond), 5.0)
	add("leaver", c, at(8), 50.0)
	add("fresh", c, at(3), 5.0)                   // there is time left
	add("back", c, at(20), 50.0, c, at(7), 50.0)  // at the last moment
	add("reverse", o, at(10), 5.0, c, at(6), 5.0) // the time is running
	add("at-once", c, at(5), 5.0, o, at(5), 5.0)  // neither is after the other
	p.addEvent(p.people[0].id, journal.PageViewed, c, at(10), nil)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		other := newHistory() // another tenant, with contacts of the same ids
		other.people = p.people
		for _, who := range p.people {
			other.addEvent(who.id, journal.CustomEvent, c, at(30), nil)
			other.addEvent(who.id, journal.CustomEvent, o, at(29), nil)
			other.addEvent(who.id, journal.CustomEvent, o, at(2), nil)
		}
		other.write(t, db)
		p.write(t, db)
		subjects, env := p.load(t, db), historyEnv(noon, time.UTC)
		for _, tt := range table {
			for op, want := range map[rule.Operator]string{rule.Followed: tt.followed, rule.NotFollowed: tt.not} {
				leaf := singleLeaf(rule.EventSequence{First: tt.first, Then: tt.then, Within: tt.within, Window: tt.window, Operator: op})
				for how, matched := range map[string]map[id.Contact]bool{"SQL": p.inSQL(t, db, leaf, env), "Match": p.inMemory(t, subjects, leaf, env)} {
					var got []string
					for c := range matched {
						got = append(got, names[c])
					}
					expected := strings.Fields(want)
					slices.Sort(got)
					slices.Sort(expected)
					if !slices.Equal(got, expected) {
						t.Errorf("%s, %s, by %s: selects %v, want %v", tt.name, op, how, got, expected)
					}
				}
			}
		}
	})
}

// SQL and Match agree on sequences of events whose times are close to the ends of their spans.
func TestSQLAgreesWithMatchOnEventSequences(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sample{rand.New(rand.NewPCG(13, 17)), time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC), loadZone(t, "Europe/Berlin")}
		p := newHistory()
		for n := range 150 {
			c := p.addPerson("person" + string(rune('a'+n%26)) + strings.Repeat("x", n/26))
			for range s.IntN(9) {
				at := s.now.Add(time.Duration(-s.IntN(12)) * pick(s.Rand, time.Hour, 12*time.Hour, day)).Add(pick(s.Rand, 0, 0, 0, time.Microsecond, -time.Microsecond))
				p.addEvent(c, journal.CustomEvent, pick(s.Rand, "order_placed", "order_placed", "page_viewed"), at, map[string]any{"v": s.IntN(3)})
			}
		}
		p.write(t, db)
		chosen := map[rule.Operator]int{}
		p.checkAgreement(t, db, s.now, []time.Duration{0, 0, time.Hour, 12 * time.Hour, 24 * time.Hour, 24*time.Hour + time.Microsecond}, func(s sample) string {
			leaf := map[string]any{"type": "event_sequence"}
			s.eventSequence(leaf)
			leaf["within"] = map[string]any{"amount": 1 + s.IntN(4)*12, "unit": "hour"}
			if s.IntN(2) == 0 {
				leaf["within"] = map[string]any{"amount": 1 + s.IntN(3), "unit": "day"}
			}
			if s.IntN(3) > 0 {
				delete(leaf, "window")
			}
			for _, member := range []string{"first", "then"} {
				filters := []any{}
				if s.IntN(3) == 0 {
					filters = append(filters, map[string]any{"property": "v", "operator": pick(s.Rand, "equals", "not_equals", "greater_than"), "value": s.IntN(3)})
				}
				leaf[member] = map[string]any{"event_name": pick(s.Rand, "order_placed", "page_viewed"), "filters": filters}
			}
			chosen[rule.Operator(leaf["operator"].(string))]++
			return string(one(encoded(leaf)))
		})
		if len(chosen) != 2 {
			t.Errorf("drew only %v", slices.Collect(maps.Keys(chosen)))
		}
	})
}
