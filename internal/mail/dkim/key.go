package dkim

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"sync/atomic"
)

// keyBits is the size of generated keys, and the minimum size of keys that sign.
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

// Library makes keys that sign faster than those of crypto/rsa. One is in
// package libcrypto.
type Library interface {
	Key(private *rsa.PrivateKey) (Key, error)
}

// NewKey returns a Key for private, which must have at least 2048 bits. It returns a key of lib if
// lib is not nil and its signatures equal those of crypto/rsa, otherwise an RSAKey.
func NewKey(private *rsa.PrivateKey, lib Library) (Key, error) {
	slow, err := NewRSAKey(private)
	if err != nil {
		return nil, err
	}
	if lib == nil {
		return slow, nil
	}
	fast, err := lib.Key(private)
	if err != nil || !agree(fast, slow) {
		return slow, nil
	}
	return &watchedKey{fast: fast, slow: slow}, nil
}

// agree reports whether fast makes the same signature as slow. There is exactly one signature of a
// digest (RFC 8017 section 8.2: it contains nothing random).
func agree(fast Key, slow *RSAKey) bool {
	var digest [sha256.Size]byte
	rand.Read(digest[:])
	got, err := fast.Sign(digest[:])
	if err != nil {
		return false
	}
	want, err := slow.Sign(digest[:])
	return err == nil && bytes.Equal(got, want) &&
		rsa.VerifyPKCS1v15(&slow.private.PublicKey, crypto.SHA256, digest[:], got) == nil
}

// watchedKey uses a library's key until that fails, and crypto/rsa from then on.
type watchedKey struct {
	fast   Key
	slow   *RSAKey
	failed atomic.Bool
}

// Sign returns the signature of a SHA-256 digest.
func (k *watchedKey) Sign(digest []byte) ([]byte, error) {
	if !k.failed.Load() {
		if signature, err := k.fast.Sign(digest); err == nil {
			return signature, nil
		}
		k.failed.Store(true)
	}
	return k.slow.Sign(digest)
}

// GenerateKey returns a new RSA key of 2048 bits.
func GenerateKey() (*rsa.PrivateKey, error) {
	return rsa.GenerateKey(rand.Reader, keyBits)
}

// MarshalKey returns key as PKCS #8 in PEM. The caller must encrypt it before storing it.
func MarshalKey(key *rsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseKey parses the result of MarshalKey.
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
