package lane

import (
	"time"

	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// The thresholds for the states.
const (
	downWindow     = 2 * time.Minute // down if all attempts in this interval failed
	downTries      = 20              // and there were at least this many
	degradedWindow = 5 * time.Minute // degraded if this share of the attempts in this interval failed
	degradedShare  = 0.20
	degradedTries  = 10
	suspectTries   = 3
	recoveryWindow = time.Minute // a lane that delivered in this interval is not down
)

// ProbeEvery is the interval of probing an unhealthy lane.
const ProbeEvery = time.Minute

// Window is how much traffic Evaluate needs.
const Window = degradedWindow + traffic.Width

// Evaluate returns the lane's health according to its recent traffic.
//
// A lane that is down becomes healthy as soon as an attempt succeeds. Traffic from before that is
// not considered, since its failures would take the lane down again.
func (h Health) Evaluate(buckets []traffic.Bucket, now time.Time) Health {
	soon, late := h.sum(buckets, now, downWindow), h.sum(buckets, now, degradedWindow)
	switch {
	case h.State == Down && soon.Tries > soon.Unreached:
		return h.withState(Healthy, now)
	case h.State == Down, soon.Tries >= downTries && soon.Unreached >= soon.Tries && !hasSuccess(buckets, now):
		return h.withState(Down, now)
	case late.Tries >= degradedTries && traffic.Rate(late.Unreached, late.Tries) >= degradedShare:
		return h.withState(Degraded, now).withoutOldError(buckets)
	case h.State == Degraded && late.Tries > 0 && late.Tries < degradedTries && late.Unreached > 0:
		return h.withoutOldError(buckets) // too few attempts to consider it healthy
	}
	return h.withState(Healthy, now)
}

// withoutOldError returns the health without the error of the last probe if a server has answered about a message
// since then.
func (h Health) withoutOldError(buckets []traffic.Bucket) Health {
	if h.LastError != "" && h.ProbedAt != nil {
		if n := traffic.Sum(buckets, *h.ProbedAt); n.Delivered+n.Deferred > 0 {
			h.LastError = ""
		}
	}
	return h
}

// Suspect reports whether the lane may be down but has too few attempts to decide, since senders
// pause after a failure. It should be probed.
func (h Health) Suspect(buckets []traffic.Bucket, now time.Time) bool {
	soon := h.sum(buckets, now, downWindow)
	return h.State != Down && soon.Tries >= suspectTries && soon.Unreached >= soon.Tries && !hasSuccess(buckets, now)
}

// sum returns the counts of the last interval, as far as they are considered: what happened before a lane
// went down or recovered says nothing about it now.
func (h Health) sum(buckets []traffic.Bucket, now time.Time, while time.Duration) traffic.Counts {
	since := now.Add(-while)
	if h.State != Degraded && h.Since.After(since) {
		since = h.Since
	}
	return traffic.Sum(buckets, since)
}

func hasSuccess(buckets []traffic.Bucket, now time.Time) bool {
	n := traffic.Sum(buckets, now.Add(-recoveryWindow))
	return n.Delivered+n.Deferred > 0
}

// AfterProbe returns the lane's health after a probe; failure is what went wrong, or "". A lane that
// was down becomes healthy when a probe succeeds; one that is degraded only when its traffic shows
// it, but has no error any more.
func (h Health) AfterProbe(failure string, now time.Time) Health {
	if failure == "" && h.State == Down {
		h = h.withState(Healthy, now)
	}
	h.LastError, h.ProbedAt = failure, &now
	return h
}

// AfterTest returns the lane's health after a test by a user; failure is why there was no session, or "". A
// failure takes the lane down at once, without waiting for attempts of mail. One through which mail goes out,
// as delivers says, is only degraded until its traffic is evaluated: the server may limit connections.
func (h Health) AfterTest(failure string, delivers bool, now time.Time) Health {
	switch {
	case failure == "":
	case delivers && h.State == Healthy:
		h = h.withState(Degraded, now)
	case !delivers:
		h = h.withState(Down, now)
	}
	return h.AfterProbe(failure, now)
}

// DueForProbe reports whether the lane should be probed now.
func (h Health) DueForProbe(now time.Time) bool {
	const early = time.Second // a little early, rather than one tick late
	return h.State != Healthy && (h.ProbedAt == nil || !now.Before(h.ProbedAt.Add(ProbeEvery-early)))
}

func (h Health) withState(s State, now time.Time) Health {
	if h.State == s {
		return h
	}
	h.State, h.Since = s, now
	if s == Healthy {
		h.LastError, h.ProbedAt = "", nil
	}
	return h
}
