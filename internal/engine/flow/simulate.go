package flow

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// simulation is one Simulate.
type simulation struct {
	db      *sqldb.DB
	account tenant.Tenant
	env     rule.Env
	program *sequence.Program
	walk    walk
	stop    time.Time // by the clock of the machine
	moves   int       // that are left

	found   Simulation
	nodes   map[string]*SimulatedNode
	taken   map[way]int
	ends    map[place]*SimulatedEnd
	order   []place // of ends
	matches map[id.Contact][]trigger.Match
	events  map[id.Contact][]happened
	listed  map[string]bool // addresses on the suppression list
	states  map[*traveler]*simulated
	holds   map[string]map[*traveler]bool // by rule: neither contacts nor events change meanwhile
	mails   map[string]prospect           // by node
}

type way struct{ from, label, to string }

type place struct {
	status SimulatedStatus
	reason sequence.Reason
	node   string
}

// happened is a recorded event that may end a wait or an enrollment.
type happened struct {
	name       string
	at         time.Time
	properties map[string]any
}

// simulated is what is known about a traveler beside its enrollment.
type simulated struct {
	*traveler
	node   string     // the last that it entered
	exit   *time.Time // when an event ends its enrollment
	parked bool       // what it waits for may happen yet
}

// prospect is whether the mail of a node can be sent.
type prospect struct {
	consent contact.Consent
	fault   *fault.Error // nil: it can
}

func newSimulation(ctx context.Context, e *Simulator, s sequence.Sequence, since time.Time, limit int) (*simulation, error) {
	now := e.Now().UTC().Truncate(time.Microsecond)
	m := &simulation{
		db: e.DB, stop: time.Now().Add(simulatedFor), moves: e.moves, found: Simulation{At: now, Since: since},
		nodes: map[string]*SimulatedNode{}, taken: map[way]int{}, ends: map[place]*SimulatedEnd{}, matches: map[id.Contact][]trigger.Match{},
		events: map[id.Contact][]happened{}, listed: map[string]bool{}, states: map[*traveler]*simulated{}, holds: map[string]map[*traveler]bool{}, mails: map[string]prospect{},
	}
	var err error
	if m.account, err = tenant.ByID(ctx, e.DB, s.Tenant); err != nil {
		return nil, err
	}
	if m.env, err = segment.Env(ctx, e.DB, s.Tenant, now); err != nil {
		return nil, err
	}
	m.program = sequence.Compile(s, m.env)
	m.walk = walk{
		log: slog.New(slog.DiscardHandler), zone: m.account.Location(), people: map[id.Contact]*contact.Contact{},
		programs: map[id.Sequence]*sequence.Program{s.ID: m.program}, deeds: m,
	}
	for _, n := range s.Graph.Nodes {
		m.nodes[n.ID] = &SimulatedNode{Node: n.ID, Refused: map[string]int{}, Unavailable: map[string]int{}}
	}
	list, more, err := trigger.Replay(ctx, e.DB, m.env, *s.Trigger, since, now, limit)
	if err != nil {
		return nil, err
	}
	m.found.Occurrences, m.found.Truncated = len(list), more
	var contacts []id.Contact
	for _, f := range list {
		if m.matches[f.Contact] == nil {
			contacts = append(contacts, f.Contact)
		}
		m.matches[f.Contact] = append(m.matches[f.Contact], f)
	}
	for page := range slices.Chunk(contacts, simulatedPage) {
		if err := m.load(ctx, page); err != nil {
			return nil, err
		}
	}
	return m, m.readEvents(ctx)
}

// load loads contacts, and which of their addresses are on the suppression list.
func (m *simulation) load(ctx context.Context, ids []id.Contact) error {
	list, err := contact.Load(ctx, m.db, m.env.Tenant, ids)
	if err != nil {
		return err
	}
	addresses := make([]string, len(list))
	for i := range list {
		m.walk.people[list[i].ID], addresses[i] = &list[i], list[i].Email
	}
	listed, err := suppression.Listed(ctx, m.db, m.env.Tenant, addresses)
	maps.Copy(m.listed, listed)
	return err
}

// eventNames returns the names of the events that end waits or enrollments.
func (m *simulation) eventNames() []string {
	var names []string
	for _, n := range m.program.Graph.Nodes {
		if w, ok := m.program.Step(n.ID).(sequence.WaitStep); ok && w.Mode == sequence.UntilEvent {
			names = append(names, w.Event)
		}
	}
	if x := m.program.Exits; x != nil {
		for _, e := range x.Events {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readEvents reads the events of the contacts that end waits or enrollments, in order.
func (m *simulation) readEvents(ctx context.Context) error {
	read := 0
	for _, name := range m.eventNames() {
		past := journal.Past{Type: journal.CustomEvent, Name: name, From: m.found.Since, Before: m.found.At}
		err := past.Read(ctx, m.db, m.env.Tenant, simulatedPage, func(page []journal.Entry) (bool, error) {
			read += len(page)
			for _, e := range page {
				if m.matches[e.Contact] == nil {
					continue
				}
				fires, err := event.Triggers(e)
				if err != nil {
					return false, err
				}
				ev, err := e.Event()
				if err != nil {
					return false, err
				}
				if fires {
					m.events[e.Contact] = append(m.events[e.Contact], happened{name, e.At, ev.Properties})
				}
			}
			return read < maxSimulatedLoad, nil
		})
		if err != nil {
			return err
		}
	}
	m.found.Truncated = m.found.Truncated || read >= maxSimulatedLoad
	for _, list := range m.events {
		slices.SortStableFunc(list, func(a, b happened) int { return a.at.Compare(b.at) })
	}
	return nil
}

// run lets contacts enter, each as often as the trigger fired for it while it was not in the sequence.
func (m *simulation) run(ctx context.Context) error {
	ended := map[id.Contact]*simulated{}
	entered := map[id.Contact][]time.Time{}
	for !m.exhausted() {
		m.walk.all = nil
		for c, list := range m.matches {
			if t := m.next(c, list, ended[c], entered); t != nil {
				m.walk.all = append(m.walk.all, t)
			}
		}
		if len(m.walk.all) == 0 {
			return nil
		}
		slices.SortFunc(m.walk.all, func(a, b *traveler) int { return id.Compare(a.Contact, b.Contact) })
		clear(m.holds)
		if err := m.walkAll(ctx); err != nil {
			return err
		}
		for t, state := range m.states {
			ended[t.Contact] = state
		}
		clear(m.states)
	}
	m.found.Truncated = true
	return nil
}

// next returns the next enrollment of a contact after the last one, or nil. Occurrences before it are taken from its list.
func (m *simulation) next(c id.Contact, list []trigger.Match, last *simulated, entered map[id.Contact][]time.Time) *traveler {
	for i, f := range list {
		m.matches[c] = list[i+1:]
		recent := 0
		for _, at := range entered[c] {
			if at.After(f.At.Add(-time.Hour)) {
				recent++
			}
		}
		switch {
		case last != nil && (!m.program.AllowReentry || !last.overAt(f.At)):
			m.found.Duplicates++
		case recent >= sequence.MaxPerHour:
			m.found.Limited++
		default:
			entered[c] = append(entered[c], f.At)
			return m.enter(f, len(entered[c])-1)
		}
	}
	return nil
}

// overAt reports whether the enrollment has ended when something happens. What happens at the same time ends it first only if
// it is an event that ends enrollments.
func (s *simulated) overAt(at time.Time) bool {
	if s.ExitedAt == nil {
		return false
	}
	return s.ExitedAt.Before(at) || s.exit != nil && s.ExitedAt.Equal(at) && s.exit.Equal(at)
}

// enter begins an enrollment.
func (m *simulation) enter(f trigger.Match, number int) *traveler {
	entry := m.program.Graph.Entry
	t := &traveler{program: m.program, now: f.At, Enrollment: &sequence.Enrollment{
		Tenant: m.env.Tenant, ID: id.New[id.Enrollment](), Sequence: m.program.ID, Contact: f.Contact, Status: sequence.InProgress, Trigger: f.Data,
		Number: number, Node: entry, Visits: map[string]int{entry: 1}, DueAt: &f.At, TimerAt: &f.At, EnteredAt: f.At, NodeEnteredAt: &f.At,
	}}
	m.found.Enrolled++
	m.node(entry).Entered++
	m.states[t] = &simulated{traveler: t, node: entry, exit: m.exitOf(t)}
	return t
}

// node returns the numbers of a node; an edge may lead to one that is gone.
func (m *simulation) node(name string) *SimulatedNode {
	n := m.nodes[name]
	if n == nil {
		n = &SimulatedNode{Node: name}
		m.nodes[name] = n
	}
	return n
}

// exitOf returns when an event ends an enrollment; nil: none does.
func (m *simulation) exitOf(t *traveler) *time.Time {
	if m.program.Exits == nil {
		return nil
	}
	for _, h := range m.events[t.Contact] {
		for _, x := range m.program.Exits.Events {
			if h.at.After(t.EnteredAt) && x.Name == h.name && trigger.Passes(m.env, x.Filters, h.properties, h.at) {
				return &h.at
			}
		}
	}
	return nil
}

// walkAll leads the enrollments that have begun to their ends.
func (m *simulation) walkAll(ctx context.Context) error {
	for !m.exhausted() {
		more, err := m.walk.round(ctx)
		if err != nil {
			return err
		}
		for _, t := range m.walk.all {
			t.DropLog()
		}
		if !more && !m.advance() {
			break
		}
	}
	for _, t := range m.walk.all {
		m.ended(t)
	}
	return nil
}

// exhausted reports whether the simulation has taken as many steps, or as much time, as it may.
func (m *simulation) exhausted() bool { return m.moves <= 0 || time.Now().After(m.stop) }

// advance moves the clocks of the enrollments that wait to the ends of their waits, and reports whether there were any. A wait
// for an event of the future, whose timeout has not passed, does not end.
func (m *simulation) advance() bool {
	moved := false
	for _, t := range m.walk.all {
		state := m.states[t]
		if t.ExitedAt != nil || state.parked {
			continue
		}
		w, _ := m.program.Step(t.Node).(sequence.WaitStep)
		until := *t.TimerAt
		met := m.metAt(t, w, until)
		if met != nil {
			until = *met
		}
		if exit := state.exit; exit != nil && !exit.After(until) {
			t.now = *exit
			t.end(sequence.Exited, sequence.ReasonCondition)
			continue
		}
		if met == nil && w.Mode == sequence.UntilEvent && until.After(m.found.At) {
			state.parked = true
			continue
		}
		if w.Mode == sequence.UntilEngagement {
			m.node(t.Node).Assumed++
		}
		t.now, t.Met, t.done, moved = until, met != nil, false, true
	}
	return moved
}

// metAt returns when the event happened that a wait of an enrollment waits for, up to a time; nil: it did not.
func (m *simulation) metAt(t *traveler, w sequence.WaitStep, until time.Time) *time.Time {
	if w.Mode != sequence.UntilEvent {
		return nil
	}
	for _, h := range m.events[t.Contact] {
		if h.at.After(t.now) && !h.at.After(until) && h.name == w.Event && trigger.Passes(m.env, w.Filters, h.properties, h.at) {
			return &h.at
		}
	}
	return nil
}

// ended counts how an enrollment stands.
func (m *simulation) ended(t *traveler) {
	p := place{status: SimulatedStatus(t.Status), reason: t.Reason, node: m.states[t].node}
	switch {
	case t.ExitedAt != nil:
	case m.states[t].parked:
		p.status = SimulatedWaiting
		m.node(p.node).Waiting++
	default:
		p.status, m.found.Truncated = SimulatedUnfinished, true
	}
	e := m.ends[p]
	if e == nil {
		e = &SimulatedEnd{Status: p.status, Reason: p.reason, Node: p.node}
		m.ends[p], m.order = e, append(m.order, p)
	}
	if e.Count++; e.Count <= maxSamples {
		e.Samples = append(e.Samples, t.Contact)
	}
}

// passed counts a way.
func (m *simulation) passed(t *traveler, label, to string) {
	m.taken[way{t.Node, label, to}]++
	m.moved(t, to)
}

// jumped counts a jump to a goal.
func (m *simulation) jumped(t *traveler, goal string) {
	m.node(t.Node).Jumped++
	m.moved(t, goal)
}

func (m *simulation) moved(t *traveler, to string) {
	m.moves--
	m.node(t.Node).Left++
	if to != "" {
		m.node(to).Entered++
		m.states[t].node = to
	}
}

// holding evaluates a rule once for each enrollment.
func (m *simulation) holding(ctx context.Context, p *sequence.Program, definition json.RawMessage, list []*traveler) ([]bool, error) {
	known := m.holds[string(definition)]
	if known == nil {
		known = map[*traveler]bool{}
		m.holds[string(definition)] = known
	}
	var fresh []*traveler
	for _, t := range list {
		if _, ok := known[t]; !ok {
			fresh = append(fresh, t)
		}
	}
	for page := range slices.Chunk(fresh, simulatedPage) {
		holds, err := p.Holding(ctx, m.db, definition, subjectsOf(page))
		if err != nil {
			return nil, err
		}
		for i, t := range page {
			known[t] = holds[i]
		}
	}
	all := make([]bool, len(list))
	for i, t := range list {
		all[i] = known[t]
	}
	return all, nil
}

// engaged returns none: nothing was sent.
func (*simulation) engaged(context.Context, []*traveler, sequence.WaitStep) (map[*traveler]bool, error) {
	return nil, nil
}

// mail counts the mails of a node.
func (m *simulation) mail(ctx context.Context, group []*traveler, s sequence.SendStep) ([]*sequence.Why, error) {
	name := group[0].Node
	p, known := m.mails[name]
	if !known {
		var err error
		p.consent, err = s.Consent(ctx, m.db, m.account)
		if f, ok := fault.As(err); ok {
			p.fault = f
		} else if err != nil {
			return nil, err
		}
		m.mails[name] = p
	}
	n, whys := m.node(name), make([]*sequence.Why, len(group))
	for i, t := range group {
		c := m.walk.people[t.Contact]
		refusal := c.Refusal(p.consent, m.listed[c.Email])
		switch {
		case p.fault != nil:
			n.Unavailable[p.fault.Code]++
		case refusal != "":
			n.Refused[refusal]++
		default:
			n.Mails++
		}
		whys[i] = &sequence.Why{Code: sequence.MailQueued} // is not stored
	}
	return whys, nil
}

// do does nothing.
func (*simulation) do(_ context.Context, group []*traveler, _ sequence.Step) ([]*sequence.Why, error) {
	whys := make([]*sequence.Why, len(group))
	for i := range whys {
		whys[i] = &sequence.Why{Code: sequence.CarriedOut} // is not stored
	}
	return whys, nil
}

// result returns the numbers, nodes and ways in the order of the graph.
func (m *simulation) result() Simulation {
	for _, n := range m.program.Graph.Nodes {
		m.found.Nodes = append(m.found.Nodes, *m.nodes[n.ID])
		if m.program.Step(n.ID) == nil {
			continue
		}
		for _, label := range m.program.Step(n.ID).Labels() {
			w := way{n.ID, label, m.program.Next(n.ID, label)}
			m.found.Edges = append(m.found.Edges, SimulatedEdge{w.from, w.label, w.to, m.taken[w]})
		}
	}
	for _, p := range m.order {
		m.found.Ends = append(m.found.Ends, *m.ends[p])
	}
	return m.found
}
