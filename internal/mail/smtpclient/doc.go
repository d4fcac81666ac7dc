// Package smtpclient hands messages to one SMTP server (RFC 5321): it dials,
// negotiates TLS (RFC 3207) and logs in (RFC 4954), then sends message after
// message on the same connection, pipelined (RFC 2920) where the server can.
//
// A Conn carries one message at a time. What became of it is a reply.Outcome,
// never an error: errors are for messages that were not tried at all, because
// they may not be written to a wire or because the context ended in time.
//
//	Dial ── Send ── Send ── … ── Quit
//	          │
//	          └─ MAIL RCPT DATA │ message │ final dot │ wait for the answer
//	             may be aborted │ may be  │ must not  │ up to Timeouts.Dot
//
// Once the final dot is written the server may have the message, so from there
// on the context is ignored: cutting the wait short is how duplicates are made
// (RFC 1047). If the connection breaks there, the outcome is uncertain.
//
// Messages must be 7bit and end their lines with CRLF; nothing else is sent,
// and dots are stuffed here. A Guard keeps connections away from networks that
// customers must not reach through us, and a Pool keeps a bounded number of
// connections open for reuse.
package smtpclient
