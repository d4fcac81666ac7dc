package job

// Claim leases a job as an engine does, without running it, as a process does that ends then.
var Claim = claim
