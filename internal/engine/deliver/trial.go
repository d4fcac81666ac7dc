package deliver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Tester sends mails outside of sends: trials of a lane, and test sends.
type Tester struct {
	DB           *sqldb.DB
	Box          *secret.Box
	Now          func() time.Time
	AllowPrivate bool
	Router       *directmx.Router // of lanes of type direct_mx
	SESEndpoint  string           // replaces the address of SES; for tests

	Keys           *track.Keys
	Senders        *render.Senders
	Signers        *Signers
	Renderer       *render.Renderer
	FeedbackSender string
	Log            *slog.Logger
}

// trialWithin is how long a trial may take. A request waits for it.
const trialWithin = 25 * time.Second

// Try sends one mail by a lane and returns the server's answer. Without an identity, the mail is
// from the tenant's first active one. It is signed, and has an envelope sender of the same form, as
// all mail of the lane.
func (t *Tester) Try(ctx context.Context, tenant id.Tenant, config id.Lane, identity id.Identity, to string) (lane.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, trialWithin)
	defer cancel()
	c, err := lane.ByID(ctx, t.DB, tenant, config)
	if err != nil {
		return lane.Trial{}, err
	}
	from, err := t.trialSender(ctx, tenant, identity)
	if err != nil {
		return lane.Trial{}, err
	}
	raw, envelope, err := t.trialMail(ctx, c, from, to)
	if err != nil {
		return lane.Trial{}, err
	}
	began := t.Now()
	outcome, err := t.sendTrial(ctx, c, envelope, to, raw)
	return t.trialOf(ctx, outcome, began, err)
}

// Connect opens a connection as a lane with the settings of c and the given secret would, logs in, and closes
// it without sending mail. A lane of type direct_mx connects to a server of the domain of to, one of type ses
// asks for its account. c need not be stored.
func (t *Tester) Connect(ctx context.Context, c lane.Config, secret, to string) (lane.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, trialWithin)
	defer cancel()
	began := t.Now()
	outcome, err := t.connect(ctx, c, secret, to)
	return t.trialOf(ctx, outcome, began, err)
}

// connect returns the last reply of the server; its outcome is accepted if mail could be sent now.
func (t *Tester) connect(ctx context.Context, c lane.Config, secret, to string) (reply.Outcome, error) {
	switch c.Type {
	case lane.Sink:
		return reply.Outcome{Stage: reply.Dot, Accepted: true}, nil
	case lane.SES:
		client, err := lane.SESClient(c, secret, t.SESEndpoint, t.AllowPrivate, t.Now)
		if err != nil {
			return reply.Outcome{}, err
		}
		defer client.Close()
		if err := client.Check(ctx); err != nil {
			return reply.Outcome{Stage: reply.Auth, Text: err.Error()}, nil
		}
		return reply.Outcome{Stage: reply.Dot, Accepted: true}, nil
	}
	conn, err := t.dial(ctx, c, secret, to)
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		return d.Outcome, nil
	}
	if err != nil {
		return reply.Outcome{}, err
	}
	outcome := conn.Reply()
	outcome.Accepted = true
	_ = conn.Quit()
	return outcome, nil
}

// trialOf returns the result of a test that began at a time. A server that is silent is one that did not accept it.
func (t *Tester) trialOf(ctx context.Context, o reply.Outcome, began time.Time, err error) (lane.Trial, error) {
	if err != nil {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return lane.Trial{}, err
		}
		o = reply.Outcome{Stage: reply.Connect, Text: "no answer within " + trialWithin.String()}
	}
	reached := o.Accepted || o.Stage != reply.Connect && o.Stage != reply.TLS && o.Stage != reply.Auth
	return lane.Trial{Accepted: o.Accepted, Reached: reached, Code: o.Code, Response: o.String(), Latency: t.Now().Sub(began)}, nil
}

// trialSender returns the given identity, or the tenant's first active one.
func (t *Tester) trialSender(ctx context.Context, tenant id.Tenant, identity id.Identity) (sender.Identity, error) {
	if !identity.IsZero() {
		return sender.IdentityByID(ctx, t.DB, tenant, identity)
	}
	list, err := sender.Identities(ctx, t.DB, tenant)
	if err != nil {
		return sender.Identity{}, err
	}
	for _, i := range list {
		if i.Active {
			return i, nil
		}
	}
	return sender.Identity{}, fault.Input(fault.Field{Message: "there is no active sending identity that the test mail could come from; add one first"})
}

// trialMail builds the mail of a trial and its envelope sender: the identity's address until the
// domain is verified, since its return path may not work yet.
func (t *Tester) trialMail(ctx context.Context, c lane.Config, from sender.Identity, to string) (raw []byte, envelope string, err error) {
	d, err := sender.DomainByID(ctx, t.DB, c.Tenant, from.Domain)
	if err != nil {
		return nil, "", err
	}
	now, message := t.Now().UTC(), id.New[id.Message]()
	envelope = from.Address
	if d.Status == sender.Verified {
		envelope = "b." + string(t.Keys.PreviewReturnPath(message, now)) + "@" + d.ReturnPathHost
	}
	var b compose.Builder
	raw, err = b.Build(nil, &compose.Message{
		Date: now, From: compose.Mailbox{Name: from.DisplayName, Address: from.Address}, ReplyTo: from.ReplyTo, To: to,
		Subject: "Test of " + c.Name, MessageID: message.String() + "." + rand.Text() + "@" + d.ReturnPathHost,
		AutoSubmitted: "auto-generated", NoAutoReplies: true,
		Text: []byte("This mail was sent to test the MTA config “" + c.Name + "”. It works.\n"),
	})
	if err != nil {
		return nil, "", fmt.Errorf("build test mail: %w", err)
	}
	if !signs(c) {
		return raw, envelope, nil
	}
	signer, err := t.Signers.Of(ctx, d)
	if err != nil {
		return nil, "", err
	}
	signature, err := signer.Sign(nil, raw, now)
	if err != nil {
		return nil, "", fmt.Errorf("sign test mail: %w", err)
	}
	return append(signature, raw...), envelope, nil
}

func (t *Tester) sendTrial(ctx context.Context, c lane.Config, from, to string, raw []byte) (reply.Outcome, error) {
	if c.Type == lane.Sink {
		return intoMailbox(ctx, t.DB, c, id.Send{}, from, to, raw, t.Now())
	}
	if c.Type == lane.SES {
		return t.sendBySES(ctx, c, to, raw)
	}
	secret, err := lane.Password(ctx, t.DB, t.Box, c.Tenant, c.ID)
	if err != nil {
		return reply.Outcome{}, err
	}
	conn, err := t.dial(ctx, c, secret, to)
	if d, ok := errors.AsType[*smtpclient.DialError](err); ok {
		return d.Outcome, nil
	}
	if err != nil {
		return reply.Outcome{}, err
	}
	defer conn.Close()
	// Send ignores ctx after the final dot, so only closing the connection ends it.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	outcome, err := conn.Send(ctx, smtpclient.Envelope{From: from, To: to}, raw)
	if err == nil && conn.Usable() {
		_ = conn.Quit()
	}
	return outcome, err
}

// sendBySES sends a message by a lane of type ses.
func (t *Tester) sendBySES(ctx context.Context, c lane.Config, to string, raw []byte) (reply.Outcome, error) {
	key, err := lane.Password(ctx, t.DB, t.Box, c.Tenant, c.ID)
	if err != nil {
		return reply.Outcome{}, err
	}
	client, err := lane.SESClient(c, key, t.SESEndpoint, t.AllowPrivate, t.Now)
	if err != nil {
		return reply.Outcome{}, err
	}
	defer client.Close()
	o, _ := client.Send(ctx, to, raw)
	return o, nil
}

// dial connects to the relay of a lane, or to a server of the recipient's domain.
func (t *Tester) dial(ctx context.Context, c lane.Config, password, to string) (*smtpclient.Conn, error) {
	if c.Type != lane.DirectMX {
		return smtpclient.Dial(ctx, c.SMTP.Client(password, netguard.Guard{AllowPrivate: t.AllowPrivate}))
	}
	route, err := t.Router.Route(ctx, domainOf(to))
	refused := reply.Outcome{Stage: reply.Rcpt}
	switch {
	case err != nil:
		refused.Stage, refused.Text = reply.Connect, "the name servers of the domain did not answer"
	case route.Servers.Null:
		refused.Code, refused.Enhanced, refused.Text = 556, "5.1.10", nullMX
	case route.Servers.Missing:
		refused.Code, refused.Enhanced, refused.Text = 550, "5.1.2", noServer
	default:
		return t.Router.Dial(ctx, route, fromOf(c.Direct, 0))
	}
	return nil, &smtpclient.DialError{Outcome: refused}
}

// intoMailbox stores a message of a send, or of none, in the built-in mailbox. A message that matches a
// fail pattern of the lane is not stored: the outcome is the pattern's response to its recipient.
func intoMailbox(ctx context.Context, db *sqldb.DB, c lane.Config, send id.Send, from, to string, raw []byte, now time.Time) (reply.Outcome, error) {
	if refusal := c.Sink.Refusal(to); refusal != "" {
		r, err := reply.Parse(refusal)
		if err != nil {
			return reply.Outcome{}, fmt.Errorf("response of MTA config %s: %w", c.ID, err)
		}
		return r.Outcome(reply.Rcpt), nil
	}
	d := mailbox.Delivery{Tenant: c.Tenant, Lane: c.ID, Send: send, From: from, To: to, Raw: raw}
	if err := mailbox.Deliver(ctx, db, d, now); err != nil {
		return reply.Outcome{}, err
	}
	return reply.Outcome{Stage: reply.Dot, Code: 250, Enhanced: "2.0.0", Text: "stored in the mailbox", Accepted: true}, nil
}
