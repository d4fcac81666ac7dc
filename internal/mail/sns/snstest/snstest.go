// Package snstest stands in for Amazon SNS in tests. It signs messages as SNS does, with an authority of its
// own.
package snstest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Names of what the stand-in serves.
const (
	Host  = "sns.eu-west-1.amazonaws.com"
	Topic = "arn:aws:sns:eu-west-1:123456789012:bounces"
	Token = "t0ken" // of subscriptions
)

// Service is the stand-in. It serves the certificate that messages are signed with, and confirms
// subscriptions to Topic.
type Service struct {
	Address   string            // host:port
	Authority *x509.Certificate // of the certificates
	Certs     atomic.Int64      // requests for the certificate
	Confirmed atomic.Int64      // subscriptions
	Down      atomic.Bool       // all requests fail

	t   testing.TB
	key *rsa.PrivateKey // signs messages
}

// rsaKeys returns keys, which are generated once, since that takes long.
var rsaKeys = sync.OnceValue(func() (keys [3]*rsa.PrivateKey) {
	for i := range keys {
		var err error
		if keys[i], err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			panic(err)
		}
	}
	return keys
})

func certify(t testing.TB, template, parent *x509.Certificate, key *rsa.PrivateKey, by *rsa.PrivateKey) []byte {
	t.Helper()
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Unix(0, 0), time.Unix(1<<33, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Start starts a stand-in, which ends with the test. listener is nil for one at a free port.
func Start(t testing.TB, listener net.Listener) *Service {
	t.Helper()
	keys := rsaKeys()
	a := &Service{t: t, key: keys[2]}
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root, err := x509.ParseCertificate(certify(t, authority, authority, keys[0], keys[0]))
	if err != nil {
		t.Fatal(err)
	}
	a.Authority = root
	host := certify(t, &x509.Certificate{DNSNames: []string{Host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, root, keys[1], keys[0])
	signing := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certify(t, &x509.Certificate{Subject: pkix.Name{CommonName: "sns.amazonaws.com"}}, root, keys[2], keys[0])})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.Down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/SimpleNotificationService-0123.pem":
			a.Certs.Add(1)
			_, _ = w.Write(signing)
		case r.URL.Path == "/" && r.URL.Query().Get("Action") == "ConfirmSubscription" && r.URL.Query().Get("Token") == Token && r.URL.Query().Get("TopicArn") == Topic:
			a.Confirmed.Add(1)
		default:
			t.Errorf("request for %s", r.URL)
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	if listener != nil {
		_ = server.Listener.Close()
		server.Listener = listener
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{host}, PrivateKey: keys[1]}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	a.Address = server.Listener.Addr().String()
	return a
}

// Foreign returns a stand-in that signs with a key of its own, and serves nothing.
func Foreign(t testing.TB) *Service {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &Service{t: t, key: key}
}

// Sign returns the body of a message, signed like SNS does.
func (a *Service) Sign(fields map[string]string) string {
	a.t.Helper()
	names := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if fields["Type"] != "Notification" {
		names = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	var text strings.Builder
	for _, name := range names {
		if v, ok := fields[name]; ok {
			text.WriteString(name + "\n" + v + "\n")
		}
	}
	var hash crypto.Hash
	var sum []byte
	if fields["SignatureVersion"] == "1" {
		s := sha1.Sum([]byte(text.String()))
		hash, sum = crypto.SHA1, s[:]
	} else {
		s := sha256.Sum256([]byte(text.String()))
		hash, sum = crypto.SHA256, s[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, hash, sum)
	if err != nil {
		a.t.Fatal(err)
	}
	fields["Signature"] = base64.StdEncoding.EncodeToString(signature)
	body, err := json.Marshal(fields)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(body)
}

// Notification returns the fields of a notification that contains a message, without its signature.
func Notification(message string) map[string]string {
	return map[string]string{
		"Type": "Notification", "MessageId": "5d2f6c0e-1", "TopicArn": Topic, "Message": message, "Timestamp": "2026-03-01T13:00:00.000Z", "SignatureVersion": "2",
		"SigningCertURL": "https://" + Host + "/SimpleNotificationService-0123.pem",
	}
}
