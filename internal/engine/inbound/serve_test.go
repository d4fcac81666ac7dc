package inbound_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/engine/inbound"
)

// A server ends with its context, also if that ends while the server begins.
func TestAServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for range 200 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		s := &inbound.Server{Receiver: &inbound.Receiver{Now: time.Now}, Log: slog.New(slog.DiscardHandler)}
		if err := s.Serve(ctx, l); err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}
