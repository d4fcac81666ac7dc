package smtpclient_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
)

// A connection that has served one context serves another, and only the one whose
// message is under way can abort it.
func TestOnlyItsOwnContextAbortsAMessage(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{
		{Stage: sink.Rcpt, To: "slow@example.org", Delay: 100 * time.Millisecond},
		{Stage: sink.Rcpt, To: "never@example.org", Delay: time.Minute},
	}})
	c := mustDial(t, configFor(s))
	first, endFirst := context.WithCancel(t.Context())
	second, endSecond := context.WithCancel(t.Context())
	defer endSecond()
	for range 2 {
		if o, err := c.Send(first, toAnn, []byte(letter)); err != nil || !o.Accepted {
			t.Fatalf("Send = %+v, %v", o, err)
		}
	}
	endFirst()
	if _, err := c.Send(first, toAnn, []byte(letter)); !errors.Is(err, context.Canceled) || !c.Usable() {
		t.Errorf("with a context that has ended: %v, Usable %v", err, c.Usable())
	}
	slow, never := toAnn, toAnn
	slow.To, never.To = "slow@example.org", "never@example.org"
	if o, err := c.Send(second, slow, []byte(letter)); err != nil || !o.Accepted {
		t.Errorf("with another context: %+v, %v", o, err)
	}
	if o, err := c.Send(context.Background(), toAnn, []byte(letter)); err != nil || !o.Accepted {
		t.Errorf("with one that never ends: %+v, %v", o, err)
	}
	time.AfterFunc(50*time.Millisecond, endSecond)
	if o, err := c.Send(second, never, []byte(letter)); !errors.Is(err, context.Canceled) || o.Accepted || c.Usable() {
		t.Errorf("its own context has ended: %+v, %v, Usable %v", o, err, c.Usable())
	}
}

// Once the final dot is written only closing ends the wait for an answer.
func TestCloseWhenEndsTheWaitForTheLastAnswer(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Dot, To: "never@example.org", Delay: time.Minute}}})
	c := mustDial(t, configFor(s))
	earlier, endEarlier := context.WithCancel(t.Context())
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c.CloseWhen(earlier)
	c.CloseWhen(ctx)
	c.CloseWhen(ctx)
	endEarlier()
	if o, err := c.Send(ctx, toAnn, []byte(letter)); err != nil || !o.Accepted {
		t.Fatalf("Send = %+v, %v", o, err)
	}
	time.AfterFunc(50*time.Millisecond, end)
	never := toAnn
	never.To = "never@example.org"
	if o, err := c.Send(ctx, never, []byte(letter)); err != nil || !o.Uncertain || c.Usable() {
		t.Errorf("Send = %+v, %v, Usable %v; want uncertain", o, err, c.Usable())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
