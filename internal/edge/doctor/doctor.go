package doctor

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Installation is what is examined: the configuration.
type Installation struct {
	DatabaseURL    string
	DataDir        string
	SecretKey      []byte // nil: in the data directory
	ConfigFile     string // empty: none
	BaseURL        *url.URL
	Loopback       bool // the base URL is on loopback
	Listen         string
	TLSListen      string // empty: none
	AdminListen    string // empty: none
	InboundListen  string // empty: none
	InboundTLSCert string
	InboundTLSKey  string
	Hosts          sender.Hosts // complete
	DNSResolver    string
	MXPort         int
	ProbeDomain    string // whose mail server is connected to
	SESEndpoint    string
	AllowPrivate   bool
	SystemRelay    *smtpclient.Config // nil: none
	Secrets        []string           // that may occur in the texts of errors
	RootCAs        *x509.CertPool     // nil: the system's
	Now            func() time.Time

	// Touch writes to the database, Fingerprint returns that of the key the database was created with,
	// or "", and KeyFingerprint that of a key.
	Touch          func(ctx context.Context, db *sqldb.DB) error
	Fingerprint    func(ctx context.Context, db *sqldb.DB) (string, error)
	KeyFingerprint func(box *secret.Box) string
}

// The time limits of parts, and how much is examined.
const (
	limit        = 30 * time.Second // of a part
	attempt      = 10 * time.Second // of a connection or a query
	maxHosts     = 50               // tracking hosts
	maxDomains   = 100
	maxLanes     = 100
	concurrently = 8
)

// examination is one run.
type examination struct {
	Installation
	dns     *dnscheck.Resolver
	box     atomic.Pointer[secret.Box] // nil: there is no usable key
	db      atomic.Pointer[sqldb.DB]   // nil: it cannot be used
	serving atomic.Bool                // a process of this program answers at the listener
}

// Examine examines an installation.
func Examine(ctx context.Context, i Installation) Report {
	e := &examination{Installation: i, dns: dnscheck.NewResolver(i.DNSResolver)}
	findings := within(ctx, limit, part{"data directory", e.disk}, part{"secret key", e.key}, part{"configuration file", e.configFile})
	findings = append(findings, within(ctx, limit, part{"database", e.database}, part{"listener", e.listeners})...)
	if db := e.db.Load(); db != nil {
		defer db.Close() //nolint:errcheck // nothing was written that matters
	}
	findings = append(findings, within(ctx, limit,
		part{"clock", e.clock},
		part{"name server", e.nameServer},
		part{"host", e.hosts},
		part{"certificate", e.certificates},
		part{"inbound mail", e.inbound},
		part{"relay", e.relays},
		part{"source address", e.sources},
		part{"port 25", e.port25},
		part{"sending domain", e.domains},
		part{"state", e.state},
	)...)
	return report(findings, e.secrets())
}

// secrets are the texts that no finding may contain.
func (e *examination) secrets() []string {
	list := e.Secrets
	if e.SecretKey != nil {
		list = append(list, base64.StdEncoding.EncodeToString(e.SecretKey))
	}
	if u, err := url.Parse(e.DatabaseURL); err == nil && u.User != nil {
		if p, ok := u.User.Password(); ok {
			list = append(list, p, url.QueryEscape(p))
		}
	}
	if e.SystemRelay != nil {
		list = append(list, e.SystemRelay.Password)
	}
	return list
}

// guard permits all connections, since the operator has configured where they lead.
var guard = netguard.Guard{AllowPrivate: true}

// dialer resolves names with the configured name server.
func (e *examination) dialer() *net.Dialer {
	return &net.Dialer{Timeout: attempt, Resolver: e.dns.Resolver}
}

// lookup returns the addresses of a host, which may be one itself.
func (e *examination) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	return e.dns.Addresses(ctx, host)
}
