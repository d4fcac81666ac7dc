package reply

// Reason is the cause of a failure in detail. Support and operators see it; what follows from it for
// the message is its Class.
type Reason string

// The reasons.
const (
	InvalidRecipient     Reason = "invalid_recipient"
	InvalidDomain        Reason = "invalid_domain"
	InactiveMailbox      Reason = "inactive_mailbox"
	SuppressedByProvider Reason = "suppressed_by_provider"
	MailboxFull          Reason = "mailbox_full"
	RecipientThrottled   Reason = "recipient_throttled"
	RateLimited          Reason = "rate_limited"
	Greylisted           Reason = "greylisted"
	ReputationBlock      Reason = "reputation_block"
	SpamContent          Reason = "spam_content"
	VirusOrAttachment    Reason = "virus_or_attachment"
	AuthFailure          Reason = "auth_failure"
	TLSRequired          Reason = "tls_required"
	RefusedByPolicy      Reason = "policy"
	RelayDenied          Reason = "relay_denied"
	SenderRejected       Reason = "sender_rejected"
	MessageTooLarge      Reason = "message_too_large"
	Protocol             Reason = "protocol"
	ConnectFailed        Reason = "connect_failed"
	TLSFailed            Reason = "tls_failed"
	Timeout              Reason = "timeout"
	DNSTemporary         Reason = "dns_temporary"
	RemoteSystem         Reason = "remote_system"
	RoutingLoop          Reason = "routing_loop"
	ExpiredQueue         Reason = "expired"
	LoginRefused         Reason = "login_refused" // the server requires a login, or refuses ours
	Unknown              Reason = "unknown"
)

// meanings are the class of a permanent failure and the category of each reason.
var meanings = map[Reason]struct {
	class    Class
	category Category
}{
	InvalidRecipient:     {Hard, Mailbox},
	InvalidDomain:        {Hard, Domain},
	InactiveMailbox:      {Hard, Mailbox},
	SuppressedByProvider: {Hard, Mailbox},
	MailboxFull:          {Soft, Full},
	RecipientThrottled:   {Deferred, Policy}, // servers use permanent codes for it
	RateLimited:          {Block, Policy},
	Greylisted:           {Block, Policy},
	ReputationBlock:      {Block, Policy},
	SpamContent:          {Block, Content},
	VirusOrAttachment:    {Block, Content},
	AuthFailure:          {Block, Policy},
	TLSRequired:          {Block, Policy},
	RefusedByPolicy:      {Block, Policy},
	RelayDenied:          {Block, Policy},
	SenderRejected:       {Block, Policy},
	MessageTooLarge:      {Soft, Content},
	Protocol:             {Block, Other},
	ConnectFailed:        {Soft, Network},
	TLSFailed:            {Soft, Network},
	Timeout:              {Soft, Network},
	DNSTemporary:         {Soft, Network},
	RemoteSystem:         {Soft, Other},
	RoutingLoop:          {Soft, Domain},
	ExpiredQueue:         {Soft, Other},
	LoginRefused:         {Lane, Policy},
	Unknown:              {Soft, Other},
}
