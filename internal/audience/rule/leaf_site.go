package rule

import (
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
)

// named returns journal entries of some types, with a name unless it is empty. The predicate
// repeats that of the index journal_named verbatim.
func named(b *builder, name string, types ...journal.Type) source {
	var where strings.Builder
	where.WriteString("x.tenant_id = $1" + b.inGroup() + "AND x.name IS NOT NULL AND x.type")
	if len(types) == 1 {
		where.WriteString(" = '" + string(types[0]) + "'")
	} else {
		where.WriteString(" IN ('")
		for i, t := range types {
			if i > 0 {
				where.WriteString("', '")
			}
			where.WriteString(string(t))
		}
		where.WriteString("')")
	}
	if name != "" {
		where.WriteString(" AND x.name = " + b.arg(name))
	}
	return source{from: "journal AS x", where: where.String()}
}

// inGroup is journal.InGroup with a parameter of the builder.
func (b *builder) inGroup() string {
	if !b.db.Distributed() {
		return " "
	}
	return " AND x.grp = " + b.arg(b.env.Tenant.Group()) + " "
}

func (l Event) sql(b *builder) string {
	t := b.customEvents(EventMatch{l.Name, l.Filters}, l.Window)
	return b.answer(b.occurred(t, l.Count).unless(l.Operator == DidNot))
}

func (l Event) match(env Env, s *Subject) bool {
	n := len(s.customEvents(env, EventMatch{l.Name, l.Filters}, l.Window))
	return l.Count.holds(n) == (l.Operator != DidNot)
}

func (l PageView) sql(b *builder) string {
	t := named(b, "", journal.PageViewed)
	t.where += l.Window.sql(b, "x.occurred_at")
	if l.URL != "" {
		t.where += " AND " + b.textual("x.name", l.Match, fold(l.URL))
	}
	return b.answer(b.occurred(t, l.Count).unless(l.Operator == DidNot))
}

func (l PageView) match(env Env, s *Subject) bool {
	n := 0
	for _, e := range s.Events {
		if e.Type == journal.PageViewed && l.Window.holds(env, e.At) && (l.URL == "" || compare(l.Match, fold(e.Name), fold(l.URL))) {
			n++
		}
	}
	return l.Count.holds(n) == (l.Operator != DidNot)
}

func (l Form) sql(b *builder) string {
	t := named(b, l.Slug, journal.FormSubmitted)
	t.where += l.Window.sql(b, "x.occurred_at")
	return b.answer(condition{trace: t, deny: l.Operator == DidNot})
}

func (l Form) match(env Env, s *Subject) bool {
	sent := slices.ContainsFunc(s.Events, func(e NamedEvent) bool {
		return e.Type == journal.FormSubmitted && (l.Slug == "" || e.Name == l.Slug) && l.Window.holds(env, e.At)
	})
	return sent == (l.Operator != DidNot)
}

func (l InSequence) sql(b *builder) string {
	switch l.Operator {
	case Completed:
		return b.answer(condition{trace: b.sequence(l, journal.SequenceCompleted)})
	case Exited:
		return b.answer(condition{trace: b.sequence(l, journal.SequenceExited)})
	case Active: // active: more enrollments than ends
		t := named(b, l.Sequence.String(), journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited)
		const last = "MAX(CASE WHEN x.type = 'sequence_enrolled' THEN x.occurred_at END)"
		t.having = "SUM(CASE WHEN x.type = 'sequence_enrolled' THEN 1 ELSE -1 END) > 0" + l.Window.sql(b, last)
		return b.answer(condition{trace: t})
	}
	return b.answer(condition{trace: b.sequence(l, journal.SequenceEnrolled), deny: l.Operator == Never})
}

func (b *builder) sequence(l InSequence, what journal.Type) source {
	t := named(b, l.Sequence.String(), what)
	t.where += l.Window.sql(b, "x.occurred_at")
	return t
}

func (l InSequence) match(env Env, s *Subject) bool {
	happened := map[journal.Type]bool{} // within the window
	open := 0
	var last time.Time
	for _, e := range s.Events {
		if id.Read[id.Sequence](e.Name) != l.Sequence {
			continue
		}
		switch e.Type {
		case journal.SequenceEnrolled:
			open++
			if e.At.After(last) {
				last = e.At
			}
		case journal.SequenceCompleted, journal.SequenceExited:
			open--
		}
		if l.Window.holds(env, e.At) {
			happened[e.Type] = true
		}
	}
	switch l.Operator {
	case Completed:
		return happened[journal.SequenceCompleted]
	case Exited:
		return happened[journal.SequenceExited]
	case Never:
		return !happened[journal.SequenceEnrolled]
	case Active:
		return open > 0 && l.Window.holds(env, last)
	}
	return happened[journal.SequenceEnrolled]
}
