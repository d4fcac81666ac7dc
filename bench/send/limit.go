package send

import (
	"context"
	"crypto/rsa"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/packetboat/packetboat/bench/bare"
	"github.com/packetboat/packetboat/bench/site"
)

// limits are messages a second of clients that do nothing but send.
type limits struct{ plain, pipelined float64 }

// limits sends the sample to the sink as fast as bare clients can; with a
// key, they sign it each time.
func (c *Command) limits(ctx context.Context, address string, sample []byte, n int, key *rsa.PrivateKey) (limits, error) {
	n = min(n, 100_000)
	var signer func([]byte) ([]byte, error)
	if key != nil {
		var err error
		if signer, err = bare.Signer(key); err != nil {
			return limits{}, err
		}
	}
	r, err := bare.Run(ctx, bare.Options{
		Addr: address, Conns: c.Connections, Messages: n, Sign: signer,
		Next: func(i int) (string, string, []byte) { return "b@example.com", "person@example.com", sample },
	})
	if err != nil {
		return limits{}, err
	}
	plain, err := bare.Plain(address, c.Connections, n, sample, signer)
	return limits{plain, r.Rate()}, err
}

// oneMessage sends the broadcast to one recipient and returns the bytes.
func oneMessage(ctx context.Context, t *site.Target, s *site.Site) ([]byte, error) {
	dir, err := os.MkdirTemp("", "packetboat-sample")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sink, err := t.StartSink(ctx, "-store", dir, "-fsync=false")
	if err != nil {
		return nil, err
	}
	defer sink.Stop()
	ready := s.Account
	lane, err := ready.Lane(ctx, "Sample", sink.Address, 1, false)
	if err != nil {
		return nil, err
	}
	list, err := ready.Key.Must(ctx, "POST", "/segments", map[string]any{"name": "One", "type": "static"})
	if err != nil {
		return nil, err
	}
	if _, err := ready.Key.Must(ctx, "POST", "/contacts", map[string]any{"email": "one@example.net", "first_name": "Ada", "city": "Bergen"}); err != nil {
		return nil, err
	}
	if _, err := ready.Key.Must(ctx, "POST", fmt.Sprintf("/segments/%s/members", list["segment_key"]), map[string]any{"emails": []string{"one@example.net"}}); err != nil {
		return nil, err
	}
	one := *ready
	one.List = list["segment_key"].(string)
	id, err := one.Broadcast(ctx, lane, site.Mail())
	if err != nil {
		return nil, err
	}
	if err := one.Schedule(ctx, id); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := one.Await(waiting, id, "completed"); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("the sink stored %d messages, %v", len(files), err)
	}
	return os.ReadFile(files[0])
}
