// Package transfer moves contacts in and out: imports of CSV files and exports.
//
// Both are jobs (package job). An import reads its file as a stream, a row at a
// time, and saves a batch of rows in each step; the place in the file commits
// with the rows, so that a process that dies neither loses a row nor applies one
// twice. A row that is wrong is counted, told of in the errors file of the job,
// and never stops the rest. Memory is bounded by the longest row (MaxRow) and the
// rows of a batch, not by the file.
//
// An import writes as an upsert does, with one exception: what people said
// themselves stands. A subscription that is refused stays refused, and nobody
// who left, bounced, complained or was deleted comes back.
package transfer
