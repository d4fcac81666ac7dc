// Package columnar counts contacts by their attributes in memory: columns of table contact, custom fields, and whether
// an address is on the suppression list. A count takes some milliseconds for a million contacts, where the
// database needs a second to read them (docs/adr/0023-columns-in-memory.md).
//
// Counts are exact. Each is made within an evaluation: the log of changed contacts (contactlog) says which contacts
// have changed between the state of the database that the values in memory are of and the one that the evaluation
// sees, and these are read again first. Where that is not possible, or for rules about anything else, Count says so, and
// the caller counts with SQL.
//
// The attributes of a tenant are loaded in the background, by Loader, when its contacts were counted by them twice in
// a few minutes. They are forgotten when they were not used for a while, and read anew every hour, so that erased
// values are not kept for longer.
//
// The package reads tables contact and suppression.
package columnar
