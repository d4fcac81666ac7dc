package dkim_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dkim"
)

// libraryFunc is a function that is a Library, keyFunc one that is a Key.
type (
	libraryFunc func(*rsa.PrivateKey) (dkim.Key, error)
	keyFunc     func(digest []byte) ([]byte, error)
)

func (f libraryFunc) Key(private *rsa.PrivateKey) (dkim.Key, error) { return f(private) }
func (f keyFunc) Sign(digest []byte) ([]byte, error)                { return f(digest) }

// TestLibrariesThatFailAreNotUsed: a library takes part only when it makes the
// signature that crypto/rsa makes.
func TestLibrariesThatFailAreNotUsed(t *testing.T) {
	t.Parallel()
	private := testKey()
	slow, err := dkim.NewRSAKey(private)
	if err != nil {
		t.Fatal(err)
	}
	other, err := dkim.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	signs := func(change func([]byte) ([]byte, error)) dkim.Library {
		return libraryFunc(func(*rsa.PrivateKey) (dkim.Key, error) {
			return keyFunc(func(digest []byte) ([]byte, error) {
				signature, err := slow.Sign(digest)
				if err != nil {
					return nil, err
				}
				return change(signature)
			}), nil
		})
	}
	for name, tt := range map[string]struct {
		lib  dkim.Library
		used bool
	}{
		"none":            {nil, false},
		"has no such key": {libraryFunc(func(*rsa.PrivateKey) (dkim.Key, error) { return nil, errors.New("no") }), false},
		"another key":     {libraryFunc(func(*rsa.PrivateKey) (dkim.Key, error) { return dkim.NewRSAKey(other) }), false},
		"fails":           {signs(func([]byte) ([]byte, error) { return nil, errors.New("no") }), false},
		"one bit wrong":   {signs(func(s []byte) ([]byte, error) { s[200] ^= 1; return s, nil }), false},
		"too short":       {signs(func(s []byte) ([]byte, error) { return s[:255], nil }), false},
		"nothing":         {signs(func([]byte) ([]byte, error) { return nil, nil }), false},
		"right":           {signs(func(s []byte) ([]byte, error) { return s, nil }), true},
	} {
		key, err := dkim.NewKey(private, tt.lib)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, isGo := key.(*dkim.RSAKey); isGo == tt.used {
			t.Errorf("%s: the key is a %T", name, key)
		}
		checkKey(t, name, key, slow)
	}
}

// TestLibrariesThatFailLater: the signature on which a library fails is made by
// crypto/rsa, and so are those that follow.
func TestLibrariesThatFailLater(t *testing.T) {
	t.Parallel()
	slow, err := dkim.NewRSAKey(testKey())
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	key, err := dkim.NewKey(testKey(), libraryFunc(func(*rsa.PrivateKey) (dkim.Key, error) {
		return keyFunc(func(digest []byte) ([]byte, error) {
			if calls.Add(1) == 3 {
				return nil, errors.New("out of memory")
			}
			return slow.Sign(digest)
		}), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		checkKey(t, "fails later", key, slow)
	}
	if n := calls.Load(); n != 3 { // the one at the start, one that worked, one that failed
		t.Errorf("the library was asked %d times; want 3", n)
	}
}

func checkKey(t *testing.T, name string, key, slow dkim.Key) {
	t.Helper()
	var digest [sha256.Size]byte
	rand.Read(digest[:])
	got, err := key.Sign(digest[:])
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want, err := slow.Sign(digest[:])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: signature = %x; want %x", name, got, want)
	}
}

func TestKeysOfTooFewBitsAreRefused(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []*rsa.PrivateKey{nil, small} {
		if key, err := dkim.NewKey(private, nil); err == nil || key != nil {
			t.Errorf("NewKey = %v, %v; want an error", key, err)
		}
	}
}
