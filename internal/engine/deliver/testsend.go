package deliver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"packetboat/internal/broadcast"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/letter"
	"packetboat/internal/mail/reply"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/outbox"
)

// How long a test send may take, because a request waits for it: all of it, and
// one mail.
const (
	testWithin     = 25 * time.Second
	testMailWithin = 15 * time.Second
)

// errTestLate says that the time of a test ran out before a mail was tried.
var errTestLate = errors.New("not tried: the mails before took too long")

// SendTest sends the mails of a test and says what became of each: by address,
// then variant, then sender. The mails are made and sent as real ones are, but that
// they count for nothing: not against the caps of a lane, nor towards its health.
// Each lane has one connection for them, on top of those of the sends under way.
func (t *Tester) SendTest(ctx context.Context, test broadcast.Test) ([]broadcast.TestResult, error) {
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	ways, err := t.ways(ctx, test)
	if err != nil {
		return nil, err
	}
	results := make([]broadcast.TestResult, 0, len(test.To)*len(test.Arms)*len(test.Routes))
	for _, to := range test.To {
		for _, arm := range test.Arms {
			for _, route := range test.Routes {
				r := broadcast.TestResult{To: to, Variant: arm.ID, Sender: route.Identity.Address}
				if test.Suppressed[to] {
					r.Status, r.Error = broadcast.TestSuppressed, "the address is on the suppression list"
				} else {
					w := ways[route.Lane.ID]
					w.mails = append(w.mails, testMail{len(results), w.job(t, test, to, arm, route.Identity.ID)})
				}
				results = append(results, r)
			}
		}
	}
	var lanes sync.WaitGroup
	for _, w := range ways {
		lanes.Go(func() { w.run(ctx, t, results) })
	}
	lanes.Wait()
	return results, broadcast.ConfirmTested(context.WithoutCancel(ctx), t.DB, test, results, t.Now())
}

// testWay is the part of a test that leaves by one lane.
type testWay struct {
	settings *laneSettings
	senders  map[id.Identity]*letter.Sender
	mails    []testMail
	down     string // why the lane could not be reached
}

// testMail is one mail, and the place of its result.
type testMail struct {
	at  int
	job *job
}

// ways returns the lanes of a test.
func (t *Tester) ways(ctx context.Context, test broadcast.Test) (map[id.MTAConfig]*testWay, error) {
	ways := map[id.MTAConfig]*testWay{}
	for _, route := range test.Routes {
		w := ways[route.Lane.ID]
		if w == nil {
			w = &testWay{settings: &laneSettings{config: route.Lane}, senders: map[id.Identity]*letter.Sender{}}
			if route.Lane.Type == lane.SMTP {
				password, err := lane.Password(ctx, t.DB, t.Box, test.Tenant, route.Lane.ID)
				if err != nil {
					return nil, err
				}
				w.settings.smtp = route.Lane.SMTP.Client(password, smtpclient.Guard{AllowPrivate: t.AllowPrivate})
			}
			ways[route.Lane.ID] = w
		}
		s, err := t.Senders.Reload(ctx, test.Tenant, route.Identity.ID, test.EmailType)
		if err != nil {
			return nil, fmt.Errorf("load the sender of a test: %w", err)
		}
		w.senders[route.Identity.ID] = s
	}
	return ways, nil
}

// job is a mail as a lane's worker would be given it, of a message that no outbox
// holds.
func (w *testWay) job(t *Tester, test broadcast.Test, to string, arm broadcast.TestArm, identity id.Identity) *job {
	now, s := t.Now(), w.senders[identity]
	return &job{
		item: outbox.Item{
			Tenant: test.Tenant, ID: id.New[id.Message](), Send: test.Send, Email: to,
			Identity: identity, Lane: w.settings.config.ID, QueuedAt: now, DueAt: now,
		},
		contact: new(test.Recipient(to)), content: arm.Content, sender: s, lane: w.settings,
		marked: "[TEST " + arm.Name + " | " + s.Identity.Address + "] ",
	}
}

// run sends the mails, one after the other.
func (w *testWay) run(ctx context.Context, t *Tester, results []broadcast.TestResult) {
	var pool *smtpclient.Pool
	if c := w.settings.config; c.Type == lane.SMTP {
		pool = smtpclient.NewPool(w.settings.smtp, smtpclient.Limits{Connections: 1, Messages: c.Caps.MaxMessagesPerConnection})
		defer pool.Close()
	}
	b := newBuilder(&Engine{Keys: t.Keys, Letters: t.Letters, Now: t.Now, FeedbackSender: t.FeedbackSender})
	for i := range w.mails {
		m := &w.mails[i]
		r := &results[m.at]
		r.Status = broadcast.TestSent
		if err := w.send(ctx, t, pool, b, m.job); err != nil {
			r.Status, r.Error = broadcast.TestFailed, err.Error()
		}
		if m.job.item.FirstAt != nil { // it was made
			r.MessageID = "<" + m.job.messageID(t.Keys) + ">"
		}
	}
}

// send sends one mail. The error is for whoever asked for the test.
func (w *testWay) send(ctx context.Context, t *Tester, pool *smtpclient.Pool, b *builder, j *job) error {
	if why := obstacle(j.sender, w.settings); why != "" {
		return errors.New(why)
	}
	if ctx.Err() != nil {
		return errTestLate
	}
	if w.down != "" {
		return errors.New(w.down)
	}
	if j.lane.signs() {
		signer, err := t.Signers.Of(ctx, j.sender.Domain)
		if err != nil {
			t.Log.Error("a mail of a test cannot be signed", "tenant", j.item.Tenant, "broadcast", j.content.Content.Context.Broadcast, "err", err)
			return fmt.Errorf("the DKIM key of %s could not be opened", j.sender.Domain.Name)
		}
		j.signer = signer
	}
	raw, err := b.build(j)
	if err != nil {
		j.item.FirstAt = nil
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, testMailWithin)
	defer cancel()
	var outcome reply.Outcome
	if pool == nil {
		outcome, err = intoMailbox(ctx, t.DB, w.settings.config, j.item.Send, b.envelope, j.item.Email, raw, t.Now())
	} else {
		outcome, err = w.hand(ctx, pool, smtpclient.Envelope{From: b.envelope, To: j.item.Email}, raw)
	}
	switch {
	case err == nil && outcome.Accepted:
		return nil
	case ctx.Err() != nil:
		return errors.New("the server did not answer in time")
	case err == nil:
		return errors.New(outcome.String())
	}
	t.Log.Error("a mail of a test is not handed over", "tenant", j.item.Tenant, "broadcast", j.content.Content.Context.Broadcast, "err", err)
	return errors.New("it could not be handed over")
}

// hand gives a message to the lane's server. A lane that cannot be reached is not
// tried again by the same test.
func (w *testWay) hand(ctx context.Context, pool *smtpclient.Pool, env smtpclient.Envelope, raw []byte) (reply.Outcome, error) {
	for try := 1; ; try++ {
		conn, err := pool.Get(ctx)
		if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
			w.down = d.Outcome.String()
			return d.Outcome, nil
		}
		if err != nil {
			return reply.Outcome{}, err
		}
		// After the final dot Send waits whatever happens; only Close ends that.
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		outcome, err := conn.Send(ctx, env, raw)
		stop()
		ended := errors.Is(err, smtpclient.ErrClosed) || err == nil && conn.Stale(outcome)
		pool.Put(conn)
		if !ended || try > maxStale || ctx.Err() != nil {
			return outcome, err
		}
	}
}
