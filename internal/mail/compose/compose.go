// Package compose writes one message in the form that SMTP transmits: headers (RFC 5322), a plain
// text and an HTML part (RFC 2046), both as quoted-printable or base64 (RFC 2045), in seven bits
// with CRLF line ends.
//
// Everything in a message may come from untrusted input: names, subjects and bodies contain merge
// values. So there is no way to write a raw header, line breaks and control characters are removed
// from values, identifiers that do not have the form of their RFC are refused, and the finished
// bytes are checked again. The lines of bodies are not: the encoders produce those, and package
// smtpclient checks every line end before it writes a message.
//
// The package also does the work that a message needs once per content, not once per recipient: it
// encodes the constant texts.
package compose

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"
)

// MaxSubject is the maximum length of a subject in bytes (RFC 5322 section 2.1.1).
const MaxSubject = 998

// ErrSubjectTooLong reports a subject of more than 998 bytes.
var ErrSubjectTooLong = errors.New("the subject is longer than 998 bytes")

// Mailbox is an address with the name shown beside it.
type Mailbox struct {
	Name    string // any text, or none
	Address string // canonical, as package address writes it
}

// ListID identifies the list that a message belongs to (RFC 2919).
type ListID struct {
	Name string // any text, or none; only ASCII is written
	ID   string // dotted labels, without angle brackets
}

// Message is what one recipient gets. Fields that are empty are not written,
// unless they are marked as required.
type Message struct {
	Date      time.Time // required; the same for each attempt
	From      Mailbox   // address required
	ReplyTo   string    // an address
	To        string    // an address, required
	Subject   string
	MessageID string // local@host, required; angle brackets may be left out

	UnsubscribeURL     string // http or https; one-click by RFC 8058
	UnsubscribeAddress string // a mail to it unsubscribes
	ListID             ListID
	FeedbackID         string // up to four fields with colons between
	EntityRef          string // our own reference, for X-Entity-Ref-ID
	Precedence         string // "bulk" for mail to many
	AutoSubmitted      string // "auto-generated" for mail that a program wrote (RFC 3834)
	NoAutoReplies      bool   // asks Exchange for no out-of-office replies

	// Text and HTML are UTF-8 with any line ends. A message without HTML is sent as text alone; one
	// without text gets its subject as text.
	Text, HTML []byte

	TextKnown, HTMLKnown Known // the parts of them that are encoded already
}

// Builder writes messages, one after the other, and reuses its buffers. The zero Builder is ready to
// use. A Builder must not be used concurrently.
type Builder struct {
	h        header
	scratch  []byte
	boundary [2 + 24]byte
}

// Build appends the finished message to dst. Equal Messages give equal bytes. On error it returns
// dst unchanged.
func (b *Builder) Build(dst []byte, m *Message) ([]byte, error) {
	b.h = header{buf: dst, value: b.h.value, quoted: b.h.quoted}
	if err := b.headers(m); err != nil {
		return dst, err
	}
	text, known := m.Text, m.TextKnown
	from := len(text) - len(bytes.TrimLeft(text, "\r\n"))
	if len(bytes.TrimSpace(text)) == 0 {
		text, from, known = []byte(m.Subject), 0, Known{}
	}
	raw := b.h.buf
	if len(bytes.TrimSpace(m.HTML)) == 0 {
		raw = b.part(raw, "text/plain", text, from, known)
	} else {
		mark := b.mark(m.MessageID)
		raw = append(raw, "Content-Type: multipart/alternative;\r\n boundary=\""...)
		raw = append(raw, mark...)
		raw = append(raw, "\"\r\n\r\n"...)
		raw = b.part(appendMark(raw, mark, ""), "text/plain", text, from, known)
		raw = b.part(appendMark(raw, mark, ""), "text/html", m.HTML, 0, m.HTMLKnown)
		raw = appendMark(raw, mark, "--")
	}
	if err := WireReady(raw[len(dst):len(b.h.buf)]); err != nil {
		return dst, fmt.Errorf("finished headers: %w", err)
	}
	if err := checkBytes(raw[len(b.h.buf):]); err != nil {
		return dst, fmt.Errorf("finished body: %w", err)
	}
	return raw, nil
}

// headers writes everything above the MIME structure.
func (b *Builder) headers(m *Message) error {
	h := &b.h
	if m.Date.IsZero() {
		return errors.New("the message has no date")
	}
	if len(m.Subject) > MaxSubject {
		return ErrSubjectTooLong
	}
	h.date("Date", m.Date)
	h.mailbox("From", m.From)
	if m.ReplyTo != "" {
		h.mailbox("Reply-To", Mailbox{Address: m.ReplyTo})
	}
	h.mailbox("To", Mailbox{Address: m.To})
	h.text("Subject", m.Subject)
	h.messageID("Message-ID", m.MessageID)
	if m.UnsubscribeURL != "" || m.UnsubscribeAddress != "" {
		h.unsubscribe("List-Unsubscribe", m.UnsubscribeURL, m.UnsubscribeAddress)
	}
	if m.UnsubscribeURL != "" {
		h.token("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	if m.ListID.ID != "" {
		h.listID("List-ID", m.ListID)
	}
	for _, f := range [...]struct{ name, value string }{
		{"Feedback-ID", m.FeedbackID},
		{"Precedence", m.Precedence},
		{"Auto-Submitted", m.AutoSubmitted},
		{"X-Entity-Ref-ID", m.EntityRef},
	} {
		if f.value != "" {
			h.token(f.name, f.value)
		}
	}
	if m.NoAutoReplies {
		h.text("X-Auto-Response-Suppress", "OOF, AutoReply")
	}
	h.token("MIME-Version", "1.0")
	return h.err
}

// part writes the headers of a text part and the encoded body[from:], which ends in CRLF.
func (b *Builder) part(raw []byte, kind string, body []byte, from int, known Known) []byte {
	raw = append(raw, "Content-Type: "...)
	raw = append(raw, kind...)
	raw = append(raw, "; charset=utf-8\r\nContent-Transfer-Encoding: "...)
	start := len(raw)
	raw = append(raw, "quoted-printable\r\n\r\n"...)
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(body[from:], []byte(byteOrderMark)) {
		from += len(byteOrderMark)
	}
	if quoted, ok := appendQuoted(raw, body, from, known); ok {
		return quoted
	}
	raw = append(raw[:start], "base64\r\n\r\n"...)
	b.scratch = appendCanonical(b.scratch[:0], body[from:])
	return appendBase64(raw, b.scratch)
}

// mark returns the boundary of a message. It starts with "=_", which neither encoding can produce
// (RFC 2045 section 6.7), and is derived from the message's identifier, so that a repeated Build
// gives the same bytes.
func (b *Builder) mark(id string) []byte {
	sum := fnv.New128a()
	sum.Write([]byte(id))
	var digest [16]byte
	sum.Sum(digest[:0])
	mark := append(b.boundary[:0], "=_"...)
	for _, half := range [2]uint64{be64(digest[:8]), be64(digest[8:])} {
		var digits [16]byte
		d := strconv.AppendUint(digits[:0], half>>2, 36)
		for range 12 - len(d) {
			mark = append(mark, '0')
		}
		mark = append(mark, d...)
	}
	return mark
}

func be64(b []byte) uint64 {
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func appendMark(raw, mark []byte, end string) []byte {
	raw = append(raw, "--"...)
	raw = append(raw, mark...)
	raw = append(raw, end...)
	return append(raw, "\r\n"...)
}
