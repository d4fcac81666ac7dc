package broadcast

import (
	"math"
	"time"

	"github.com/packetboat/packetboat/internal/outbox"
)

// How the speed of a send is read: from what left in the last two minutes, unless
// it stood still for half of one, since nobody looked then: it was paused, or
// nothing was running.
const (
	recently = 2 * time.Minute
	still    = 30 * time.Second
)

// speed returns how many messages a second a send has handed over of late.
// Samples are in order of time; begin is when its first message could leave, now
// how far it is. It is not known for a moment after a pause.
func speed(samples []outbox.Sample, begin time.Time, now outbox.Sample) (perSecond float64, known bool) {
	list := append([]outbox.Sample{{At: begin}}, samples...)
	first := now
	for i := len(list) - 1; i >= 0; i-- {
		if s := list[i]; s.At.Before(now.At.Add(-recently)) || first.At.Sub(s.At) > still {
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

// setRate notes how fast the send goes, and when it is over if that stays so.
func (p *Progress) setRate(perSecond float64, now time.Time) {
	p.PerMinute, p.ETA = int(math.Round(60*perSecond)), nil
	if p.Phase == PhaseSending && perSecond > 0 && p.Waiting > 0 {
		p.ETA = new(now.Add(time.Duration(float64(p.Waiting) / perSecond * float64(time.Second))))
	}
}
