package reply

// Kind says what a failure is about, for people: unlike a Class it does not depend on whether the
// server answered with a temporary or a permanent code.
type Kind string

// The kinds.
const (
	HardKind      Kind = "hard"      // the address is invalid
	SoftKind      Kind = "soft"      // the mailbox cannot take mail now
	BlockKind     Kind = "block"     // reputation or policy
	ConfigKind    Kind = "config"    // the sender's own set-up is wrong
	TransientKind Kind = "transient" // of the network or a server
	ContentKind   Kind = "content"   // of this message
	NoKind        Kind = "none"      // no failure
)

// kinds are the kinds of reasons. Unknown has none.
var kinds = map[Reason]Kind{
	InvalidRecipient:     HardKind,
	InvalidDomain:        HardKind,
	InactiveMailbox:      HardKind,
	SuppressedByProvider: HardKind,
	MailboxFull:          SoftKind,
	RoutingLoop:          SoftKind,
	ExpiredQueue:         SoftKind,
	RecipientThrottled:   TransientKind,
	RateLimited:          TransientKind,
	Greylisted:           TransientKind,
	ConnectFailed:        TransientKind,
	TLSFailed:            TransientKind,
	Timeout:              TransientKind,
	DNSTemporary:         TransientKind,
	RemoteSystem:         TransientKind,
	ReputationBlock:      BlockKind,
	SpamContent:          BlockKind,
	VirusOrAttachment:    BlockKind,
	RefusedByPolicy:      BlockKind,
	AuthFailure:          ConfigKind,
	TLSRequired:          ConfigKind,
	RelayDenied:          ConfigKind,
	SenderRejected:       ConfigKind,
	Protocol:             ConfigKind,
	LoginRefused:         ConfigKind,
	MessageTooLarge:      ContentKind,
}

// Kind returns the kind of a verdict. What a server refused only for now is transient if it would be
// hard, since it may have lost its list of users, or if its reason is unknown.
func (v Verdict) Kind() Kind {
	k, ok := kinds[v.Reason]
	switch {
	case v.Class == Accepted:
		return NoKind
	case v.Class == Deferred && (k == HardKind || !ok):
		return TransientKind
	case !ok:
		return SoftKind
	}
	return k
}
