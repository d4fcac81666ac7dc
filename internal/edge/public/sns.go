package public

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/mail/hook"
	"github.com/packetboat/packetboat/internal/mail/sns"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// settling is how long SES may report on a message before its id is stored here: it reports at once,
// and the id is committed together with the results of other messages.
const settling = 2 * time.Minute

// ses takes notifications of SES, which SNS posts. The token names the lane. A message is only acted
// upon if SNS has signed it and its topic is one of the lane's: anyone can have a topic at SNS.
func (h *Hooks) ses(w http.ResponseWriter, r *http.Request) {
	tenant, config, err := h.Keys.VerifyHook(r.PathValue("token"))
	var at lane.Config
	if err == nil {
		at, err = lane.ByID(r.Context(), h.DB, tenant, config)
	}
	if h.refuseToken(w, r, err) {
		return
	}
	if at.Type != lane.SES {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHookBody))
	if err != nil {
		refuseBody(w, err, "the body could not be read")
		return
	}
	m, err := sns.Parse(body)
	switch {
	case err != nil:
		http.Error(w, "the body must be a message of Amazon SNS", http.StatusBadRequest)
		return
	case !slices.Contains(at.SES.TopicARNs, m.TopicArn):
		h.Receiver.CountHook("unknown_topic")
		http.Error(w, "the topic is not one of the MTA config's topic_arns", http.StatusForbidden)
		return
	}
	switch err := h.SNS.Verify(r.Context(), m); {
	case errors.Is(err, sns.ErrUnavailable):
		h.fail(w, err)
		return
	case err != nil:
		h.Receiver.CountHook("unproven")
		http.Error(w, "the message is not signed by Amazon SNS", http.StatusForbidden)
		return
	}
	if m.Type == sns.SubscriptionConfirm {
		if err := h.SNS.Confirm(r.Context(), m); err != nil {
			h.fail(w, err)
			return
		}
		h.Log.Info("subscription to a topic of SNS confirmed", "tenant", tenant, "lane", config, "topic", m.TopicArn)
	}
	if m.Type == sns.Notification {
		events, err := hook.SES(m.MessageID, m.Message)
		if err != nil { // SES tests a new topic with a sentence
			h.Receiver.CountHook("none")
		}
		if err := h.recordSES(r.Context(), tenant, config, events); err != nil {
			h.fail(w, err)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// recordSES records events of SES about messages of a lane.
func (h *Hooks) recordSES(ctx context.Context, tenant id.Tenant, config id.Lane, events []hook.Event) error {
	if len(events) == 0 {
		return nil
	}
	name := events[0].ProviderID // all are about one mail
	found, err := outbox.ByProviderIDs(ctx, h.DB, tenant, config, []string{name})
	if err != nil {
		return err
	}
	message, ok := found[name]
	if !ok {
		message, _, err = h.Keys.VerifyMessageID(events[0].MessageID)
	}
	if err != nil {
		now := h.Now()
		if at := events[0].At; !at.IsZero() && now.Sub(at) < settling {
			return inbound.ErrUnsettled
		}
		h.Receiver.CountHook("no_message")
		return nil
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(hookTogether)
	for _, e := range events {
		all.Go(func() error { return h.recordEvent(ctx, tenant, message, e) })
	}
	return all.Wait()
}

// effects are the effects of events.
var effects = map[hook.Kind]inbound.Effect{
	hook.Delivered: inbound.Delivered, hook.Bounced: inbound.Bounced, hook.Complained: inbound.Complained, hook.Unsubscribed: inbound.Unsubscribed,
}

// recordEvent records one event about a message.
func (h *Hooks) recordEvent(ctx context.Context, tenant id.Tenant, message id.Message, e hook.Event) error {
	effect, ok := effects[e.Kind]
	if !ok {
		h.Receiver.CountHook("none")
		return nil
	}
	at, now := e.At, h.Now()
	if at.IsZero() || at.After(now) {
		at = now
	}
	return h.Receiver.Report(ctx, tenant, message, effect, at.UTC(), e.Recipient)
}
