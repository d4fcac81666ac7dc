package sns

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// certificate returns a certificate in PEM, valid for an hour from noon.
func certificate(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	like := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon, NotAfter: noon.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestEverySignedFieldIsProven signs messages of each type and version, and changes each field.
func TestEverySignedFieldIsProven(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := Certificate(certificate(t, key), noon)
	if err != nil {
		t.Fatal(err)
	}
	subject, other := "about", "about more"
	notification := Message{Type: Notification, MessageID: "1", TopicArn: "arn:aws:sns:eu-west-1:123456789012:mail", Message: "text", Timestamp: "2026-03-01T12:00:00.000Z"}
	withSubject := notification
	withSubject.Subject = &subject
	confirmation := notification
	confirmation.Type, confirmation.Token, confirmation.SubscribeURL = SubscriptionConfirm, "t", "https://sns.eu-west-1.amazonaws.com/"
	for _, m := range []Message{notification, withSubject, confirmation} {
		for version, hash := range map[string]crypto.Hash{"1": crypto.SHA1, "2": crypto.SHA256} {
			m.SignatureVersion = version
			sum := sha256.Sum256([]byte(m.signed()))
			digest := sum[:]
			if hash == crypto.SHA1 {
				short := sha1.Sum([]byte(m.signed()))
				digest = short[:]
			}
			signature, err := rsa.SignPKCS1v15(rand.Reader, key, hash, digest)
			if err != nil {
				t.Fatal(err)
			}
			m.Signature = base64.StdEncoding.EncodeToString(signature)
			if err := m.Verify(cert); err != nil {
				t.Errorf("%s, version %s: %v", m.Type, version, err)
			}
			for name, change := range map[string]func(*Message){
				"message": func(m *Message) { m.Message += "." }, "id": func(m *Message) { m.MessageID = "2" }, "topic": func(m *Message) { m.TopicArn += "2" },
				"time": func(m *Message) { m.Timestamp = "2026-03-01T12:00:01.000Z" }, "type": func(m *Message) { m.Type = UnsubscribeConfirmation },
				"subject": func(m *Message) { m.Subject = &other; m.Type = Notification }, "signature": func(m *Message) { m.Signature = m.Signature[4:] },
				"version": func(m *Message) { m.SignatureVersion = "3" }, "no base64": func(m *Message) { m.Signature = "%" },
			} {
				changed := m
				change(&changed)
				if err := changed.Verify(cert); !errors.Is(err, ErrSignature) {
					t.Errorf("%s, version %s, another %s: %v", m.Type, version, name, err)
				}
			}
		}
	}
	weak, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := notification.Verify(&x509.Certificate{PublicKey: weak.Public()}); !errors.Is(err, ErrCertificate) {
		t.Errorf("a key that is not RSA: %v", err)
	}
	for name, at := range map[string]time.Time{"before": noon.Add(-time.Second), "after": noon.Add(time.Hour + time.Second)} {
		if _, err := Certificate(certificate(t, key), at); !errors.Is(err, ErrCertificate) {
			t.Errorf("%s it is valid: %v", name, err)
		}
	}
}

// TestOnlyAddressesOfSNSAreFetched refuses addresses that look like them.
func TestOnlyAddressesOfSNSAreFetched(t *testing.T) {
	t.Parallel()
	const path = "/SimpleNotificationService-0123abcd.pem"
	for text, want := range map[string]bool{
		"https://sns.eu-west-1.amazonaws.com" + path: true, "https://sns.cn-north-1.amazonaws.com.cn" + path: true, "https://sns.us-gov-west-1.amazonaws.com" + path: true,
		"http://sns.eu-west-1.amazonaws.com" + path: false, "https://sns.eu-west-1.amazonaws.com:8443" + path: false, "https://user@sns.eu-west-1.amazonaws.com" + path: false,
		"https://sns.eu-west-1.amazonaws.com.x.example" + path: false, "https://x.example/sns.eu-west-1.amazonaws.com" + path: false, "https://s3.eu-west-1.amazonaws.com" + path: false,
		"https://sns.eu-west-1.amazonaws.com" + path + "?x": false, "https://sns.eu-west-1.amazonaws.com" + path + "#x": false, "https://sns.eu-west-1.amazonaws.com/x" + path: false,
		"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-%2e.pem": false, "": false,
	} {
		if got := CheckCertURL(text) == nil; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
