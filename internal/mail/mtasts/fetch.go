package mtasts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"
)

// Bounds of one look-up and one request. A server that is slower counts as one without a policy, since
// mail to other domains waits for the answer, too.
const (
	lookupWithin = 5 * time.Second
	fetchWithin  = 8 * time.Second
)

// Resolver looks up TXT records; *net.Resolver implements it.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Fetcher finds and fetches policies.
type Fetcher struct {
	DNS    Resolver
	client *http.Client
}

// NewFetcher returns a Fetcher that connects by a transport, whose dialer must not connect to addresses
// that the owner of a domain must not reach.
func NewFetcher(dns Resolver, transport *http.Transport) *Fetcher {
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = 16 << 10
	return &Fetcher{DNS: dns, client: &http.Client{
		Transport: transport, Timeout: fetchWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // RFC 8461 section 3.3
	}}
}

// ID looks up the id of a domain's current policy. It returns "" if the domain has none. An error means
// that the DNS did not answer.
func (f *Fetcher) ID(ctx context.Context, domain string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	texts, err := f.DNS.LookupTXT(ctx, "_mta-sts."+domain+".")
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look up MTA-STS record: %w", err)
	}
	id, _ := recordID(texts)
	return id, nil
}

// Fetch fetches the policy of a domain.
func (f *Fetcher) Fetch(ctx context.Context, domain string) (Policy, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://mta-sts."+domain+"/.well-known/mta-sts.txt", nil)
	if err != nil {
		return Policy{}, fmt.Errorf("fetch MTA-STS policy: %w", err)
	}
	request.Header.Set("User-Agent", "Packetboat-MTA-STS/1")
	response, err := f.client.Do(request)
	if err != nil {
		return Policy{}, fmt.Errorf("fetch MTA-STS policy: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Policy{}, fmt.Errorf("fetch MTA-STS policy: status %d", response.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "text/plain" {
		return Policy{}, fmt.Errorf("%w: it is not text/plain", ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxPolicy+1))
	if err != nil {
		return Policy{}, fmt.Errorf("fetch MTA-STS policy: %w", err)
	}
	return Parse(text)
}
