package deliver

import (
	"context"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// sendBySES sends a message by SES, and notes the id that SES gives to it.
func (w *worker) sendBySES(ctx context.Context, j *job, raw []byte) reply.Outcome {
	o, name := w.ses.Send(ctx, j.item.Email, raw)
	w.providerID = name
	reached := reply.Classify(o).Class != reply.Lane
	w.engine.stats.connection(w.settings, reached)
	return o
}

// acceptedBySES completes the result of a message that SES accepted: its delivery is confirmed later,
// by a notification.
func (w *worker) acceptedBySES(r *outbox.Result) {
	if r.State == outbox.Delivered {
		r.State, r.ProviderID = outbox.Sent, w.providerID
	}
}
