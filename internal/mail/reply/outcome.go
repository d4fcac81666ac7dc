package reply

import (
	"strconv"
	"strings"
)

// Stage is a step of an SMTP conversation, in the order they come.
type Stage string

// The stages. Connect covers the banner and EHLO; Dot is the answer to the
// end of the message, the only one that hands over responsibility.
const (
	Connect Stage = "connect"
	TLS     Stage = "tls"
	Auth    Stage = "auth"
	Mail    Stage = "mail"
	Rcpt    Stage = "rcpt"
	Data    Stage = "data"
	Dot     Stage = "dot"
)

// Outcome is how one attempt to hand over one message ended.
type Outcome struct {
	Stage    Stage  // how far it got
	Code     int    // the reply's code; 0 if the server gave none
	Enhanced string // RFC 3463 code such as 5.1.1, or empty
	Text     string // the server's words or, with code 0, ours; at most MaxText bytes
	Remote   string // address and port of the server, once connected
	TLS      bool   // the conversation was encrypted
	Accepted bool   // the server took the message
	// Uncertain means that the whole message was written but the answer to it
	// never came: the server may or may not have taken it.
	Uncertain bool
}

// String returns the reply as a person expects to see it, such as
// "550 5.1.1 no such user", and just the words if there was no code.
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
