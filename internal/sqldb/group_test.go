package sqldb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
)

func TestWithinReturnsWhenItsContextEnds(t *testing.T) {
	begun, hang := make(chan struct{}), make(chan struct{})
	g := sqldb.NewGroup(10, func(context.Context, []int) error {
		close(begun)
		<-hang
		return nil
	})
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(running) }()
	why := errors.New("time is up")
	caller, giveUp := context.WithCancelCause(t.Context())
	go func() {
		<-begun
		giveUp(why)
	}()
	if err := g.Within(caller, 1); !errors.Is(err, sqldb.ErrAbandoned) || !errors.Is(err, why) {
		t.Errorf("while the write hangs: %v, want ErrAbandoned and the cause", err)
	}
	if err := g.Within(caller, 2); !errors.Is(err, context.Canceled) || errors.Is(err, sqldb.ErrAbandoned) {
		t.Errorf("before the write: %v, want only that the context was cancelled", err)
	}
	close(hang)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
