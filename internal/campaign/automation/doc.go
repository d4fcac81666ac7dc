// Package automation stores automations: rules of a tenant that carry out actions for a contact when
// something happens to it.
//
//	active ⇄ paused        active, paused ──▶ archived ──▶ active, paused
//
// An automation has a trigger, as sequences have, and up to ten actions, which are steps of sequences
// that change a contact or do something outside. Follower finds the entries of the journal that fire
// triggers, and adds a run for each: one trigger event of one contact. Since its cursor commits with the
// runs, an event starts a run exactly once. Package engine/flow then carries out the runs:
//
//	Follower ─► pending ──all actions──► completed, failed
//	                └──the contact or the automation is gone, or too many runs──► skipped
//
// All effects of a run, its result and the sums of its automation are one transaction. A process that is
// killed therefore neither skips nor repeats a run.
//
// The trigger of an automation may fire because of its own actions, or those of others. So that they
// do not go on for ever, a contact gets at most MaxPerHour runs of an automation within an hour. The
// event after that starts nothing, which ends the cycle.
//
// Only active automations whose triggers may be fired by an entry are read for it
// (trigger.Trigger.Lookup).
package automation
