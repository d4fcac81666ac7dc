// Package sink is an SMTP server for tests and benchmarks. It accepts every
// message and logs it, unless a rule makes it fail.
//
// Its log shows what a sender did. Each message is on
// stable storage before its 250 is sent, so every message that a sender considers
// accepted is in the log, even when both are killed; connections share the
// syncs. Rules describe failures: delays, refusals, lost connections and
// lost answers, at any stage, by sender or recipient.
//
// It speaks PIPELINING (RFC 2920), STARTTLS with a certificate of its own, and
// AUTH PLAIN, LOGIN and CRAM-MD5 with one fixed user. It takes only CRLF.CRLF
// for the end of a message and refuses bare line feeds. It is meant to be
// light, because benchmarks run it on the machine that they measure: command
// smtpsink runs it in a process of its own.
package sink
