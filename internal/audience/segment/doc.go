// Package segment stores the groups of contacts that a tenant writes to: static lists, whose
// members are added and removed; dynamic segments, whose members a rule finds; and the built-in
// dynamic segments.
//
//	definition ──rule.ParseDefinition──▶ rule.Tree ──▶ counts, members, audience
//
// Rules are evaluated when members or an audience are read, never from a cache. Only counts are
// stored: member_count_total is the number of contacts that the rule or list had when it was last
// counted, member_count the number of those that could be mailed. Counter counts on request, and the
// segments of small tenants for each reader; Refresher counts in the background; a list is also
// counted when its members change.
//
// A segment may refer to other segments, at most five deep and without cycles. A transaction that
// changes such references, or deletes a segment, first takes the tenant's lock (lockReferences), so
// that concurrent changes cannot create a cycle or a reference to a deleted segment.
//
// Its statements also read tables of other packages, which ARCHITECTURE.md lists, and never write
// them.
package segment
