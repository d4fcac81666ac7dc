package certificate

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/packetboat/packetboat/internal/base/poll"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The bounds of the Issuer. Let's Encrypt permits 300 orders within three hours, and 5 failures of a host
// within an hour.
const (
	interval       = 10 * time.Second // between looks for hosts that are due
	perTick        = 5                // certificates requested in one look
	maxPerHour     = 60               // certificates requested in an hour
	orderTimeout   = 3 * time.Minute
	claimTime      = 2 * orderTimeout // after which another process may try a host again
	firstRetry     = 15 * time.Minute
	lastRetry      = 24 * time.Hour
	notServed      = 24 * time.Hour // until a host that is not ours is looked at again
	maxProblem     = 500            // bytes of a stored problem
	challengeTime  = time.Hour      // after which a challenge is deleted
	maxChallengeIn = 256            // bytes of a token in a request
)

// Issuer requests certificates and renews them. One process runs it; two that overlap claim the hosts that
// they request certificates for.
type Issuer struct {
	DB        *sqldb.DB
	Box       *secret.Box
	Directory string       // URL of the authority's directory
	Email     string       // of the operator, for the authority; may be empty
	HTTP      *http.Client // nil: the default
	Log       *slog.Logger
	Now       func() time.Time

	// Hosts lists the hosts that need certificates, and Serves reports whether one is still ours.
	Hosts  func(ctx context.Context) ([]string, error)
	Serves func(ctx context.Context, host string) (bool, error)

	client *acme.Client // of the account, once there is one
}

// Run requests certificates until ctx ends.
func (i *Issuer) Run(ctx context.Context) error {
	return poll.Loop{Poll: i.Tick, Every: interval, Log: i.Log, Failed: "request certificates failed"}.Run(ctx)
}

// Tick requests certificates for some of the hosts that are due, and reports whether there may be more.
// The failure of one host does not prevent the others.
func (i *Issuer) Tick(ctx context.Context) (more bool, err error) {
	if err := i.addHosts(ctx); err != nil {
		return false, err
	}
	now := i.Now()
	if _, err := i.DB.Exec(ctx, `DELETE FROM acme_challenge WHERE expires_at < $1`, now.UnixMicro()); err != nil {
		return false, fmt.Errorf("delete old challenges: %w", err)
	}
	var tried int
	if err := i.DB.QueryRow(ctx, `SELECT COUNT(*) FROM tls_certificate WHERE tried_at > $1`, now.Add(-time.Hour).UnixMicro()).Scan(&tried); err != nil {
		return false, fmt.Errorf("count requested certificates: %w", err)
	}
	most := min(perTick, maxPerHour-tried)
	if most <= 0 {
		return false, nil
	}
	rows, err := i.DB.Query(ctx, `
		SELECT host, failures, next_try_at FROM tls_certificate WHERE next_try_at <= $1 ORDER BY next_try_at, host LIMIT $2`, now.UnixMicro(), most)
	due, err := sqldb.Collect(rows, err, func(scan func(...any) error) (d dueHost, err error) {
		err = scan(&d.host, &d.failures, &d.at)
		return d, err
	})
	if err != nil {
		return false, fmt.Errorf("find hosts that need certificates: %w", err)
	}
	var errs []error
	for _, d := range due {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, i.try(ctx, d))
	}
	return len(due) == perTick, errors.Join(errs...)
}

// addHosts adds rows for hosts that have none.
func (i *Issuer) addHosts(ctx context.Context) error {
	hosts, err := i.Hosts(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	rows, err := i.DB.Query(ctx, `SELECT host FROM tls_certificate`)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var host string
		err := scan(&host)
		known[host] = true
		return err
	})
	if err != nil {
		return fmt.Errorf("read the hosts with certificates: %w", err)
	}
	now := i.Now().UnixMicro()
	for _, host := range hosts {
		if known[host] {
			continue
		}
		_, err := i.DB.Exec(ctx, `
			INSERT INTO tls_certificate (host, next_try_at, created_at) VALUES ($1, $2, $2) ON CONFLICT (host) DO NOTHING`, host, now)
		if err != nil {
			return fmt.Errorf("add a host that needs a certificate: %w", err)
		}
	}
	return nil
}

// dueHost is a host for which a certificate is to be requested.
type dueHost struct {
	host     string
	failures int
	at       int64
}

// try requests a certificate for a host, unless another process has claimed it. It returns errors of the
// database; those of the authority are stored with the host.
func (i *Issuer) try(ctx context.Context, d dueHost) error {
	now := i.Now()
	serves, err := i.Serves(ctx, d.host)
	if err != nil {
		return err
	}
	if !serves {
		_, err := i.DB.Exec(ctx, `UPDATE tls_certificate SET next_try_at = $2 WHERE host = $1 AND next_try_at = $3`, d.host, now.Add(notServed).UnixMicro(), d.at)
		return err
	}
	n, err := i.DB.Exec(ctx, `UPDATE tls_certificate SET tried_at = $2, next_try_at = $3 WHERE host = $1 AND next_try_at = $4`,
		d.host, now.UnixMicro(), now.Add(claimTime).UnixMicro(), d.at)
	if err != nil || n == 0 {
		return err
	}
	within, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	cert, err := i.request(within, d)
	if err == nil {
		i.Log.Info("certificate obtained", "host", d.host, "valid_until", cert.leaf.NotAfter)
		return cert.store(ctx, i.DB, i.Box, d.host, i.Now())
	}
	if ctx.Err() != nil { // the claim expires
		return nil
	}
	wait := retryAfter(err, d.failures)
	i.Log.Warn("request certificate failed", "host", d.host, "err", err, "next_try", wait)
	text := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "?")
	_, err = i.DB.Exec(ctx, `UPDATE tls_certificate SET failures = failures + 1, problem = $2, next_try_at = $3 WHERE host = $1`,
		d.host, strings.ToValidUTF8(text[:min(len(text), maxProblem)], ""), i.Now().Add(wait).UnixMicro())
	if err != nil {
		return fmt.Errorf("store why a certificate was not obtained: %w", err)
	}
	return nil
}

// retryAfter returns how long to wait after a failure, which was preceded by others: twice as long each
// time, or what the authority demands.
func retryAfter(err error, failures int) time.Duration {
	wait := min(firstRetry<<min(failures, 10), lastRetry)
	if demanded, limited := acme.RateLimit(err); limited {
		wait = max(wait, min(demanded, 7*lastRetry))
	}
	return wait
}

// request obtains a certificate for a host.
func (i *Issuer) request(ctx context.Context, d dueHost) (issued, error) {
	client, err := i.account(ctx)
	if err != nil {
		return issued{}, err
	}
	order, err := client.AuthorizeOrder(ctx, acme.DomainIDs(d.host))
	if err != nil {
		return issued{}, fmt.Errorf("order: %w", err)
	}
	for _, url := range order.AuthzURLs {
		if err := i.authorize(ctx, client, d, url); err != nil {
			return issued{}, err
		}
	}
	if _, err := client.WaitOrder(ctx, order.URI); err != nil {
		return issued{}, fmt.Errorf("wait for the order: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issued{}, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{d.host}}, key)
	if err != nil {
		return issued{}, err
	}
	chain, _, err := client.CreateCertFromOrder(ctx, order, csr, true)
	if err != nil {
		return issued{}, fmt.Errorf("finalize the order: %w", err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return issued{}, err
	}
	text := encode(raw, chain)
	cert, err := parse(text)
	if err != nil {
		return issued{}, err
	}
	if err := cert.Leaf.VerifyHostname(d.host); err != nil {
		return issued{}, fmt.Errorf("the authority issued a certificate for another host: %w", err)
	}
	return issued{text, cert.Leaf}, nil
}

// authorize proves to the authority that a host is ours. It tries TLS-ALPN-01 (RFC 8737) and HTTP-01 (RFC
// 8555 section 8.3) in turns, since a firewall or a proxy may make one of them impossible.
func (i *Issuer) authorize(ctx context.Context, client *acme.Client, d dueHost, url string) error {
	z, err := client.GetAuthorization(ctx, url)
	if err != nil {
		return fmt.Errorf("get the authorization: %w", err)
	}
	if z.Status == acme.StatusValid {
		return nil
	}
	types := [2]string{"tls-alpn-01", "http-01"}
	challenge := choose(z.Challenges, types[d.failures%2], types[(d.failures+1)%2])
	if challenge == nil {
		return errors.New("the authority offers neither tls-alpn-01 nor http-01")
	}
	if err := i.publish(ctx, client, d.host, challenge); err != nil {
		return err
	}
	defer i.withdraw(context.WithoutCancel(ctx), challenge.Token)
	if _, err := client.Accept(ctx, challenge); err != nil {
		return fmt.Errorf("accept the challenge %s: %w", challenge.Type, err)
	}
	if _, err := client.WaitAuthorization(ctx, z.URI); err != nil {
		return fmt.Errorf("challenge %s: %w", challenge.Type, err)
	}
	return nil
}

// choose returns the first challenge of the first type that there is.
func choose(list []*acme.Challenge, types ...string) *acme.Challenge {
	for _, t := range types {
		for _, c := range list {
			if c.Type == t {
				return c
			}
		}
	}
	return nil
}

// publish stores the answer to a challenge, so that every process can give it.
func (i *Issuer) publish(ctx context.Context, client *acme.Client, host string, c *acme.Challenge) error {
	answer, err := client.HTTP01ChallengeResponse(c.Token) // the key authorization, for both types
	if err != nil {
		return err
	}
	now := i.Now()
	_, err = i.DB.Exec(ctx, `
		INSERT INTO acme_challenge (token, host, answer, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (token) DO UPDATE SET answer = excluded.answer, expires_at = excluded.expires_at`,
		c.Token, host, answer, now.UnixMicro(), now.Add(challengeTime).UnixMicro())
	if err != nil {
		return fmt.Errorf("store the answer to a challenge: %w", err)
	}
	return nil
}

func (i *Issuer) withdraw(ctx context.Context, token string) {
	if _, err := i.DB.Exec(ctx, `DELETE FROM acme_challenge WHERE token = $1`, token); err != nil {
		i.Log.Warn("delete challenge failed; it expires", "err", err)
	}
}

// account returns the client of the account at the authority, which is created if there is none. All
// processes use the same one.
func (i *Issuer) account(ctx context.Context) (*acme.Client, error) {
	if i.client != nil {
		return i.client, nil
	}
	key, err := i.accountKey(ctx)
	if err != nil {
		return nil, err
	}
	client := &acme.Client{Key: key, DirectoryURL: i.Directory, HTTPClient: i.HTTP, UserAgent: "packetboat"}
	account := &acme.Account{}
	if i.Email != "" {
		account.Contact = []string{"mailto:" + i.Email}
	}
	if _, err := client.Register(ctx, account, acme.AcceptTOS); err != nil && !errors.Is(err, acme.ErrAccountAlreadyExists) {
		return nil, fmt.Errorf("register at %s: %w", i.Directory, err)
	}
	i.client = client
	return client, nil
}

// accountKey returns the key of the account, which is created if there is none.
func (i *Issuer) accountKey(ctx context.Context) (crypto.Signer, error) {
	place := "acme_account:" + i.Directory
	read := func() (sealed string, err error) {
		err = i.DB.QueryRow(ctx, `SELECT sealed FROM acme_account WHERE directory = $1`, i.Directory).Scan(&sealed)
		return sealed, err
	}
	sealed, err := read()
	if errors.Is(err, sqldb.ErrNoRows) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		raw, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, err
		}
		if _, err := i.DB.Exec(ctx, `INSERT INTO acme_account (directory, sealed, created_at) VALUES ($1, $2, $3) ON CONFLICT (directory) DO NOTHING`,
			i.Directory, i.Box.Seal(raw, place), i.Now().UnixMicro()); err != nil {
			return nil, fmt.Errorf("store the key of the account: %w", err)
		}
		if sealed, err = read(); err != nil { // another process may have been first
			return nil, fmt.Errorf("read the key of the account: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the key of the account: %w", err)
	}
	raw, err := i.Box.Open(sealed, place)
	if err != nil {
		return nil, fmt.Errorf("open the key of the account: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("parse the key of the account: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key of the account cannot sign")
	}
	return signer, nil
}
