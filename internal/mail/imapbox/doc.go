// Package imapbox reads the new messages of a mailbox by IMAP (RFC 3501, RFC 9051). The mailbox is
// opened read-only: no message is marked, moved or deleted.
//
// A Cursor is the position after the last message that was read: a UID, which is valid as long as
// the UIDVALIDITY of the mailbox stays the same (RFC 3501 section 2.3.1.1). If it changes, reading
// begins at the first message again.
//
// The server is the choice of a tenant, so everything is bounded: the time of a session, the bytes
// that it may send in answer to each command, and the messages of a page.
package imapbox
