package libcrypto

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dkim"
)

// ledger stands for a library: it notes who uses what.
type ledger struct {
	mu     sync.Mutex
	opened uintptr
	inside map[handle]bool
	most   int           // goroutines that were inside at once
	broken atomic.Bool   // it opens no more keys, and signs no more
	shared atomic.Bool   // two goroutines used one handle at once
	closed chan handle   // receives what is closed
	gate   chan struct{} // sign waits for it when there is one
}

func newLedger() *ledger {
	return &ledger{inside: map[handle]bool{}, closed: make(chan handle, 100)}
}

var errBroken = errors.New("broken")

func (l *ledger) version() string { return "ledger" }

func (l *ledger) open(der []byte) (handle, error) {
	if l.broken.Load() || len(der) == 0 {
		return handle{}, errBroken
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	return handle{key: l.opened, context: l.opened}, nil
}

func (l *ledger) sign(h handle, signature, digest []byte) error {
	if l.broken.Load() {
		return errBroken
	}
	l.mu.Lock()
	if l.inside[h] {
		l.shared.Store(true)
	}
	l.inside[h] = true
	l.most = max(l.most, len(l.inside))
	l.mu.Unlock()
	if l.gate != nil {
		<-l.gate
	}
	copy(signature, digest)
	l.mu.Lock()
	delete(l.inside, h)
	l.mu.Unlock()
	return nil
}

func (l *ledger) close(h handle) { l.closed <- h }

func testKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	private, err := dkim.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func TestContextsAreNotShared(t *testing.T) {
	t.Parallel()
	books := newLedger()
	books.gate = make(chan struct{})
	lib := newLibrary(books)
	key, err := lib.Key(testKey(t))
	if err != nil {
		t.Fatal(err)
	}
	const rounds, goroutines = 20, 32
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range rounds {
				digest := bytes.Repeat([]byte{byte(i)}, sha256.Size)
				got, err := key.Sign(digest)
				if err != nil || !bytes.HasPrefix(got, digest) || len(got) != 256 {
					t.Errorf("signature of %x = %x, %v", digest, got, err)
				}
			}
		})
	}
	for range rounds * goroutines {
		books.gate <- struct{}{}
	}
	wg.Wait()
	if books.shared.Load() {
		t.Error("two goroutines used one context at once")
	}
	if limit := cap(lib.turns); books.most > limit || int(books.opened) > limit {
		t.Errorf("%d goroutines were inside at once with %d contexts; want at most %d", books.most, books.opened, limit)
	}
}

func TestUnusedKeysAreClosed(t *testing.T) {
	t.Parallel()
	books := newLedger()
	lib := newLibrary(books)
	private := testKey(t)
	const keys = 5
	for range keys {
		key, err := lib.Key(private)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := key.Sign(make([]byte, sha256.Size)); err != nil {
			t.Fatal(err)
		}
	}
	closed := map[handle]bool{}
	for len(closed) < keys {
		runtime.GC()
		h := <-books.closed
		if closed[h] {
			t.Errorf("%v was closed twice", h)
		}
		closed[h] = true
	}
	if books.opened != keys {
		t.Errorf("%d contexts were opened; want %d", books.opened, keys)
	}
}

func TestErrorsAreReturned(t *testing.T) {
	t.Parallel()
	books := newLedger()
	lib := newLibrary(books)
	key, err := lib.Key(testKey(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := key.Sign([]byte("short")); err == nil {
		t.Error("a digest of five bytes was signed")
	}
	if _, err := lib.Key(nil); err == nil {
		t.Error("no key was opened")
	}
	books.broken.Store(true)
	for range 2 * cap(lib.turns) { // a failed signature releases its turn
		if _, err := key.Sign(make([]byte, sha256.Size)); !errors.Is(err, errBroken) {
			t.Fatalf("error = %v; want that of the library", err)
		}
	}
	if _, err := lib.Key(testKey(t)); !errors.Is(err, errBroken) {
		t.Errorf("error = %v; want that of the library", err)
	}
}

func TestWithoutLibraryGoSigns(t *testing.T) {
	t.Parallel()
	lib, err := open([]string{"libpacketboat-absent.so.1", "libpacketboat-absent.so.2"})
	if err == nil {
		t.Fatal("a library that does not exist was loaded")
	}
	key, err := dkim.NewKey(testKey(t), lib)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := key.(*dkim.RSAKey); !ok {
		t.Errorf("the key is a %T; want one of Go", key)
	}
}
