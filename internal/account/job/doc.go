// Package job runs long work in the background: imports, exports, and actions on many contacts.
//
// A job is a row that any process may lease. It runs in steps: the changes of a step, its counts
// and the new checkpoint commit in one transaction that checks the lease's epoch. So if a process
// dies or loses its lease, no step is half done or done twice, and the next process that leases the
// job continues after the last committed step.
//
//	queued ─► running ─┬─► completed
//	   │         │     └─► failed      a fault: code and message
//	   └─────────┴───────► cancelled   on request, at any time before the end
//
// An error that is no fault is an outage: the job is retried after a pause that grows with each
// retry. Of a tenant's jobs of one kind, one runs at a time, in order of creation. Between tenants,
// the one served longest ago comes first, and a long job yields to waiting ones.
//
// Files that jobs read and write are stored in the database in chunks (File), until a week after
// the job has ended.
package job
