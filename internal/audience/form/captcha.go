package form

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
)

// The providers of captchas.
const (
	NoCaptcha = "none"
	Turnstile = "turnstile"
	HCaptcha  = "hcaptcha"
)

// captchaURLs are where the providers verify tokens:
// https://developers.cloudflare.com/turnstile/get-started/server-side-validation/ and
// https://docs.hcaptcha.com/#verify-the-user-response-server-side.
var captchaURLs = map[string]string{
	Turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
	HCaptcha:  "https://api.hcaptcha.com/siteverify",
}

// Captcha verifies tokens of captchas with their providers.
type Captcha struct {
	box    *secret.Box
	urls   map[string]string // by provider; empty: the providers' own
	client *http.Client
}

const (
	captchaTimeout  = 5 * time.Second
	maxCaptchaReply = 64 << 10
	maxCaptchaToken = 4096
)

// NewCaptcha returns a verifier that opens secret keys with box. With urls, it uses these instead of
// the providers' own; allowPrivate allows private addresses for them.
func NewCaptcha(box *secret.Box, urls map[string]string, allowPrivate bool) *Captcha {
	guard := netguard.Guard{AllowPrivate: allowPrivate}
	dialer := &net.Dialer{Timeout: captchaTimeout, Control: guard.Control}
	return &Captcha{box: box, urls: urls, client: &http.Client{
		Timeout:   captchaTimeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: captchaTimeout, MaxIdleConns: 4, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}
}

var errCaptcha = fault.Input(fault.Field{Path: "captcha_token", Message: "the captcha was not solved"})

// secretPlace is where the secret key of the form's captcha is sealed for.
func (f Form) secretPlace() string {
	return "form:" + f.Tenant.String() + ":" + f.ID.String() + ":captcha_secret"
}

// verify checks the token of a submission.
func (c *Captcha) verify(ctx context.Context, f Form, s Submitted) error {
	if f.CaptchaProvider == NoCaptcha {
		return nil
	}
	if s.CaptchaToken == "" || len(s.CaptchaToken) > maxCaptchaToken {
		return errCaptcha
	}
	key, err := c.box.Open(f.captchaSecret, f.secretPlace())
	if err != nil {
		return fmt.Errorf("open the captcha's secret of form %s: %w", f.ID, err)
	}
	to := c.urls[f.CaptchaProvider]
	if to == "" {
		to = captchaURLs[f.CaptchaProvider]
	}
	values := url.Values{"secret": {string(key)}, "response": {s.CaptchaToken}, "remoteip": {s.IP}}
	if f.CaptchaProvider == HCaptcha {
		values.Set("sitekey", f.CaptchaSiteKey)
	}
	ok, err := c.ask(ctx, to, values)
	if err != nil {
		return errUnavailable.Because(fmt.Errorf("verify a captcha with %s: %w", f.CaptchaProvider, err))
	}
	if !ok {
		return errCaptcha
	}
	return nil
}

func (c *Captcha) ask(ctx context.Context, to string, values url.Values) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, captchaTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(values.Encode()))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.client.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the answer is %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxCaptchaReply))
	if err != nil {
		return false, err
	}
	var answer struct {
		Success bool `json:"success"`
	}
	err = json.Unmarshal(body, &answer)
	return answer.Success, err
}
