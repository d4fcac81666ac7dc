package rule

// Match reports whether the tree holds for a contact. It is equivalent to Condition.
func (t Tree) Match(env Env, s Subject) bool {
	env.inlined = &inlined{seen: map[string]bool{}}
	return t.Root.match(env, &s)
}

func (g Group) match(env Env, s *Subject) bool {
	holds := g.Logic != Or || len(g.Conditions) == 0
	for _, c := range g.Conditions {
		var yes bool
		if inner, ok := c.(Group); ok {
			yes = inner.match(env, s)
		} else {
			yes = c.(leaf).match(env, s)
		}
		if yes == (g.Logic == Or) { // the result is determined
			holds = yes
			break
		}
	}
	return holds != g.Negate
}

func (l InSegment) match(env Env, s *Subject) bool {
	holds := false
	for _, key := range l.Keys {
		rule, inner, ok := env.into(key)
		if !ok {
			continue
		}
		in, known := env.inlined.seen[rule.Key]
		if !known {
			in = rule.Tree.Root.match(inner, s)
			env.inlined.seen[rule.Key] = in
		}
		if in {
			holds = true
			break
		}
	}
	return holds != (l.Operator == NotIn)
}

func (l Broken) match(Env, *Subject) bool { return l.Negative }
