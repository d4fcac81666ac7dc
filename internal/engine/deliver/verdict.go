package deliver

import (
	"errors"
	"math/rand/v2"
	"time"

	"packetboat/internal/mail/reply"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/outbox"
)

// verdict says what becomes of a message after an attempt: the outcome, classed
// (package reply), and how long the lane keeps trying. An attempt that broke off
// between the message and its answer is made once more, with the same Message-ID.
func verdict(it outbox.Item, o reply.Outcome, maxAge time.Duration, now time.Time) outbox.Result {
	v := reply.Classify(o)
	r := outbox.Result{
		Item: it, At: now, Category: string(v.Category), Code: o.Code, Enhanced: o.Enhanced, Error: o.Text,
		Answered:  v.Class != reply.Lane && o.Code != 0,
		Uncertain: o.Uncertain,
	}
	switch v.Class {
	case reply.Accepted:
		r.State, r.Category, r.Error = outbox.Delivered, "", ""
	case reply.Hard, reply.Soft, reply.Block:
		r.State, r.BounceType = outbox.Bounced, string(v.Class)
	default:
		again(&r, v, maxAge, now)
	}
	return r
}

// again puts a message off to its next attempt, or ends it when there is no time
// for one: as a bounce if a server ever answered, else as a failure of ours, since
// then nobody refused the address (contract 9.4).
func again(r *outbox.Result, v reply.Verdict, maxAge time.Duration, now time.Time) {
	r.Due = reply.NextTry(r.Item.Attempts+1, now, rand.Float64())
	if r.Due.Sub(r.Item.QueuedAt) <= maxAge {
		r.State = outbox.Queued
		return
	}
	switch {
	case v.Expired() != reply.Lane:
		r.State, r.BounceType = outbox.Bounced, string(v.Expired())
	case r.Item.Answered:
		r.State, r.BounceType = outbox.Bounced, string(reply.Soft)
	default:
		r.State = outbox.Failed
		r.Error = "expired: " + r.Error
	}
}

// unsent says what becomes of a message that was not handed over for a reason
// that is not the server's.
func unsent(it outbox.Item, err error, now time.Time) outbox.Result {
	r := outbox.Result{Item: it, At: now, State: outbox.Queued, Due: now}
	switch {
	case errors.Is(err, smtpclient.ErrBadAddress):
		r.State, r.SkipReason = outbox.Skipped, "invalid_email"
	case errors.Is(err, smtpclient.ErrBareNewline):
		r.State, r.Category, r.Error = outbox.Failed, string(reply.Other), "render_error: "+err.Error()
	}
	return r
}

// failed says that a message could not be made.
func failed(it outbox.Item, reason string, now time.Time) outbox.Result {
	return outbox.Result{Item: it, At: now, State: outbox.Failed, Category: string(reply.Other), Error: reply.Clean(reason)}
}
