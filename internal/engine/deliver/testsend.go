package deliver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
)

// How long a test send may take in all, and for one mail. A request waits for it.
const (
	testWithin     = 25 * time.Second
	testMailWithin = 15 * time.Second
)

// errTestLate means that the time of a test ended before a mail was tried.
var errTestLate = errors.New("not tried: the mails before took too long")

// SendTest sends the mails of a test and returns their outcomes, in the same order. The mails are
// built and sent as those of a send are, but not counted: neither in the limits of a lane nor in
// its health. Each lane gets one connection for them, besides those of the engine.
func (t *Tester) SendTest(ctx context.Context, tenant id.Tenant, mails []render.TestMail) ([]render.TestOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	lanes := map[id.Lane]*testLane{}
	for i := range mails {
		m := &mails[i]
		l, err := t.testLane(ctx, tenant, m, lanes)
		if err != nil {
			return nil, err
		}
		l.mails = append(l.mails, testMail{i, l.job(t, tenant, m)})
	}
	outcomes := make([]render.TestOutcome, len(mails))
	var running sync.WaitGroup
	for _, l := range lanes {
		running.Go(func() { l.run(ctx, t, outcomes) })
	}
	running.Wait()
	return outcomes, nil
}

// testLane is the mails of a test that are sent by one lane.
type testLane struct {
	settings *laneSettings
	senders  map[id.Identity]*render.Sender
	mails    []testMail
	down     string // why the lane could not be reached
}

// testMail is one mail, and the index of its outcome.
type testMail struct {
	at  int
	job *job
}

// testLane returns the lane of a mail, after loading the mail's sender.
func (t *Tester) testLane(ctx context.Context, tenant id.Tenant, m *render.TestMail, lanes map[id.Lane]*testLane) (*testLane, error) {
	l := lanes[m.Lane.ID]
	if l == nil {
		l = &testLane{settings: &laneSettings{config: m.Lane}, senders: map[id.Identity]*render.Sender{}}
		if m.Lane.Type == lane.SMTP {
			password, err := lane.Password(ctx, t.DB, t.Box, tenant, m.Lane.ID)
			if err != nil {
				return nil, err
			}
			l.settings.smtp = m.Lane.SMTP.Client(password, netguard.Guard{AllowPrivate: t.AllowPrivate})
		}
		lanes[m.Lane.ID] = l
	}
	if l.senders[m.Identity] == nil {
		s, err := t.Senders.Reload(ctx, tenant, m.Identity, m.EmailType)
		if err != nil {
			return nil, fmt.Errorf("load sender of test: %w", err)
		}
		l.senders[m.Identity] = s
	}
	return l, nil
}

// job returns the job of a mail, with a message that is not in the outbox.
func (l *testLane) job(t *Tester, tenant id.Tenant, m *render.TestMail) *job {
	now, s := t.Now(), l.senders[m.Identity]
	return &job{
		item: outbox.Item{
			Tenant: tenant, ID: id.New[id.Message](), Send: m.Send, Email: m.To,
			Identity: m.Identity, Lane: m.Lane.ID, QueuedAt: now, DueAt: now,
		},
		contact: &m.Contact, event: m.Event, content: m.Content, sender: s, lane: l.settings,
		testMark: "[TEST " + m.Variant + " | " + s.Identity.Address + "] ",
	}
}

// run sends the mails one after the other.
func (l *testLane) run(ctx context.Context, t *Tester, outcomes []render.TestOutcome) {
	var pool *smtpclient.Pool
	if c := l.settings.config; c.Type == lane.SMTP {
		pool = smtpclient.NewPool(l.settings.smtp, smtpclient.Limits{Connections: 1, Messages: c.Caps.MaxMessagesPerConnection})
		defer pool.Close()
	}
	b := newBuilder(&Engine{Keys: t.Keys, Renderer: t.Renderer, Now: t.Now, FeedbackSender: t.FeedbackSender})
	for i := range l.mails {
		m := &l.mails[i]
		outcomes[m.at].Err = l.sendMail(ctx, t, pool, b, m.job)
		if m.job.item.FirstAt != nil { // it was built
			outcomes[m.at].MessageID = "<" + m.job.messageID(t.Keys) + ">"
		}
	}
}

// sendMail sends one mail. The text of the error is shown to the user.
func (l *testLane) sendMail(ctx context.Context, t *Tester, pool *smtpclient.Pool, b *builder, j *job) error {
	if why := obstacle(j.sender, l.settings); why != "" {
		return errors.New(why)
	}
	if ctx.Err() != nil {
		return errTestLate
	}
	if l.down != "" {
		return errors.New(l.down)
	}
	if j.lane.signs() {
		signer, err := t.Signers.Of(ctx, j.sender.Domain)
		if err != nil {
			t.Log.Error("sign test mail failed", "tenant", j.item.Tenant, "send", j.item.Send, "err", err)
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
	switch c := l.settings.config; {
	case c.Type == lane.SES:
		outcome, err = t.sendBySES(ctx, c, j.item.Email, raw)
	case c.Type == lane.DirectMX:
		outcome, err = t.sendTrial(ctx, c, b.envelope, j.item.Email, raw)
	case pool == nil:
		outcome, err = intoMailbox(ctx, t.DB, l.settings.config, j.item.Send, b.envelope, j.item.Email, raw, t.Now())
	default:
		outcome, err = l.sendBySMTP(ctx, pool, smtpclient.Envelope{From: b.envelope, To: j.item.Email}, raw)
	}
	switch {
	case err == nil && outcome.Accepted:
		return nil
	case ctx.Err() != nil:
		return errors.New("the server did not answer in time")
	case err == nil:
		return errors.New(outcome.String())
	}
	t.Log.Error("send test mail failed", "tenant", j.item.Tenant, "send", j.item.Send, "err", err)
	return errors.New("it could not be sent")
}

// sendBySMTP sends a message by SMTP. If the lane cannot be reached, the rest of the test fails at
// once.
func (l *testLane) sendBySMTP(ctx context.Context, pool *smtpclient.Pool, env smtpclient.Envelope, raw []byte) (reply.Outcome, error) {
	for try := 1; ; try++ {
		conn, err := pool.Get(ctx)
		if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
			l.down = d.Outcome.String()
			return d.Outcome, nil
		}
		if err != nil {
			return reply.Outcome{}, err
		}
		// Send ignores ctx after the final dot, so only closing the connection ends it.
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
