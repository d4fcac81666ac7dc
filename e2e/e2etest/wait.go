package e2etest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/porttest"
)

// FreePort returns a port of the loopback address without a listener.
func FreePort(t *testing.T) string {
	t.Helper()
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// Pause waits a moment between two looks.
func Pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal(context.Cause(t.Context()))
	case <-time.After(200 * time.Millisecond):
	}
}

// Wait lets the program work for a while; what happens meanwhile is the test.
func Wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// Must calls an operation that has to succeed, and returns the object of its answer.
func Must(t *testing.T, c *harness.Client, method, path string, body any) map[string]any {
	t.Helper()
	m, err := c.Must(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a test waits for usually comes in seconds. On a busy machine it may take minutes, and only what never
// comes is a failure.
const (
	Patience = 5 * time.Minute  // for one thing to happen
	Stay     = 20 * time.Minute // for a test that does many things one after the other
)

// Eventually calls a function until it returns ok or Patience is over, and returns its last result.
func Eventually[T any](t *testing.T, ask func() (T, bool)) T {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for {
		v, ok := ask()
		if ok || time.Now().After(deadline) {
			return v
		}
		Wait(t, 250*time.Millisecond)
	}
}
