package sender

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
)

// PingPath is the path at which tracking hosts answer a Pinger.
const PingPath = "/_q/ping"

// MaxChallenge is the length of the longest challenge that is answered, in bytes.
const MaxChallenge = 64

// Nonce proves to a Pinger that a request has reached an installation with the same secret key.
type Nonce struct{ key []byte }

// NewNonce returns the Nonce of an installation.
func NewNonce(box *secret.Box) Nonce { return Nonce{box.Derive("tracking ping")} }

// Answer returns the answer to a challenge.
func (n Nonce) Answer(challenge string) string {
	mac := hmac.New(sha256.New, n.key)
	mac.Write([]byte(challenge))
	return hex.EncodeToString(mac.Sum(nil))
}

// Pinger asks tracking hosts, which tenants choose, whether they lead to this installation.
type Pinger struct {
	nonce  Nonce
	scheme string
	client *http.Client
}

// pingWithin limits one request.
const pingWithin = 10 * time.Second

// NewPinger returns a Pinger. The scheme is that of tracked links. It does not connect to addresses
// that guard refuses, and follows no redirects. The transport's TLS settings are those of trusted
// certificates; nil means the system's.
func NewPinger(nonce Nonce, scheme string, resolver *net.Resolver, guard netguard.Guard, transport *http.Transport) *Pinger {
	if transport == nil {
		transport = &http.Transport{}
	}
	if transport.DialContext == nil {
		dialer := &net.Dialer{Timeout: pingWithin, Resolver: resolver, Control: guard.Control}
		transport.DialContext = dialer.DialContext
	}
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = 16 << 10
	return &Pinger{nonce: nonce, scheme: scheme, client: &http.Client{
		Transport: transport, Timeout: pingWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// reachability is what is known about a tracking host.
type reachability struct {
	reached bool
	problem string          // why not
	record  dnscheck.Status // of its CNAME record
}

// result is OK if the host leads here by the DNS and by HTTP.
func (r reachability) result() dnscheck.Status {
	switch {
	case r.record != dnscheck.OK:
		return r.record
	case r.reached:
		return dnscheck.OK
	}
	return dnscheck.Invalid
}

// Unreached returns why a host, which may have a port, does not lead to this installation, or "".
func (p *Pinger) Unreached(ctx context.Context, host string) string {
	r := p.Reach(ctx, host)
	if r.reached {
		return ""
	}
	return r.problem
}

// Reach asks a host, which may have a port.
func (p *Pinger) Reach(ctx context.Context, host string) reachability {
	challenge := rand.Text()
	u := url.URL{Scheme: p.scheme, Host: host, Path: PingPath, RawQuery: "challenge=" + challenge}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return reachability{problem: "the host is not valid"}
	}
	request.Header.Set("User-Agent", "Packetboat-Ping/1")
	at := p.scheme + "://" + host
	response, err := p.client.Do(request)
	if err != nil {
		return reachability{problem: fmt.Sprintf("%s cannot be reached: %s", at, cause(err))}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	switch {
	case err != nil:
		return reachability{problem: fmt.Sprintf("%s sent no complete answer", at)}
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return reachability{problem: fmt.Sprintf("%s redirects instead of answering; it must pass requests on to this installation", at)}
	case response.StatusCode != http.StatusOK || !hmac.Equal([]byte(strings.TrimSpace(string(body))), []byte(p.nonce.Answer(challenge))):
		return reachability{problem: fmt.Sprintf("%s is answered by another server (status %d)", at, response.StatusCode)}
	}
	return reachability{reached: true}
}

// cause returns an error of the network without addresses, which may be those of the inside.
func cause(err error) string {
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return d.Err
	}
	if errors.Is(err, netguard.ErrRefusedAddress) {
		return "its address is not public"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "it did not answer in time"
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		return "no connection"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); len(text) < 200 && strings.Contains(text, "x509") || strings.Contains(err.Error(), "tls") {
		return "its certificate is not valid for the name, or it has none: " + strings.TrimPrefix(text, "tls: ")
	}
	return "the connection failed"
}
