// Package dsn parses mail that programs send about other mail: delivery status notifications (RFC
// 3464), bounces in the formats of servers that do not follow it, abuse reports (RFC 5965), automatic
// replies (RFC 3834) and requests to unsubscribe.
//
// Parse accepts any bytes. It never fails: what it does not recognize has the kind None. It reads at
// most MaxSize bytes, MaxDepth levels and MaxParts parts. Reasons of failures are decided by the table
// of package reply, which is also used for the replies of servers.
//
// A report proves nothing, since anyone can send one. The caller must check the token in the envelope
// recipient, or a Message-ID that cannot be guessed, before it acts on one.
package dsn
