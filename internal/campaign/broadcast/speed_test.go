package broadcast

import (
	"math"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/message/outbox"
)

func TestSpeedIsThatOfTheLastMinutes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	// at returns samples every ten seconds over an interval given in seconds before now, each with
	// a fixed number of further messages.
	at := func(from, to, sent, each int) (list []outbox.Sample) {
		for ago := from; ago >= to; ago -= 10 {
			list = append(list, outbox.Sample{At: now.Add(-time.Duration(ago) * time.Second), Sent: sent})
			sent += each
		}
		return list
	}
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, test := range []struct {
		name    string
		samples []outbox.Sample
		begin   time.Time
		sent    int
		want    float64
		unknown bool
	}{
		{"just begun", nil, ago(4 * time.Second), 40, 10, false},
		{"just begun, nothing has left", nil, ago(4 * time.Second), 0, 0, false},
		{"this very moment", nil, now, 0, 0, true},
		{"half a minute", at(25, 5, 50, 100), ago(30 * time.Second), 300, 10, false},
		{"steady", at(118, 8, 1000, 100), ago(time.Hour), 2180, 10, false},
		{"fast at first, slow by now", append(at(200, 130, 0, 5000), at(120, 10, 40000, 10)...), ago(time.Hour), 40120, 1, false},
		{"nothing sent lately", at(119, 9, 500, 0), ago(time.Hour), 500, 0, false},
		{"resumed after a pause", append(at(119, 79, 0, 1000), at(18, 8, 5000, 20)...), ago(time.Hour), 5036, 2, false},
		{"resumed a moment ago", at(119, 79, 0, 1000), ago(time.Hour), 5001, 0, true},
		{"no samples for a long time", nil, ago(time.Hour), 5000, 0, true},
		{"planned again, so the start time is not used", at(8, 8, 700, 0), time.Time{}, 716, 2, false},
		{"a clock behind that of the process that took samples", at(10, -10, 70, 10), ago(time.Hour), 90, 2, false},
	} {
		got, known := currentRate(test.samples, test.begin, outbox.Sample{At: now, Sent: test.sent})
		if math.Abs(got-test.want) > 0.05*test.want || known == test.unknown {
			t.Errorf("%s: %v a second (known: %t), want %v", test.name, got, known, test.want)
		}
	}
}
