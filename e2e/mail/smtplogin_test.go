package mail

import (
	"errors"
	"net"
	"strconv"
	"testing"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/imapbox/dovecottest"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
)

// tlsFromTheFirstByte is Postfix's setting for implicit TLS.
const tlsFromTheFirstByte = "smtpd_tls_wrappermode = yes"

// Postfix, which lets Dovecot check logins, relays only for those who logged in. Each mechanism works over
// STARTTLS and implicit TLS, and a wrong password is a failure of the lane.
func TestEachLoginMechanismWorksAtPostfix(t *testing.T) {
	t.Parallel()
	s := dovecottest.Start(t)
	login := []string{
		"smtpd_sasl_auth_enable = yes", "smtpd_sasl_type = dovecot", "smtpd_sasl_path = " + s.SASL, "smtpd_tls_auth_only = yes",
		"smtpd_tls_security_level = may", "smtpd_tls_cert_file = " + s.CertFile, "smtpd_tls_key_file = " + s.KeyFile,
		"smtpd_relay_restrictions = permit_sasl_authenticated, reject",
	}
	for mode, address := range map[smtpclient.TLSMode]string{
		smtpclient.StartTLS: startPostfix(t, login...),
		smtpclient.Implicit: startPostfix(t, append(login, tlsFromTheFirstByte)...),
	} {
		_, text, _ := net.SplitHostPort(address)
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, auth := range []smtpclient.AuthMode{smtpclient.AuthNone, smtpclient.AuthPlain, smtpclient.AuthLogin, smtpclient.AuthCRAMMD5} {
			t.Run(string(mode)+"/"+string(auth), func(t *testing.T) {
				cfg := smtpclient.Config{
					Host: "127.0.0.1", Port: port, TLS: mode, Auth: auth, Username: dovecottest.User, Password: dovecottest.Password,
					Guard: netguard.Guard{AllowPrivate: true}, RootCAs: s.Roots,
				}
				c, err := smtpclient.Dial(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				outcome, err := c.Send(t.Context(), smtpclient.Envelope{From: "a@y.test", To: "b@fine.test"}, []byte("Subject: Hello\r\n\r\nHello.\r\n"))
				if err != nil || outcome.Accepted != (auth != smtpclient.AuthNone) {
					t.Errorf("accepted %t: %s, %v", outcome.Accepted, outcome, err)
				}
				_ = c.Quit()
				if auth == smtpclient.AuthNone {
					return
				}
				cfg.Password = "wrong"
				_, err = smtpclient.Dial(t.Context(), cfg)
				var failed *smtpclient.DialError
				if !errors.As(err, &failed) || failed.Outcome.Stage != reply.Auth || failed.Outcome.Code != 535 || reply.Classify(failed.Outcome).Class != reply.Lane {
					t.Errorf("a wrong password: %v", err)
				}
			})
		}
	}
}
