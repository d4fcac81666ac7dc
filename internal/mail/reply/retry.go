package reply

import "time"

// schedule is the waiting times after the first, second, … failed attempt; the last one repeats.
var schedule = [...]time.Duration{
	1 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	1 * time.Hour, 2 * time.Hour, 4 * time.Hour,
}

// spread is how far a wait is randomly moved either way, as a fraction of itself.
const spread = 0.2

// NextTry returns when a deferred message is due again. attempts is the number of failed attempts so
// far, the last of them at failedAt. jitter, a random number in [0, 1), moves the wait by up to a
// fifth either way; 0.5 does not move it. The caller decides when to give up.
func NextTry(attempts int, failedAt time.Time, jitter float64) time.Time {
	wait := schedule[min(max(attempts, 1), len(schedule))-1]
	factor := 1 + spread*(2*min(max(jitter, 0), 1)-1)
	return failedAt.Add(time.Duration(float64(wait) * factor))
}
