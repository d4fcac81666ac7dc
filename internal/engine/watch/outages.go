package watch

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/people/outage"
)

// checkOutages opens and ends outages of providers' directories, and moves a page of the bounces that
// they hold. It reports whether there are more.
func (e *Engine) checkOutages(ctx context.Context, now time.Time) (more bool, err error) {
	changed, err := outage.Evaluate(ctx, e.DB, now)
	for _, o := range changed {
		log := e.Log.With("outage", o.ID, "provider", o.Directory, "unknown", o.Unknown, "recipients", o.Answered)
		if o.EndedAt == nil {
			log.Warn("provider reports many recipients as unknown; their bounces are held until the operator decides", "since", o.Since)
		} else {
			log.Info("provider's answers are normal again; its held bounces wait for the operator's decision")
		}
	}
	if err != nil {
		return false, err
	}
	return outage.Settle(ctx, e.DB, now)
}
