// Package rule is the grammar by which contacts are chosen: the filters of a
// list, the definition of a segment, the condition of a sequence (contract 6.3
// and 7).
//
//	JSON ──Parse──▶ Tree ──SQL──▶ one predicate over contact c, for either dialect
//	                     ──Match─▶ yes or no, for a Subject held in memory
//
// A tree is parsed once, against what the tenant has declared (Schema), and is
// canonical from then on: aliases are resolved, values have the type of their
// field. SQL and Match mean the same; a property test holds them to it.
//
// Its statements read tables of packages beside and above it, and write none:
// segment_member, suppression, journal, outbox, outbox_stream, hit and
// engagement.
package rule
