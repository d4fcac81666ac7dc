// Package sns verifies messages that Amazon SNS posts to an HTTPS endpoint, and confirms
// subscriptions ("Parsing Amazon SNS message formats" and "Verifying the signatures of Amazon SNS
// messages" in the developer guide of SNS).
//
// A signature proves only that SNS sent a message, and anyone can have a topic. The caller compares
// the topic with those that it expects before it acts on a message, or confirms a subscription.
package sns

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Type is the kind of a message.
type Type string

// The types.
const (
	Notification            Type = "Notification"
	SubscriptionConfirm     Type = "SubscriptionConfirmation"
	UnsubscribeConfirmation Type = "UnsubscribeConfirmation"
)

// Message is what SNS posts.
type Message struct {
	Type             Type
	MessageID        string `json:"MessageId"`
	Token            string
	TopicArn         string
	Subject          *string
	Message          string
	Timestamp        string
	SignatureVersion string
	Signature        string
	SigningCertURL   string
	SubscribeURL     string
}

var (
	// ErrMalformed means that a body is not a message of SNS.
	ErrMalformed = errors.New("not a message of SNS")
	// ErrSignature means that a message has no valid signature.
	ErrSignature = errors.New("the signature of SNS is not valid")
	// ErrCertificate means that a certificate is not at an address of SNS, or is none.
	ErrCertificate = errors.New("the certificate is not one of SNS")
)

// Parse reads a body.
func Parse(body []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return m, ErrMalformed
	}
	switch m.Type {
	case Notification, SubscriptionConfirm, UnsubscribeConfirmation:
	default:
		return m, ErrMalformed
	}
	if m.MessageID == "" || m.TopicArn == "" || m.Timestamp == "" || m.Signature == "" {
		return m, ErrMalformed
	}
	return m, nil
}

// signed returns the text that is signed: names and values in the order of the names, each with a
// line feed.
func (m Message) signed() string {
	var b strings.Builder
	add := func(name, value string) { b.WriteString(name + "\n" + value + "\n") }
	add("Message", m.Message)
	add("MessageId", m.MessageID)
	if m.Type == Notification {
		if m.Subject != nil {
			add("Subject", *m.Subject)
		}
	} else {
		add("SubscribeURL", m.SubscribeURL)
	}
	add("Timestamp", m.Timestamp)
	if m.Type != Notification {
		add("Token", m.Token)
	}
	add("TopicArn", m.TopicArn)
	add("Type", string(m.Type))
	return b.String()
}

// Verify checks the signature with the certificate from SigningCertURL.
func (m Message) Verify(cert *x509.Certificate) error {
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || key.N.BitLen() < 2048 {
		return ErrCertificate
	}
	signature, err := base64.StdEncoding.DecodeString(m.Signature)
	if err != nil {
		return ErrSignature
	}
	var hash crypto.Hash
	var sum []byte
	switch text := []byte(m.signed()); m.SignatureVersion {
	case "1":
		s := sha1.Sum(text) // the format of SNS; its forgery needs a second preimage
		hash, sum = crypto.SHA1, s[:]
	case "2":
		s := sha256.Sum256(text)
		hash, sum = crypto.SHA256, s[:]
	default:
		return ErrSignature
	}
	if rsa.VerifyPKCS1v15(key, hash, sum, signature) != nil {
		return ErrSignature
	}
	return nil
}

// The addresses of SNS: China has a domain of its own.
var (
	hostName = regexp.MustCompile(`^sns\.[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}\.amazonaws\.com(\.cn)?$`)
	certPath = regexp.MustCompile(`^/SimpleNotificationService-[A-Za-z0-9]{1,100}\.pem$`)
	topicArn = regexp.MustCompile(`^arn:aws(-cn|-us-gov)?:sns:[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$`)
)

// IsTopicARN reports whether s is the name of a topic.
func IsTopicARN(s string) bool { return topicArn.MatchString(s) }

// CheckCertURL returns an error unless text is the address of a certificate at SNS.
func CheckCertURL(text string) error {
	u, err := serviceURL(text)
	if err != nil || !certPath.MatchString(u.Path) || u.RawPath != "" || u.RawQuery != "" || u.ForceQuery {
		return fmt.Errorf("%w: its address is not one of SNS", ErrCertificate)
	}
	return nil
}

// serviceURL parses an address, and returns an error unless it is one of SNS, by HTTPS.
func serviceURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Fragment != "" || !hostName.MatchString(u.Host) {
		return nil, errors.New("not an address of SNS")
	}
	return u, nil
}

// confirmURL returns the address that confirms a subscription. It is built from the parts that are
// checked, on the host that the message names.
func (m Message) confirmURL() (string, error) {
	u, err := serviceURL(m.SubscribeURL)
	if err != nil || m.Token == "" {
		return "", ErrMalformed
	}
	query := url.Values{"Action": {"ConfirmSubscription"}, "TopicArn": {m.TopicArn}, "Token": {m.Token}}
	return (&url.URL{Scheme: "https", Host: u.Host, Path: "/", RawQuery: query.Encode()}).String(), nil
}

// Certificate parses a certificate in PEM, which must be valid at a time.
func Certificate(text []byte, now time.Time) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, ErrCertificate
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, ErrCertificate
	}
	if now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
		return nil, fmt.Errorf("%w: it is not valid now", ErrCertificate)
	}
	return cert, nil
}
