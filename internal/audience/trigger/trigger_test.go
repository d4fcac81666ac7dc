package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// world is an account with a clock that the test sets.
type world struct {
	*testing.T
	*broadcasttest.Account
	now   time.Time
	page  int
	moved []string // "entered key contact", as journalled
	holds map[id.Holder]trigger.Trigger
	fired map[id.Holder][]id.Contact
}

func newWorld(t *testing.T, db *sqldb.DB, slug string) *world {
	w := &world{T: t, Account: broadcasttest.New(t, db, slug), now: broadcasttest.Now, page: 3,
		holds: map[id.Holder]trigger.Trigger{}, fired: map[id.Holder][]id.Contact{}}
	w.must(segment.InstallAll(t.Context(), db, w.now))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// watch makes a holder of a trigger active.
func (w *world) watch(raw string, existing bool) trigger.Holder {
	w.Helper()
	var p fault.Problems
	t := trigger.Parse(json.RawMessage(raw), "entry_trigger", &p)
	w.must(p.Err())
	h := trigger.SequenceHolder(id.New[id.Sequence]())
	w.must(w.DB.InTx(w.Context(), func(tx *sqldb.DB) error {
		return trigger.Watch(w.Context(), tx, w.Tenant, h, trigger.Watched{Trigger: t, Existing: existing}, w.now)
	}))
	w.holds[h.ID] = *t
	return h
}

func (w *world) unwatch(h trigger.Holder) {
	w.Helper()
	w.must(w.DB.InTx(w.Context(), func(tx *sqldb.DB) error {
		return trigger.Watch(w.Context(), tx, w.Tenant, h, trigger.Watched{}, w.now)
	}))
	delete(w.holds, h.ID)
}

// tick does what is due, a few pages with an engine that then stops, and the rest with another.
func (w *world) tick() {
	w.Helper()
	first := &trigger.Engine{DB: w.DB, Now: func() time.Time { return w.now }, Log: quiet, Page: w.page}
	for range 2 {
		_, err := first.Tick(w.Context())
		w.must(err)
	}
	second := &trigger.Engine{DB: w.DB, Now: first.Now, Log: quiet, Page: w.page}
	for more := true; more; {
		var err error
		more, err = second.Tick(w.Context())
		w.must(err)
	}
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// drain passes the journal to the followers, one of which notes what was reported.
func (w *world) drain() {
	w.Helper()
	now := func() time.Time { return w.now }
	notes := journal.Follower{Name: "test", Types: trigger.EntryTypes(), Follow: w.note}
	e := &journal.Engine{DB: w.DB, Log: quiet, Followers: []journal.Follower{contact.Follower(), trigger.Follower(now), notes}}
	w.must(e.Drain(w.Context()))
	w.must(e.Drain(w.Context())) // what the followers appended
}

func (w *world) at(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) change(c id.Contact, ch contact.Change) {
	w.Helper()
	rules, err := sender.ContactRules(w.Context(), w.DB, w.Tenant)
	w.must(err)
	_, err = contact.Update(w.Context(), w.DB, w.Tenant, c, ch, rules, w.now)
	w.must(err)
}

func (w *world) segment(name, definition string) segment.Segment {
	w.Helper()
	s, err := segment.Create(w.Context(), w.DB, w.Tenant, segment.Change{Name: &name, Definition: json.RawMessage(definition)}, w.now)
	w.must(err)
	return s
}

// inside returns who is in a segment, by its rule.
func (w *world) inside(key string) map[id.Contact]bool {
	w.Helper()
	env, err := segment.Env(w.Context(), w.DB, w.Tenant, w.now)
	w.must(err)
	r, ok := env.Segments(key)
	if !ok {
		w.Fatalf("there is no segment %s", key)
	}
	cond, err := segment.Inside(w.DB, env, r)
	w.must(err)
	list, err := contact.Between(w.Context(), w.DB, w.Tenant, id.Contact{}, id.Read[id.Contact]("ffffffff-ffff-ffff-ffff-ffffffffffff"), cond)
	w.must(err)
	all := map[id.Contact]bool{}
	for _, c := range list {
		all[c] = true
	}
	return all
}

func country(list ...string) string {
	raw, _ := json.Marshal(list)
	return `{"logic": "and", "conditions": [{"field": "country", "operator": "in", "value": ` + string(raw) + `}]}`
}

// sequenceOfEvents is a definition about contacts that paid, or did not, within a day after they saw.
func sequenceOfEvents(operator string) string {
	return `{"logic": "and", "conditions": [{"type": "event_sequence", "first": {"event_name": "seen"}, "then": {"event_name": "paid"}, "within": {"amount": 1, "unit": "day"},
		"window": {"in_the_last": {"amount": 6, "unit": "day"}}, "operator": "` + operator + `"}]}`
}

// TestMovesAreThoseOfARecomputation makes random changes of contacts, lists and rules, lets time pass,
// and compares the entries of watched segments with who is inside before and after.
func TestMovesAreThoseOfARecomputation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, other := newWorld(t, db, "acme"), broadcasttest.New(t, db, "other")
		other.AddContacts(other.List.ID, "o", 2)
		list := w.AddList("Picked")
		people := w.AddContacts(w.List.ID, "p", 9)
		_, err := contact.CreateStage(t.Context(), db, w.Tenant, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, w.now)
		w.must(err)
		second, err := contact.CreateStage(t.Context(), db, w.Tenant, contact.StageChange{Name: new("Client"), Category: new(contact.Customer)}, w.now)
		w.must(err)
		german := w.segment("German", country("DE", "AT"))
		keys := []string{
			list.Key, german.Key,
			w.segment("Lately", `{"logic": "or", "conditions": [{"type": "event", "event_name": "paid", "operator": "did", "window": {"in_the_last": {"amount": 3, "unit": "day"}}}]}`).Key,
			w.segment("Converted", sequenceOfEvents("followed")).Key,
			w.segment("Dropped", sequenceOfEvents("not_followed")).Key,
			w.segment("Others", `{"logic": "and", "conditions": [{"type": "segment", "segment_keys": ["german"], "operator": "not_in"}, {"type": "list", "segment_keys": ["picked"], "operator": "in"}]}`).Key,
			w.segment("Tagged", `{"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["vip"]}, {"field": "do_not_contact", "operator": "is_false"}]}`).Key,
			w.segment("Clients", `{"logic": "and", "conditions": [{"field": "stage_id", "operator": "equals", "value": "`+second.ID.String()+`"}]}`).Key,
			"all_sendable", "new_contacts_30_days",
		}
		want := map[string]map[id.Contact]bool{}
		for _, key := range keys {
			w.watch(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+key+`"}}`, true)
			want[key] = w.inside(key)
		}
		w.drain()
		w.tick()
		w.drain()
		if len(w.moved) > 0 {
			t.Fatalf("those who were inside moved: %v", w.moved)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		for step := range 60 {
			var what strings.Builder
			for range 1 + r.IntN(4) {
				c := people[r.IntN(len(people))].ID
				switch n := r.IntN(11); n {
				case 0, 1:
					to := pick("DE", "AT", "FR")
					w.change(c, contact.Change{Texts: map[contact.Text]*string{contact.Country: &to}})
					what.WriteString(" country")
				case 2:
					w.change(c, contact.Change{Tags: &[]string{pick("vip", "not")}, DoNotContact: new(r.IntN(2) == 0)})
					what.WriteString(" tags")
				case 3:
					_, err := segment.Add(t.Context(), db, w.Tenant, list.ID, segment.People{IDs: []id.Contact{c}}, w.now)
					w.must(err)
					what.WriteString(" add")
				case 4:
					_, err := segment.Remove(t.Context(), db, w.Tenant, list.ID, segment.People{IDs: []id.Contact{c}}, w.now)
					w.must(err)
					what.WriteString(" remove")
				case 5:
					_, err := event.Record(t.Context(), db, w.Tenant, []event.Input{{Name: pick("paid", "seen"), Contact: c}}, w.now)
					w.must(err)
					what.WriteString(" event")
				case 6:
					_, err := contact.Delete(t.Context(), db, w.Tenant, []id.Contact{c}, w.now)
					w.must(err)
					what.WriteString(" delete")
				case 7:
					_, err := contact.Restore(t.Context(), db, w.Tenant, []id.Contact{c}, nil, w.now)
					w.must(err)
					what.WriteString(" restore")
				case 8:
					made := w.AddContacts(w.List.ID, fmt.Sprint("n", step, "x", r.IntN(1e9)), 1)
					people = append(people, made...)
					what.WriteString(" create")
				case 9:
					w.at(time.Duration(r.IntN(3*24)) * time.Hour)
					what.WriteString(" time")
				case 10:
					_, err := segment.Update(t.Context(), db, w.Tenant, german.ID, segment.Change{Definition: json.RawMessage(country(pick("DE", "AT", "FR")))}, w.now)
					w.must(err)
					what.WriteString(" rule")
				}
			}
			w.drain()
			w.at(6 * time.Minute)
			w.tick()
			w.drain()
			for _, m := range w.moved {
				var in bool
				var key string
				var c id.Contact
				var verb, text string
				_, err := fmt.Sscan(m, &verb, &key, &text)
				w.must(err)
				in, c = verb == "entered", id.Read[id.Contact](text)
				if want[key][c] == in {
					t.Fatalf("step %d (%s): contact %s %s %s twice", step, what.String(), c, verb, key)
				}
				if in {
					want[key][c] = true
				} else {
					delete(want[key], c)
				}
			}
			w.moved = nil
			for _, key := range keys {
				if got := w.inside(key); !maps.Equal(got, want[key]) {
					t.Fatalf("step %d (%s): by its entries %s has %v, by its rule %v", step, what.String(), key, want[key], got)
				}
			}
		}
	})
}

// note is a follower that notes moves and what fires.
func (w *world) note(ctx context.Context, tx *sqldb.DB, entries []journal.Entry) error {
	var own []journal.Entry
	for _, e := range entries {
		if e.Tenant == w.Tenant && !e.Contact.IsZero() {
			own = append(own, e)
		}
	}
	env, err := segment.Env(ctx, tx, w.Tenant, w.now)
	if err != nil {
		return err
	}
	m := trigger.NewMatcher(tx, env, own)
	for h, t := range w.holds {
		list, err := m.Fired(ctx, trigger.Holder{Kind: trigger.Sequence, ID: h}, t)
		if err != nil {
			return err
		}
		for _, f := range list {
			w.fired[h] = append(w.fired[h], f.Contact)
		}
	}
	for _, e := range own {
		var d map[string]any
		if err := e.Decode(&d); err != nil {
			return err
		}
		switch {
		case d["holder_id"] != nil:
		case e.Type == journal.SegmentEntered:
			w.moved = append(w.moved, fmt.Sprint("entered ", e.Name, " ", e.Contact))
		case e.Type == journal.SegmentLeft:
			w.moved = append(w.moved, fmt.Sprint("left ", e.Name, " ", e.Contact))
		}
	}
	return nil
}

// TestExistingMembersEnterOnRequest activates triggers of a segment that has members.
func TestExistingMembersEnterOnRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		people := w.AddContacts(w.List.ID, "p", 7)
		set := func(c contact.Contact, to string) {
			w.change(c.ID, contact.Change{Texts: map[contact.Text]*string{contact.Country: &to}})
		}
		for _, c := range people[:5] {
			set(c, "DE")
		}
		german := w.segment("German", country("DE"))
		on := func(typ, more string) string {
			return `{"trigger_type": "` + typ + `", "trigger_config": {"segment_key": "` + german.Key + `"` + more + `}}`
		}
		w.at(time.Minute)
		later := w.watch(on("segment_entered", ""), true)
		all := w.watch(on("segment_entered", `, "include_existing": true`), true)
		resumed := w.watch(on("segment_entered", `, "include_existing": true`), false)
		some := w.watch(on("segment_entered", `, "include_existing": true, "definition": {"logic": "and", "conditions": [{"field": "email", "operator": "starts_with", "value": "p1"}]}`), true)
		gone := w.watch(on("segment_left", ""), true)
		w.at(time.Minute)
		w.tick()
		w.drain()
		set(people[5], "DE")
		set(people[0], "FR")
		w.drain()
		w.tick()
		w.drain()
		ids := func(list ...contact.Contact) []id.Contact {
			var all []id.Contact
			for _, c := range list {
				all = append(all, c.ID)
			}
			slices.SortFunc(all, id.Compare)
			return all
		}
		check := func(name string, h trigger.Holder, want ...contact.Contact) {
			t.Helper()
			got := slices.SortedFunc(slices.Values(w.fired[h.ID]), id.Compare)
			if d := cmp.Diff(ids(want...), got); d != "" {
				t.Errorf("%s: contacts that fired the trigger (-want +got)\n%s", name, d)
			}
		}
		check("without existing members", later, people[5])
		check("with existing members", all, people[:6]...)
		check("after a pause", resumed, people[5])
		check("with a rule", some, people[1])
		check("departures", gone, people[0])

		for _, h := range []trigger.Holder{later, all, resumed, some} {
			w.unwatch(h)
		}
		w.tick()
		if n := w.count("segment_inside"); n == 0 {
			t.Error("the members are deleted while a trigger watches them")
		}
		w.unwatch(gone)
		again := w.watch(on("segment_entered", ""), true) // before the members are deleted
		w.tick()
		set(people[6], "DE")
		w.drain()
		check("watched again", again, people[6])
		w.unwatch(again)
		w.tick()
		for _, table := range []string{"segment_inside", "segment_watch", "segment_watcher"} {
			if n := w.count(table); n > 0 {
				t.Errorf("%s has %d rows when nothing watches the segment", table, n)
			}
		}
	})
}

func (w *world) count(table string) int {
	w.Helper()
	var n int
	w.must(w.DB.QueryRow(w.Context(), `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1`, w.Tenant).Scan(&n))
	return n
}

// TestManyRulesAreEvaluatedInMemory changes a contact that many watched rules are about.
func TestManyRulesAreEvaluatedInMemory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		people := w.AddContacts(w.List.ID, "p", 3)
		for i := range 12 {
			s := w.segment(fmt.Sprint("S", i), `{"logic": "and", "conditions": [{"field": "city", "operator": "contains", "value": "`+string(rune('a'+i))+`"}]}`)
			w.watch(`{"trigger_type": "segment_left", "trigger_config": {"segment_key": "`+s.Key+`"}}`, true)
		}
		w.tick()
		for _, city := range []string{"abc", "bcd", "---"} {
			w.change(people[1].ID, contact.Change{Texts: map[contact.Text]*string{contact.City: &city}})
			w.drain()
		}
		c := people[1].ID.String()
		want := []string{"entered s0 " + c, "entered s1 " + c, "entered s2 " + c, "left s0 " + c, "entered s3 " + c, "left s1 " + c, "left s2 " + c, "left s3 " + c}
		slices.Sort(want)
		slices.Sort(w.moved)
		if d := cmp.Diff(want, w.moved); d != "" {
			t.Errorf("moves (-want +got)\n%s", d)
		}
	})
}

// TestInputs lists what rules depend on.
func TestInputs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		w.segment("German", country("DE"))
		env, err := segment.Env(t.Context(), db, w.Tenant, w.now)
		w.must(err)
		for _, tt := range []struct {
			leaf, want string
		}{
			{`{"field": "country", "operator": "equals", "value": "DE"}`, "country"},
			{`{"field": "full_name", "operator": "is_set"}`, "first_name last_name"},
			{`{"field": "last_activity_at", "operator": "is_set"}`, "computed passing"},
			{`{"field": "created_at", "operator": "in_the_last", "value": {"amount": 3, "unit": "day"}}`, "computed passing"},
			{`{"type": "segment", "segment_keys": ["german"], "operator": "not_in"}`, "country"},
			{`{"type": "event", "event_name": "paid", "operator": "did"}`, "event:paid events"},
			{`{"type": "event", "event_name": "paid", "operator": "did", "window": {"in_the_last": {"amount": 1, "unit": "hour"}}}`, "event:paid events passing"},
			{`{"type": "event_sequence", "first": {"event_name": "tried"}, "then": {"event_name": "paid"}, "within": {"amount": 7, "unit": "day"}, "operator": "followed"}`, "event:paid event:tried events"},
			{`{"type": "event_sequence", "first": {"event_name": "tried"}, "then": {"event_name": "paid"}, "within": {"amount": 7, "unit": "day"}, "operator": "not_followed"}`, "event:paid event:tried events passing"},
			{`{"type": "email", "event": "opened", "operator": "did"}`, "mails passing"},
			{`{"type": "suppression", "operator": "listed"}`, "suppressions"},
		} {
			tree, err := rule.ParseDefinition([]byte(`{"logic": "and", "conditions": [`+tt.leaf+`]}`), env.Schema)
			w.must(err)
			in := tree.Inputs(env.Schema)
			var got []string
			for f := range in.Fields {
				got = append(got, f)
			}
			for e := range in.Events {
				got = append(got, "event:"+e)
			}
			for s := range in.Sources {
				got = append(got, string(s))
			}
			if in.Passing {
				got = append(got, "passing")
			}
			slices.Sort(got)
			if text := fmt.Sprint(got); text != "["+tt.want+"]" {
				t.Errorf("%s depends on %s, want [%s]", tt.leaf, text, tt.want)
			}
		}
	})
}

// A tenant with many watched segments takes no more of the writer than one with a single one: each tick does a page for
// each tenant.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		busy, other := newWorld(t, db, "busy"), newWorld(t, db, "other")
		const everybody = `{"logic": "and", "conditions": [{"field": "email", "operator": "is_set"}]}`
		for _, w := range []*world{busy, other} {
			w.AddContacts(w.AddList("People").ID, "p", 4)
		}
		for i := range 5 {
			s := busy.segment(fmt.Sprint("Segment ", i), everybody)
			busy.watch(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+s.Key+`"}}`, false)
		}
		one := other.segment("Segment", everybody)
		other.watch(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+one.Key+`"}}`, false)
		e := &trigger.Engine{DB: db, Now: func() time.Time { return busy.now }, Log: quiet, Page: 2}
		inside := func(w *world) (n, segments int) {
			t.Helper()
			w.must(db.QueryRow(t.Context(), `SELECT COUNT(*), COUNT(DISTINCT segment_id) FROM segment_inside WHERE tenant_id = $1`, w.Tenant).Scan(&n, &segments))
			return n, segments
		}
		for tick := 1; ; tick++ {
			more, err := e.Tick(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			n, segments := inside(busy)
			if others, _ := inside(other); n > 2*tick || segments > (tick+2)/3 || others < min(2*tick, 4) {
				t.Fatalf("after %d ticks, the busy tenant has %d rows of %d segments, and the other one %d rows", tick, n, segments, others)
			}
		}
		if n, segments := inside(busy); n != 20 || segments != 5 {
			t.Errorf("in the end the busy tenant has %d rows of %d segments, want 20 of 5", n, segments)
		}
	})
}

func TestWatchedSegmentsAreLimited(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "acme")
		const everybody = `{"logic": "and", "conditions": [{"field": "email", "operator": "is_set"}]}`
		watch := func(key string) (trigger.Holder, error) {
			var p fault.Problems
			tr := trigger.Parse(json.RawMessage(`{"trigger_type": "segment_entered", "trigger_config": {"segment_key": "`+key+`"}}`), "t", &p)
			w.must(p.Err())
			h := trigger.AutomationHolder(id.New[id.Automation]())
			return h, db.InTx(t.Context(), func(tx *sqldb.DB) error {
				return trigger.Watch(t.Context(), tx, w.Tenant, h, trigger.Watched{Trigger: tr}, w.now)
			})
		}
		var last trigger.Holder
		for i := range 100 {
			var err error
			last, err = watch(w.segment(fmt.Sprint("Segment ", i), everybody).Key)
			w.must(err)
		}
		if _, err := watch("segment_7"); err != nil {
			t.Errorf("another holder of a watched segment: %v", err)
		}
		more := w.segment("One more", everybody).Key
		if _, err := watch(more); !errors.Is(err, trigger.ErrLimit) {
			t.Errorf("the segment after 100: %v, want ErrLimit", err)
		}
		w.must(db.InTx(t.Context(), func(tx *sqldb.DB) error {
			return trigger.Watch(t.Context(), tx, w.Tenant, last, trigger.Watched{}, w.now)
		}))
		if _, err := watch(more); err != nil {
			t.Errorf("after one ended: %v", err)
		}
	})
}
