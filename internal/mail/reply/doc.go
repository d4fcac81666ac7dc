// Package reply parses the replies of a receiving mail server and classifies what they mean for the
// message, its recipient and the lane.
//
// A reply (RFC 5321 section 4.2) is a three-digit code, often an enhanced status code (RFC 3463),
// and a text. Together with the stage of the conversation it is an Outcome, which Classify maps to a
// Class:
//
//	accepted  the server took responsibility for the message
//	deferred  not now: try again on the schedule of NextTry
//	hard      the address is invalid
//	soft      refused for a reason that may be temporary: a full mailbox, a size limit
//	block     the sender or the content is refused: reputation, policy, spam
//	lane      the lane itself does not work: no connection, no TLS, no login
//
// A Verdict also has a Reason, such as mailbox_full, which one ordered table of rules determines: for
// replies, and for reports about messages that were accepted before (Reported). Words take precedence
// over codes where servers are known to use a code with another meaning, and codes over the stage. An
// address is considered invalid only if the reply was about that address.
// The package does no I/O except for reading replies, and stores nothing.
package reply
