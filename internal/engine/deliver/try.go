package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/lane"
	"packetboat/internal/letter"
	"packetboat/internal/mail/compose"
	"packetboat/internal/mail/reply"
	"packetboat/internal/mail/smtpclient"
	"packetboat/internal/mailbox"
	"packetboat/internal/secret"
	"packetboat/internal/sender"
	"packetboat/internal/sqldb"
	"packetboat/internal/track"
)

// Tester sends mails outside of any stream: single ones that try whether a lane
// works, and those of test sends.
type Tester struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Now          func() time.Time
	AllowPrivate bool

	// What test sends need besides.
	Keys           *track.Keys
	Senders        *letter.Senders
	Letters        *letter.Renderer
	FeedbackSender string
	Log            *slog.Logger
}

// trialWithin bounds one trial: somebody is waiting for it.
const trialWithin = 60 * time.Second

// Try sends one mail by a lane and says what the server answered. Without a from
// it comes from the tenant's first active identity.
func (t *Tester) Try(ctx context.Context, tenant id.Tenant, config id.MTAConfig, from, to string) (lane.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, trialWithin)
	defer cancel()
	c, err := lane.ByID(ctx, t.DB, tenant, config)
	if err != nil {
		return lane.Trial{}, err
	}
	if from == "" {
		if from, err = t.anySender(ctx, tenant); err != nil {
			return lane.Trial{}, err
		}
	}
	raw, err := trialMail(c, from, to, t.Now())
	if err != nil {
		return lane.Trial{}, err
	}
	began := t.Now()
	outcome, err := t.send(ctx, c, from, to, raw)
	if err != nil {
		return lane.Trial{}, err
	}
	return lane.Trial{Accepted: outcome.Accepted, Code: outcome.Code, Response: outcome.String(), Latency: t.Now().Sub(began)}, nil
}

func (t *Tester) anySender(ctx context.Context, tenant id.Tenant) (string, error) {
	list, err := sender.Identities(ctx, t.DB, tenant)
	if err != nil {
		return "", err
	}
	for _, i := range list {
		if i.Active {
			return i.Address, nil
		}
	}
	return "", fault.Input(fault.Field{Message: "there is no active sending identity that the test mail could come from; add one first"})
}

func trialMail(c lane.Config, from, to string, now time.Time) ([]byte, error) {
	_, domain, _ := strings.Cut(from, "@")
	var b compose.Builder
	raw, err := b.Build(nil, &compose.Message{
		Date: now, From: compose.Mailbox{Address: from}, To: to, Subject: "Test of " + c.Name,
		MessageID:     id.New[string]() + "@" + domain,
		AutoSubmitted: "auto-generated", NoAutoReplies: true,
		Text: []byte("This mail was sent to see whether the MTA config “" + c.Name + "” works. It does.\n"),
	})
	if err != nil {
		return nil, fmt.Errorf("make a test mail: %w", err)
	}
	return raw, nil
}

func (t *Tester) send(ctx context.Context, c lane.Config, from, to string, raw []byte) (reply.Outcome, error) {
	if c.Type == lane.Sink {
		return intoMailbox(ctx, t.DB, c, "", from, to, raw, t.Now())
	}
	password, err := lane.Password(ctx, t.DB, t.Box, c.Tenant, c.ID)
	if err != nil {
		return reply.Outcome{}, err
	}
	conn, err := smtpclient.Dial(ctx, c.SMTP.Client(password, smtpclient.Guard{AllowPrivate: t.AllowPrivate}))
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		return d.Outcome, nil
	}
	if err != nil {
		return reply.Outcome{}, err
	}
	defer conn.Close()
	// After the final dot Send waits whatever happens; only Close ends that.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	outcome, err := conn.Send(ctx, smtpclient.Envelope{From: from, To: to}, raw)
	if err == nil && conn.Usable() {
		_ = conn.Quit()
	}
	return outcome, err
}

// intoMailbox hands a message of a send, or of none, to the built-in mailbox, which
// accepts everything.
func intoMailbox(ctx context.Context, db *sqldb.DB, c lane.Config, stream, from, to string, raw []byte, now time.Time) (reply.Outcome, error) {
	d := mailbox.Delivery{Tenant: c.Tenant, Lane: c.ID, Stream: stream, From: from, To: to, Raw: raw}
	if err := mailbox.Deliver(ctx, db, d, now); err != nil {
		return reply.Outcome{}, err
	}
	return reply.Outcome{Stage: reply.Dot, Code: 250, Enhanced: "2.0.0", Text: "kept in the mailbox", Accepted: true}, nil
}
