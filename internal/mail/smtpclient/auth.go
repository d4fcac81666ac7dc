package smtpclient

import (
	"crypto/hmac"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// login logs in (RFC 4954). Without TLS it does so only if the address of the server is on this
// machine; the name does not count.
func (c *Conn) login(cfg Config) error {
	if !c.tls && !c.loopback() {
		return c.noLogin("a login without TLS goes to loopback hosts only")
	}
	mechanism := map[AuthMode]string{AuthPlain: "PLAIN", AuthLogin: "LOGIN", AuthCRAMMD5: "CRAM-MD5"}[cfg.Auth]
	if !slices.Contains(c.ext.auth, mechanism) {
		return c.noLogin("the server does not offer AUTH " + mechanism)
	}
	command := "AUTH " + mechanism
	var answers []func(challenge []byte) string
	switch cfg.Auth {
	case AuthPlain:
		command += " " + base64.StdEncoding.EncodeToString([]byte("\x00"+cfg.Username+"\x00"+cfg.Password))
	case AuthLogin:
		answers = append(answers,
			func([]byte) string { return cfg.Username },
			func([]byte) string { return cfg.Password })
	case AuthCRAMMD5:
		answers = append(answers, func(challenge []byte) string {
			mac := hmac.New(md5.New, []byte(cfg.Password))
			mac.Write(challenge)
			return cfg.Username + " " + hex.EncodeToString(mac.Sum(nil))
		})
	}
	err := c.command(command, c.timeout.Command)
	for _, answer := range answers {
		if err != nil || c.rep.Code != 334 {
			break
		}
		challenge, bad := c.challenge()
		if bad != nil {
			return c.noLogin("the server's challenge is not base64")
		}
		err = c.command(base64.StdEncoding.EncodeToString([]byte(answer(challenge))), c.timeout.Command)
	}
	return hidePassword(c.expectReply(reply.Auth, 235, err), cfg)
}

// challenge decodes the text of a 334 reply.
func (c *Conn) challenge() ([]byte, error) {
	for line := range c.rep.Lines {
		return base64.StdEncoding.DecodeString(string(line))
	}
	return nil, nil
}

// noLogin returns the error of a login that cannot be tried.
func (c *Conn) noLogin(why string) error {
	err := errors.New(why)
	return &DialError{c.failure(reply.Auth, err), err}
}

// hidePassword removes the password from the text of an error, since some servers repeat our commands and
// outcomes are logged and shown.
func hidePassword(err error, cfg Config) error {
	de, ok := errors.AsType[*DialError](err)
	if !ok || cfg.Password == "" {
		return err
	}
	for _, secret := range []string{
		cfg.Password,
		base64.StdEncoding.EncodeToString([]byte(cfg.Password)),
		base64.StdEncoding.EncodeToString([]byte("\x00" + cfg.Username + "\x00" + cfg.Password)),
	} {
		if strings.Contains(de.Outcome.Text, secret) {
			de.Outcome.Text = "the server repeated the password"
			de.Err = nil
		}
	}
	return err
}

// loopback reports whether the server is on this machine.
func (c *Conn) loopback() bool {
	ap, err := netip.ParseAddrPort(c.remote)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
