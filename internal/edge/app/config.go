// Package app assembles the program, runs it and shuts it down.
package app

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/certificate"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/geoip"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// Options are the unparsed configuration: flags, environment variables, or the file given with
// --config, in this order of precedence. All are strings, so that Config can report every mistake
// at once. The tags are kong's.
type Options struct {
	DatabaseURL            string `name:"database-url" env:"PACKETBOAT_DATABASE_URL" default:"sqlite:packetboat.db" help:"Where the data is: sqlite:FILE (a relative file is in the data directory) or postgres://…"`
	DataDir                string `name:"data-dir" env:"PACKETBOAT_DATA_DIR" default:"./data" help:"Directory of the SQLite database and of the secret key."`
	Listen                 string `name:"listen" env:"PACKETBOAT_LISTEN" default:"127.0.0.1:8080" help:"Address that the API and the links in mails are served on, as host:port."`
	BaseURL                string `name:"base-url" env:"PACKETBOAT_BASE_URL" help:"Address the world reaches this installation at. Default: http:// and the listen address."`
	SecretKey              string `name:"secret-key" env:"PACKETBOAT_SECRET_KEY" help:"32 bytes in base64 that encrypt and sign. Default: made once, and kept in the data directory."`
	ACME                   string `name:"acme" env:"PACKETBOAT_ACME" default:"false" help:"Whether certificates for the base URL's host and the hosts of links are obtained from an authority by ACME, whose terms you accept with it: true or false."`
	TLSListen              string `name:"tls-listen" env:"PACKETBOAT_TLS_LISTEN" help:"Address that https is served on with these certificates, as host:port. Default: :443 with PACKETBOAT_ACME, otherwise none."`
	ACMEDirectory          string `name:"acme-directory" env:"PACKETBOAT_ACME_DIRECTORY" default:"https://acme-v02.api.letsencrypt.org/directory" help:"URL of the authority's directory."`
	ACMEEmail              string `name:"acme-email" env:"PACKETBOAT_ACME_EMAIL" help:"Address that the authority may write to. Default: none."`
	AdminListen            string `name:"admin-listen" env:"PACKETBOAT_ADMIN_LISTEN" default:"127.0.0.1:9090" help:"Address of /metrics, never public; off for none."`
	InboundListen          string `name:"inbound-listen" env:"PACKETBOAT_INBOUND_LISTEN" help:"Address that returned mail is received on by SMTP, as host:port, such as :25. Set it in all processes: those with the role inbound listen, and workers add an address for unsubscribing to mails. Default: none is received."`
	InboundTLSCert         string `name:"inbound-tls-cert" env:"PACKETBOAT_INBOUND_TLS_CERT" help:"File with the certificate chain, in PEM, with which STARTTLS is offered to servers that return mail. Default: it is not offered."`
	InboundTLSKey          string `name:"inbound-tls-key" env:"PACKETBOAT_INBOUND_TLS_KEY" help:"File with the key of that certificate, in PEM."`
	FeedbackAddress        string `name:"feedback-address" env:"PACKETBOAT_FEEDBACK_ADDRESS" help:"Address that abuse reports of mailbox providers are sent to, at a host whose mail is received here. Default: only postmaster and abuse."`
	RateLimitPerMinute     string `name:"rate-limit-per-minute" env:"PACKETBOAT_RATE_LIMIT_PER_MINUTE" default:"1000" help:"Requests a minute per API key, and per session."`
	MaxConnections         string `name:"max-connections" env:"PACKETBOAT_MAX_CONNECTIONS" default:"4000" help:"Connections that are kept open at once on the public listener; health checks are answered beyond."`
	MaxPerAddress          string `name:"max-connections-per-address" env:"PACKETBOAT_MAX_CONNECTIONS_PER_ADDRESS" default:"200" help:"Of these, connections from one address, or one IPv6 network of /64. Trusted proxies may have more."`
	MaxJobFilesMB          string `name:"max-job-files-mb" env:"PACKETBOAT_MAX_JOB_FILES_MB" default:"1024" help:"Megabytes of files of imports and exports that a tenant may store at a time."`
	MaxWorkingCopiesMB     string `name:"max-working-copies-mb" env:"PACKETBOAT_MAX_WORKING_COPIES_MB" default:"200" help:"Megabytes of working copies that the users of a tenant may store at a time."`
	MaxVisitorRequestsMB   string `name:"max-visitor-requests-mb" env:"PACKETBOAT_MAX_VISITOR_REQUESTS_MB" default:"200" help:"Megabytes of page views and events of unknown visitors that are kept for a tenant; beyond, the oldest are deleted."`
	TrustedProxies         string `name:"trusted-proxies" env:"PACKETBOAT_TRUSTED_PROXIES" help:"Networks whose X-Forwarded-For is believed, as CIDRs with commas between them. Default: none."`
	CountryHeader          string `name:"country-header" env:"PACKETBOAT_COUNTRY_HEADER" help:"Header in which a trusted proxy names the country of the client, such as CF-IPCountry. Default: none."`
	GeoIPDB                string `name:"geoip-db" env:"PACKETBOAT_GEOIP_DB" help:"File in the MaxMind DB format with the countries of addresses, for visitors of websites. Default: none."`
	FeedbackSenderID       string `name:"feedback-sender-id" env:"PACKETBOAT_FEEDBACK_SENDER_ID" default:"packetboat" help:"Last part of the Feedback-ID header: 5 to 15 letters, digits, hyphens or underscores, the same for ever."`
	SignupEnabled          string `name:"signup-enabled" env:"PACKETBOAT_SIGNUP_ENABLED" default:"false" help:"Whether anyone may create a tenant after the first: true or false."`
	AllowPrivateRelays     string `name:"allow-private-relays" env:"PACKETBOAT_ALLOW_PRIVATE_RELAYS" default:"false" help:"Whether MTA configs may use hosts on private networks: true or false. With a loopback base URL they always may."`
	AllowPrivateWebhooks   string `name:"allow-private-webhooks" env:"PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS" default:"false" help:"Whether webhook endpoints may use http, and hosts on loopback and private networks: true or false."`
	SystemSMTPURL          string `name:"system-smtp-url" env:"PACKETBOAT_SYSTEM_SMTP_URL" help:"Relay for mail about accounts, as smtp[s]://user:password@host:port?from=address. smtp needs STARTTLS, except on a loopback host. Default: none; links are shown instead."`
	DNSResolver            string `name:"dns-resolver" env:"PACKETBOAT_DNS_RESOLVER" help:"Name server for all questions to the DNS about mail: where contacts' mail goes, the records of sending domains, the hosts of this installation. As address or address:port. Default: those the machine is set up with."`
	DANE                   string `name:"dane" env:"PACKETBOAT_DANE" default:"false" help:"Verify the mail servers of recipients' domains by DANE (RFC 7672). PACKETBOAT_DNS_RESOLVER must then name a resolver on this machine that validates DNSSEC."`
	MXPort                 string `name:"mx-port" env:"PACKETBOAT_MX_PORT" default:"25" help:"Port of the mail servers of recipients' domains, for tests: another one than 25 is refused unless the base URL is on loopback."`
	SESEndpoint            string `name:"ses-endpoint" env:"PACKETBOAT_SES_ENDPOINT" help:"URL that replaces the address of Amazon SES, for tests: refused unless the base URL is on loopback. Default: none."`
	MXHost                 string `name:"mx-host" env:"PACKETBOAT_MX_HOST" help:"Host that takes bounces, named by the MX records that tenants publish. Default: the base URL's."`
	SPFHost                string `name:"spf-host" env:"PACKETBOAT_SPF_HOST" help:"Host whose SPF record lists the servers that send, included by the SPF records that tenants publish. Default: the base URL's."`
	TrackHost              string `name:"track-host" env:"PACKETBOAT_TRACK_HOST" help:"Host that answers tracked links, named by the CNAME records that tenants publish. Default: the base URL's."`
	NodeLease              string `name:"node-lease" env:"PACKETBOAT_NODE_LEASE" default:"45s" help:"How long the messages that a worker has claimed wait for it when it falls silent, before others send them: 6s to 10m."`
	Libcrypto              string `name:"libcrypto" env:"PACKETBOAT_LIBCRYPTO" default:"true" help:"Whether mail is signed with the system's libcrypto, where it is there and the program was built to use it: true or false."`
	ClassifierLists        string `name:"classifier-lists" env:"PACKETBOAT_CLASSIFIER_LISTS" help:"File with networks and user agents by which opens and clicks are classified, in addition to the built-in ones. Default: none."`
	LogFormat              string `name:"log-format" env:"PACKETBOAT_LOG_FORMAT" default:"text" help:"text or json."`
	LogLevel               string `name:"log-level" env:"PACKETBOAT_LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	BootstrapTenantSlug    string `name:"bootstrap-tenant-slug" env:"PACKETBOAT_BOOTSTRAP_TENANT_SLUG" help:"Tenant that serve makes when it is not there."`
	BootstrapAdminEmail    string `name:"bootstrap-admin-email" env:"PACKETBOAT_BOOTSTRAP_ADMIN_EMAIL" help:"Owner of that tenant, made when not there."`
	BootstrapAdminPassword string `name:"bootstrap-admin-password" env:"PACKETBOAT_BOOTSTRAP_ADMIN_PASSWORD" help:"The owner's password when they are made."`
	BootstrapAPIKey        string `name:"bootstrap-api-key" env:"PACKETBOAT_BOOTSTRAP_API_KEY" help:"API key of that tenant with all scopes, made when not there."`
}

// Config is the validated configuration.
type Config struct {
	DatabaseURL        string
	DataDir            string
	Listen             string
	BaseURL            *url.URL
	BaseURLGiven       bool   // false: it follows from Listen
	SecretKey          []byte // nil: from the data directory
	ACME               bool
	TLSListen          string // empty: none
	ACMEDirectory      string
	ACMEEmail          string
	AdminListen        string // empty: none
	InboundListen      string // empty: none
	InboundTLSCert     string
	InboundTLSKey      string
	FeedbackAddress    string
	RateLimitPerMinute int
	MaxConnections     int
	MaxPerAddress      int
	Quota              quota.Limits
	MaxVisitorRequests int64 // bytes of kept requests of unknown visitors
	TrustedProxies     []netip.Prefix
	CountryHeader      string    // empty: none
	GeoIP              *geoip.DB // nil: none
	FeedbackSenderID   string
	SignupEnabled      bool
	AllowPrivateRelays bool
	SystemRelay        *Relay       // nil: none
	DNSResolver        string       // host:port; empty: the machine's
	DANE               bool         // DNSResolver is on this machine then, and validates DNSSEC
	MXPort             int          // of the mail servers of domains; 25 unless the base URL is on loopback
	SESEndpoint        string       // empty: that of the region
	Hosts              sender.Hosts // as configured; see RecordHosts
	NodeLease          time.Duration
	Libcrypto          bool
	ClassifierLists    *classify.Lists // nil: only the built-in ones
	LogFormat          string
	LogLevel           slog.Level
	Bootstrap          Bootstrap

	AllowPrivateWebhooks bool
}

// Bootstrap is what serve creates at its start if it does not exist.
type Bootstrap struct {
	TenantSlug, AdminEmail, AdminPassword, APIKey string
}

// Option describes one option, for the documentation.
type Option struct {
	Name, Env, Default, Help string
}

// AllOptions returns all options in order.
func AllOptions() []Option {
	var list []Option
	t := reflect.TypeFor[Options]()
	for field := range t.Fields() {
		tag := field.Tag
		list = append(list, Option{tag.Get("name"), tag.Get("env"), tag.Get("default"), tag.Get("help")})
	}
	return list
}

// DefaultOptions returns the options of an empty configuration.
func DefaultOptions() Options {
	var o Options
	v := reflect.ValueOf(&o).Elem()
	for i := range v.NumField() {
		v.Field(i).SetString(v.Type().Field(i).Tag.Get("default"))
	}
	return o
}

// Mistakes are all errors of a configuration; each says what is valid.
type Mistakes []string

// Error lists the mistakes, one per line.
func (m Mistakes) Error() string {
	return "the configuration has mistakes:\n  " + strings.Join(m, "\n  ")
}

func (m *Mistakes) add(env, format string, args ...any) {
	*m = append(*m, fmt.Sprintf("%s (%s) ", env, flagOf(env))+fmt.Sprintf(format, args...))
}

// flagOf returns the flag of an option given its environment variable.
func flagOf(env string) string {
	return "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(env, "PACKETBOAT_"), "_", "-"))
}

var (
	feedbackIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{5,15}$`)
	headerNames = regexp.MustCompile(`^[A-Za-z0-9-]{1,76}$`)
)

// Config validates all options and returns them as values.
func (o Options) Config() (Config, error) {
	var m Mistakes
	c := Config{
		DatabaseURL: o.DatabaseURL, DataDir: o.DataDir, Listen: o.Listen, CountryHeader: o.CountryHeader, FeedbackSenderID: o.FeedbackSenderID,
		LogFormat: o.LogFormat,
		Bootstrap: Bootstrap{o.BootstrapTenantSlug, o.BootstrapAdminEmail, o.BootstrapAdminPassword, o.BootstrapAPIKey},
	}
	c.storage(&m)
	c.baseURL(o.BaseURL, &m)
	c.acme(o, &m)
	c.access(o, &m)
	c.inbound(o, &m)
	c.limits(o, &m)
	c.clients(o, &m)
	c.sending(o, &m)
	c.dns(o, &m)
	c.standIns(o, &m)
	c.logs(o, &m)
	c.Bootstrap.check(&m)
	if len(m) > 0 {
		return Config{}, m
	}
	return c, nil
}

// storage checks where data are stored.
func (c *Config) storage(m *Mistakes) {
	if c.DataDir == "" {
		m.add("PACKETBOAT_DATA_DIR", "is empty; name a directory, such as ./data")
	}
	if file, ok := strings.CutPrefix(c.DatabaseURL, "sqlite:"); ok && file == "" || !ok && !strings.HasPrefix(c.DatabaseURL, "postgres://") && !strings.HasPrefix(c.DatabaseURL, "postgresql://") {
		m.add("PACKETBOAT_DATABASE_URL", "must be sqlite:FILE, such as sqlite:packetboat.db, or postgres://user:password@host/database")
	}
}

// access sets where the program listens, its key, and what tenants may do.
func (c *Config) access(o Options, m *Mistakes) {
	if !hostPort(c.Listen) {
		m.add("PACKETBOAT_LISTEN", "is %q; write host:port, such as 127.0.0.1:8080 or :8080", o.Listen)
	}
	if o.SecretKey != "" {
		key, err := secret.Parse(o.SecretKey)
		if err != nil {
			m.add("PACKETBOAT_SECRET_KEY", "is not a key: %s", err)
		}
		c.SecretKey = key
	}
	switch {
	case o.AdminListen == "off":
	case !hostPort(o.AdminListen):
		m.add("PACKETBOAT_ADMIN_LISTEN", "is %q; write host:port, such as 127.0.0.1:9090, or off", o.AdminListen)
	default:
		c.AdminListen = o.AdminListen
	}
	c.SignupEnabled = flag("PACKETBOAT_SIGNUP_ENABLED", o.SignupEnabled, m)
	c.AllowPrivateRelays = flag("PACKETBOAT_ALLOW_PRIVATE_RELAYS", o.AllowPrivateRelays, m)
	c.AllowPrivateWebhooks = flag("PACKETBOAT_ALLOW_PRIVATE_WEBHOOKS", o.AllowPrivateWebhooks, m)
}

// limits sets how many requests and connections there may be.
func (c *Config) limits(o Options, m *Mistakes) {
	n, err := strconv.Atoi(o.RateLimitPerMinute)
	if err != nil || n < 1 || n > 1_000_000_000 {
		m.add("PACKETBOAT_RATE_LIMIT_PER_MINUTE", "is %q; write a whole number from 1, such as 1000", o.RateLimitPerMinute)
	}
	c.RateLimitPerMinute = n
	if c.MaxConnections, err = strconv.Atoi(o.MaxConnections); err != nil || c.MaxConnections < 1 || c.MaxConnections > 1_000_000 {
		m.add("PACKETBOAT_MAX_CONNECTIONS", "is %q; write a whole number from 1 to 1000000, such as 4000", o.MaxConnections)
	}
	if c.MaxPerAddress, err = strconv.Atoi(o.MaxPerAddress); err != nil || c.MaxPerAddress < 1 || c.MaxPerAddress > 1_000_000 {
		m.add("PACKETBOAT_MAX_CONNECTIONS_PER_ADDRESS", "is %q; write a whole number from 1 to 1000000, such as 200", o.MaxPerAddress)
	}
	c.Quota.JobFiles = megabytes("PACKETBOAT_MAX_JOB_FILES_MB", o.MaxJobFilesMB, m)
	c.Quota.WorkingCopies = megabytes("PACKETBOAT_MAX_WORKING_COPIES_MB", o.MaxWorkingCopiesMB, m)
	c.MaxVisitorRequests = megabytes("PACKETBOAT_MAX_VISITOR_REQUESTS_MB", o.MaxVisitorRequestsMB, m)
}

// megabytes returns the number of bytes of an option in megabytes.
func megabytes(name, text string, m *Mistakes) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1_000_000_000 {
		m.add(name, "is %q; write a whole number of megabytes from 1, such as 1024", text)
	}
	return n << 20
}

// clients sets how the addresses of clients, their countries, and programs among them are recognised.
func (c *Config) clients(o Options, m *Mistakes) {
	c.TrustedProxies = prefixes(o.TrustedProxies, m)
	if o.CountryHeader != "" && !headerNames.MatchString(o.CountryHeader) {
		m.add("PACKETBOAT_COUNTRY_HEADER", "is %q; write the name of a header, such as CF-IPCountry", o.CountryHeader)
	}
	var err error
	if o.GeoIPDB != "" {
		if c.GeoIP, err = geoip.Open(o.GeoIPDB); err != nil {
			m.add("PACKETBOAT_GEOIP_DB", "cannot be read: %s", err)
		}
	}
	if o.ClassifierLists != "" {
		if c.ClassifierLists, err = classify.LoadLists(o.ClassifierLists); err != nil {
			m.add("PACKETBOAT_CLASSIFIER_LISTS", "cannot be used: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}

// sending sets what sending mail depends on, apart from DNS.
func (c *Config) sending(o Options, m *Mistakes) {
	if !feedbackIDs.MatchString(o.FeedbackSenderID) {
		m.add("PACKETBOAT_FEEDBACK_SENDER_ID", "is %q; write 5 to 15 letters, digits, hyphens or underscores", o.FeedbackSenderID)
	}
	if o.SystemSMTPURL != "" {
		var err error
		if c.SystemRelay, err = ParseRelay(o.SystemSMTPURL); err != nil {
			m.add("PACKETBOAT_SYSTEM_SMTP_URL", "%s; write smtp://user:password@host:587?from=address", err)
		}
	}
	c.NodeLease = span("PACKETBOAT_NODE_LEASE", o.NodeLease, 6*time.Second, 10*time.Minute, m)
	c.Libcrypto = flag("PACKETBOAT_LIBCRYPTO", o.Libcrypto, m)
}

// dns sets the resolver, and the hosts that tenants' DNS records lead to.
func (c *Config) dns(o Options, m *Mistakes) {
	if o.DNSResolver != "" {
		c.DNSResolver = resolver(o.DNSResolver, m)
	}
	// The AD bit of a resolver elsewhere could be forged on its way.
	if c.DANE = flag("PACKETBOAT_DANE", o.DANE, m); c.DANE {
		if at, err := netip.ParseAddrPort(c.DNSResolver); err != nil || !at.Addr().Unmap().IsLoopback() {
			m.add("PACKETBOAT_DANE", "is set; it needs a resolver that validates DNSSEC on this machine, so set PACKETBOAT_DNS_RESOLVER to a loopback address such as 127.0.0.1")
		}
	}
	c.Hosts = sender.Hosts{
		MX:    hostname("PACKETBOAT_MX_HOST", o.MXHost, m),
		SPF:   hostname("PACKETBOAT_SPF_HOST", o.SPFHost, m),
		Track: hostname("PACKETBOAT_TRACK_HOST", o.TrackHost, m),
	}
}

// logs sets the form and the level of logs.
func (c *Config) logs(o Options, m *Mistakes) {
	if o.LogFormat != "text" && o.LogFormat != "json" {
		m.add("PACKETBOAT_LOG_FORMAT", "is %q; write text or json", o.LogFormat)
	}
	if err := c.LogLevel.UnmarshalText([]byte(o.LogLevel)); err != nil {
		m.add("PACKETBOAT_LOG_LEVEL", "is %q; write debug, info, warn or error", o.LogLevel)
	}
}

// acme sets what is configured for certificates. The base URL was set before.
func (c *Config) acme(o Options, m *Mistakes) {
	c.ACME, c.TLSListen, c.ACMEDirectory = flag("PACKETBOAT_ACME", o.ACME, m), o.TLSListen, o.ACMEDirectory
	if !c.ACME {
		if o.TLSListen != "" {
			m.add("PACKETBOAT_TLS_LISTEN", "needs PACKETBOAT_ACME=true; otherwise let a proxy serve https")
		}
		return
	}
	if c.TLSListen == "" {
		c.TLSListen = ":443"
	}
	if !hostPort(c.TLSListen) {
		m.add("PACKETBOAT_TLS_LISTEN", "is %q; write host:port, such as :443", o.TLSListen)
	}
	if c.BaseURL != nil {
		if _, err := address.Hostname(c.BaseURL.Hostname()); err != nil || c.BaseURL.Scheme != "https" || !strings.Contains(c.BaseURL.Hostname(), ".") {
			m.add("PACKETBOAT_ACME", "needs a base URL with https and the name of a host in the DNS, such as PACKETBOAT_BASE_URL=https://mail.example.com")
		}
	}
	if u, err := url.Parse(o.ACMEDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
		m.add("PACKETBOAT_ACME_DIRECTORY", "is %q; write an https URL, such as %s", o.ACMEDirectory, certificate.LetsEncrypt)
	}
	if o.ACMEEmail != "" {
		addr, err := address.Normalize(o.ACMEEmail)
		if err != nil {
			m.add("PACKETBOAT_ACME_EMAIL", "is not an address: %s", err)
		}
		c.ACMEEmail = addr
	}
}

// inbound sets what is configured for returned mail.
func (c *Config) inbound(o Options, m *Mistakes) {
	c.InboundListen, c.InboundTLSCert, c.InboundTLSKey = o.InboundListen, o.InboundTLSCert, o.InboundTLSKey
	if o.InboundListen != "" && !hostPort(o.InboundListen) {
		m.add("PACKETBOAT_INBOUND_LISTEN", "is %q; write host:port, such as :25", o.InboundListen)
	}
	if (o.InboundTLSCert == "") != (o.InboundTLSKey == "") {
		m.add("PACKETBOAT_INBOUND_TLS_CERT", "and PACKETBOAT_INBOUND_TLS_KEY go together; set both or neither")
	}
	if o.FeedbackAddress != "" {
		addr, err := address.Normalize(o.FeedbackAddress)
		if err != nil {
			m.add("PACKETBOAT_FEEDBACK_ADDRESS", "is not an address: %s", err)
		}
		c.FeedbackAddress = addr
	}
}

func (c *Config) baseURL(text string, m *Mistakes) {
	if text == "" {
		host, port, _ := net.SplitHostPort(c.Listen)
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			host = "localhost"
		}
		c.BaseURL = &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
		return
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		m.add("PACKETBOAT_BASE_URL", "is %q; write http or https, a host, and nothing after it, such as https://mail.example.com", text)
		return
	}
	c.BaseURL, c.BaseURLGiven = u, true
}

// LoopbackBaseURL reports whether the base URL is on loopback, as in trials and tests.
func (c Config) LoopbackBaseURL() bool {
	host := c.BaseURL.Hostname()
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// RecordHosts returns the hosts that the DNS records of tenants refer to.
func (c Config) RecordHosts() sender.Hosts { return c.Hosts.Or(c.BaseURL.Hostname()) }

// hostname parses the name of a host in the DNS, which may be empty.
func hostname(env, text string, m *Mistakes) string {
	if text == "" {
		return ""
	}
	host, err := address.Hostname(text)
	if err != nil {
		m.add(env, "is %q; write the name of a host in the DNS, such as mx.example.com", text)
	}
	return host
}

func hostPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

// resolver returns the address of a name server, with the default port unless it has one.
func resolver(text string, m *Mistakes) string {
	if ip, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(ip, 53).String()
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil || at.Port() == 0 {
		m.add("PACKETBOAT_DNS_RESOLVER", "is %q; write the IP address of a name server, such as 192.0.2.53 or 192.0.2.53:5353", text)
		return ""
	}
	return at.String()
}

func prefixes(list string, m *Mistakes) []netip.Prefix {
	out := []netip.Prefix{}
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := netip.ParsePrefix(item)
		if ip, ipErr := netip.ParseAddr(item); err != nil && ipErr == nil {
			p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			m.add("PACKETBOAT_TRUSTED_PROXIES", "holds %q; write networks such as 10.0.0.0/8, with commas between them", item)
			continue
		}
		out = append(out, p.Masked())
	}
	return out
}

// span parses a duration within limits.
func span(env, text string, low, high time.Duration, m *Mistakes) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < low || d > high {
		m.add(env, "must be a length of time from %s to %s, such as 45s", low, high)
	}
	return d
}

func flag(env, text string, m *Mistakes) bool {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	m.add(env, "is %q; write true or false", text)
	return false
}

func (b Bootstrap) check(m *Mistakes) {
	if b == (Bootstrap{}) {
		return
	}
	var p fault.Problems
	tenant.CheckSlug(&p, "", b.TenantSlug)
	if p.Any() {
		m.add("PACKETBOAT_BOOTSTRAP_TENANT_SLUG", "is %q; write 3 to 40 lower-case letters, digits and hyphens", b.TenantSlug)
	}
	if (b.AdminEmail == "") != (b.AdminPassword == "") {
		m.add("PACKETBOAT_BOOTSTRAP_ADMIN_EMAIL", "and PACKETBOAT_BOOTSTRAP_ADMIN_PASSWORD go together; set both or neither")
	}
	if b.AdminEmail != "" {
		if _, err := address.Normalize(b.AdminEmail); err != nil {
			m.add("PACKETBOAT_BOOTSTRAP_ADMIN_EMAIL", "is not an address: %s", err)
		}
	}
	if b.AdminPassword != "" {
		var p fault.Problems
		auth.CheckNewPassword(&p, "", b.AdminPassword, b.AdminEmail)
		if err := p.Err(); err != nil {
			f, _ := fault.As(err)
			m.add("PACKETBOAT_BOOTSTRAP_ADMIN_PASSWORD", "%s", f.Message)
		}
	}
	if b.APIKey != "" && !auth.KeyShaped(b.APIKey) {
		m.add("PACKETBOAT_BOOTSTRAP_API_KEY", "must read pbk_, 12 lower-case letters or digits, _, 43 letters or digits")
	}
}

// Logger returns the program's logger as configured.
func (c Config) Logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
