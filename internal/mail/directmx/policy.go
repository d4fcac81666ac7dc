package directmx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/packetboat/packetboat/internal/mail/dane"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// PolicyType is the kind of policy that applied to a connection (RFC 8460 section 4.2).
type PolicyType string

// The kinds of policies.
const (
	TLSA     PolicyType = "tlsa"
	STS      PolicyType = "sts"
	NoPolicy PolicyType = "no-policy-found"
)

// The results of connections (RFC 8460 section 4.3).
const (
	success       = "success"
	noSTARTTLS    = "starttls-not-supported"
	wrongHost     = "certificate-host-mismatch"
	expired       = "certificate-expired"
	notTrusted    = "certificate-not-trusted"
	notValidated  = "validation-failure"
	tlsaInvalid   = "tlsa-invalid"
	dnssecInvalid = "dnssec-invalid"
)

// ErrPolicy is wrapped by the errors of connections that were not made because they would violate the
// policy of the domain. They say nothing about whether the servers work.
var ErrPolicy = errors.New("the policy of the domain is not satisfied")

// addPolicies looks up the policies of a route's domain.
func (r *Router) addPolicies(ctx context.Context, route *Route) error {
	if r.Policies != nil {
		p, ok, err := r.Policies.Policy(ctx, route.Domain)
		if err != nil {
			return err
		}
		if ok {
			route.Policy = p
		}
	}
	if r.DANE == nil {
		return nil
	}
	hosts, proven, err := r.DANE.MX(ctx, route.Domain)
	if err != nil {
		return err
	}
	if route.Proven = proven; !proven || route.Servers.Implicit && len(hosts) == 0 {
		return nil
	}
	// The answers came separately: only servers in the proven one are used.
	route.Servers.Hosts = slices.DeleteFunc(slices.Clone(route.Servers.Hosts), func(h mx.Host) bool { return !slices.Contains(hosts, h.Name) })
	if len(route.Servers.Hosts) == 0 {
		return errors.New("the answers of the DNS contradict each other")
	}
	return nil
}

// demand is what the policies of a domain demand of the connection to one of its servers.
type demand struct {
	policy  PolicyType
	mode    smtpclient.TLSMode // empty: none
	records dane.Records       // of DANE
	testing bool               // failures of MTA-STS are counted only
}

// demandFor returns what is demanded of a connection to a server. DANE has precedence over MTA-STS
// (RFC 8461 section 2). An error means that the server must not be connected to.
func (r *Router) demandFor(ctx context.Context, route Route, host string) (demand, error) {
	d := demand{policy: NoPolicy}
	if route.Proven && r.DANE != nil {
		records, err := r.recordsOf(ctx, host)
		if err != nil {
			r.report(TLSA, dnssecInvalid)
			return demand{}, fmt.Errorf("%w: the TLSA records of a mail server could not be looked up", ErrPolicy)
		}
		if records.Present {
			d = demand{policy: TLSA, mode: smtpclient.Required, records: records}
		}
		if records.Usable() {
			return d, nil
		}
		if records.Present {
			r.report(TLSA, tlsaInvalid)
		}
	}
	listed := route.Policy.Lists(host)
	switch route.Policy.Mode {
	case mtasts.Enforce:
		if !listed {
			r.report(STS, notValidated)
			return demand{}, fmt.Errorf("%w: its MTA-STS policy does not list the mail server %s", ErrPolicy, host)
		}
		return demand{policy: STS, mode: smtpclient.StartTLS}, nil
	case mtasts.Testing:
		if d.policy != TLSA {
			return demand{policy: STS, testing: true}, nil
		}
	}
	return d, nil
}

// recordsOf returns the TLSA records of a server, from memory if they were looked up a short time ago.
func (r *Router) recordsOf(ctx context.Context, host string) (dane.Records, error) {
	r.setLimits()
	return r.tlsa.Load(host, r.Now(), keepRoute, func() (dane.Records, error) { return r.DANE.TLSA(ctx, host, r.port()) })
}

// verify returns what checks the certificate of a server by its TLSA records, or nil.
func (r *Router) verify(d demand, route Route, host string) func(tls.ConnectionState) error {
	if !d.records.Usable() {
		return nil
	}
	return func(state tls.ConnectionState) error {
		return d.records.Verify(state, []string{host, route.Domain}, r.Now())
	}
}

// connected reports a connection to a server.
func (r *Router) connected(d demand, route Route, host string, conn *smtpclient.Conn) {
	result, state := success, conn.TLS()
	switch {
	case state == nil:
		result = noSTARTTLS
	case d.testing && !route.Policy.Lists(host):
		result = notValidated
	case d.testing:
		result = resultOf(r.trusted(*state, host))
	}
	r.report(d.policy, result)
}

// trusted checks a certificate as browsers do.
func (r *Router) trusted(state tls.ConnectionState, host string) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: r.RootCAs, Intermediates: between, DNSName: host, CurrentTime: r.Now()})
	return err
}

// notConnected reports a failure to connect, and returns it so that it wraps ErrPolicy if the policy of
// the domain is the reason.
func (r *Router) notConnected(d demand, err error) error {
	failed, ok := errors.AsType[*smtpclient.DialError](err)
	if !ok || failed.Outcome.Stage != reply.TLS {
		return err
	}
	result := noSTARTTLS // refused with a reply, or not offered
	if failed.Err != nil && !errors.Is(failed.Err, smtpclient.ErrNoSTARTTLS) {
		result = resultOf(failed.Err)
	}
	r.report(d.policy, result)
	if d.mode == "" {
		return err
	}
	o := failed.Outcome
	o.Text = fmt.Sprintf("%s (%s): %s", ErrPolicy, d.policy, o.Text)
	return &smtpclient.DialError{Outcome: o, Err: fmt.Errorf("%w: %w", ErrPolicy, err)}
}

// resultOf returns the result of a check of a certificate.
func resultOf(err error) string {
	if err == nil {
		return success
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return wrongHost
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return expired
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return notTrusted
	}
	return notValidated
}

func (r *Router) report(policy PolicyType, result string) {
	if r.Report != nil {
		r.Report(policy, result)
	}
}
