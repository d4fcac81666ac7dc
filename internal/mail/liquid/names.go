package liquid

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// names collects the paths that a template reads from its Env. Names that the template itself has set
// before, on every path of execution, are not collected. It also caches the time zones in the template.
type names struct {
	used    map[string]bool
	scopes  []map[string]bool // the innermost last
	everSet map[string]bool   // names whose value changes within the template
	zones   map[string]*time.Location
	any     bool // some name is computed
}

func newNames() *names {
	return &names{used: map[string]bool{}, scopes: []map[string]bool{{}}, everSet: map[string]bool{}, zones: map[string]*time.Location{}}
}

// enter begins a block that may not be executed, in which the given names are set; leave ends it.
func (n *names) enter(set ...string) {
	scope := map[string]bool{}
	for _, name := range set {
		scope[name] = true
		n.change(name)
	}
	n.scopes = append(n.scopes, scope)
}

func (n *names) leave() { n.scopes = n.scopes[:len(n.scopes)-1] }

// set notes that from here on the template has set the name.
func (n *names) set(name string) {
	n.scopes[len(n.scopes)-1][name] = true
	n.change(name)
}

// change notes that the value of a name changes within the template.
func (n *names) change(name string) { n.everSet[name] = true }

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
