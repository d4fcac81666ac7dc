package segment

import (
	"context"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxDepth is the greatest number of segments in a chain of references.
const maxDepth = 5

// graph maps the key of each segment to the keys of the segments it refers to. Lists refer to none.
type graph map[string][]string

// check returns ErrCycle if the segment refers to itself, directly or through others, or is part of
// a chain longer than maxDepth.
func (g graph) check(key string) error {
	if c := g.cycle(key); c != nil {
		return ErrCycle.Sayf("the segment would be built on itself: %s", strings.Join(append(slices.Clone(c), key), " → ")).
			With(map[string][]string{"cycle": c})
	}
	under, over := g.chain(key), g.reversed().chain(key)
	if n := len(under) + len(over) - 1; n > maxDepth {
		slices.Reverse(over)
		chain := slices.Concat(over, under[1:])
		return ErrCycle.Sayf("%d segments would stand on each other, at most %d may: %s", n, maxDepth, strings.Join(chain, " → ")).
			With(map[string][]string{"cycle": {}, "chain": chain})
	}
	return nil
}

// cycle returns the shortest path from a segment back to itself, or nil. It is a breadth-first
// search.
func (g graph) cycle(key string) []string {
	from := map[string]string{}
	for queue := []string{key}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]] {
			if next == key {
				way := []string{queue[0]}
				for at := queue[0]; at != key; {
					at = from[at]
					way = append(way, at)
				}
				slices.Reverse(way)
				return way
			}
			if _, seen := from[next]; !seen {
				from[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// chain returns the longest chain of references that begins at a segment.
func (g graph) chain(key string) []string {
	longest := map[string][]string{}
	var from func(string) []string
	from = func(k string) []string {
		if c, done := longest[k]; done {
			return c
		}
		longest[k] = nil // ends the recursion on a cycle that key is not part of
		var best []string
		for _, next := range g[k] {
			if c := from(next); len(c) > len(best) {
				best = c
			}
		}
		longest[k] = append([]string{k}, best...)
		return longest[k]
	}
	return from(key)
}

func (g graph) reversed() graph {
	r := graph{}
	for from, list := range g {
		for _, to := range list {
			r[to] = append(r[to], from)
		}
	}
	return r
}

// lockReferences locks the references between a tenant's segments until the transaction ends. It
// locks a row of its own, since a reference may concern segments whose rows the transaction does
// not write. It is taken before the row of a segment, in this order everywhere, so that
// transactions do not deadlock.
func lockReferences(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO segment_turn (tenant_id) VALUES ($1)
		ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id`, tenant)
	return err
}

// loadGraph reads the references between a tenant's segments.
func loadGraph(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) (graph, error) {
	rows, err := tx.Query(ctx, `
		SELECT s.segment_key, o.segment_key
		FROM segment_reference r
		JOIN segment s ON s.tenant_id = r.tenant_id AND s.id = r.segment_id
		JOIN segment o ON o.tenant_id = r.tenant_id AND o.segment_key = r.name AND o.type = $2
		WHERE r.tenant_id = $1 AND r.kind = $3 ORDER BY 1, 2`, tenant, Dynamic, usage.Segment)
	edges, err := sqldb.Collect(rows, err, func(row func(...any) error) ([2]string, error) {
		var e [2]string
		err := row(&e[0], &e[1])
		return e, err
	})
	g := graph{}
	for _, e := range edges {
		g[e[0]] = append(g[e[0]], e[1])
	}
	return g, err
}
