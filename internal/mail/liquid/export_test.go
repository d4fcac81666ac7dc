package liquid

// WorkDone returns how many units of work were done with a budget, to within two
// looks at the clock.
func WorkDone(b *Budget) int { return b.looks * checkEvery }
