package inspect

import (
	"bytes"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// Inbound is what a mail that came back says.
type Inbound struct {
	Kind       dsn.Kind    `json:"kind"`
	Recipients []Recipient `json:"recipients"`
	Feedback   *Feedback   `json:"feedback"` // of an abuse report
	Original   Original    `json:"original"`
}

// Recipient is what a report says about one recipient. Class is empty unless the delivery failed.
type Recipient struct {
	Address    string       `json:"address"`
	Action     string       `json:"action"`
	Status     string       `json:"status"`
	SMTPCode   int          `json:"smtp_code"` // 0: none
	Diagnostic string       `json:"diagnostic"`
	Class      reply.Reason `json:"class"`
	Hard       bool         `json:"hard"`
	RemoteMTA  string       `json:"remote_mta"`
}

// Feedback are fields of an abuse report (RFC 5965).
type Feedback struct {
	Type           string `json:"type"`
	SourceIP       string `json:"source_ip"`
	UserAgent      string `json:"user_agent"`
	OriginalRcpt   string `json:"original_rcpt"`
	ReportedDomain string `json:"reported_domain"`
}

// Original identifies the mail that a report is about.
type Original struct {
	MessageID string `json:"message_id"`
	To        string `json:"to"`
	Ref       string `json:"ref"` // X-Entity-Ref-ID
}

// ReadInbound reads a mail that came back. Line ends may be LF, CRLF or CR, and the first line may be
// that of an mbox file. It accepts any bytes.
func ReadInbound(raw []byte) Inbound {
	r := dsn.Parse(plainMessage(raw))
	view := Inbound{Kind: r.Kind, Recipients: []Recipient{}, Original: Original(r.Original)}
	for _, one := range r.Recipients {
		view.Recipients = append(view.Recipients, Recipient{
			Address: one.Address, Action: one.Action, Status: one.Status, SMTPCode: one.SMTPCode, Diagnostic: one.Diagnostic,
			Class: one.Verdict.Reason, Hard: one.Verdict.Class == reply.Hard, RemoteMTA: one.RemoteMTA,
		})
	}
	if r.Kind == dsn.ARF {
		f := Feedback(r.Feedback)
		view.Feedback = &f
	}
	return view
}

// plainMessage returns a message without the separator line of an mbox file.
func plainMessage(raw []byte) []byte {
	if bytes.HasPrefix(raw, []byte("From ")) {
		if end := bytes.IndexAny(raw, "\r\n"); end >= 0 {
			return bytes.TrimLeft(raw[end:], "\r\n")
		}
	}
	return raw
}

// Reply is how a reply of a server is classified.
type Reply struct {
	Class reply.Reason `json:"class"`
	Kind  reply.Kind   `json:"kind"`
	Retry bool         `json:"retry"` // the message is tried again
	Rule  string       `json:"rule"`  // the rule that decided
}

// stages are the stages by the names that a line may have.
var stages = map[string]reply.Stage{
	"banner": reply.Mail, "ehlo": reply.Mail, // like MAIL, they are not about a recipient
	"mail": reply.Mail, "rcpt": reply.Rcpt, "data": reply.Data, "dot": reply.Dot,
}

// ReadReply classifies one reply of a server, such as "550 5.1.1 no such user". Behind tabs may follow
// the provider of the server, which the rules do not need, and the stage; RCPT is the stage by default.
// A line that is not a reply is treated as the text of a connection that broke.
func ReadReply(line string) Reply {
	fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
	stage := reply.Rcpt
	for _, f := range fields[1:] {
		if s, ok := stages[strings.ToLower(strings.TrimSpace(f))]; ok {
			stage = s
		}
	}
	said := strings.TrimSpace(fields[0])
	if len(said) > 3 && said[3] == '-' { // the first line of a longer reply, or all lines joined
		said = said[:3] + " " + said[4:]
	} else if len(said) > 1 && (said[0] == '4' || said[0] == '5') && said[1] == '.' { // without the basic code
		said = said[:1] + "50 " + said
	}
	answer, err := reply.Parse(said)
	if err == nil && answer.Code < 400 {
		return Reply{Kind: reply.NoKind, Rule: "accepted"}
	}
	outcome := reply.Outcome{Stage: stage, Text: reply.Clean(fields[0])}
	if err == nil {
		outcome = answer.Outcome(stage)
	}
	v := reply.Classify(outcome)
	return Reply{Class: v.Reason, Kind: v.Kind(), Retry: v.Class == reply.Deferred || v.Class == reply.Lane, Rule: v.Rule}
}
