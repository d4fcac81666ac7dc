package deliver

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/outbox"
)

// verdict says what becomes of a message after an attempt: the outcome, classed
// (package reply), and how long the lane keeps trying, counted from since. An
// attempt that broke off between the message and its answer is made once more,
// with the same Message-ID.
func verdict(it outbox.Item, o reply.Outcome, maxAge time.Duration, since, now time.Time) outbox.Result {
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
		r.Due = reply.NextTry(it.Attempts+1, now, rand.Float64())
		r.State = outbox.Queued
		if r.Due.Sub(since) > maxAge {
			setFailed(&r, v.Expired())
		}
	}
	return r
}

// setFailed ends a message for which there is no time left: as a bounce if a server
// ever answered, else as a failure of ours, since then nobody refused the address.
func setFailed(r *outbox.Result, class reply.Class) {
	r.Due = time.Time{}
	switch {
	case class != reply.Lane && (r.Answered || r.Item.Answered):
		r.State, r.BounceType = outbox.Bounced, string(class)
	case r.Item.Answered:
		r.State, r.BounceType = outbox.Bounced, string(reply.Soft)
	default:
		r.State, r.Error = outbox.Failed, "expired: "+r.Error
	}
}

// waitingSince is from when the time of a message counts that finds its lane out
// of reach: its first attempt or, before one, from when it could have been made.
func waitingSince(it outbox.Item, down time.Time) time.Time {
	if it.FirstAt != nil {
		return *it.FirstAt
	}
	if down.After(it.QueuedAt) {
		return down
	}
	return it.QueuedAt
}

// expired ends a message whose lane has been out of reach for too long. A zero
// down says that the lane is not to blame; then nothing expires.
func expired(it outbox.Item, down time.Time, maxAge time.Duration, now time.Time) (outbox.Result, bool) {
	if down.IsZero() || now.Sub(waitingSince(it, down)) <= maxAge {
		return outbox.Result{}, false
	}
	r := outbox.Result{Item: it, At: now, Category: string(reply.Network), Error: "the lane cannot be reached"}
	setFailed(&r, reply.Lane)
	return r, true
}

// unsent says what becomes of a message that was not handed over for a reason
// that is not the server's; without err there was no time to.
func unsent(it outbox.Item, err error, now time.Time) outbox.Result {
	r := outbox.Result{Item: it, At: now, State: outbox.Queued, Due: now.Add(restFirst), Unsent: true}
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
