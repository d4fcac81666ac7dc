// Package lane keeps a tenant's MTA configs: the ways its mail leaves.
//
// A lane of type smtp hands messages to a relay. One of type sink accepts
// everything and keeps it in the built-in mailbox (package mailbox), for
// trials and tests. The other types that the API knows are refused by name rather
// than stored and forgotten.
//
// A lane has limits of its own (Caps), limits for what goes to one provider or
// domain (Throttle), and perhaps a Warmup, under which it may carry a little
// more each day. How it fares is its Health, which is judged from its traffic
// and by probes:
//
//	healthy ⇄ degraded ⇄ down
//
// Passwords are write-only: sealed under the installation's key, and opened
// only for whoever connects.
package lane

import (
	"time"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
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

// Limits of one tenant's lanes.
const (
	MaxConfigs       = 50
	maxConnections   = 1000
	maxPerConnection = 1_000_000
	maxRate          = 100_000_000 // messages in a second, minute, hour or day
	maxThrottles     = 100
	maxRetryHours    = 120 // a DKIM signature is good for two days more
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
	// ErrUnknown reports a key that names no MTA config.
	ErrUnknown = fault.New(fault.Invalid, "INVALID_MTA_CONFIG", "no MTA config has this key")
	// ErrInUse reports who still needs the MTA config.
	ErrInUse = fault.New(fault.Conflict, "IN_USE", "the MTA config is still in use")
	// ErrTooMany reports that the tenant has as many as it may.
	ErrTooMany = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "a tenant may have 50 MTA configs")
)

// Config is one MTA config.
type Config struct {
	ID          id.MTAConfig
	Tenant      id.Tenant
	Key         string // its public name; never changes
	Name        string
	Type        Type
	Active      bool
	SMTP        SMTPSettings // of type smtp; zero otherwise
	Caps        Caps
	Throttles   []Throttle
	Warmup      Warmup
	RetryMaxAge time.Duration
	CreatedAt   time.Time
}

// SMTPSettings say how to reach a relay. The password is kept apart.
type SMTPSettings struct {
	Host        string              `json:"host"`
	Port        int                 `json:"port"`
	TLS         smtpclient.TLSMode  `json:"tls"`
	Auth        smtpclient.AuthMode `json:"auth"`
	Username    string              `json:"username,omitempty"`
	HELO        string              `json:"helo_host,omitempty"`
	DKIMSign    bool                `json:"dkim_sign"`
	HasPassword bool                `json:"-"`
}

// Client returns the settings as the SMTP client takes them.
func (s SMTPSettings) Client(password string, guard smtpclient.Guard) smtpclient.Config {
	return smtpclient.Config{
		Host: s.Host, Port: s.Port, TLS: s.TLS, Auth: s.Auth,
		Username: s.Username, Password: password, HELO: s.HELO, Guard: guard,
	}
}

// Trial is what became of one test mail.
type Trial struct {
	Accepted bool
	Code     int // the SMTP reply code; 0 when no server answered
	Response string
	Latency  time.Duration
}
