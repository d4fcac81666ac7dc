// Package trigger decides when something happens that sequences and automations react to.
//
// A Trigger is a kind of occurrence and what it must be like. A Matcher finds the entries of the
// journal that fire a trigger, for contacts that satisfy its rule. What a trigger starts is the
// business of the package that owns it: its journal.Follower follows EntryTypes, loads its active
// triggers and calls Matcher.Fired for each, within the transaction that starts what they start.
// Since the cursor of the follower commits with it, an entry fires a trigger exactly once.
//
// Entering and leaving a segment are entries too. For each segment that an active holder follows
// (Watch), the package records the members:
//
//	Watch → filling (those inside are recorded) → ready ⇄ compared → ending (deleted)
//
// The Follower evaluates rules for the contacts that entries are about, the Engine for all contacts in
// pages. Both lock the row of the watch, write the members and append the entries in one transaction,
// so a move is reported once, and none is lost when a process is killed.
//
// For each trigger by date that an active holder has, the package stores when it fires next for which
// contact. The Follower computes that anew when the contact's date or time zone changes, the Engine
// once for all contacts in pages. When it is due, the Engine appends an entry and stores what is to
// come next, in one transaction.
//
// Replay finds out when a trigger would have fired in the past, by the entries that are stored, or by the
// dates of contacts.
package trigger
