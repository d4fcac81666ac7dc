package smtpclient_test

import (
	"errors"
	"testing"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

func TestGuardIsAskedWhenConnecting(t *testing.T) {
	t.Parallel()
	s := sink.Start(t, sink.Options{})
	cfg := configFor(s)
	cfg.Host, cfg.Guard = "localhost", netguard.Guard{}
	if de := failToDial(t, cfg, reply.Connect); !errors.Is(de, netguard.ErrRefusedAddress) {
		t.Errorf("Dial: %v, want ErrRefusedAddress", de)
	}
	if n := s.Stats().Connections; n != 0 {
		t.Errorf("%d connections came through", n)
	}
}
