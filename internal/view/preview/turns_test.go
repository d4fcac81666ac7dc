package preview

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
)

func TestPreviewsOfATenantDoNotDelayThoseOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(nil, nil, nil, nil, time.Now)
		for p.turns.TryAcquire(0) { // previews that do not end
			continue
		}
		answers := make(chan error, 2*maxOwnerWaiting)
		ask := func(account id.Tenant) {
			go func() {
				_, err := p.Make(context.WithoutCancel(t.Context()), account, Request{})
				answers <- err
			}()
			synctest.Wait()
		}
		for range maxOwnerWaiting {
			ask(1)
		}
		ask(1)
		if err := <-answers; !errors.Is(err, ErrWaiting) {
			t.Errorf("one more of the tenant: %v, want %v", err, ErrWaiting)
		}
		ask(2)
		if n := p.turns.Waiting(); n != maxOwnerWaiting+1 {
			t.Errorf("%d wait, want also that of the other tenant", n)
		}
		time.Sleep(timeLimit)
		for range maxOwnerWaiting + 1 {
			if err := <-answers; !errors.Is(err, fault.ErrDeadline) {
				t.Errorf("after the time limit: %v", err)
			}
		}
		if n := p.turns.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}
