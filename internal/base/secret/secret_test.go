package secret_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/packetboat/packetboat/internal/base/secret"
)

func box(t *testing.T, fill byte) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(bytes.Repeat([]byte{fill}, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealedOpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	b := box(t, 1)
	for _, plain := range []string{"", "hunter2", strings.Repeat("x", 10_000), "\x00\xff"} {
		sealed := b.Seal([]byte(plain), "mta_config:a:password")
		if strings.Contains(sealed, "hunter2") {
			t.Fatalf("Seal shows what it seals: %q", sealed)
		}
		got, err := b.Open(sealed, "mta_config:a:password")
		if err != nil || string(got) != plain {
			t.Errorf("Open(Seal(%q)) = %q, %v", plain, got, err)
		}
		if _, err := b.Open(sealed, "mta_config:b:password"); err == nil {
			t.Error("a sealed text opens in another place")
		}
		if _, err := box(t, 2).Open(sealed, "mta_config:a:password"); err == nil {
			t.Error("a sealed text opens with another key")
		}
		if again := b.Seal([]byte(plain), "mta_config:a:password"); again == sealed {
			t.Error("the same text sealed twice looks the same")
		}
	}
}

func TestEveryChangeToASealedTextIsNoticed(t *testing.T) {
	t.Parallel()
	b := box(t, 1)
	sealed := b.Seal([]byte("hunter2"), "place")
	for i := range sealed {
		for _, c := range "A_z9" {
			bad := sealed[:i] + string(c) + sealed[i+1:]
			if bad == sealed {
				continue
			}
			if got, err := b.Open(bad, "place"); err == nil && string(got) != "hunter2" {
				t.Fatalf("Open(%q) = %q", bad, got)
			}
		}
		if _, err := b.Open(sealed[:i], "place"); err == nil {
			t.Fatalf("Open takes %q", sealed[:i])
		}
	}
}

func TestDerivedKeysDiffer(t *testing.T) {
	t.Parallel()
	b := box(t, 1)
	seen := map[string]string{}
	for _, label := range []string{"", "a", "b", "seal", "track token o", "track token c"} {
		k := string(b.Derive(label))
		if len(k) != 32 {
			t.Errorf("Derive(%q) has %d bytes", label, len(k))
		}
		if other, ok := seen[k]; ok {
			t.Errorf("Derive gives %q and %q the same key", label, other)
		}
		seen[k] = label
		if k != string(b.Derive(label)) {
			t.Errorf("Derive(%q) changes", label)
		}
		if k == string(box(t, 2).Derive(label)) {
			t.Errorf("Derive(%q) does not depend on the key", label)
		}
	}
}

func TestABoxNeedsAWholeKey(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := secret.NewBox(make([]byte, n)); err == nil {
			t.Errorf("NewBox takes %d bytes", n)
		}
	}
	for _, text := range []string{"", "AAAA", "not base64", strings.Repeat("A", 64)} {
		if _, err := secret.Parse(text); err == nil {
			t.Errorf("Parse takes %q", text)
		}
	}
}

func TestTheKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	keys := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			k, err := secret.FromFile(dir)
			if err != nil {
				t.Errorf("FromFile: %v", err)
			}
			keys[i] = k
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != secret.KeyBytes || !bytes.Equal(k, keys[0]) {
			t.Fatalf("two processes that start together have different keys: %x and %x", k, keys[0])
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Fatalf("the directory holds %v, %v; want the key alone", list, err)
	}
	if info, err := list[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file has mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestASpoiltKeyIsNotReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.key")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.FromFile(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("FromFile with an empty file: %v; want an error that names it", err)
	}
	if b, err := os.ReadFile(path); err != nil || len(b) != 0 {
		t.Errorf("the file was changed to %q, %v", b, err)
	}
}

func TestOthersMayNotReadTheKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made, err := secret.FromFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "secret.key")
	if err := os.Chmod(path, 0o644); err != nil { // as a careless copy leaves it
		t.Fatal(err)
	}
	if again, err := secret.FromFile(dir); err != nil || !bytes.Equal(again, made) {
		t.Fatalf("the key read again: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v; want mode 600", info.Mode(), err)
	}
}
