// Package sequence stores sequences, which lead contacts along a graph of steps, and the contacts
// that are in them (enrollments).
//
//	draft ──activate──▶ active ⇄ paused        draft, active, paused ──archive──▶ archived ──▶ draft
//
// A sequence is a graph of nodes: mails, waits, conditions, changes of the contact. Its trigger
// enrolls contacts when something happens; callers enroll them too. An enrollment is at one node,
// and is due at a time, at which package engine/flow carries out the node and moves the enrollment
// on. All effects of a step are rows of the same transaction: the mail in the outbox, the change of
// the contact, the entries of the journal, and the enrollment's next node. A process that is killed
// therefore neither skips nor repeats a step.
//
// The graph is stored and checked as a whole (Check), so that an active sequence has no broken
// step, except for references to records that were deleted later: such a step does nothing, or
// for a mail, skips the contact.
//
// Each enrollment has a log of its steps (record), to which the statements that move it append: it
// says when it entered and left which nodes, by which way, and why (LoadHistory). A log is bounded;
// how many of the first steps it has lost is known from how often nodes were entered.
//
// Each node that sends has a send of its own, which is never sealed. The number of a contact's
// visit of the node makes its messages unique.
package sequence
