// Package webhook stores the webhook endpoints of tenants and the deliveries to them.
//
// Follower turns entries of the journal into deliveries: one row for each event and endpoint, with
// the body of the request. Package engine/notify makes the requests, which are signed as Standard
// Webhooks describe (https://www.standardwebhooks.com).
//
//	journal ─► Follower ─► pending ──attempt──► delivered
//	                          │ ▲                   ▲
//	                   failure│ │Replay             │
//	                          ▼ │                   │
//	                        retrying ───attempt─────┤
//	                            └──last attempt─────┴─► failed
//
// A delivery keeps its id in all attempts, and the receiver gets it as webhook-id. Delivery is at
// least once: a process that is killed after the answer and before Commit leaves the delivery
// pending.
//
// One process at a time delivers to an endpoint: the one with the lease on its row of webhook_queue
// (Lease). The row has an epoch, which increases with each lease, and results of an older epoch are
// dropped. The process attempts the first deliveries about one subject, such as a contact, one after
// another in the order of the events. It does not wait for retries.
//
// An endpoint is healthy, failing (its last attempt failed) or disabled: by a user, because it
// answered 410, or because all attempts of five days failed. The waiting deliveries of a disabled
// endpoint fail; they can be replayed.
package webhook
