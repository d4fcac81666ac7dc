// Package rule is the grammar by which contacts are chosen: the filters of a
// list, the definition of a segment, the condition of a sequence.
//
//	JSON ──ParseFilters, ParseDefinition──▶ Tree ──Condition─▶ one predicate over contact c
//	  ▲                                      │ │
//	  └────────MarshalJSON, Decode───────────┘ └────Match────▶ yes or no, for a Subject in memory
//
// A tree is parsed once, against what the tenant has declared (Schema), and is
// canonical from then on: aliases are resolved, values have the type of their
// field. What was stored is read by Decode, which takes what has lost something
// it refers to; Warnings tells what. Condition and Match mean the same, in both
// databases; property tests hold them to it.
//
// How cases are decided that callers may wonder about:
//
//   - A value is set or it is not; "" is not. An operator that denies holds
//     exactly where the one it denies does not, so also for what is unset.
//   - Texts are equal whatever their case, letter by letter (like.go): "ß" is
//     "ẞ" and not "ss". Enum values and tags are compared as they are.
//   - A moment that is written with milliseconds or less means that millisecond,
//     as the API shows it, so what was read can be asked for.
//   - A field that holds days takes the day of a date and time as it is written.
//     "In the last" and "in the next" both count today.
//   - Months and years that have no such day end at their last. An anniversary is
//     at least a year after, and that of 29 February is the 28th where there is
//     no 29th. Of fields that hold moments, those of 1900 and later are known.
//   - Times of day may go past midnight: 23:00 is between 22:00 and 06:00.
//   - Something that is gone has no part in its leaf: of two lists, one of them
//     deleted, the other counts.
//
// Its statements read tables of packages beside and above it, and write none:
// segment_member, suppression, journal, outbox, outbox_mix, outbox_note, send, hit, engagement
// and mail_domain.
package rule
