package lane

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// Fields are the fields of a request. A nil field is absent; an empty string clears an optional
// field.
type Fields struct {
	Name                     *string
	Type                     *Type
	Active                   *bool
	Host                     *string
	Port                     *int
	TLS                      *smtpclient.TLSMode
	Auth                     *smtpclient.AuthMode
	Username                 *string
	Password                 *string
	HELO                     *string
	DKIMSign                 *bool
	BounceMailbox            *BounceMailboxFields
	IPs                      *[]SourceFields
	Region                   *string
	AccessKeyID              *string
	SecretAccessKey          *string
	ConfigurationSet         *string
	TopicARNs                *[]string
	FailPatterns             *[]FailPatternFields
	MaxPerSecond             *Bound
	MaxPerMinute             *Bound
	MaxPerHour               *Bound
	MaxPerDay                *Bound
	MaxConnections           *int
	MaxMessagesPerConnection *int
	Throttles                *[]ThrottleFields
	Warmup                   WarmupFields
	RetryMaxAgeHours         *int
	ReturnPath               *[]ReturnPathRecordFields
}

// Rules are external conditions for writing a lane.
type Rules struct {
	AllowPrivate bool       // relays may have loopback and private addresses
	Today        spread.Day // in the account's time zone: the default start of a warm-up
}

// defaultConfig returns a config with defaults.
func defaultConfig() Config {
	return Config{
		Active:      true,
		Caps:        Caps{MaxConnections: DefaultConnections, MaxMessagesPerConnection: DefaultPerConnection},
		Warmup:      noWarmup,
		RetryMaxAge: DefaultRetry,
	}
}

// CheckNew validates the fields of a new config.
func (f Fields) CheckNew(rules Rules) error {
	var p fault.Problems
	f.apply(defaultConfig(), rules, &p)
	return p.Err()
}

// Check validates the fields of a change, independently of the config: absent fields are assumed to
// be valid, and the type to be the one in f.
func (f Fields) Check(rules Rules) error {
	var p fault.Problems
	c := defaultConfig()
	c.Name, c.Type = "-", SMTP
	c.SMTP = SMTPSettings{Host: "localhost", Port: 587, TLS: smtpclient.StartTLS, Auth: smtpclient.AuthNone, Username: "-", HasPassword: true}
	switch f.likelyType() {
	case Sink:
		c.Type = Sink
	case DirectMX:
		c.Type, c.Direct = DirectMX, DirectSettings{IPs: []Source{{IP: netip.IPv4Unspecified()}}, TLS: smtpclient.Opportunistic}
	case SES:
		c.Type, c.SES = SES, SESSettings{Region: "eu-west-1", AccessKeyID: strings.Repeat("A", 16), HasSecret: true}
	}
	if f.BounceMailbox != nil { // absent fields may have been set before
		c.SMTP.BounceMailbox = &BounceMailbox{Host: "localhost", Port: 993, Username: "-", TLS: smtpclient.Implicit, HasPassword: true}
		if f.BounceMailbox.Host == nil {
			c.SMTP.BounceMailbox.Host = "imap.invalid"
		}
	}
	rules.AllowPrivate = rules.AllowPrivate || f.Host == nil && f.BounceMailbox == nil && f.IPs == nil
	f.apply(c, rules, &p)
	return p.Err()
}

// apply sets the fields in f and validates the result.
func (f Fields) apply(c Config, rules Rules, p *fault.Problems) Config {
	stored := c
	set(&c.Active, f.Active)
	if f.Name != nil {
		c.Name = norm.NFC.String(strings.TrimSpace(*f.Name))
	}
	if n := utf8.RuneCountInString(c.Name); n < 1 || n > 200 || strings.ContainsFunc(c.Name, unicode.IsControl) {
		p.Add("name", "must be 1 to 200 characters without control characters")
	}
	f.applyType(&c, p)
	switch c.Type {
	case SMTP:
		c.SMTP = f.applySMTP(c.SMTP, rules, p)
	case DirectMX:
		c.Direct = f.applyDirect(c.Direct, rules, p)
	case SES:
		c.SES = f.applySES(c.SES, p)
	case Sink:
		c.Sink = f.applySink(c.Sink, p)
	}
	if c.Type != "" {
		f.refuseForeign(c.Type, p)
	}
	c.Caps = f.applyCaps(c.Caps, p)
	if f.Throttles != nil {
		c.Throttles = throttles(*f.Throttles, p)
	}
	before := c.Warmup
	c.Warmup = f.Warmup.apply(c.Warmup, rules.Today, p)
	c.Warmup = c.withSources(before, rules.Today)
	if f.RetryMaxAgeHours != nil {
		checkRange(p, "retry.max_age_hours", *f.RetryMaxAgeHours, 1, maxRetryHours)
		c.RetryMaxAge = time.Duration(*f.RetryMaxAgeHours) * time.Hour
	}
	c.ReturnPath = f.applyReturnPath(c.ReturnPath, c.Type, p)
	if !stored.ID.IsZero() {
		f.checkBound(stored, c, p)
	}
	return c
}

func (f Fields) applyType(c *Config, p *fault.Problems) {
	switch {
	case c.Type == "" && (f.Type == nil || *f.Type == ""):
		p.Add("type", "required")
	case f.Type == nil || *f.Type == c.Type:
	case c.Type != "":
		p.Add("type", "cannot be changed; make another MTA config")
	case *f.Type == SMTP:
		c.Type, c.SMTP = SMTP, SMTPSettings{Port: 587, TLS: smtpclient.StartTLS, Auth: smtpclient.AuthNone, DKIMSign: true}
	case *f.Type == DirectMX:
		c.Type, c.Direct = DirectMX, DirectSettings{TLS: smtpclient.Opportunistic}
	case *f.Type == SES || *f.Type == Sink:
		c.Type = *f.Type
	default:
		p.Add("type", "must be smtp, direct_mx, ses or sink")
	}
}

func (f Fields) applySMTP(s SMTPSettings, rules Rules, p *fault.Problems) SMTPSettings {
	if f.Host != nil {
		s.Host = canonicalHost(*f.Host)
	}
	set(&s.Port, f.Port)
	set(&s.TLS, f.TLS)
	set(&s.Auth, f.Auth)
	set(&s.DKIMSign, f.DKIMSign)
	set(&s.Username, f.Username)
	if f.HELO != nil {
		s.HELO = strings.TrimSpace(*f.HELO)
	}
	if f.Password != nil {
		s.HasPassword = *f.Password != ""
		if len(*f.Password) > 1024 || strings.ContainsAny(*f.Password, "\x00\r\n") {
			p.Add("settings.password", "must be at most 1024 bytes without line breaks")
		}
	}
	if s.Host == "" {
		p.Add("settings.host", "required")
	} else if err := netguard.CheckHost(s.Host, rules.AllowPrivate); err != nil {
		p.Add("settings.host", err.Error())
	}
	checkRange(p, "settings.port", s.Port, 1, 65535)
	if s.HELO != "" {
		helo, err := address.Hostname(s.HELO)
		if err != nil {
			p.Add("settings.helo_host", err.Error())
		}
		s.HELO = helo
	}
	if len(s.Username) > 1024 || strings.ContainsFunc(s.Username, unicode.IsControl) {
		p.Add("settings.username", "must be at most 1024 bytes without control characters")
	}
	checkLogin(s, p)
	if f.BounceMailbox != nil {
		s.BounceMailbox = f.BounceMailbox.applyMailbox(s.BounceMailbox, rules, p)
	}
	return s
}

// checkLogin validates TLS and login: a password is only sent over an encrypted connection, or to
// this machine.
func checkLogin(s SMTPSettings, p *fault.Problems) {
	switch s.TLS {
	case smtpclient.None, smtpclient.StartTLS, smtpclient.Implicit:
	default:
		p.Add("settings.tls", "must be none, starttls or implicit")
	}
	switch s.Auth {
	case smtpclient.AuthNone:
		return
	case smtpclient.AuthPlain, smtpclient.AuthLogin, smtpclient.AuthCRAMMD5:
	default:
		p.Add("settings.auth", "must be none, plain, login or cram_md5")
		return
	}
	if s.Username == "" {
		p.Add("settings.username", "required with auth "+string(s.Auth))
	}
	if !s.HasPassword {
		p.Add("settings.password", "required with auth "+string(s.Auth))
	}
	if s.TLS == smtpclient.None && !loopback(s.Host) {
		p.Add("settings.tls", "a login needs starttls or implicit, except at a loopback host")
	}
}

// login is where and how a password is sent, and whose it is.
type login struct {
	host     string
	port     int
	username string
	tls      smtpclient.TLSMode
}

// checkBound requires the passwords of logins that change. Otherwise, somebody who may change an MTA config
// but does not know its password could have it sent to a server of their own.
func (f Fields) checkBound(before, after Config, p *fault.Problems) {
	if s, t := before.SMTP, after.SMTP; s.HasPassword && f.Password == nil {
		checkLogins(p, "settings.password", login{s.Host, s.Port, s.Username, s.TLS}, login{t.Host, t.Port, t.Username, t.TLS})
	}
	if m, n := before.SMTP.BounceMailbox, after.SMTP.BounceMailbox; m != nil && n != nil && m.HasPassword && f.bouncePassword() == nil {
		checkLogins(p, "settings.bounce_mailbox.password", login{m.Host, m.Port, m.Username, m.TLS}, login{n.Host, n.Port, n.Username, n.TLS})
	}
}

func checkLogins(p *fault.Problems, path string, before, after login) {
	var what string
	switch {
	case before.host != after.host:
		what = "host"
	case before.port != after.port:
		what = "port"
	case before.username != after.username:
		what = "user name"
	case before.tls != after.tls:
		what = "encryption"
	default:
		return
	}
	p.Add(path, "required, since the "+what+" changes")
}

// canonicalHost returns a host as stored: names as lower-case A-labels, addresses without brackets.
func canonicalHost(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	bare := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil {
		return ip.String()
	}
	if host, err := address.Hostname(s); err == nil {
		return host
	}
	return s
}

func loopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func checkRange(p *fault.Problems, path string, n, low, high int) {
	if n < low || n > high {
		p.Add(path, "must be "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
	}
}
