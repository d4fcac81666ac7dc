package sns

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/packetboat/packetboat/internal/base/cache"
	"github.com/packetboat/packetboat/internal/base/netguard"
)

const (
	requestTimeout = 10 * time.Second
	maxResponse    = 64 << 10
	certKept       = time.Hour
)

// Client gets certificates of SNS and confirms subscriptions. It connects only to addresses of SNS.
type Client struct {
	HTTP *http.Client
	Now  func() time.Time

	certs cache.Cache[string, *x509.Certificate]
}

// NewClient returns a client that finds SNS by a resolver, nil for the system's, connects to the addresses that
// the guard allows, and follows no redirects. Where SNS has an endpoint in a private network (a VPC), its name
// leads to a private address.
func NewClient(now func() time.Time, resolver *net.Resolver, guard netguard.Guard) *Client {
	dialer := &net.Dialer{Timeout: requestTimeout, Resolver: resolver, Control: guard.Control}
	return &Client{Now: now, HTTP: &http.Client{
		Timeout:       requestTimeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: requestTimeout, MaxIdleConns: 4, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ErrUnavailable means that SNS could not be asked. The message may be valid.
var ErrUnavailable = errors.New("SNS cannot be reached")

// Verify checks the signature of a message with the certificate that it names.
func (c *Client) Verify(ctx context.Context, m Message) error {
	if err := CheckCertURL(m.SigningCertURL); err != nil {
		return err
	}
	now := c.Now()
	cert, err := c.certs.Load(m.SigningCertURL, now, certKept, func() (*x509.Certificate, error) {
		text, err := c.get(ctx, m.SigningCertURL)
		if err != nil {
			return nil, err
		}
		return Certificate(text, now)
	})
	if err != nil {
		return err
	}
	return m.Verify(cert)
}

// Confirm confirms the subscription that a verified message asks for.
func (c *Client) Confirm(ctx context.Context, m Message) error {
	at, err := m.confirmURL()
	if err != nil {
		return err
	}
	_, err = c.get(ctx, at)
	return err
}

func (c *Client) get(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: it answered %d", ErrUnavailable, response.StatusCode)
	}
	return text, nil
}
