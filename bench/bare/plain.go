package bare

import (
	"crypto/rsa"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gosmtp "github.com/emersion/go-smtp"

	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/mail/dkim/libcrypto"
)

// Signer signs messages with a key, by the library that the program has: it would
// else be compared with a client that signs more slowly.
func Signer(key *rsa.PrivateKey) (func(raw []byte) ([]byte, error), error) {
	var library dkim.Library
	if loaded, err := libcrypto.Open(); err == nil {
		library = loaded
	}
	k, err := dkim.NewKey(key, library)
	if err != nil {
		return nil, err
	}
	s, err := dkim.New("example.com", "es1", k)
	if err != nil {
		return nil, err
	}
	return func(raw []byte) ([]byte, error) {
		header, err := s.Sign(nil, raw, time.Now())
		return append(header, raw...), err
	}, nil
}

// Plain sends n messages by a pooled client of the usual library, which waits for
// the answer to each command, and returns how many a second it sent. With sign,
// each is signed before it is sent.
func Plain(address string, connections, n int, raw []byte, sign func([]byte) ([]byte, error)) (float64, error) {
	var next atomic.Int64
	errs := make([]error, connections)
	began := time.Now()
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() { errs[c] = plain(address, &next, int64(n), raw, sign) })
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds(), errors.Join(errs...)
}

func plain(address string, next *atomic.Int64, n int64, raw []byte, sign func([]byte) ([]byte, error)) error {
	client, err := gosmtp.Dial(address)
	if err != nil {
		return err
	}
	defer client.Close()
	for next.Add(1) <= n {
		mail := raw
		if sign != nil {
			if mail, err = sign(raw); err != nil {
				return err
			}
		}
		if err := client.SendMail("b@example.com", []string{"person@example.com"}, strings.NewReader(string(mail))); err != nil {
			return err
		}
	}
	return nil
}
