// Package secret keeps what must not be readable in the database, and derives
// the keys that sign our tokens, from the installation's one secret key.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// KeyBytes is the length of the secret key.
const KeyBytes = 32

// Box seals small secrets with AES-256-GCM and derives signing keys.
type Box struct {
	key  []byte
	aead cipher.AEAD
}

// NewBox returns a box for a key of KeyBytes bytes.
func NewBox(key []byte) (*Box, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("the secret key has %d bytes, want %d", len(key), KeyBytes)
	}
	b := &Box{key: append([]byte(nil), key...)}
	block, err := aes.NewCipher(b.Derive("seal"))
	if err != nil {
		return nil, err
	}
	if b.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, err
	}
	return b, nil
}

// version begins every sealed text; it names the key.
const version = "k1:"

// Seal encrypts plain. The place, such as "mta_config:<tenant>:password", is
// authenticated: a sealed text moved to another row does not open.
func (b *Box) Seal(plain []byte, place string) string {
	return version + base64.RawStdEncoding.EncodeToString(b.aead.Seal(nil, nil, plain, []byte(place)))
}

// Open decrypts what Seal returned for the same place.
func (b *Box) Open(sealed, place string) ([]byte, error) {
	raw, ok := strings.CutPrefix(sealed, version)
	if !ok {
		return nil, errors.New("sealed by an unknown key")
	}
	c, err := base64.RawStdEncoding.DecodeString(raw)
	if err != nil {
		return nil, errors.New("not a sealed text")
	}
	plain, err := b.aead.Open(nil, nil, c, []byte(place))
	if err != nil {
		return nil, errors.New("sealed by another key, or for another place")
	}
	return plain, nil
}

// Derive returns a key of 32 bytes for one use, named by label (RFC 5869).
func (b *Box) Derive(label string) []byte {
	k, err := hkdf.Key(sha256.New, b.key, nil, "packetboat "+label, 32)
	if err != nil {
		panic(err) // only for lengths that we do not ask for
	}
	return k
}

// Parse reads a secret key as configuration gives it: 32 bytes in base64.
func Parse(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != KeyBytes {
		return nil, fmt.Errorf("the secret key must be %d bytes in base64; make one with: openssl rand -base64 %d", KeyBytes, KeyBytes)
	}
	return key, nil
}

// FromFile reads the key kept in dir, and makes one at the first start.
// Only the owner may read the file. It appears whole or not at all, so neither
// a crash nor a second process that starts at the same moment spoils it.
func FromFile(dir string) ([]byte, error) {
	path := filepath.Join(dir, "secret.key")
	key, err := read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, errors.Join(err, narrow(path))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	fresh := make([]byte, KeyBytes)
	_, _ = rand.Read(fresh) // never fails
	temporary, err := write(dir, base64.StdEncoding.EncodeToString(fresh)+"\n")
	if err != nil {
		return nil, fmt.Errorf("keep the secret key: %w", err)
	}
	defer os.Remove(temporary)
	if err := os.Link(temporary, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("keep the secret key: %w", err)
	}
	if err := flush(dir); err != nil {
		return nil, fmt.Errorf("keep the secret key: %w", err)
	}
	return read(path) // another process may have been first
}

// Kept returns the key that FromFile has made in dir before; fs.ErrNotExist when there
// is none.
func Kept(dir string) ([]byte, error) { return read(filepath.Join(dir, "secret.key")) }

func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// narrow takes the key file's mode from others, as after a copy from a backup. A
// read-only mount, where modes are the operator's doing, stays as it is.
func narrow(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("other users may read %s, and its mode cannot be changed (run chmod 600 as its owner): %w", path, err)
	}
	return nil
}

// write puts text into a new file of dir that only its owner may read.
func write(dir, text string) (path string, err error) {
	f, err := os.CreateTemp(dir, "secret.key.*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Sync(), f.Close())
}

// flush makes a new name in dir outlive a power failure.
func flush(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
