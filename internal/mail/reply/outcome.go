package reply

import (
	"strconv"
	"strings"
)

// Stage is a step of an SMTP conversation. The constants are in their order.
type Stage string

// The stages. Connect includes the banner and EHLO. Dot is the answer to the end of the message, by
// which the server takes responsibility for it.
const (
	Connect Stage = "connect"
	TLS     Stage = "tls"
	Auth    Stage = "auth"
	Mail    Stage = "mail"
	Rcpt    Stage = "rcpt"
	Data    Stage = "data"
	Dot     Stage = "dot"
)

// Outcome is the result of one attempt to send one message.
type Outcome struct {
	Stage    Stage  // the last stage
	Code     int    // the reply's code; 0 if the server gave none
	Enhanced string // RFC 3463 code such as 5.1.1, or empty
	Text     string // the server's text or, with code 0, ours; at most MaxText bytes
	Remote   string // address and port of the server, once connected
	TLS      bool   // the conversation was encrypted
	Accepted bool   // the server accepted the message
	// Uncertain means that the whole message was written but no answer was received: the server may
	// or may not have accepted it.
	Uncertain bool
}

// String returns the reply in its usual form, such as "550 5.1.1 no such user", or just the text if
// there was no code.
func (o Outcome) String() string {
	var parts []string
	if o.Code != 0 {
		parts = append(parts, strconv.Itoa(o.Code))
	}
	if o.Enhanced != "" {
		parts = append(parts, o.Enhanced)
	}
	if o.Text != "" {
		parts = append(parts, o.Text)
	}
	return strings.Join(parts, " ")
}
