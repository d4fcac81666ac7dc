// Package job runs long work: imports, exports, actions on very many contacts.
//
// A job is a row that any process may lease. It is done in steps: what a step
// changes, what it counts and the place from which to go on commit in one
// transaction, under the lease's epoch. So a process that dies, or is believed
// dead, leaves neither half a step nor one done twice, and whoever leases the
// job next goes on behind the last step.
//
//	queued ─► running ─┬─► completed
//	   │         │     └─► failed      a fault: code and message
//	   └─────────┴───────► cancelled   by somebody, at any time before the end
//
// What is no fault is an outage: the job stays, and is tried again after a pause
// that grows. A tenant's jobs of one kind take turns, in their order; between
// tenants, who was served longest ago comes first, and a long job makes room for
// those that wait.
//
// Files that jobs read and write are kept in chunks in the database (File), for
// a week after the job has ended.
package job
