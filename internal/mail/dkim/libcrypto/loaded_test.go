//go:build libcrypto && linux && (amd64 || arm64)

package libcrypto

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func loaded(t *testing.T) *Library {
	t.Helper()
	lib, err := Open()
	if err != nil {
		t.Skip(err)
	}
	return lib
}

// TestLibrariesThatAreNoOpenSSL: a library without what we call is not called.
func TestLibrariesThatAreNoOpenSSL(t *testing.T) {
	t.Parallel()
	loaded(t)
	if _, err := open([]string{"libc.so.6"}); err == nil {
		t.Error("libc was taken for libcrypto")
	}
	if lib, err := open(append([]string{"libc.so.6"}, sonames[:]...)); err != nil || lib.Version() == "" {
		t.Errorf("the second candidate was not loaded: %v", err)
	}
}

// TestBrokenKeys: whatever is in a key, the library does not take the program
// down. With another modulus it cannot sign as before; what it finds wrong with
// the primes it makes good with the private exponent.
func TestBrokenKeys(t *testing.T) {
	t.Parallel()
	lib := loaded(t)
	private := testKey(t)
	der := x509.MarshalPKCS1PrivateKey(private)
	modulus := bytes.Index(der, private.N.Bytes())
	digest := make([]byte, sha256.Size)
	signature := make([]byte, private.Size())
	for i := 0; i < len(der); i += 13 {
		broken := slices.Clone(der)
		broken[i] ^= 1 << (i % 8)
		h, err := lib.native.open(broken)
		if err != nil {
			continue
		}
		err = lib.native.sign(h, signature, digest)
		lib.native.close(h)
		if err == nil && i >= modulus && i < modulus+private.Size() &&
			rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, digest, signature) == nil {
			t.Errorf("with another modulus (byte %d of the key) the signature is the same", i)
		}
	}
	for _, text := range [][]byte{nil, {0x30}, der[:len(der)-1], []byte("-----BEGIN RSA PRIVATE KEY-----")} {
		if h, err := lib.native.open(text); err == nil {
			lib.native.close(h)
			t.Errorf("%.20q was read as a key", text)
		}
	}
	h, err := lib.native.open(der)
	if err != nil {
		t.Fatal(err)
	}
	defer lib.native.close(h)
	if err := lib.native.sign(h, signature[:100], digest); err == nil {
		t.Error("a signature was written to too small a buffer")
	}
	if err := lib.native.sign(h, signature, digest[:20]); err == nil {
		t.Error("a digest of another length was signed")
	}
}

func TestManyGoroutinesSign(t *testing.T) {
	t.Parallel()
	lib := loaded(t)
	private := testKey(t)
	k, err := lib.Key(private)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range 8 {
				digest := sha256.Sum256([]byte{byte(g), byte(i)})
				signature, err := k.Sign(digest[:])
				if err == nil {
					err = rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, digest[:], signature)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestNothingLeaks opens and drops keys, and what fails, until a leak of any
// of them would be seen in the size of the process.
func TestNothingLeaks(t *testing.T) {
	lib := loaded(t)
	f := lib.native
	der := x509.MarshalPKCS1PrivateKey(testKey(t))
	signature, digest := make([]byte, 256), make([]byte, sha256.Size)
	round := func(n int) {
		for range n {
			h, err := f.open(der)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.sign(h, signature[:10], digest); err == nil {
				t.Fatal("a signature was written to too small a buffer")
			}
			f.close(h)
			if _, err := f.open(der[:100]); err == nil {
				t.Fatal("half a key was read")
			}
		}
		h, err := f.open(der)
		if err != nil {
			t.Fatal(err)
		}
		defer f.close(h)
		for range n / 10 {
			if err := f.sign(h, signature, digest); err != nil {
				t.Fatal(err)
			}
		}
	}
	round(200)
	before := resident(t)
	round(1500)
	if grown := resident(t) - before; grown > 2<<10 { // a key has some 4 KB
		t.Errorf("the process grew by %d KB", grown)
	}
}

// resident returns the memory of this process in KB.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	size, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return size
}
