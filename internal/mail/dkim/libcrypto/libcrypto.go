// Package libcrypto makes DKIM signatures with the system's OpenSSL library, which makes RSA
// signatures several times as fast as crypto/rsa.
//
// The library is loaded at run time, without cgo. A program that can load it needs the dynamic
// loader of glibc, so this is decided when the program is built: with the tag libcrypto, on Linux on
// amd64 and arm64. Other programs are static; in them Open returns ErrNotBuilt, and crypto/rsa
// signs. The signatures are the same: dkim.NewKey compares those of each key with those of
// crypto/rsa.
package libcrypto

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/dkim"
)

// ErrNotBuilt is the error of Open in a program built without the tag
// libcrypto, or for a platform that we do not load the library on.
var ErrNotBuilt = errors.New("this program was built without libcrypto")

// sonames are the supported versions of the library, in order of preference. The loader searches the
// system's directories for them.
var sonames = [...]string{"libcrypto.so.3", "libcrypto.so.1.1"}

// Library is a loaded libcrypto. It is safe for concurrent use. It is never unloaded, which OpenSSL
// does not support.
type Library struct {
	native native
	turns  chan struct{} // one for each thread that may be inside the library
}

// native is the interface of a loaded library.
type native interface {
	version() string
	// open parses a PKCS #1 private key and prepares to sign with it. The handle is used by one
	// goroutine at a time, and closed at the end.
	open(der []byte) (handle, error)
	// sign writes the signature of digest to signature, which has the size of
	// the key's modulus.
	sign(h handle, signature, digest []byte) error
	close(h handle)
}

// handle is the addresses of a key and of its signing context in the library's memory.
type handle struct{ key, context uintptr }

// Open loads the system's libcrypto. Callers should treat an error as a reason to use crypto/rsa,
// not as a failure.
func Open() (*Library, error) { return open(sonames[:]) }

func open(names []string) (*Library, error) {
	n, err := load(names)
	if err != nil {
		return nil, err
	}
	return newLibrary(n), nil
}

// newLibrary limits the number of threads in n to those that can run at once. More threads would
// only wait, each with a stack and a context of its own.
func newLibrary(n native) *Library {
	return &Library{native: n, turns: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Version returns the version reported by the library, such as "OpenSSL 3.0.19 27 Jan 2026".
func (l *Library) Version() string { return l.native.version() }

// Key returns a key of the library equal to private. If l is nil, it returns an error.
func (l *Library) Key(private *rsa.PrivateKey) (dkim.Key, error) {
	if l == nil {
		return nil, ErrNotBuilt
	}
	if private == nil {
		return nil, errors.New("libcrypto: no private key")
	}
	k := &key{lib: l, private: private}
	s, err := k.open()
	if err != nil {
		return nil, err
	}
	k.idle = append(k.idle, s)
	return k, nil
}

// key is a private key in the library's memory: one copy for each goroutine that has signed with it
// at the same time, since a context must not be used concurrently.
type key struct {
	lib     *Library
	private *rsa.PrivateKey

	mu   sync.Mutex
	idle []*session
}

// session owns a handle. A cleanup closes the handle when the session cannot be reached any more,
// since keys are cached and dropped without a call to Close.
type session struct{ handle handle }

func (k *key) open() (*session, error) {
	der := x509.MarshalPKCS1PrivateKey(k.private)
	defer clear(der)
	h, err := k.lib.native.open(der)
	if err != nil {
		return nil, err
	}
	s := &session{h}
	runtime.AddCleanup(s, k.lib.native.close, h)
	return s, nil
}

// Sign returns the RSASSA-PKCS1-v1_5 signature of a SHA-256 digest.
func (k *key) Sign(digest []byte) ([]byte, error) {
	if len(digest) != sha256.Size {
		return nil, fmt.Errorf("libcrypto: a digest of %d bytes", len(digest))
	}
	k.lib.turns <- struct{}{}
	defer func() { <-k.lib.turns }()

	s, err := k.take()
	if err != nil {
		return nil, err
	}
	signature := make([]byte, k.private.Size())
	err = k.lib.native.sign(s.handle, signature, digest)
	runtime.KeepAlive(s)
	if err != nil {
		return nil, err // the session is not used again
	}
	k.mu.Lock()
	k.idle = append(k.idle, s)
	k.mu.Unlock()
	return signature, nil
}

func (k *key) take() (*session, error) {
	k.mu.Lock()
	if n := len(k.idle); n > 0 {
		s := k.idle[n-1]
		k.idle[n-1], k.idle = nil, k.idle[:n-1]
		k.mu.Unlock()
		return s, nil
	}
	k.mu.Unlock()
	return k.open()
}
