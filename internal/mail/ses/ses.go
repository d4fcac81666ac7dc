// Package ses sends messages by Amazon SES: SendEmail with raw content, of version 2 of its API, by
// HTTPS. Requests are signed with Signature Version 4. The package signs them itself, since the SDK of
// AWS would bring dozens of packages for one operation and one page of documented steps.
//
// The answer of SES is returned as a reply.Outcome with the code that a mail server would give, so
// that it is classified like others.
package ses

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

const (
	timeout    = 60 * time.Second
	maxAnswer  = 64 << 10
	sendPath   = "/v2/email/outbound-emails"
	readPath   = "/v2/email/account"
	typeHeader = "X-Amzn-Errortype"
)

// Config is an account at SES.
type Config struct {
	Region           string
	AccessKeyID      string
	SecretAccessKey  string
	ConfigurationSet string // empty: none
	Endpoint         string // replaces the public address of the region, for tests; empty: none
	Guard            netguard.Guard
	Connections      int // kept open
	Now              func() time.Time
}

// Client sends by one account. It is safe for concurrent use.
type Client struct {
	config Config
	base   *url.URL
	http   *http.Client
}

// New returns a client. It makes no connection.
func New(c Config) (*Client, error) {
	base := c.Endpoint
	if base == "" {
		base = "https://email." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the region %q has no address", c.Region)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: c.Guard.Control}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: max(c.Connections, 1), MaxConnsPerHost: c.Connections, IdleConnTimeout: 30 * time.Second,
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{config: c, base: u, http: &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: refuse}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// sendRequest is the body of SendEmail.
type sendRequest struct {
	Destination struct{ ToAddresses []string }
	Content     struct{ Raw struct{ Data string } }

	ConfigurationSetName string `json:",omitempty"`
}

// Send sends one message to one recipient. It returns the outcome and, if the message was accepted,
// the id that SES gave to it, by which its notifications name it. The sender is that of the message's
// From header.
func (c *Client) Send(ctx context.Context, to string, raw []byte) (reply.Outcome, string) {
	var body sendRequest
	body.Destination.ToAddresses = []string{to}
	body.Content.Raw.Data = base64.StdEncoding.EncodeToString(raw)
	body.ConfigurationSetName = c.config.ConfigurationSet
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings always encode
	}
	status, answer, outcome, ok := c.do(ctx, http.MethodPost, sendPath, text)
	if !ok {
		return outcome, ""
	}
	if status/100 != 2 {
		return answer.outcome(status, outcome), ""
	}
	outcome.Stage, outcome.Code, outcome.Enhanced, outcome.Accepted = reply.Dot, 250, "2.0.0", true
	outcome.Text = "accepted by SES as " + reply.Clean(answer.MessageID)
	return outcome, answer.MessageID
}

// Check reports whether SES accepts the access key, and returns the reason if it does not.
func (c *Client) Check(ctx context.Context) error {
	status, answer, outcome, ok := c.do(ctx, http.MethodGet, readPath, nil)
	if !ok {
		return errors.New(outcome.Text)
	}
	o := answer.outcome(status, outcome)
	// A key that may send need not be allowed to read the account.
	if status/100 == 2 || answer.kind() == "AccessDeniedException" || o.Stage != reply.Auth && status/100 != 5 {
		return nil
	}
	return errors.New(o.String())
}

// answer is a response of SES.
type answer struct {
	MessageID string `json:"MessageId"`
	Message   string `json:"message"`
	Type      string `json:"__type"`
}

// kind returns the name of an error: SES may add a namespace before and a URL after it.
func (a answer) kind() string {
	name, _, _ := strings.Cut(a.Type, ":")
	return name[strings.LastIndexByte(name, '#')+1:]
}

// do makes one request. If there is no complete response, ok is false and the outcome is final.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (status int, a answer, o reply.Outcome, ok bool) {
	o = reply.Outcome{Stage: reply.Connect, Remote: c.base.Host, TLS: c.base.Scheme == "https"}
	var written atomic.Bool
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) {
		if i.Err == nil {
			written.Store(true)
		}
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		o.Text = "the request could not be built"
		return 0, a, o, false
	}
	r.GetBody = nil // a repeated request could send the message twice
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	sign(r, body, c.config, service, c.config.Now())
	response, err := c.http.Do(r)
	if err == nil {
		defer response.Body.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err == nil {
			_ = json.Unmarshal(text, &a) // errors of proxies are no JSON; the status says enough
			if t := response.Header.Get(typeHeader); t != "" {
				a.Type = t
			}
			return response.StatusCode, a, o, true
		}
	}
	o.Text = "SES could not be reached"
	if written.Load() {
		o.Stage, o.Uncertain, o.Text = reply.Dot, method == http.MethodPost, "SES did not answer"
	}
	return 0, a, o, false
}

// failures are the errors of SES, with the stage and the code of a mail server that they equal. A
// stage of auth means that the account or its settings are wrong, not the message.
var failures = map[string]reply.Outcome{
	"TooManyRequestsException":           {Stage: reply.Mail, Code: 450, Enhanced: "4.7.0"},
	"ThrottlingException":                {Stage: reply.Mail, Code: 450, Enhanced: "4.7.0"},
	"LimitExceededException":             {Stage: reply.Mail, Code: 450, Enhanced: "4.7.0"},
	"AccountSuspendedException":          {Stage: reply.Auth, Code: 535},
	"SendingPausedException":             {Stage: reply.Auth, Code: 454},
	"MailFromDomainNotVerifiedException": {Stage: reply.Auth, Code: 535},
	"NotFoundException":                  {Stage: reply.Auth, Code: 535}, // the configuration set
	"MessageRejected":                    {Stage: reply.Dot, Code: 554, Enhanced: "5.7.1"},
	"BadRequestException":                {Stage: reply.Dot, Code: 554, Enhanced: "5.6.0"},
}

// outcome returns the outcome of an error.
func (a answer) outcome(status int, o reply.Outcome) reply.Outcome {
	text := strings.ToLower(a.Message)
	f, known := failures[a.kind()]
	switch {
	case strings.Contains(text, "not verified"), strings.Contains(text, "security token"), strings.Contains(text, "signature"), status == http.StatusUnauthorized, status == http.StatusForbidden:
		f = reply.Outcome{Stage: reply.Auth, Code: 535}
	case known:
	case strings.Contains(text, "rate exceeded"), strings.Contains(text, "quota exceeded"), status == http.StatusTooManyRequests:
		f = failures["TooManyRequestsException"]
	case status == http.StatusRequestEntityTooLarge:
		f = reply.Outcome{Stage: reply.Dot, Code: 552, Enhanced: "5.3.4"}
	case status/100 == 4:
		f = failures["BadRequestException"]
	default: // the service fails
		f = reply.Outcome{Stage: reply.Mail, Code: 451, Enhanced: "4.3.0"}
	}
	o.Stage, o.Code, o.Enhanced = f.Stage, f.Code, f.Enhanced
	o.Text = reply.Clean(strings.TrimSpace(fmt.Sprintf("SES answered %d %s: %s", status, a.kind(), a.Message)))
	if f.Enhanced == "4.7.0" {
		o.Text = "rate limit exceeded: " + o.Text
	}
	return o
}
