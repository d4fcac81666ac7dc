package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// Relay is the installation's relay, for mail about accounts.
type Relay struct {
	Client smtpclient.Config
	From   string
}

// ParseRelay parses smtp[s]://user:password@host:port?from=address. The default port is 587, or 465
// for smtps. With smtp the server must offer STARTTLS, unless the parameters contain tls=none. A server on a
// loopback host need not, and its certificate is not checked.
func ParseRelay(text string) (*Relay, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("is not the URL of a relay")
	}
	r := &Relay{Client: smtpclient.Config{
		Host: u.Hostname(), Port: 587, TLS: smtpclient.StartTLS, Auth: smtpclient.AuthNone,
		Guard: netguard.Guard{AllowPrivate: true}, // configured by the operator
	}}
	if netguard.IsLoopback(r.Client.Host) {
		r.Client.TLS = smtpclient.Opportunistic
	}
	if u.Scheme == "smtps" {
		r.Client.TLS, r.Client.Port = smtpclient.Implicit, 465
	}
	switch tls := u.Query().Get("tls"); {
	case tls == "none" && u.Scheme == "smtp":
		r.Client.TLS = smtpclient.None
	case tls != "":
		return nil, errors.New("knows tls=none with smtp, and no other tls")
	}
	if u.Port() != "" {
		if r.Client.Port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, errors.New("has a bad port")
		}
	}
	if u.User != nil {
		r.Client.Auth, r.Client.Username = smtpclient.AuthPlain, u.User.Username()
		r.Client.Password, _ = u.User.Password()
	}
	if r.From, err = address.Normalize(u.Query().Get("from")); err != nil {
		return nil, fmt.Errorf("needs the address that mail comes from: %w", err)
	}
	return r, nil
}

// Mail sends one plain-text message over the relay.
func (r *Relay) Mail(ctx context.Context, to, subject, text string) error {
	_, domain, _ := strings.Cut(r.From, "@")
	var b compose.Builder
	raw, err := b.Build(nil, &compose.Message{
		Date: time.Now(), From: compose.Mailbox{Name: "Packetboat", Address: r.From}, To: to, Subject: subject,
		MessageID: id.NewText() + "@" + domain, AutoSubmitted: "auto-generated", NoAutoReplies: true,
		Text: []byte(text),
	})
	if err != nil {
		return fmt.Errorf("write system mail: %w", err)
	}
	conn, err := smtpclient.Dial(ctx, r.Client)
	if err != nil {
		return fmt.Errorf("connect to the system relay: %w", err)
	}
	defer conn.Quit()
	out, err := conn.Send(ctx, smtpclient.Envelope{From: r.From, To: to}, raw)
	if err != nil {
		return fmt.Errorf("send system mail: %w", err)
	}
	if !out.Accepted {
		return fmt.Errorf("send system mail: %w", &auth.MailRefusal{Reply: out.String()})
	}
	return nil
}
