package rule

import (
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
)

// sql looks up only contacts with a first event, one at a time: pages of contacts are read far more
// often than all of them.
func (l EventSequence) sql(b *builder) string {
	did := b.customEvents(l.First, l.Window)
	if l.Operator != NotFollowed {
		return "(" + b.has(did) + " AND " + l.followed(b) + ")"
	}
	running := did
	running.where += " AND x.occurred_at >= " + b.at(l.running(b.env))
	return "(" + b.has(did) + " AND " + not(b.has(running)) + " AND " + not(l.followed(b)) + ")"
}

// running returns the time from which on first events may yet be followed.
func (l EventSequence) running(env Env) time.Time { return env.Now.Add(-l.Within.elapsed()) }

// followed renders the test that a first event of the contact was followed in time. It sorts the
// contact's events of both kinds once, so that the work is not the product of their numbers.
func (l EventSequence) followed(b *builder) string {
	from, to := l.Window.bounds(b.env)
	rows := "x.tenant_id = $1" + b.inGroup() + "AND x.contact_id = c.id" + ofContacts + "AND x.type || '' = '" + string(journal.CustomEvent) + "'"
	if !from.IsZero() {
		rows += " AND x.occurred_at >= " + b.at(from)
	}
	if !to.IsZero() {
		rows += " AND x.occurred_at < " + b.at(to.Add(l.Within.elapsed()))
	}
	if l.First.Name != "" && l.Then.Name != "" {
		rows += " AND x.name" + in(b, unique([]string{l.First.Name, l.Then.Name}))
	}
	return "EXISTS (SELECT 1 FROM (SELECT x.occurred_at AS at, " + l.First.sql(b) + l.Window.sql(b, "x.occurred_at") + " AS starts," +
		" MIN(CASE WHEN " + l.Then.sql(b) + " THEN x.occurred_at END)" +
		" OVER (ORDER BY x.occurred_at DESC RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS next" +
		" FROM journal AS x WHERE " + rows + ") AS e WHERE e.starts AND e.next - e.at <= " + b.arg(l.Within.elapsed().Microseconds()) + ")"
}

func (l EventSequence) match(env Env, s *Subject) bool {
	within, running := l.Within.elapsed(), l.running(env)
	firsts, thens := s.customEvents(env, l.First, l.Window), s.customEvents(env, l.Then, nil)
	open := false
	for _, at := range firsts {
		next, _ := slices.BinarySearchFunc(thens, at, func(then, at time.Time) int {
			if then.After(at) {
				return 1
			}
			return -1
		})
		if next < len(thens) && !thens[next].After(at.Add(within)) {
			return l.Operator != NotFollowed
		}
		open = open || !at.Before(running)
	}
	return l.Operator == NotFollowed && len(firsts) > 0 && !open
}

// customEvents returns the custom events that m selects.
func (b *builder) customEvents(m EventMatch, w *Window) source {
	t := named(b, m.Name, journal.CustomEvent)
	t.where += w.sql(b, "x.occurred_at")
	for _, p := range m.Filters {
		t.where += " AND " + p.sql(b)
	}
	return t
}

// sql tests the custom event in row x of journal.
func (m EventMatch) sql(b *builder) string {
	var tests []string
	if m.Name != "" {
		tests = append(tests, "x.name = "+b.arg(m.Name))
	}
	for _, p := range m.Filters {
		tests = append(tests, p.sql(b))
	}
	return joined(tests, And)
}

// customEvents returns the times, in ascending order, of the custom events that m selects.
func (s *Subject) customEvents(env Env, m EventMatch, w *Window) []time.Time {
	var at []time.Time
	for _, e := range s.Events {
		if e.Type == journal.CustomEvent && (m.Name == "" || e.Name == m.Name) && w.holds(env, e.At) &&
			!slices.ContainsFunc(m.Filters, func(p Property) bool { return !p.holds(env, e.Properties) }) {
			at = append(at, e.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}
