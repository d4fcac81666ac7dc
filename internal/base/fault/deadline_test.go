package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
)

func TestWorkBeyondItsTimeIsADeadline(t *testing.T) {
	ctx, cancel := fault.Within(t.Context(), -time.Second)
	defer cancel()
	inner, stop := context.WithTimeout(ctx, time.Hour)
	defer stop()
	driver := errors.New("canceling statement due to user request")
	err := fault.Timely(inner, driver)
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Unavailable || f.Code != "UNAVAILABLE" || !errors.Is(err, driver) {
		t.Fatalf("Timely = %v; want UNAVAILABLE because of the driver", err)
	}
	if details, _ := json.Marshal(f.Details); string(details) != `{"reason":"deadline"}` {
		t.Errorf("details = %s", details)
	}
	if err := fault.Timely(inner, fault.ErrInput); !errors.Is(err, fault.ErrInput) {
		t.Errorf("Timely(a fault) = %v; want the fault", err)
	}
	if err := fault.Timely(inner, nil); err != nil {
		t.Errorf("Timely(nil) = %v", err)
	}
}

func TestWorkThatWasGivenUpIsNoDeadline(t *testing.T) {
	ctx, cancel := fault.Within(t.Context(), time.Hour)
	cancel()
	driver := errors.New("interrupted")
	if err := fault.Timely(ctx, driver); err != driver {
		t.Errorf("Timely = %v, want the error as it was", err)
	}
}
