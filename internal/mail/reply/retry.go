package reply

import "time"

// schedule holds the waits after the first, second, … failed attempt; the
// last one repeats.
var schedule = [...]time.Duration{
	1 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	1 * time.Hour, 2 * time.Hour, 4 * time.Hour,
}

// spread is how far a wait may move either way, as a share of itself.
const spread = 0.2

// NextTry returns when a deferred message is due again: attempts is how many
// have failed so far, the last of them at failedAt. The number jitter, drawn
// from [0, 1) as by rand.Float64, moves the wait by up to a fifth either way;
// 0.5 leaves it as it is. When to give up is the caller's decision.
func NextTry(attempts int, failedAt time.Time, jitter float64) time.Time {
	wait := schedule[min(max(attempts, 1), len(schedule))-1]
	factor := 1 + spread*(2*min(max(jitter, 0), 1)-1)
	return failedAt.Add(time.Duration(float64(wait) * factor))
}
