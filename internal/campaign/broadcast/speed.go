package broadcast

import (
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/message/outbox"
)

// The rate of a send is that of the last two minutes. A gap of more than half a minute between
// samples ends the interval: no samples are taken while the send is paused or no process runs.
const (
	speedWindow  = 2 * time.Minute
	maxSampleGap = 30 * time.Second
)

// currentRate returns the current rate of a send in messages per second. Samples are ordered by time;
// begin is when its first message could be sent, now the current state. The rate is unknown for a
// moment after a pause.
func currentRate(samples []outbox.Sample, begin time.Time, now outbox.Sample) (perSecond float64, known bool) {
	list := append([]outbox.Sample{{At: begin}}, samples...)
	first := now
	for i := len(list) - 1; i >= 0; i-- {
		if s := list[i]; s.At.Before(now.At.Add(-speedWindow)) || first.At.Sub(s.At) > maxSampleGap {
			break
		} else if s.At.Before(first.At) {
			first = s
		}
	}
	if first == now {
		return 0, false
	}
	took := max(now.At.Sub(first.At), time.Second)
	return float64(max(now.Sent-first.Sent, 0)) / took.Seconds(), true
}

// setRate sets the rate, and the time at which the send ends at that rate.
func (p *Progress) setRate(perSecond float64, now time.Time) {
	p.PerMinute, p.ETA = int(math.Round(60*perSecond)), nil
	if p.Phase == PhaseSending && perSecond > 0 && p.Waiting > 0 {
		p.ETA = new(now.Add(time.Duration(float64(p.Waiting) / perSecond * float64(time.Second))))
	}
}
