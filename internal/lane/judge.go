package lane

import (
	"time"

	"github.com/packetboat/packetboat/internal/traffic"
)

// The rules by which a lane is judged.
const (
	shortly       = 2 * time.Minute // all tries failed in this time: it is down
	downTries     = 20              // if there were so many
	lately        = 5 * time.Minute // this share of the tries failed in this time: it is degraded
	degradedShare = 0.20
	degradedTries = 10
	suspectTries  = 3
	justNow       = time.Minute // whoever handed a message over in this time is not down
)

// ProbeEvery is how often a lane that is not healthy is tried.
const ProbeEvery = time.Minute

// Window is how far back the traffic goes that Judge wants to see.
const Window = lately + traffic.Width

// Judge returns the lane's health in the light of what it tried lately.
//
// A lane that is down is healthy again as soon as a try succeeds. What came
// before it was found healthy is forgotten, or the failures of before would
// take it down again.
func (h Health) Judge(buckets []traffic.Bucket, now time.Time) Health {
	soon, late := h.sum(buckets, now, shortly), h.sum(buckets, now, lately)
	switch {
	case h.State == Down && soon.Tries > soon.Unreached:
		return h.become(Healthy, now)
	case h.State == Down, soon.Tries >= downTries && soon.Unreached >= soon.Tries && !working(buckets, now):
		return h.become(Down, now)
	case late.Tries >= degradedTries && traffic.Rate(late.Unreached, late.Tries) >= degradedShare:
		return h.become(Degraded, now)
	case h.State == Degraded && late.Tries > 0 && late.Tries < degradedTries && late.Unreached > 0:
		return h // too few to say that it is well again
	}
	return h.become(Healthy, now)
}

// Suspect reports whether the lane may be down, but has not tried often enough to
// say so: whoever sends rests after a failure. To try it more often tells.
func (h Health) Suspect(buckets []traffic.Bucket, now time.Time) bool {
	soon := h.sum(buckets, now, shortly)
	return h.State != Down && soon.Tries >= suspectTries && soon.Unreached >= soon.Tries && !working(buckets, now)
}

// sum adds up what counts of the last while.
func (h Health) sum(buckets []traffic.Bucket, now time.Time, while time.Duration) traffic.Counts {
	since := now.Add(-while)
	if h.State == Healthy && h.Since.After(since) {
		since = h.Since
	}
	return traffic.Sum(buckets, since)
}

func working(buckets []traffic.Bucket, now time.Time) bool {
	n := traffic.Sum(buckets, now.Add(-justNow))
	return n.Delivered+n.Deferred > 0
}

// Probed returns the lane's health after a probe; failure says what went wrong,
// if anything did. What is down is healthy again when it answers; what only
// fails at times has to prove itself by its work.
func (h Health) Probed(failure string, now time.Time) Health {
	if failure == "" && h.State == Down {
		h = h.become(Healthy, now)
	}
	if failure != "" {
		h.LastError = failure
	}
	h.ProbedAt = &now
	return h
}

// DueForProbe reports whether the lane is to be tried.
func (h Health) DueForProbe(now time.Time) bool {
	const early = time.Second // rather than a whole look late
	return h.State != Healthy && (h.ProbedAt == nil || !now.Before(h.ProbedAt.Add(ProbeEvery-early)))
}

func (h Health) become(s State, now time.Time) Health {
	if h.State == s {
		return h
	}
	h.State, h.Since = s, now
	if s == Healthy {
		h.LastError, h.ProbedAt = "", nil
	}
	return h
}
