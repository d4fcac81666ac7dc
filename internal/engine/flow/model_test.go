package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	fields "github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestRandomLivesInRandomGraphs leads contacts with random lives through random graphs, and the same
// contacts through the model below, which knows nothing of databases, batches and locks. After every
// event of these lives both agree where each contact is, how it left, and what was done to it.
func TestRandomLivesInRandomGraphs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rounds := 30
		if db.Dialect() == sqldb.Postgres {
			rounds = 10
		}
		f := newFixture(t, db)
		w := &world{fixture: f, vips: f.AddList("Very important"), seen: map[string]int{}}
		w.prepare()
		w.other = f.start(waiting(), sequence.Change{AllowReentry: new(true)})
		first := rand.Uint64()
		if text := os.Getenv("PACKETBOAT_TEST_LIVES"); text != "" { // SEED or SEED+ROUNDS
			if _, err := fmt.Sscanf(text+"+1", "%d+%d", &first, &rounds); err != nil {
				t.Fatalf("PACKETBOAT_TEST_LIVES: %v", err)
			}
		}
		for i := range uint64(rounds) {
			w.seed = first + i
			if w.live(); t.Failed() {
				return
			}
		}
		t.Logf("seeds from %d; steps and ends: %v", first, w.seen)
	})
}

// world is a fixture and the model of one sequence in it.
type world struct {
	*fixture
	seed   uint64
	rand   *rand.Rand
	vips   segment.Segment
	other  sequence.Sequence
	stages []contact.Stage // the first is that of new contacts

	graph   sequence.Graph
	steps   map[string]*modelStep
	goals   []string
	exit    *modelRule // the exit condition
	reentry bool
	seq     sequence.Sequence
	program *sequence.Program
	paused  bool
	people  []*modelContact
	mails   map[string]int
	counts  map[string]sequence.NodeCount
	story   []string
	seen    map[string]int // what happened in all lives
}

// modelContact is a contact of the model.
type modelContact struct {
	id         id.Contact
	tags       map[string]bool
	member     bool // of the list
	stage      int
	due        time.Time // in a custom field; zero: none
	requests   int       // of webhooks
	notices    int
	typeOff    bool // unsubscribed from the email type
	left       bool // unsubscribed from all mail
	path       string
	recorded   int
	others     int // enrollments in the other sequence
	journeys   []*journey
	enrolledAt []time.Time
}

// journey is an enrollment of the model.
type journey struct {
	node      string // "": it has ended
	status    sequence.EnrollmentStatus
	reason    sequence.Reason
	converted bool
	arrived   bool
	met       bool
	timer     time.Time
	left      time.Duration // while paused
	visits    map[string]int
	clicked   map[string]bool // the mails of which nodes
	plan      string          // of the trigger event
}

// prepare adds what steps refer to.
func (w *world) prepare() {
	user, err := auth.CreateUser(w.Context(), w.DB, "ann@acme.example", "Ann", "", w.now)
	w.must(err)
	w.must(auth.AddMember(w.Context(), w.DB, w.Tenant, user.ID, auth.Editor, auth.By{}, w.now))
	for _, name := range []string{"Lead", "Trial", "Won"} {
		s, err := contact.CreateStage(w.Context(), w.DB, w.Tenant, contact.StageChange{Name: &name, Category: new(contact.Prospect)}, w.now)
		w.must(err)
		w.stages = append(w.stages, s)
	}
	_, err = fields.Create(w.Context(), w.DB, w.Tenant, fields.Draft{Name: "Due", Key: "due", Type: fields.DateTime}, w.now)
	w.must(err)
}

// modelRule is a rule that both sides can evaluate.
type modelRule struct{ kind, value string }

func (r modelRule) json(w *world) object {
	var leaf object
	switch r.kind {
	case "tag":
		return field("tags", "has_any", []string{r.value})
	case "list":
		leaf = object{"type": "list", "operator": "in", "segment_keys": []string{w.vips.Key}}
	default:
		leaf = object{"type": "trigger_event", "property": "plan", "operator": "equals", "value": r.value}
	}
	return object{"logic": "and", "conditions": []any{leaf}}
}

func (r modelRule) holds(p *modelContact, j *journey) bool {
	switch r.kind {
	case "tag":
		return p.tags[r.value]
	case "list":
		return p.member
	}
	return j.plan == r.value
}

// modelStep is a node of the model.
type modelStep struct {
	node   sequence.Node
	next   map[string]string
	rules  []modelRule
	tag    string
	add    bool
	stage  int
	wait   string // the mode of a wait
	span   time.Duration
	date   time.Time
	event  string
	of     string // the node of a wait until a click
	labels []string
}

func (w *world) one(list ...string) string { return list[w.rand.IntN(len(list))] }

func (w *world) anyRule() modelRule {
	switch w.rand.IntN(4) {
	case 0:
		return modelRule{"list", ""}
	case 1:
		return modelRule{"trigger", w.one("pro", "free")}
	}
	return modelRule{"tag", w.one("red", "blue")}
}

// build makes a random valid graph. Only waits have ways back, so that every cycle contains one.
func (w *world) build() {
	w.steps, w.goals, w.graph = map[string]*modelStep{}, nil, sequence.Graph{Entry: "n0"}
	n := 3 + w.rand.IntN(9)
	for i := range n {
		s := w.step(fmt.Sprintf("n%d", i), i == 0)
		s.next = map[string]string{}
		for _, label := range s.labels {
			to := i + 1 + w.rand.IntN(4)
			if s.node.Type == sequence.WaitNode && (!slices.Contains([]string{"until_date", "until_field", "until_engagement"}, s.wait) || w.rand.IntN(20) == 0) && w.rand.IntN(3) == 0 {
				to = w.rand.IntN(n)
			}
			if to < n && w.rand.IntN(20) > 0 {
				s.next[label] = fmt.Sprintf("n%d", to)
			}
		}
		w.steps[s.node.ID] = s
	}
	reached, todo := map[string]bool{}, []string{"n0"}
	for name, s := range w.steps {
		if s.node.Type == sequence.GoalNode {
			todo = append(todo, name)
		}
	}
	for len(todo) > 0 {
		at := todo[0]
		if todo = todo[1:]; !reached[at] {
			reached[at] = true
			todo = append(todo, slices.Collect(maps.Values(w.steps[at].next))...)
		}
	}
	var sends []string
	for i := range n {
		if name := fmt.Sprintf("n%d", i); reached[name] && w.steps[name].node.Type == sequence.SendNode {
			sends = append(sends, name)
		}
	}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		s := w.steps[name]
		if s.wait == "until_engagement" {
			w.chooseMail(s, sends)
		}
		if !reached[name] {
			delete(w.steps, name)
			continue
		}
		w.graph.Nodes = append(w.graph.Nodes, s.node)
		if s.node.Type == sequence.GoalNode {
			w.goals = append(w.goals, name)
		}
		for _, label := range s.labels {
			if to := s.next[label]; to != "" {
				w.graph.Edges = append(w.graph.Edges, sequence.Edge{From: name, Label: label, To: to})
			}
		}
	}
}

// chooseMail makes a wait until a click wait for one of the mails of a graph. Without any, it waits for
// an event.
func (w *world) chooseMail(s *modelStep, sends []string) {
	timeout := object{"amount": int(s.span.Hours()), "unit": "hour"}
	if len(sends) == 0 {
		s.wait, s.event = "until_event", "paid"
		s.node = node(s.node.ID, sequence.WaitNode, object{"mode": s.wait, "event_name": s.event, "timeout": timeout})
		return
	}
	s.of = w.one(sends...)
	s.node = node(s.node.ID, sequence.WaitNode, object{"mode": s.wait, "node_id": s.of, "event": "clicked", "timeout": timeout})
}

// step makes a random node.
func (w *world) step(name string, entry bool) *modelStep {
	s := &modelStep{labels: []string{""}}
	types := []sequence.NodeType{
		sequence.SendNode, sequence.WaitNode, sequence.WaitNode, sequence.WaitNode, sequence.WaitNode, sequence.ConditionNode, sequence.BranchNode, sequence.SplitNode,
		sequence.ListNode, sequence.TagNode, sequence.TagNode, sequence.UpdateNode, sequence.UpdateNode, sequence.SubscriptionNode, sequence.EventNode,
		sequence.EnrollNode, sequence.GoalNode, sequence.ExitNode, sequence.StageNode, sequence.WebhookNode, sequence.NotifyNode,
	}
	kind := types[w.rand.IntN(len(types))]
	if entry && kind == sequence.ExitNode {
		kind = sequence.SendNode
	}
	var config object
	switch kind {
	case sequence.SendNode:
		config = object{"message_id": w.entry.ID, "email_type_key": w.Type.Key}
	case sequence.WaitNode:
		config = w.waitConfig(s)
	case sequence.ConditionNode, sequence.GoalNode:
		s.rules = []modelRule{w.anyRule()}
		config = object{"definition": s.rules[0].json(w)}
		if kind == sequence.ConditionNode {
			s.labels = []string{"true", "false"}
		}
	case sequence.BranchNode:
		s.rules = []modelRule{w.anyRule(), w.anyRule()}
		s.labels = []string{"first", "second", "else"}
		config = object{"branches": []any{object{"label": "first", "definition": s.rules[0].json(w)}, object{"label": "second", "definition": s.rules[1].json(w)}}}
	case sequence.SplitNode:
		s.labels = []string{"left", "right"}
		config = object{"branches": []any{object{"label": "left", "weight": 1}, object{"label": "right", "weight": 2}}}
	case sequence.ListNode, sequence.TagNode, sequence.SubscriptionNode:
		s.add, s.tag = w.rand.IntN(2) == 0, w.one("red", "blue")
		action, positive := map[bool]string{true: "add", false: "remove"}[s.add], map[bool]string{true: "subscribe", false: "unsubscribe"}[s.add]
		switch kind {
		case sequence.ListNode:
			config = object{"action": action, "segment_key": w.vips.Key}
		case sequence.TagNode:
			config = object{"action": action, "tags": []string{s.tag}}
		default:
			config = object{"action": positive, "email_type_key": w.Type.Key}
		}
	case sequence.UpdateNode:
		config = object{"fields": object{"company": "{{ contact.company }}" + name + "."}}
	case sequence.EventNode:
		config = object{"event_name": "recorded"}
	case sequence.EnrollNode:
		config = object{"sequence_id": w.other.ID}
	case sequence.StageNode:
		s.stage = w.rand.IntN(len(w.stages))
		config = object{"stage_id": w.stages[s.stage].ID}
	case sequence.WebhookNode:
		config = object{"url": "https://hooks.example/{}", "body": object{"node": name}}
	case sequence.NotifyNode:
		config = object{"to": []string{"ann@acme.example"}, "subject": "{{ contact.email }}", "body": name}
	case sequence.ExitNode:
		config, s.labels = object{}, nil
	}
	s.node = node(name, kind, config)
	return s
}

func (w *world) waitConfig(s *modelStep) object {
	hours := 1 + w.rand.IntN(30)
	s.span = time.Duration(hours) * time.Hour
	timeout := object{"amount": hours, "unit": "hour"}
	switch s.wait = w.one("duration", "duration", "until_date", "until_time", "until_field", "until_event", "until_segment", "until_engagement"); s.wait {
	case "duration":
		return object{"mode": s.wait, "amount": hours, "unit": "hour"}
	case "until_date":
		s.date = w.now.Add(time.Duration(w.rand.IntN(100)-20) * time.Hour)
		return object{"mode": s.wait, "at": s.date.Format(time.RFC3339Nano)}
	case "until_field":
		if s.add = w.rand.IntN(2) == 0; !s.add {
			s.span = -s.span
		}
		direction := map[bool]string{true: "after", false: "before"}[s.add]
		return object{"mode": "until_date", "field": "custom_fields.due", "offset": object{"amount": hours, "unit": "hour", "direction": direction}}
	case "until_engagement":
		s.labels = []string{"met", "timeout"}
		return nil // chooseMail sets it
	case "until_time":
		return object{"mode": s.wait, "days": []int{1, 2, 3, 4, 5, 6, 7}, "time": "07:00", "timezone": "account"}
	case "until_event":
		s.labels, s.event = []string{"met", "timeout"}, w.one("paid", "called")
		return object{"mode": s.wait, "event_name": s.event, "timeout": timeout}
	}
	s.labels, s.add = []string{"met", "timeout"}, w.rand.IntN(2) == 0
	return object{"mode": s.wait, "segment_key": w.vips.Key, "state": map[bool]string{true: "in", false: "not_in"}[s.add], "timeout": timeout}
}

// live leads some contacts through one random graph.
func (w *world) live() {
	w.rand = rand.New(rand.NewPCG(w.seed, 7))
	w.story, w.paused, w.people, w.mails, w.counts = nil, false, nil, map[string]int{}, map[string]sequence.NodeCount{}
	w.build()
	change := sequence.Change{}
	w.exit, w.reentry = nil, w.rand.IntN(2) == 0
	if change.AllowReentry = &w.reentry; w.rand.IntN(4) == 0 {
		r := w.anyRule()
		w.exit = &r
		change.Exits = raw(object{"definition": r.json(w)})
	}
	w.seq = w.start(w.graph, change)
	w.program = sequence.Compile(w.seq, rule.Env{})
	w.engine.Batch = 1 + w.rand.IntN(6)
	for _, c := range w.AddContacts(w.List.ID, fmt.Sprintf("s%d", w.seed), 5) {
		w.people = append(w.people, &modelContact{id: c.ID, stage: -1, tags: map[string]bool{}})
	}
	for _, table := range []string{"notice", "webhook_delivery"} { // at most so many may wait
		_, err := w.DB.Exec(w.Context(), `DELETE FROM `+table+` WHERE tenant_id = $1`, w.Tenant)
		w.must(err)
	}
	w.drain() // earlier contacts continue, too
	for _, p := range w.people {
		w.enrollBoth(p, w.one("pro", "free"))
	}
	w.drain()
	w.drain()
	w.advance()
	for range 30 {
		w.act()
		w.compare()
		if w.Failed() {
			w.Logf("seed %d; entry n0, exit %v, reentry %t, batch %d\n%s", w.seed, w.exit, w.reentry, w.engine.Batch, strings.Join(w.story, "\n"))
			for _, n := range w.graph.Nodes {
				w.Logf("%s %s %s → %v", n.ID, n.Type, n.Config, w.steps[n.ID].next)
			}
			return
		}
	}
	if !w.paused {
		return
	}
	_, err := sequence.Resume(w.Context(), w.DB, w.Tenant, w.seq.ID, w.now)
	w.must(err)
}

// act does one random thing to the contacts, in both worlds.
func (w *world) act() {
	p := w.people[w.rand.IntN(len(w.people))]
	tell := func(format string, args ...any) {
		w.story = append(w.story, w.now.Format("02 15:04 ")+fmt.Sprintf(format, args...))
	}
	who := fmt.Sprint("contact ", slices.Index(w.people, p))
	switch w.rand.IntN(14) {
	case 0, 1, 2:
		if w.paused {
			return
		}
		plan := w.one("pro", "free")
		tell("%s enrolls with %s", who, plan)
		w.enrollBoth(p, plan)
	case 3, 4, 5, 6:
		d := time.Duration(1+w.rand.IntN(30)) * time.Hour
		w.now = w.now.Add(d)
		tell("%s later", d)
	case 7:
		name := w.one("paid", "called")
		tell("%s: event %s", who, name)
		w.record(name, p.id, nil)
		for _, j := range p.journeys {
			if s := w.steps[j.node]; j.open() && j.arrived && s.wait == "until_event" && s.event == name {
				j.met = true
				j.left = 0 // during a pause: what it waited for is not due later than the pause ends
			}
		}
	case 8:
		tag := w.one("red", "blue")
		if p.tags[tag] = w.rand.IntN(2) == 0; p.tags[tag] {
			w.change(p.id, contact.Change{Tags: &[]string{tag}})
		} else {
			w.change(p.id, contact.Change{RemoveTags: []string{tag}})
		}
		tell("%s: tag %s %t", who, tag, p.tags[tag])
	case 9:
		members := segment.People{IDs: []id.Contact{p.id}}
		var err error
		if p.member = w.rand.IntN(2) == 0; p.member {
			_, err = segment.Add(w.Context(), w.DB, w.Tenant, w.vips.ID, members, w.now)
		} else {
			_, err = segment.Remove(w.Context(), w.DB, w.Tenant, w.vips.ID, members, w.now)
		}
		w.must(err)
		tell("%s: list %t", who, p.member)
	case 10:
		if w.rand.IntN(3) > 0 || p.left {
			return
		}
		tell("%s unsubscribes", who)
		_, err := contact.UnsubscribeAll(w.Context(), w.DB, w.Tenant, []id.Contact{p.id}, w.now)
		w.must(err)
		p.left = true
		for _, j := range p.journeys {
			if j.open() {
				w.finish(j, sequence.Exited, sequence.ReasonUnsubscribed)
			}
		}
	case 11:
		if node := w.click(p); node != "" {
			tell("%s clicks in the mail of %s", who, node)
		}
	case 12:
		p.due = w.now.Add(time.Duration(w.rand.IntN(60)-20) * time.Hour)
		w.change(p.id, contact.Change{CustomFields: map[string]any{"due": p.due.Format(time.RFC3339Nano)}})
		tell("%s: due %s", who, p.due.Format("02 15:04"))
	case 13:
		w.pauseBoth()
		tell("paused %t", w.paused)
	}
	w.drain()
	w.drain() // what steps did is followed, too
	w.advance()
}

// click records a click in a mail of the sequence that a contact has, in both worlds, and returns the
// mail's node; "" if it has none without a click. Only the enrollment that queued the mail sees it.
func (w *world) click(p *modelContact) string {
	sends, err := sequence.Sends(w.Context(), w.DB, w.Tenant, w.seq.ID)
	w.must(err)
	for _, node := range slices.Sorted(maps.Keys(sends)) {
		var m id.Message
		var visit int
		err := w.DB.QueryRow(w.Context(), `
			SELECT id, visit FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND contact_id = $3
				AND NOT EXISTS (SELECT 1 FROM engagement AS e WHERE e.tenant_id = $1 AND e.message_id = outbox.id)
			ORDER BY visit LIMIT 1`, w.Tenant, sends[node], p.id).Scan(&m, &visit)
		if errors.Is(err, sqldb.ErrNoRows) {
			continue
		}
		w.must(err)
		p.journeys[visit/(sequence.MaxVisits+1)].clicked[node] = true
		w.must(w.DB.InTx(w.Context(), func(tx *sqldb.DB) error {
			_, err := tx.Exec(w.Context(), `
				INSERT INTO engagement (tenant_id, message_id, send_id, flags) VALUES ($1, $2, $3, $4)`, w.Tenant, m, sends[node], track.HumanClicked)
			if err != nil {
				return err
			}
			return journal.Append(w.Context(), tx, journal.Entry{
				Tenant: w.Tenant, Type: journal.EmailClicked, Contact: p.id, Send: sends[node], Message: m, At: w.now, Data: track.Engaged{First: true, LinkURL: "https://example.org/"},
			})
		}))
		return node
	}
	return ""
}

func (j *journey) open() bool {
	return j.status == sequence.InProgress || j.status == sequence.Waiting
}

func (w *world) count(node string, c sequence.NodeCount) {
	o := w.counts[node]
	w.counts[node] = sequence.NodeCount{Entered: o.Entered + c.Entered, Completed: o.Completed + c.Completed, Exited: o.Exited + c.Exited, Converted: o.Converted + c.Converted, Failed: o.Failed + c.Failed}
}

func (w *world) enrollBoth(p *modelContact, plan string) {
	got := w.enroll(w.seq, object{"properties": object{"plan": plan}}, p.id)[0]
	want := true
	recent := 0
	for _, at := range p.enrolledAt {
		if at.After(w.now.Add(-time.Hour)) {
			recent++
		}
	}
	if len(p.journeys) > 0 && (!w.reentry || p.journeys[len(p.journeys)-1].open()) || recent >= 20 {
		want = false
	}
	if got.New != want {
		w.Errorf("enrolled: %t, want %t", got.New, want)
	}
	if !want {
		return
	}
	p.enrolledAt = append(p.enrolledAt, w.now)
	j := &journey{status: sequence.InProgress, visits: map[string]int{}, clicked: map[string]bool{}, plan: plan}
	w.count("", sequence.NodeCount{Entered: 1})
	w.count("n0", sequence.NodeCount{Entered: 1})
	j.node, j.visits["n0"], j.timer = "n0", 1, w.now
	p.journeys = append(p.journeys, j)
}

// pauseBoth pauses the sequence, or resumes it. The model takes over the place of a contact in the
// quarter of an hour after the pause.
func (w *world) pauseBoth() {
	if w.paused = !w.paused; w.paused {
		_, err := sequence.Pause(w.Context(), w.DB, w.Tenant, w.seq.ID, w.now)
		w.must(err)
		for _, p := range w.people {
			for _, j := range p.journeys {
				if j.open() {
					j.status, j.left = sequence.Waiting, max(0, j.timer.Sub(w.now))
				}
			}
		}
		return
	}
	_, err := sequence.Resume(w.Context(), w.DB, w.Tenant, w.seq.ID, w.now)
	w.must(err)
	latest := w.now
	for _, p := range w.people {
		for i, j := range p.journeys {
			if !j.open() {
				continue
			}
			list, err := sequence.OfContact(w.Context(), w.DB, w.Tenant, p.id)
			w.must(err)
			list = slices.DeleteFunc(list, func(e sequence.Enrollment) bool { return e.Sequence != w.seq.ID })
			e := list[len(list)-1-i]
			if d := e.DueAt.Sub(w.now); d < 0 || j.left == 0 && d > 15*time.Minute {
				w.Errorf("after the pause the contact is due in %s", d)
			}
			j.status, j.timer = sequence.InProgress, w.now.Add(j.left)
			if j.left == 0 && e.DueAt.After(latest) {
				latest = *e.DueAt
			}
		}
	}
	w.now = latest // all continue now
	if w.goals != nil || w.exit != nil || slices.ContainsFunc(w.graph.Nodes, func(n sequence.Node) bool {
		return w.steps[n.ID].wait == "until_segment" || w.steps[n.ID].wait == "until_engagement"
	}) {
		w.now = w.now.Add(15 * time.Minute) // the others are looked at
	}
}

// advance lets every contact of the model do the steps that it can do now.
func (w *world) advance() {
	for _, p := range w.people {
		for _, j := range p.journeys {
			for j.status == sequence.InProgress && w.advanceOne(p, j) {
			}
		}
	}
}

// advanceOne does one step, and reports whether there was one to do.
func (w *world) advanceOne(p *modelContact, j *journey) bool {
	if w.exit != nil && w.exit.holds(p, j) {
		w.finish(j, sequence.Exited, sequence.ReasonCondition)
		return true
	}
	for _, g := range w.goals {
		if !j.converted && j.node != g && w.steps[g].rules[0].holds(p, j) {
			w.count(j.node, sequence.NodeCount{Completed: 1})
			w.moveTo(j, g)
			if !j.open() {
				return true
			}
		}
	}
	s := w.steps[j.node]
	label := ""
	switch s.node.Type {
	case sequence.WaitNode:
		var over bool
		if label, over = w.waited(p, j, s); !over {
			return false
		}
	case sequence.SendNode:
		if !p.typeOff && !p.left {
			w.mails[j.node]++
		}
	case sequence.ConditionNode:
		label = fmt.Sprint(s.rules[0].holds(p, j))
	case sequence.BranchNode:
		label = "else"
		for i := range slices.Backward(s.rules) {
			if s.rules[i].holds(p, j) {
				label = s.labels[i]
			}
		}
	case sequence.SplitNode:
		label = w.program.Way(j.node, w.program.Step(j.node).(sequence.SplitStep), p.id)
	case sequence.ListNode:
		p.member = s.add
	case sequence.TagNode:
		p.tags[s.tag] = s.add
	case sequence.UpdateNode:
		if path := p.path + j.node + "."; len(path) <= 200 { // a longer text is refused, and the contact goes on
			p.path = path
		}
	case sequence.SubscriptionNode:
		p.typeOff = !s.add
	case sequence.EventNode:
		p.recorded++
	case sequence.StageNode:
		p.stage = s.stage
	case sequence.WebhookNode:
		p.requests++
	case sequence.NotifyNode:
		p.notices++
	case sequence.EnrollNode:
		w.enrollOther(p)
	case sequence.GoalNode:
		j.converted = j.converted || s.rules[0].holds(p, j)
	case sequence.ExitNode:
		reason := sequence.ReasonExitNode
		if j.converted {
			reason = sequence.ReasonGoal
		}
		w.finish(j, sequence.Exited, reason)
		return true
	}
	w.seen[string(s.node.Type)+s.wait+label]++
	w.count(j.node, sequence.NodeCount{Completed: 1})
	w.moveTo(j, s.next[label])
	return true
}

// enrollOther enrolls a contact in the other sequence, whose contacts wait for a week.
func (w *world) enrollOther(p *modelContact) {
	if p.left {
		p.others++
		return
	}
	list, err := sequence.OfContact(w.Context(), w.DB, w.Tenant, p.id)
	w.must(err)
	p.others = 0 // checked by the invariant that it is in the other sequence
	for _, e := range list {
		if e.Sequence == w.other.ID {
			p.others++
		}
	}
	if p.others == 0 {
		w.Errorf("the contact was not enrolled in the other sequence")
	}
}

func (w *world) waited(p *modelContact, j *journey, s *modelStep) (label string, over bool) {
	if !j.arrived {
		j.arrived = true
		switch s.wait {
		case "until_date":
			j.timer = s.date
		case "until_field":
			if j.timer = w.now; !p.due.IsZero() {
				j.timer = p.due.Add(s.span)
			}
		case "until_time":
			day := w.now.In(time.UTC)
			j.timer = time.Date(day.Year(), day.Month(), day.Day(), 7, 0, 0, 0, time.UTC)
			if j.timer.Before(w.now) {
				j.timer = j.timer.AddDate(0, 0, 1)
			}
		default:
			j.timer = w.now.Add(s.span)
		}
	}
	conditional := s.event != "" || s.wait == "until_segment" || s.wait == "until_engagement"
	switch {
	case j.met, s.wait == "until_engagement" && j.clicked[s.of], s.wait == "until_segment" && p.member == s.add:
		return "met", true
	case j.timer.After(w.now):
		return "", false
	case conditional:
		return "timeout", true
	}
	return "", true
}

func (w *world) finish(j *journey, status sequence.EnrollmentStatus, reason sequence.Reason) {
	j.status, j.reason, j.node = status, reason, ""
	w.seen[string(status)+" "+string(reason)]++
	switch {
	case status == sequence.Completed:
		w.count("", sequence.NodeCount{Completed: 1})
	case status == sequence.Failed:
		w.count("", sequence.NodeCount{Failed: 1})
	case reason == sequence.ReasonGoal:
		w.count("", sequence.NodeCount{Exited: 1, Converted: 1})
	default:
		w.count("", sequence.NodeCount{Exited: 1})
	}
}

func (w *world) moveTo(j *journey, to string) {
	if to == "" {
		if j.converted {
			w.finish(j, sequence.Exited, sequence.ReasonGoal)
		} else {
			w.finish(j, sequence.Completed, "")
		}
		return
	}
	w.count(to, sequence.NodeCount{Entered: 1})
	if j.visits[to] == 100 {
		w.finish(j, sequence.Failed, sequence.ReasonError)
		return
	}
	j.visits[to]++
	j.node, j.arrived, j.met, j.timer = to, false, false, w.now
}

// compare compares both worlds.
func (w *world) compare() {
	w.Helper()
	type state struct {
		Node, Status, Reason string
		Visits               map[string]int
	}
	members := map[id.Contact]bool{}
	rows, err := w.DB.Query(w.Context(), `SELECT contact_id FROM segment_member WHERE tenant_id = $1 AND segment_id = $2`, w.Tenant, w.vips.ID)
	w.must(sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		members[c] = true
		return err
	}))
	for i, p := range w.people {
		list, err := sequence.OfContact(w.Context(), w.DB, w.Tenant, p.id)
		w.must(err)
		var got, want []state
		for _, e := range slices.Backward(list) {
			if e.Sequence == w.seq.ID {
				got = append(got, state{e.Node, string(e.Status), string(e.Reason), e.Visits})
			}
		}
		for _, j := range p.journeys {
			want = append(want, state{j.node, string(j.status), string(j.reason), j.visits})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			w.Errorf("contact %d (-model +engine):\n%s", i, diff)
		}
		c := w.load(p.id)
		company := ""
		if c.Company != nil {
			company = *c.Company
		}
		if company != p.path || members[p.id] != p.member || slices.Contains(c.Tags, "red") != p.tags["red"] || slices.Contains(c.Tags, "blue") != p.tags["blue"] {
			w.Errorf("contact %d has the path %q, list %t, tags %v; the model has %q, %t, %v", i, company, members[p.id], c.Tags, p.path, p.member, p.tags)
		}
		if off := c.Subscriptions[w.Type.Key]; (c.Subscriptions != nil && !off && hasKey(c.Subscriptions, w.Type.Key)) != p.typeOff && !p.left {
			w.Errorf("contact %d has the subscriptions %v; the model has it off: %t", i, c.Subscriptions, p.typeOff)
		}
		var recorded int
		w.must(w.DB.QueryRow(w.Context(), `SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND contact_id = $2 AND type = 'event' AND name = 'recorded'`, w.Tenant, p.id).Scan(&recorded))
		for table, want := range map[string]int{"webhook_delivery": p.requests, "notice": p.notices} {
			var n int
			w.must(w.DB.QueryRow(w.Context(), `SELECT COUNT(*) FROM `+table+` WHERE tenant_id = $1 AND contact_id = $2 /* reads the tenant: a test */`, w.Tenant, p.id).Scan(&n))
			if n != want {
				w.Errorf("%s has %d rows about contact %d, want %d", table, n, i, want)
			}
		}
		if p.stage >= 0 && c.Stage != w.stages[p.stage].ID {
			w.Errorf("contact %d has the stage %v; the model has %s", i, c.Stage, w.stages[p.stage].Name)
		}
		if recorded != p.recorded {
			w.Errorf("contact %d has %d recorded events, want %d", i, recorded, p.recorded)
		}
	}
	got := w.fixture.mails(w.seq)
	maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
	if diff := cmp.Diff(w.mails, got); diff != "" {
		w.Errorf("mails by node (-model +engine):\n%s", diff)
	}
	all, err := sequence.Counts(w.Context(), w.DB, w.Tenant, w.seq.ID)
	w.must(err)
	if diff := cmp.Diff(w.counts, all); diff != "" {
		w.Errorf("counts (-model +engine):\n%s", diff)
	}
}

func hasKey(m map[string]bool, key string) bool { _, ok := m[key]; return ok }

// raw encodes JSON.
func raw(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
