package sns

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// FuzzParse reads bodies that strangers post. None of them is proven without the key, and only addresses of
// SNS are fetched, whatever a message names.
func FuzzParse(f *testing.F) {
	const common = `"MessageId": "1", "TopicArn": "arn:aws:sns:eu-west-1:123456789012:mail", "Timestamp": "2026-03-01T12:00:00.000Z", "SignatureVersion": "2", "Signature": "AAAA"`
	for _, seed := range []string{
		`{"Type": "Notification", "Message": "{}", "Subject": "s", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem", ` + common + `}`,
		`{"Type": "SubscriptionConfirmation", "Token": "t&Action=Publish", "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription", ` + common + `}`,
		`{"Type": "UnsubscribeConfirmation", "Token": "t", "SubscribeURL": "https://sns.eu-west-1.amazonaws.com@x.example/", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com.x.example/SimpleNotificationService-0.pem", ` + common + `}`,
		`{"Type": "SubscriptionConfirmation", "Token": "t", "SubscribeURL": "https://sns.cn-north-1.amazonaws.com.cn:443/", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/../SimpleNotificationService-0.pem", ` + common + `}`,
		`{"Type": "Notification"}`, `{"Subject": null}`, `[]`, `null`, ``,
	} {
		f.Add(seed)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	cert := &x509.Certificate{PublicKey: key.Public()}
	own := func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Scheme == "https" && u.User == nil && strings.HasPrefix(u.Host, "sns.") && (strings.HasSuffix(u.Host, ".amazonaws.com") || strings.HasSuffix(u.Host, ".amazonaws.com.cn"))
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := Parse([]byte(body))
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v", err)
			}
			return
		}
		if m.MessageID == "" || m.TopicArn == "" || m.Signature == "" {
			t.Errorf("accepted without an id, a topic or a signature: %+v", m)
		}
		if err := m.Verify(cert); !errors.Is(err, ErrSignature) {
			t.Errorf("verified: %v", err)
		}
		if CheckCertURL(m.SigningCertURL) == nil && !own(m.SigningCertURL) {
			t.Errorf("the certificate would be fetched from %q", m.SigningCertURL)
		}
		if at, err := m.confirmURL(); err == nil {
			u, _ := url.Parse(at)
			if !own(at) || u.Path != "/" || u.Query().Get("Action") != "ConfirmSubscription" || len(u.Query()["Action"]) != 1 {
				t.Errorf("the subscription would be confirmed at %q", at)
			}
		}
	})
}

// FuzzCertificate reads what an address of SNS answered.
func FuzzCertificate(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		cert, err := Certificate(text, noon)
		if (cert == nil) != (err != nil) || err != nil && !errors.Is(err, ErrCertificate) {
			t.Errorf("%v, %v", cert, err)
		}
	})
}
