package liquid

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// names gathers the paths that a template reads from its Env. Names that the
// template has set before, on every way to the place, are its own. It also keeps
// the time zones that the template names.
type names struct {
	used   map[string]bool
	scopes []map[string]bool // the innermost last
	ever   map[string]bool   // names that mean something else at one place than at another
	zones  map[string]*time.Location
	any    bool // a name is computed
}

func newNames() *names {
	return &names{used: map[string]bool{}, scopes: []map[string]bool{{}}, ever: map[string]bool{}, zones: map[string]*time.Location{}}
}

// enter begins a block that may be passed over, in which the given names are
// set; leave ends it.
func (n *names) enter(set ...string) {
	scope := map[string]bool{}
	for _, name := range set {
		scope[name] = true
		n.change(name)
	}
	n.scopes = append(n.scopes, scope)
}

func (n *names) leave() { n.scopes = n.scopes[:len(n.scopes)-1] }

// set notes that from here on the name is the template's own.
func (n *names) set(name string) {
	n.scopes[len(n.scopes)-1][name] = true
	n.change(name)
}

// change notes that the name does not mean the same throughout the template.
func (n *names) change(name string) { n.ever[name] = true }

// use notes that a variable is read.
func (n *names) use(v *variable) {
	if v.root != nil {
		n.any = true
		return
	}
	for _, scope := range n.scopes {
		if scope[v.name] {
			return
		}
	}
	var b strings.Builder
	b.WriteString(v.name)
	for _, seg := range v.path {
		if seg.index != nil {
			break
		}
		b.WriteByte('.')
		b.WriteString(seg.name)
	}
	n.used[b.String()] = true
}

func (n *names) sorted() []string { return slices.Sorted(maps.Keys(n.used)) }
