// Package trigger decides when something happens that sequences and automations react to.
//
// A Trigger is a kind of occurrence and what it must be like. A Matcher finds the entries of the
// journal that fire a trigger, for contacts that satisfy its rule. What a trigger starts is the
// business of the package that owns it: its journal.Follower follows EntryTypes, loads its active
// triggers and calls Matcher.Fired for each, within the transaction that starts what they start.
// Since the cursor of the follower commits with it, an entry fires a trigger exactly once.
package trigger
