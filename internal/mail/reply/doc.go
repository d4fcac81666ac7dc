// Package reply reads what a receiving mail server answers and says what the
// answer means for the message, for the person it was meant for, and for the
// lane it went by.
//
// A reply (RFC 5321 section 4.2) is a three-digit code, often an enhanced
// status code (RFC 3463), and words. Together with the stage of the
// conversation at which it came it makes an Outcome; Classify turns that into
// a Class:
//
//	accepted  the server took responsibility for the message
//	deferred  not now: try again on the schedule of NextTry
//	hard      the address is bad and will stay bad
//	soft      refused for a reason that may pass: a full mailbox, a size limit
//	block     refused for what we are or what we say: reputation, policy, spam
//	lane      the lane itself is in trouble: no connection, no TLS, no login
//
// Words outrank codes where servers are known to mean something else by the
// code, codes outrank the stage, and nothing is ever held against an address
// unless the reply was about that address. The package does no I/O of its own
// beyond reading replies, and stores nothing.
package reply
