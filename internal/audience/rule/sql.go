package rule

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Limits of what is rendered: segments refer to segments, so a small rule may become large when
// they are expanded.
const (
	maxInlined    = 5 // segments within segments
	maxRendered   = 1000
	maxParameters = 30_000
	maxQueries    = 4000    // SQLite's memory for one statement, 256 MB, holds about 5,000 subqueries
	maxSQL        = 1 << 20 // bytes
)

// errTooLarge reports a rule that is too large together with the segments it refers to.
var errTooLarge = func() error {
	const message = "has too many conditions, with those of the segments that it refers to"
	return ErrInvalidDefinition.With(details{rootDefinition, fault.Listed([]fault.Field{{Path: rootDefinition, Message: message}})}).
		Sayf("%s: %s", rootDefinition, message)
}()

// Condition renders the tree as a test of contacts. Where it does not hold, it may be NULL; to
// negate it, render a negated group. If the tree is too large together with the segments it refers
// to, the error is ErrInvalidDefinition.
func (t Tree) Condition(db *sqldb.DB, env Env) (contact.Condition, error) {
	n := 0
	trial := builder{
		db: db, env: env, arg: func(any) string { n++; return "$1" },
		texts: foldedTexts{map[string]*folded{}, true}, pending: map[*folded]int{},
	}
	text := trial.group(t.Root)
	if trial.err != nil || n > maxParameters || len(text) > maxSQL || strings.Count(text, "SELECT") > maxQueries {
		return contact.Condition{}, errTooLarge
	}
	return contact.Condition{
		Text: func(arg func(value any) string) string {
			b := builder{db: db, env: env, arg: arg, texts: foldedTexts{trial.texts.texts, false}, pending: map[*folded]int{}}
			return b.group(t.Root) + sqldb.CustomPlan
		},
		Activity: trial.activity,
	}, nil
}

func (b *builder) group(g Group) string {
	return b.unless(g.Negate, func() string { return b.conditions(g) })
}

func (b *builder) conditions(g Group) string {
	logic := g.Logic
	if len(g.Conditions) == 0 {
		logic = And // an empty group holds
	}
	tests := make([]func() string, len(g.Conditions))
	for i, c := range g.Conditions {
		tests[i] = func() string {
			if b.err != nil {
				return never
			}
			return b.condition(c)
		}
	}
	return b.combined(logic, tests)
}

// Every condition is a Group or a leaf.
var _ = []leaf{
	Field{}, List{}, InSegment{}, Email{}, Broadcast{}, SequenceEmail{}, Event{}, EventSequence{}, PageView{}, Form{}, Subscription{}, InSequence{}, Suppression{}, Broken{},
}

func (b *builder) condition(c Condition) string {
	if g, ok := c.(Group); ok {
		return b.group(g)
	}
	if b.leaves++; b.leaves > maxRendered {
		b.err = errTooLarge
		return never
	}
	return c.(leaf).sql(b)
}

// sql expands the rules of the segments.
func (l InSegment) sql(b *builder) string {
	outer := b.env
	defer func() { b.env = outer }()
	return b.unless(l.Operator == NotIn, func() string {
		var tests []func() string
		for _, key := range l.Keys {
			if s, env, ok := outer.into(key); ok {
				tests = append(tests, func() string {
					b.env = env
					return b.group(s.Tree.Root)
				})
			}
		}
		return b.combined(Or, tests)
	})
}

func (l Broken) sql(*builder) string {
	if l.Negative {
		return always
	}
	return never
}

// inlined is the path of an evaluation through segments.
type inlined struct {
	keys []string
	seen map[string]bool // results for the subject so far, by segment
}

// into returns a segment that a leaf refers to, and the environment for its rule; false if it does
// not exist, is a list, would be a cycle, or is too deep.
func (e Env) into(key string) (SegmentRule, Env, bool) {
	s, ok := e.segment(key)
	if !ok || s.Static {
		return SegmentRule{}, e, false
	}
	var way inlined
	if e.inlined != nil {
		way = *e.inlined
	}
	if len(way.keys) >= maxInlined || slices.Contains(way.keys, s.Key) {
		return SegmentRule{}, e, false
	}
	e.inlined = &inlined{append(slices.Clip(way.keys), s.Key), way.seen}
	return s, e, true
}
