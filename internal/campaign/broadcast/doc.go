// Package broadcast stores mailings to an audience: content, audience, sender and schedule, and the
// progress of their sends.
//
// A broadcast is created as a draft, the only status in which it can be edited or deleted.
// Scheduling it checks its preconditions (Readiness); afterwards only transitions change it:
//
//	draft ── Schedule ──► scheduled ── Begin ──► sending ── Complete ──► completed
//	  ▲                     │   │                │  ▲  │
//	  └──── Unschedule ─────┘   │          Pause │  │  └──── Fail ──────► failed
//	                            │                ▼  │ Resume
//	                            │               paused
//	                            │
//	                            └── Cancel, from sending and paused too ─► cancelled
//
// A broadcast that has ended (completed, failed, cancelled) can be archived, which hides it from
// lists and has no other effect.
//
// The UPDATE of each transition has the expected status in its condition, and fails if no row was
// updated; of two concurrent callers only one succeeds. The journal entry is written in the same
// transaction. The messages belong to package outbox: a broadcast's send has an id of its own, and
// its progress is read from there.
package broadcast
