// Package segment holds who a tenant writes to: static lists, whose members are
// added and removed, dynamic segments, whose members a rule finds, and the
// dynamic ones that are built in.
//
//	definition ──rule.ParseDefinition──▶ rule.Tree ──▶ counts, members, audience
//
// Rules are evaluated when somebody asks, never from caches. Only the counts
// are kept: member_count_total is how many the rule or the list held when it was
// last counted, member_count how many of them could be mailed. Counter counts
// for whoever asks, Refresher in the background; a list is also counted when its
// members change.
//
// A segment may be built on others, five deep and never on itself. Who changes
// or deletes what others may refer to takes turns (turn), so that this stays
// true whatever happens at once.
//
// Its statements read tables of other packages, and write none: contact,
// contact_activity and suppression, what rules read, and of broadcasts, which
// are above it, whether they exist.
package segment
