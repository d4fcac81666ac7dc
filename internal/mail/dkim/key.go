package dkim

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// keyBits is the size of the keys we make and the least we sign with.
const keyBits = 2048

// RSAKey signs with a private key of crypto/rsa.
type RSAKey struct{ private *rsa.PrivateKey }

// NewRSAKey returns a Key for private, which must have at least 2048 bits.
func NewRSAKey(private *rsa.PrivateKey) (*RSAKey, error) {
	if private == nil || private.N.BitLen() < keyBits {
		return nil, fmt.Errorf("a DKIM key needs at least %d bits", keyBits)
	}
	return &RSAKey{private}, nil
}

// Sign returns the signature of a SHA-256 digest.
func (k *RSAKey) Sign(digest []byte) ([]byte, error) {
	return rsa.SignPKCS1v15(nil, k.private, crypto.SHA256, digest)
}

// GenerateKey returns a new RSA key of 2048 bits.
func GenerateKey() (*rsa.PrivateKey, error) {
	return rsa.GenerateKey(rand.Reader, keyBits)
}

// MarshalKey returns key as PKCS #8 in PEM, which is to be stored encrypted.
func MarshalKey(key *rsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseKey reads what MarshalKey wrote.
func ParseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("parse DKIM key: not a PKCS #8 key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse DKIM key: %w", err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("parse DKIM key: %T is not an RSA key", key)
	}
	return private, nil
}

// Record returns the text of the TXT record that publishes pub (RFC 6376
// section 3.6.1). It is longer than one DNS string: servers split it.
func Record(pub *rsa.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return "", fmt.Errorf("marshal DKIM public key: %w", err)
	}
	return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der), nil
}
