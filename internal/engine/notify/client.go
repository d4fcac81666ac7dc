package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
)

const (
	timeout     = 15 * time.Second // of one request, from the lookup of the name to the answer
	maxBodyTime = 2 * time.Second  // for the body of an answer
	maxHeader   = 16 << 10         // bytes of an answer's header
	maxDrained  = 64 << 10         // bytes of an answer that are read to keep the connection
	idleTimeout = 30 * time.Second // of a connection without requests
)

// client makes requests to endpoints. It follows no redirect and uses no proxy. Every connection,
// whatever name it is for, passes the guard with the address it leads to.
type client struct {
	ctx       context.Context // ends all requests
	transport *http.Transport
	agent     string
	timeout   time.Duration
}

func newClient(ctx context.Context, e *Engine) *client {
	guard := netguard.Guard{AllowPrivate: e.AllowPrivate}
	dialer := &net.Dialer{Timeout: timeout, Control: guard.Control, Resolver: e.Resolver, KeepAliveConfig: net.KeepAliveConfig{Enable: true}}
	// HTTP/1 alone: the memory of a connection is bounded, and one slow answer delays no other.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.TLS != nil {
		settings = e.TLS.Clone()
	}
	limit := e.Timeout
	if limit == 0 {
		limit = timeout
	}
	return &client{ctx: ctx, agent: e.UserAgent, timeout: limit, transport: &http.Transport{
		Proxy: nil, DialContext: dialer.DialContext, TLSClientConfig: settings, Protocols: &protocols,
		TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
		MaxIdleConns: maxRequests, MaxIdleConnsPerHost: maxWindow, IdleConnTimeout: idleTimeout,
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
	}}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// errTimeout is the cause of the end of a request that took too long.
var errTimeout = errors.New("there was no answer in time")

// post makes one attempt. It reports aborted if the program stopped before the answer.
func (c *client) post(t webhook.Target, item webhook.Item, now time.Time) (a webhook.Attempt, aborted bool) {
	limit := c.timeout
	if item.IsCall() {
		limit = min(limit, item.Timeout)
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, limit, errTimeout)
	defer cancel()
	begun := time.Now()
	a = webhook.Attempt{At: now}
	res, err := c.send(ctx, t, item, now)
	if err != nil {
		if c.ctx.Err() != nil {
			return a, true
		}
		a.Took, a.Error = time.Since(begun), errorText(ctx, err)
		return a, false
	}
	a.Took, a.Code = time.Since(begun), res.StatusCode
	// The status is what counts: a body that does not end must not occupy the endpoint's requests.
	late := time.AfterFunc(maxBodyTime, cancel)
	defer late.Stop()
	a.Body = readAnswer(res.Body)
	return a, false
}

// send sends the request and returns the answer.
func (c *client) send(ctx context.Context, t webhook.Target, item webhook.Item, now time.Time) (*http.Response, error) {
	body := []byte(item.Body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	messageID := webhook.MessageID(item.ID)
	req.Header = item.Header()
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Webhook-Id", messageID)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	if t.Keys.Signs() {
		req.Header.Set("Webhook-Signature", t.Keys.Sign(messageID, now, body, now))
	}
	// RoundTrip makes this request and no other: it follows no redirect.
	return c.transport.RoundTrip(req)
}

// readAnswer returns the beginning of an answer as text, and closes it.
func readAnswer(body io.ReadCloser) string {
	defer body.Close()
	head, err := io.ReadAll(io.LimitReader(body, webhook.MaxResponse))
	if err == nil && len(head) == webhook.MaxResponse {
		_, _ = io.CopyN(io.Discard, body, maxDrained) // an answer that is longer costs its connection
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(head), "\uFFFD"), "\x00", "\uFFFD")
	for len(text) > webhook.MaxResponse {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// errorText returns why there was no answer. It repeats no text that could tell a tenant about the
// network of the installation.
func errorText(ctx context.Context, err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, netguard.ErrRefusedAddress):
		return "the host has a private or reserved address"
	case ctx.Err() != nil, isTimeout(err):
		return errTimeout.Error()
	case errors.As(err, &dns):
		return "the host name could not be resolved"
	case errors.As(err, &certificate):
		return "the TLS certificate is not valid: " + clip.Bytes(certificate.Err.Error(), 300)
	case errors.As(err, &record), errors.As(err, &alert):
		return "TLS failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host is unreachable"
	}
	return "the answer is not valid HTTP"
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
