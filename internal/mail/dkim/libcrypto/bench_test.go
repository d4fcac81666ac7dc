//go:build unix

package libcrypto_test

import (
	"crypto/sha256"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/mail/dkim/libcrypto"
)

// BenchmarkSign compares the library with crypto/rsa: one goroutine, and more
// of them than there are processors, as when mails go out.
func BenchmarkSign(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		private := generate(b, bits)
		slow, err := dkim.NewKey(private, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, goroutines := range []int{1, 64} {
			name := map[int]string{1: "one", 64: "64"}[goroutines]
			b.Run(name+"/go/"+map[int]string{2048: "2048", 4096: "4096"}[bits], func(b *testing.B) { signAll(b, slow, goroutines) })
			b.Run(name+"/libcrypto/"+map[int]string{2048: "2048", 4096: "4096"}[bits], func(b *testing.B) {
				lib, err := libcrypto.Open()
				if err != nil {
					b.Skip(err)
				}
				fast, err := lib.Key(private)
				if err != nil {
					b.Fatal(err)
				}
				signAll(b, fast, goroutines)
			})
		}
	}
}

func signAll(b *testing.B, key dkim.Key, goroutines int) {
	var digest [sha256.Size]byte
	b.ReportAllocs()
	before := cpu(b)
	start := time.Now()
	var wg sync.WaitGroup
	next := make(chan struct{}, b.N)
	for range b.N {
		next <- struct{}{}
	}
	close(next)
	for range goroutines {
		wg.Go(func() {
			for range next {
				if _, err := key.Sign(digest[:]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := float64(b.N)
	b.ReportMetric(n/time.Since(start).Seconds(), "sign/s")
	b.ReportMetric((cpu(b)-before)/n*1000, "cpu-s/1000")
}

func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
