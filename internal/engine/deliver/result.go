package deliver

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
)

// resultOf returns the result of an attempt, from the class of its outcome (package reply) and the
// time for which the lane retries, counted from since. An uncertain attempt, which has no answer to
// the complete message, is retried once with the same Message-ID.
func resultOf(it outbox.Item, o reply.Outcome, maxAge time.Duration, since, now time.Time) outbox.Result {
	v := reply.Classify(o)
	r := outbox.Result{
		Item: it, At: now, Category: string(v.Category), Code: o.Code, Enhanced: o.Enhanced, Error: o.Text,
		Answered:  v.Class != reply.Lane && o.Code != 0,
		Uncertain: o.Uncertain,
		Reply:     o.Text,
	}
	switch v.Class {
	case reply.Accepted:
		r.State, r.Category, r.Error = outbox.Delivered, "", ""
	case reply.Hard, reply.Soft, reply.Block:
		r.State, r.BounceType = outbox.Bounced, string(v.Class)
	default:
		// Also an uncertain attempt: the server may have the message, or may not. It is sent again with the
		// same Message-ID and date, so that the copy can be recognised.
		r.Due = reply.NextTry(it.Attempts+1, now, rand.Float64())
		r.State = outbox.Queued
		if r.Due.Sub(since) > maxAge {
			setExpired(&r, v.Expired())
		}
	}
	return r
}

// setExpired ends a message whose time is over: as a bounce if a server ever answered, otherwise as
// our failure, since no server refused the address.
func setExpired(r *outbox.Result, class reply.Class) {
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

// waitingSince returns from when the time of a message counts whose lane cannot be reached: its
// first attempt or, before one, the time since which it could have been made.
func waitingSince(it outbox.Item, down time.Time) time.Time {
	if it.FirstAt != nil {
		return *it.FirstAt
	}
	if down.After(it.QueuedAt) {
		return down
	}
	return it.QueuedAt
}

// expired returns the result of a message whose lane has been down for longer than maxAge. A zero
// down means that the lane is not down; then nothing expires.
func expired(it outbox.Item, down time.Time, maxAge time.Duration, now time.Time) (outbox.Result, bool) {
	if down.IsZero() || now.Sub(waitingSince(it, down)) <= maxAge {
		return outbox.Result{}, false
	}
	r := outbox.Result{Item: it, At: now, Category: string(reply.Network), Error: "the lane cannot be reached"}
	setExpired(&r, reply.Lane)
	return r, true
}

// unsentResult returns the result of a message that was not sent for a reason that is not the
// server's. If err is nil, there was no time to send it.
func unsentResult(it outbox.Item, err error, now time.Time) outbox.Result {
	r := outbox.Result{Item: it, At: now, State: outbox.Queued, Due: now.Add(backoffFirst), Unsent: true}
	switch {
	case errors.Is(err, smtpclient.ErrBadAddress):
		r.State, r.SkipReason = outbox.Skipped, "invalid_email"
	case errors.Is(err, smtpclient.ErrBareNewline):
		r.State, r.Category, r.Error = outbox.Failed, string(reply.Other), "render_error: "+err.Error()
	}
	return r
}

// failedResult returns the result of a message that could not be built.
func failedResult(it outbox.Item, reason string, now time.Time) outbox.Result {
	return outbox.Result{Item: it, At: now, State: outbox.Failed, Category: string(reply.Other), Error: reply.Clean(reason)}
}
