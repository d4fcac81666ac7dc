// Package rule implements the rules by which contacts are selected: the filters of a list, the
// definition of a segment, the condition of a sequence.
//
//	JSON ──ParseFilters, ParseDefinition──▶ Tree ──Condition─▶ one predicate over contact c
//	  ▲                                      │ │
//	  └────────MarshalJSON, Decode───────────┘ └────Match────▶ a bool, for a Subject in memory
//
// A rule is parsed against the tenant's Schema into a canonical Tree: aliases are resolved, and
// values have the type of their field. A stored rule is read by Decode, which accepts references to
// records that no longer exist; Warnings lists these. Condition and Match are equivalent in both
// databases, which property tests check.
//
// Semantics that are not obvious:
//
//   - A value is set or unset; "" is unset. A negative operator holds exactly where the positive one does not, and therefore for unset values.
//   - Texts are compared ignoring case, letter by letter (like.go): "ß" equals "ẞ" but not "ss". Enum values and tags are compared exactly.
//   - A time written with milliseconds or less means that whole millisecond, which is how the API shows times, so that a value read can be used in a rule.
//   - A field of type date uses the day of a date and time as written. "In the last" and "in the next" both include today.
//   - Adding months or years ends at the last day of the month if the day does not exist. An anniversary is at least one year after the date; that of 29 February is on the 28th in other years. For fields with times, anniversaries of dates before 1900 are not found.
//   - A range of times of day may include midnight: 23:00 is between 22:00 and 06:00.
//   - NotFollowed is no negation of Followed. While the time of a first event runs, neither holds, unless another first event was followed.
//   - A reference to a deleted record is ignored: of two lists, one of them deleted, the other counts.
//
// Its statements read tables of other packages, which ARCHITECTURE.md lists, and write none.
package rule
