package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/certificate"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// The remaining times of a certificate from which there are findings.
const (
	renewSoon = 14 * 24 * time.Hour
	renewNow  = 3 * 24 * time.Hour
)

func (e *examination) tls(name string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name, RootCAs: e.RootCAs}
}

// certificates examines the certificates of the base URL and of the hosts of links.
func (e *examination) certificates(ctx context.Context, n *notes) {
	if e.BaseURL.Scheme != "https" {
		n.skip(e.BaseURL.Host, "the base URL has http, and so have the links in mails")
		return
	}
	e.obtained(ctx, n)
	hosts := []string{e.BaseURL.Host}
	if e.Hosts.Track != "" && e.Hosts.Track != e.BaseURL.Hostname() {
		hosts = append(hosts, e.Hosts.Track)
	}
	hosts = append(hosts, e.trackingHosts(ctx, n)...)
	inParallel(len(hosts), func(i int) { e.certificate(ctx, n, hosts[i], netguard.Guard{AllowPrivate: i == 0 || e.AllowPrivate}) })
}

// obtained examines the certificates that the program obtains itself.
func (e *examination) obtained(ctx context.Context, n *notes) {
	db := e.db.Load()
	if db == nil || e.TLSListen == "" {
		return
	}
	list, err := certificate.Failing(ctx, db, maxHosts)
	if err != nil {
		n.fail("", "check the log of the database", "%s", err)
		return
	}
	for _, s := range list {
		advice := "let " + s.Host + " lead to this installation, and ports 80 and 443 to PACKETBOAT_LISTEN and PACKETBOAT_TLS_LISTEN; it is tried again at " + s.NextTry.Format(time.RFC3339)
		if s.NotAfter == nil {
			n.fail(s.Host, advice, "its certificate was not obtained in %d attempts: %s", s.Failures, s.Problem)
		} else {
			n.warn(s.Host, advice, "its certificate was not renewed in %d attempts: %s", s.Failures, s.Problem)
		}
	}
}

// trackingHosts returns the hosts of the links of tenants.
func (e *examination) trackingHosts(ctx context.Context, n *notes) []string {
	var list []string
	e.eachDomain(ctx, n, func(_ tenant.Tenant, d sender.Domain) bool {
		if d.TrackingStatus == sender.Live {
			list = append(list, d.TrackingHost)
		}
		return len(list) < maxHosts
	})
	if len(list) == maxHosts {
		n.skip("", "only the first %d tracking hosts are examined", maxHosts)
	}
	return list
}

// certificate examines the certificate of one host, which may have a port.
func (e *examination) certificate(ctx context.Context, n *notes, at string, guard netguard.Guard) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		host, port = strings.Trim(at, "[]"), "443"
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	settings := e.tls(host)
	settings.InsecureSkipVerify = true // to see when a certificate that is not valid ends; verified below
	dialer := tls.Dialer{NetDialer: e.dialer(), Config: settings}
	dialer.NetDialer.Control = guard.Control
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		n.fail(at, "check the proxy, the firewall and the DNS record of the host", "no connection with TLS: %s", why(err))
		return
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	e.chain(n, at, host, c.(*tls.Conn).ConnectionState().PeerCertificates)
}

// chain examines a chain of certificates, the host's first.
func (e *examination) chain(n *notes, subject, host string, chain []*x509.Certificate) {
	if len(chain) == 0 {
		n.fail(subject, "set up a certificate", "there is no certificate")
		return
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	now := e.Now()
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Intermediates: between, Roots: e.RootCAs, CurrentTime: now})
	left := chain[0].NotAfter.Sub(now)
	end := chain[0].NotAfter.UTC().Format("2006-01-02")
	switch {
	case left <= 0:
		n.fail(subject, "renew the certificate", "its certificate expired on %s", end)
	case err != nil:
		n.fail(subject, "set up a certificate of a public authority for this name, with the certificates between it and the authority", "its certificate is not valid: %s", err)
	case left < renewNow:
		n.fail(subject, "renew the certificate; find out why it was not renewed", "its certificate expires on %s", end)
	case left < renewSoon:
		n.warn(subject, "find out why the certificate was not renewed yet", "its certificate expires on %s", end)
	default:
		n.ok(subject, "its certificate is valid until %s", end)
	}
}

// inbound examines the server for returned mail.
func (e *examination) inbound(ctx context.Context, n *notes) {
	if e.InboundListen == "" {
		n.skip("", "no mail is received here (PACKETBOAT_INBOUND_LISTEN): bounces must come by webhooks of the relay's provider, or are not seen")
		return
	}
	if e.InboundTLSCert == "" {
		n.warn("", "set PACKETBOAT_INBOUND_TLS_CERT and PACKETBOAT_INBOUND_TLS_KEY", "STARTTLS is not offered to servers that return mail")
	} else {
		e.inboundFiles(n)
	}
	host := e.Hosts.MX
	if host == "" || e.Loopback {
		n.skip(host, "the base URL is on loopback, so that nobody sends mail here")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	c, err := e.dialer().DialContext(ctx, "tcp", net.JoinHostPort(host, e.mailPort()))
	if err != nil {
		n.warn(host, "let port 25 through the firewall, and start packetboat serve; if outgoing connections to port 25 are blocked here, try it from another machine", "no connection to port %s from here: %s", e.mailPort(), why(err))
		return
	}
	defer c.Close() //nolint:errcheck // only read
	if banner := readBanner(c, attempt); !strings.HasPrefix(banner, "220") {
		n.fail(host, "let port 25 lead to PACKETBOAT_INBOUND_LISTEN", "it does not answer as a mail server: %.100q", banner)
		return
	}
	n.ok(host, "it answers on port %s", e.mailPort())
}

// inboundFiles examines the files of the certificate for returned mail.
func (e *examination) inboundFiles(n *notes) {
	pair, err := tls.LoadX509KeyPair(e.InboundTLSCert, e.InboundTLSKey)
	if err != nil {
		n.fail(e.InboundTLSCert, "name the files of a certificate chain and its key, in PEM, which the user that runs packetboat may read", "%s", err)
		return
	}
	var chain []*x509.Certificate
	for _, raw := range pair.Certificate {
		if c, err := x509.ParseCertificate(raw); err == nil {
			chain = append(chain, c)
		}
	}
	e.chain(n, e.InboundTLSCert, e.Hosts.MX, chain)
	if info, err := os.Stat(e.InboundTLSKey); err == nil {
		e.modeOf(n, e.InboundTLSKey, info, 0o007, "chmod o= "+e.InboundTLSKey)
	}
}
