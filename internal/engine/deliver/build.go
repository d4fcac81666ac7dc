package deliver

import (
	"context"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/letter"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/track"
)

// builder makes finished messages, one after the other, in buffers of its own.
type builder struct {
	engine   *Engine
	compose  compose.Builder
	buf      []byte // room for a signature, and the message
	head     []byte // the signature
	envelope string // the envelope sender of the message built last
}

// signatureRoom is the room kept before a message. One that is longer costs a copy.
const signatureRoom = 1 << 10

func newBuilder(e *Engine) *builder { return &builder{engine: e} }

// build returns the finished, signed message; its bytes are good until the next
// one is built.
func (b *builder) build(j *job) ([]byte, error) {
	if j.item.FirstAt == nil { // later attempts repeat the date: it is part of what is signed
		j.item.FirstAt = new(b.engine.Now().UTC())
	}
	s, c := j.sender, j.content
	writer := b.engine.Letters.Borrow()
	defer b.engine.Letters.Return(writer)
	parts, err := writer.Render(context.Background(), letter.Letter{
		Tenant: j.item.Tenant, Message: j.item.ID, Contact: j.contact, Content: c, Sender: s, Now: j.item.QueuedAt,
		Preview: j.test(),
	})
	if err != nil {
		return nil, err
	}
	m := compose.Message{
		Date:           *j.item.FirstAt,
		From:           compose.Mailbox{Name: s.Identity.DisplayName, Address: s.Identity.Address},
		ReplyTo:        s.Identity.ReplyTo,
		To:             j.item.Email,
		Subject:        j.subject(parts.Subject),
		MessageID:      j.messageID(b.engine.Keys),
		UnsubscribeURL: parts.UnsubscribeURL,
		FeedbackID:     feedbackID(j, b.engine.FeedbackSender),
		EntityRef:      j.item.ID.String(),
		Precedence:     "bulk",
		NoAutoReplies:  true,
		Text:           parts.Text,
		HTML:           parts.HTML,
		TextKnown:      parts.TextKnown,
		HTMLKnown:      parts.HTMLKnown,
	}
	if parts.FromName != "" {
		m.From.Name = parts.FromName
	}
	if c.ReplyTo != "" {
		m.ReplyTo = c.ReplyTo
	}
	if s.Type.ListIDEnabled {
		m.ListID = compose.ListID{
			Name: s.Type.DisplayName,
			ID:   label(s.Type.Label()) + "." + s.Tenant.Slug + "." + s.Domain.Name,
		}
	}
	returnPath := b.engine.Keys.ReturnPath
	if j.test() {
		returnPath = b.engine.Keys.PreviewReturnPath
	}
	b.envelope = "b." + string(returnPath(j.item.ID, *j.item.FirstAt)) + "@" + s.Domain.ReturnPathHost
	if cap(b.buf) < signatureRoom {
		b.buf = make([]byte, signatureRoom)
	}
	if b.buf, err = b.compose.Build(b.buf[:signatureRoom], &m); err != nil {
		return nil, err
	}
	if !j.lane.signs() {
		return b.buf[signatureRoom:], nil
	}
	if b.head, err = j.signer.Sign(b.head[:0], b.buf[signatureRoom:], b.engine.Now()); err != nil {
		return nil, err
	}
	start := signatureRoom - len(b.head)
	if start < 0 {
		b.buf = slices.Insert(b.buf, 0, b.head[:-start]...)
		start = 0
	}
	copy(b.buf[start:], b.head)
	return b.buf[start:], nil
}

// messageID is the Message-ID, without its angle brackets.
func (j *job) messageID(k *track.Keys) string {
	return k.MessageID(j.item.ID) + "@" + j.sender.Domain.ReturnPathHost
}

// test reports whether the message is one of a test send.
func (j *job) test() bool { return j.marked != "" }

// subject puts the mark of a test before a subject, and cuts off what is too much
// then.
func (j *job) subject(written string) string {
	if !j.test() {
		return written
	}
	s := j.marked + written
	if len(s) > compose.MaxSubject {
		s = strings.ToValidUTF8(s[:compose.MaxSubject], "")
	}
	return s
}

// feedbackID is the identifier by which complaints are summed.
func feedbackID(j *job, sender string) string {
	campaign := j.content.Content.Context.Broadcast.String()
	if campaign == "" {
		campaign = j.item.Send.String()
	}
	return campaign[max(0, len(campaign)-8):] + ":l-" + label(j.sender.Type.Label()) + ":" + j.sender.Tenant.Slug + ":" + sender
}

// label writes a key as a domain label may be: an underscore may not stand there.
func label(key string) string { return strings.ReplaceAll(key, "_", "-") }
