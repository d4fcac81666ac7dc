// Package lane stores a tenant's MTA configs: the lanes by which its mail is sent.
//
// A lane of type smtp sends messages to a relay, one of type direct_mx to the mail servers of the
// recipients' domains, and one of type ses to Amazon SES. One of type sink stores them in the built-in
// mailbox (package mailbox), for tests, except those that match its fail patterns: it refuses them with
// the reply of the pattern, as a server would.
//
// A lane has limits (Caps), limits for single providers or domains (Throttle), and optionally a
// Warmup that raises its daily limit day by day. Its Health is determined from its traffic and by
// probes and tests (RecordTrial):
//
//	healthy ⇄ degraded ⇄ down
//
// Passwords are write-only: they are sealed with the installation's key, and opened only to
// connect.
package lane

import (
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Type is how a lane delivers.
type Type string

// The types.
const (
	SMTP     Type = "smtp"
	DirectMX Type = "direct_mx"
	SES      Type = "ses"
	Sink     Type = "sink"
)

// Limits on a tenant's lanes.
const (
	MaxConfigs       = 50
	maxConnections   = 1000
	maxPerConnection = 1_000_000
	maxRate          = 100_000_000 // messages per second, minute, hour or day
	maxThrottles     = 100
	maxRetryHours    = 120 // a DKIM signature is valid two days longer
)

// Defaults.
const (
	DefaultConnections   = 10
	DefaultPerConnection = 100
	DefaultRetry         = 48 * time.Hour
)

var (
	// ErrNotFound reports an MTA config that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "NOT_FOUND", "no such MTA config")
	// ErrUnknown reports a key without an MTA config.
	ErrUnknown = fault.New(fault.Invalid, "INVALID_MTA_CONFIG", "no MTA config has this key")
	// ErrInUse reports what still uses the MTA config.
	ErrInUse = fault.New(fault.Conflict, "IN_USE", "the MTA config is still in use")
	// ErrTooMany reports that the tenant has the maximum number of them.
	ErrTooMany = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 50 MTA configs")
)

// Config is one MTA config.
type Config struct {
	ID          id.Lane
	Tenant      id.Tenant
	Key         string // public name; never changes
	Name        string
	Type        Type
	Active      bool
	SMTP        SMTPSettings   // of type smtp; else zero
	Direct      DirectSettings // of type direct_mx; else zero
	SES         SESSettings    // of type ses; else zero
	Sink        SinkSettings   // of type sink; else zero
	Caps        Caps
	Throttles   []Throttle
	Warmup      Warmup
	RetryMaxAge time.Duration
	ReturnPath  []ReturnPathRecord // of types smtp and ses
	CreatedAt   time.Time
	TestedAt    *time.Time // when the server last accepted a test, or mail, with the present connection settings; nil: not yet
	Revision    int64      // increases with each change by users
}

// Revisions is the table of MTA configs, for conditions on their revisions.
var Revisions = revision.Table{Name: "mta_config", At: "COALESCE(revised_at, created_at)"}

// SMTPSettings are the address and login of a relay, without the password, which is stored
// separately.
type SMTPSettings struct {
	Host        string              `json:"host"`
	Port        int                 `json:"port"`
	TLS         smtpclient.TLSMode  `json:"tls"`
	Auth        smtpclient.AuthMode `json:"auth"`
	Username    string              `json:"username,omitempty"`
	HELO        string              `json:"helo_host,omitempty"`
	DKIMSign    bool                `json:"dkim_sign"`
	HasPassword bool                `json:"-"`

	BounceMailbox *BounceMailbox `json:"bounce_mailbox,omitempty"` // nil: none
}

// Client returns the configuration for the SMTP client.
func (s SMTPSettings) Client(password string, guard netguard.Guard) smtpclient.Config {
	return smtpclient.Config{
		Host: s.Host, Port: s.Port, TLS: s.TLS, Auth: s.Auth,
		Username: s.Username, Password: password, HELO: s.HELO, Guard: guard,
	}
}
