// Package broadcast keeps mailings to an audience: what is said, to whom, by
// whom and when, and how far each has come.
//
// A broadcast begins as a draft, the only state in which it can be edited or
// deleted. Scheduling it asks every guard (Readiness); from then on only moves
// change it:
//
//	draft ── Schedule ──► scheduled ── Begin ──► sending ── Complete ──► completed
//	  ▲                     │   │                │  ▲  │
//	  └──── Unschedule ─────┘   │          Pause │  │  └──── Fail ──────► failed
//	                            │                ▼  │ Resume
//	                            │               paused
//	                            │
//	                            └── Cancel, from sending and paused too ─► cancelled
//
// What has ended (completed, failed, cancelled) can be archived, which hides it
// from lists and changes nothing else.
//
// Each move names the state it leaves in its statement and checks that a row
// moved, so two callers cannot both win, and writes its journal entry in the same
// transaction. The messages themselves belong to package outbox: a broadcast's
// send carries its id, and its progress is read from there.
package broadcast
