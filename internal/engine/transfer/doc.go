// Package transfer imports contacts from CSV files, and exports contacts, what became of a send,
// and the audit log.
//
// What an import did is kept for a week, so that it can be undone (StartUndo).
//
// All are jobs (package job). An import reads its file as a stream, one row at a time, and saves a
// batch of rows in each step. The offset in the file commits with the rows, so that no row is lost
// or applied twice when a process dies. An invalid row is counted and written to the job's errors
// file, and the import continues. Memory is bounded by the longest row (MaxRow) and the rows of a
// batch, not by the file.
//
// An import writes like an upsert, with one exception: it never overrides a contact's own
// decisions. A refused subscription stays refused, and a contact that unsubscribed, bounced,
// complained or was deleted keeps its status.
package transfer
