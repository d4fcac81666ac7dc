package libcrypto_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/mail/dkim/libcrypto"
)

// library returns the system's libcrypto. Only programs built with the tag
// libcrypto can have one.
func library(t testing.TB) *libcrypto.Library {
	t.Helper()
	lib, err := libcrypto.Open()
	if err != nil {
		t.Skip(err)
	}
	return lib
}

func generate(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func TestSignaturesAreThoseOfGo(t *testing.T) {
	t.Parallel()
	lib := library(t)
	if lib.Version() == "" {
		t.Error("the library has no version")
	}
	for _, bits := range []int{2048, 2048, 2056, 3072, 4096} {
		private := generate(t, bits)
		fast, err := lib.Key(private)
		if err != nil {
			t.Fatalf("%d bits: %v", bits, err)
		}
		slow, err := dkim.NewRSAKey(private)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			var digest [sha256.Size]byte
			rand.Read(digest[:])
			got, err := fast.Sign(digest[:])
			if err != nil {
				t.Fatal(err)
			}
			want, err := slow.Sign(digest[:])
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Fatalf("%d bits: signature of %x = %x; want %x", bits, digest, got, want)
			}
		}
	}
}
