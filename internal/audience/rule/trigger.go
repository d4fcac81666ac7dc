package rule

import (
	"slices"
)

// TriggerEvent tests a property of the event that enrolled the contact in a sequence. Only rules of
// sequences have such leaves. WithTrigger replaces them; until then they hold for no contact.
type TriggerEvent struct{ Property }

func (TriggerEvent) condition() {}

func (TriggerEvent) sql(*builder) string { return never }

func (TriggerEvent) match(Env, *Subject) bool { return false }

// constant holds for all contacts or for none.
type constant bool

func (constant) condition() {}

func (c constant) sql(*builder) string {
	if c {
		return always
	}
	return never
}

func (c constant) match(Env, *Subject) bool { return bool(c) }

// ParseStep is ParseDefinition for a rule in a sequence, which may have TriggerEvent leaves.
func ParseStep(raw []byte, s Schema) (Tree, error) {
	p := parser{schema: s, strict: true, triggered: true}
	t := p.definition(raw)
	return t, p.fault(ErrInvalidDefinition)
}

// DecodeStep is Decode for a rule in a sequence.
func DecodeStep(raw []byte, s Schema) (Tree, error) {
	return decode(raw, parser{schema: s, lenient: true, triggered: true})
}

// Triggers reports whether the tree has TriggerEvent leaves.
func (t Tree) Triggers() bool {
	found := false
	t.walk(func(c Condition, _ string) {
		_, is := c.(TriggerEvent)
		found = found || is
	})
	return found
}

// WithTrigger returns the tree for a contact whose enrollment was triggered by an event with these
// properties, and a key that is equal for events for which the tree is the same.
func (t Tree) WithTrigger(env Env, properties map[string]any) (Tree, string) {
	var key []byte
	var replace func(g Group) Group
	replace = func(g Group) Group {
		g.Conditions = slices.Clone(g.Conditions)
		for i, c := range g.Conditions {
			switch c := c.(type) {
			case Group:
				g.Conditions[i] = replace(c)
			case TriggerEvent:
				holds := c.holds(env, properties)
				g.Conditions[i] = constant(holds)
				if holds {
					key = append(key, '1')
				} else {
					key = append(key, '0')
				}
			}
		}
		return g
	}
	root := replace(t.Root)
	return Tree{Root: root}, string(key)
}
