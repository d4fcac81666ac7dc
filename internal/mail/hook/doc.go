// Package hook reads the webhooks by which providers report on mail: it verifies that a request comes
// from the provider, on the bytes that were received, and translates its events into those of one
// list. Everything in it is a function of its arguments.
//
//	provider   proof                                          event names
//	ses        signature of SNS (package sns)                 eventType, notificationType
//	sendgrid   ECDSA over timestamp and body                  event
//	mailgun    HMAC over timestamp and token, in the body     event-data.event
//	postmark   a secret: password of basic authentication,    RecordType, Type
//	           or the header X-Postmark-Secret
//	generic    none: the secret part of each Message-ID       event
package hook
