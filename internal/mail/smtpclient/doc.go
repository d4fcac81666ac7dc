// Package smtpclient sends messages to one SMTP server (RFC 5321): it connects, negotiates TLS
// (RFC 3207) and logs in (RFC 4954), then sends message after message on the same connection,
// pipelined (RFC 2920) if the server supports it.
//
// A Conn sends one message at a time. The result is a reply.Outcome; an error is returned only for
// messages that were not attempted, because they contain something that must not be sent or because
// the context ended in time.
//
//	Dial ── Send ── Send ── … ── Quit
//	          │
//	          └─ MAIL RCPT DATA │ message │ final dot │ wait for the answer
//	             may be aborted │ may be  │ must not  │ up to Timeouts.Dot
//
// Once the final dot is written the server may have the message, so from there on the context is
// ignored: ending the wait early causes duplicates (RFC 1047). If the connection breaks there, the
// outcome is uncertain.
//
// Messages must be 7bit and end their lines with CRLF; others are refused. Dots are stuffed here. A
// netguard.Guard prevents connections to networks that tenants must not reach, and a Pool keeps a
// bounded number of connections open for reuse.
package smtpclient
