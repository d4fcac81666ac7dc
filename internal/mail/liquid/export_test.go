package liquid

// WorkDone returns how many units of work were done with a budget, to within two
// reads of the clock.
func WorkDone(b *Budget) int { return b.clockReads * checkEvery }
