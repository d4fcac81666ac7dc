package rule

import (
	"github.com/packetboat/packetboat/internal/base/id"
)

// lists returns the ids of the existing static lists of the leaf.
func (l List) lists(env Env) []id.Segment {
	var list []id.Segment
	for _, key := range l.Keys {
		if s, ok := env.segment(key); ok && s.Static {
			list = append(list, s.ID)
		}
	}
	return list
}

func (l List) sql(b *builder) string {
	lists := l.lists(b.env)
	if len(lists) == 0 {
		return b.answer(condition{known: true, deny: l.Operator != NotIn})
	}
	return b.answer(condition{
		trace: source{
			from:  "segment_member AS x",
			where: "x.tenant_id = $1 AND x.segment_id" + in(b, lists) + l.Added.sql(b, "x.added_at"),
		},
		deny: l.Operator == NotIn,
	})
}

func (l List) match(env Env, s *Subject) bool {
	on := false
	for _, list := range l.lists(env) {
		if at, ok := s.Lists[list]; ok && l.Added.holds(env, at) {
			on = true
		}
	}
	return on == (l.Operator != NotIn)
}

// consent returns where the contact's consent to the type or category is stored; known is false if
// that does not exist.
func (l Subscription) consent(env Env) (column, key string, known bool) {
	category := l.Category
	if l.TypeKey != "" {
		t, ok := env.emailType(l.TypeKey)
		if !ok {
			return "", "", false
		}
		if t.Category.IsZero() {
			return "subscriptions", t.Key, true
		}
		category = t.Category
	} else if !env.category(category) {
		return "", "", false
	}
	return "category_subscriptions", category.String(), true
}

func (l Subscription) sql(b *builder) string {
	column, key, known := l.consent(b.env)
	if !known {
		return never
	}
	refused := "COALESCE(CAST(c." + column + " -> CAST(" + b.arg(key) + " AS TEXT) AS TEXT), '') = 'false'"
	if l.Operator == Unsubscribed {
		return refused
	}
	return not(refused)
}

func (l Subscription) match(env Env, s *Subject) bool {
	column, key, known := l.consent(env)
	if !known {
		return false
	}
	subscribed, ok := s.Contact.Subscriptions[key]
	if column == "category_subscriptions" {
		subscribed, ok = s.Contact.CategorySubscriptions[id.Read[id.Category](key)]
	}
	return (ok && !subscribed) == (l.Operator == Unsubscribed)
}

func (l Suppression) sql(b *builder) string {
	return b.answer(condition{
		trace: source{from: "suppression AS x", where: "x.tenant_id = $1", contact: "x.email", owner: "c.email"},
		deny:  l.Operator == NotListed,
	})
}

func (l Suppression) match(_ Env, s *Subject) bool {
	return s.Suppressed == (l.Operator != NotListed)
}
