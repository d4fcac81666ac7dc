package deliver

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
)

// builder builds finished messages, one after the other, in buffers that it reuses.
type builder struct {
	engine   *Engine
	compose  compose.Builder
	buf      []byte // space for a signature, then the message
	head     []byte // the DKIM signature
	envelope string // the envelope sender of the message that was built last
}

// signatureRoom is the space kept before a message for its signature. A longer signature costs a
// copy of the message.
const signatureRoom = 1 << 10

func newBuilder(e *Engine) *builder { return &builder{engine: e} }

// build returns the finished, signed message. The bytes are valid until the next call.
func (b *builder) build(j *job) ([]byte, error) {
	if j.item.FirstAt == nil { // later attempts repeat the date, which is signed
		j.item.FirstAt = new(b.engine.Now().UTC())
	}
	j.item.ContactVersion = j.contact.Version
	s, c := j.sender, j.content
	writer := b.engine.Renderer.Borrow()
	defer b.engine.Renderer.Return(writer)
	parts, err := writer.Render(context.Background(), render.Mail{
		Tenant: j.item.Tenant, Message: j.item.ID, Contact: j.contact, Event: j.event, Content: c, Sender: s, Now: j.item.QueuedAt,
		Preview: j.inert(),
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
	answers := c.Context.Confirmation // mail that its recipient has just asked for is of no list
	if !answers {
		m.Precedence = "bulk"
	}
	if answers || !c.Context.Sequence.IsZero() { // nobody sent it: an event of its recipient did
		m.AutoSubmitted = "auto-generated"
	}
	if s.Type.ListIDEnabled && !answers {
		m.ListID = compose.ListID{
			Name: s.Type.DisplayName,
			ID:   label(s.Type.Label()) + "." + s.Tenant.Slug + "." + s.Domain.Name,
		}
	}
	returnPath, unsubscribe := b.engine.Keys.ReturnPath, b.engine.Keys.UnsubscribeAddress
	if j.isTest() { // a bounce of a seed copy retires the seed
		returnPath = b.engine.Keys.PreviewReturnPath
	}
	if j.inert() {
		unsubscribe = b.engine.Keys.PreviewUnsubscribeAddress
	}
	if j.receives && !answers {
		m.UnsubscribeAddress = "u." + string(unsubscribe(j.item.ID, *j.item.FirstAt)) + "@" + s.Domain.ReturnPathHost
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

// messageID returns the Message-ID, without its angle brackets.
func (j *job) messageID(k *track.Keys) string {
	return k.MessageID(j.item.ID) + "@" + j.sender.Domain.ReturnPathHost
}

// isTest reports whether the message belongs to a test send.
func (j *job) isTest() bool { return j.testMark != "" }

// subject puts the mark of a test before a subject, and truncates the result to the longest
// subject allowed.
func (j *job) subject(written string) string {
	if !j.isTest() {
		return written
	}
	s := j.testMark + written
	if len(s) > compose.MaxSubject {
		s = strings.ToValidUTF8(s[:compose.MaxSubject], "")
	}
	return s
}

// feedbackID returns the Feedback-ID, by which mailbox providers sum complaints.
func feedbackID(j *job, sender string) string {
	source := j.content.Content.Context
	campaign := cmp.Or(source.Broadcast.String(), source.Sequence.String(), j.item.Send.String())
	list := j.sender.Type.Label()
	if source.Confirmation {
		list = "confirmation"
	}
	return campaign[max(0, len(campaign)-8):] + ":l-" + label(list) + ":" + j.sender.Tenant.Slug + ":" + sender
}

// label converts a key to a domain label, in which underscores are not allowed.
func label(key string) string { return strings.ReplaceAll(key, "_", "-") }
