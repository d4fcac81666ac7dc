// Package libcrypto makes DKIM signatures with the system's OpenSSL library,
// which signs with RSA several times as fast as crypto/rsa.
//
// The library is loaded when the program runs, without cgo. A program that can
// do that needs the dynamic loader of glibc to start at all, so it is a choice
// made when the program is built: with the tag libcrypto, on Linux on amd64
// and arm64. In all other programs Open fails with ErrNotBuilt, they stay
// static, and crypto/rsa signs. Nothing here decides what a signature should
// be: dkim.NewKey compares each key's signatures with those of crypto/rsa.
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

// sonames are the libraries we know how to call, the best first. The loader
// looks for them where the system keeps its libraries.
var sonames = [...]string{"libcrypto.so.3", "libcrypto.so.1.1"}

// Library is libcrypto, loaded into this process. It may be used by several
// goroutines at once. It is never unloaded: OpenSSL does not survive that.
type Library struct {
	native native
	turns  chan struct{} // one for each thread that may be inside the library
}

// native is a loaded library as this package needs it.
type native interface {
	version() string
	// open reads a PKCS #1 private key and prepares to sign with it. What it
	// returns is used by one goroutine at a time, and then closed.
	open(der []byte) (handle, error)
	// sign writes the signature of digest to signature, which has the size of
	// the key's modulus.
	sign(h handle, signature, digest []byte) error
	close(h handle)
}

// handle names a key, and a context that signs with it, in the library's memory.
type handle struct{ key, context uintptr }

// Open loads the system's libcrypto. Its error says why there is none, which
// is nothing that a program should fail for.
func Open() (*Library, error) { return open(sonames[:]) }

func open(names []string) (*Library, error) {
	n, err := load(names)
	if err != nil {
		return nil, err
	}
	return newLibrary(n), nil
}

// newLibrary lets as many threads into n as can run at once: more would only
// take turns, each with a stack and a context of its own.
func newLibrary(n native) *Library {
	return &Library{native: n, turns: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Version returns what the library says it is, such as "OpenSSL 3.0.19 27 Jan
// 2026".
func (l *Library) Version() string { return l.native.version() }

// Key returns a key of the library that is equal to private. Without a library
// that is an error.
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

// key is a private key in the library's memory: as many times as goroutines
// have signed with it at once, since a context serves one of them.
type key struct {
	lib     *Library
	private *rsa.PrivateKey

	mu   sync.Mutex
	idle []*session
}

// session owns a handle. The handle is closed when nothing can reach the
// session, which is when its key is gone: signers are kept in caches and
// dropped without ceremony.
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
		return nil, err // and the session is not used again
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
