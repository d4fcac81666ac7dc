package dkim

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// Ed25519Key signs with Ed25519 (RFC 8463). Few receivers verify such signatures, so a message also
// needs one by an RSA key.
type Ed25519Key struct{ private ed25519.PrivateKey }

// NewEd25519Key returns a Key for private.
func NewEd25519Key(private ed25519.PrivateKey) (*Ed25519Key, error) {
	if len(private) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("an Ed25519 key has %d bytes, not %d", ed25519.PrivateKeySize, len(private))
	}
	return &Ed25519Key{private}, nil
}

// Sign returns the signature of a SHA-256 digest, which is the message for Ed25519 (RFC 8463 section 3).
func (k *Ed25519Key) Sign(digest []byte) ([]byte, error) {
	return ed25519.Sign(k.private, digest), nil
}

// GenerateEd25519 returns a new key.
func GenerateEd25519() (ed25519.PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return private, err
}

// MarshalEd25519 returns key as PKCS #8 in PEM. The caller must encrypt it before storing it.
func MarshalEd25519(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseEd25519 parses the result of MarshalEd25519.
func ParseEd25519(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("parse DKIM key: not a PKCS #8 key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse DKIM key: %w", err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("parse DKIM key: %T is not an Ed25519 key", key)
	}
	return private, nil
}

// Ed25519Record returns the text of the TXT record that publishes pub (RFC 8463 section 4).
func Ed25519Record(pub ed25519.PublicKey) string {
	return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(pub)
}
