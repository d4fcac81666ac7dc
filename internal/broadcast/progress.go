package broadcast

import (
	"context"
	"math"
	"time"

	"packetboat/internal/outbox"
	"packetboat/internal/sqldb"
)

// Phase says what a send is doing.
type Phase string

// The phases of a send (contract G25).
const (
	PhasePreparing Phase = "preparing" // the audience is being put into the outbox
	PhaseSending   Phase = "sending"
	PhasePaused    Phase = "paused"
	PhaseDone      Phase = "done"
)

// Progress is how far a send has come.
type Progress struct {
	outbox.Sums
	Phase      Phase
	Excluded   map[string]int // who of the audience gets nothing, by reason
	Percent    int            // of recipients handed over
	PerMinute  int            // the average since the send began
	ETA        *time.Time     // nil: nothing to go by
	LastSendAt *time.Time
	Run        Run
}

// LoadProgress returns how far b has come; nil before its preparation began.
func LoadProgress(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) (*Progress, error) {
	run, err := LoadRun(ctx, db, b.Tenant, b.ID)
	if err != nil || run.Broadcast == "" {
		return nil, err
	}
	stream, err := outbox.Load(ctx, db, b.Tenant, string(b.ID))
	if err != nil {
		return nil, err
	}
	return new(progressOf(b, run, stream, now)), nil
}

func progressOf(b Broadcast, run Run, stream outbox.Progress, now time.Time) Progress {
	p := Progress{Sums: stream.Sums, Excluded: run.Excluded, LastSendAt: stream.LastSendAt, Run: run, Percent: Percent(stream.Sums)}
	switch {
	case b.Status.Ended():
		p.Phase = PhaseDone
	case b.Status == Paused:
		p.Phase = PhasePaused
	case run.PreparedAt == nil:
		p.Phase = PhasePreparing
	default:
		p.Phase = PhaseSending
	}
	if stream.LastSendAt == nil || run.PreparedAt == nil {
		return p
	}
	took := max(stream.LastSendAt.Sub(*run.PreparedAt), time.Second)
	perSecond := float64(p.Sent) / took.Seconds()
	p.PerMinute = int(math.Round(60 * perSecond))
	if p.Phase == PhaseSending && perSecond > 0 && p.Waiting > 0 {
		p.ETA = new(now.Add(time.Duration(float64(p.Waiting) / perSecond * float64(time.Second))))
	}
	return p
}

// Percent returns how much of a stream was handed over, rounded.
func Percent(s outbox.Sums) int {
	if s.Total == 0 {
		return 0
	}
	return int(math.Round(100 * float64(s.Sent) / float64(s.Total)))
}
