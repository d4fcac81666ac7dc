// Package sink is an SMTP server for tests and benchmarks. It takes every
// message and keeps account of it, unless it was told to make trouble.
//
// Its account is the proof of what a sender did. In a log, each message is on
// stable storage before its 250 goes out, so whatever a sender believes to be
// accepted is in the log, even when both are killed; connections share the
// syncs. Rules describe the trouble: delays, refusals, lost connections and
// lost answers, at any stage, by sender or recipient.
//
// It speaks PIPELINING (RFC 2920), STARTTLS with a certificate of its own, and
// AUTH PLAIN, LOGIN and CRAM-MD5 with one fixed user. It takes only CRLF.CRLF
// for the end of a message and refuses bare line feeds. It is meant to be
// light, because benchmarks run it on the machine that they measure: command
// smtpsink runs it in a process of its own.
package sink
