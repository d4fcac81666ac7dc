package poll

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// run runs a loop whose looks end as listed, on a clock of its own, and returns
// when each began and what was logged.
func run(t *testing.T, l Loop, looks []func() (bool, error)) (began []time.Duration, logged string) {
	t.Helper()
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	start := time.Now()
	l.Log = slog.New(slog.NewTextHandler(&log, nil))
	l.Poll = func(context.Context) (bool, error) {
		began = append(began, time.Since(start))
		look := looks[len(began)-1]
		if len(began) == len(looks) {
			stop()
		}
		return look()
	}
	if err := l.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	return began, log.String()
}

func nothing() (bool, error) { return false, nil }
func more() (bool, error)    { return true, nil }
func fails() (bool, error)   { return true, errors.New("no disk") }

func TestLoopLooksAtOnceWhileThereIsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, log := run(t, Loop{Every: time.Minute, Failed: "look failed"}, []func() (bool, error){more, more, nothing, nothing, nothing})
		want := []time.Duration{0, 0, 0, time.Minute, 2 * time.Minute}
		for i, at := range began {
			if at != want[i] {
				t.Errorf("looked at %v, want %v", began, want)
				break
			}
		}
		if log != "" {
			t.Errorf("logged %s", log)
		}
	})
}

func TestLoopPausesAfterAFailureAndLogsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, log := run(t, Loop{Every: time.Minute, Failed: "count segments failed"}, []func() (bool, error){fails, nothing})
		if began[1] != time.Minute {
			t.Errorf("looked again after %v, want a minute", began[1])
		}
		if !strings.Contains(log, `msg="count segments failed" err="no disk"`) {
			t.Errorf("logged %s", log)
		}
	})
}

func TestAFailureThatOnlySaysThatTheLoopEndsIsNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, log := run(t, Loop{Every: time.Minute, Failed: "look failed"}, []func() (bool, error){nothing, fails}); log != "" {
			t.Errorf("logged %s", log)
		}
	})
}

func TestLoopAsksHowLongToPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := time.Duration(0)
		began, _ := run(t, Loop{Pause: func() time.Duration { pause += time.Second; return pause }}, []func() (bool, error){nothing, nothing, more, nothing})
		if began[1] != time.Second || began[2] != 3*time.Second || began[3] != 3*time.Second {
			t.Errorf("looked at %v, want at 0s, 1s, 3s and 3s", began)
		}
	})
}

func TestLoopRestsAsLongAsItWorked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		works := func(d time.Duration) func() (bool, error) {
			return func() (bool, error) {
				time.Sleep(d)
				select {
				case wake <- struct{}{}: // does not end the rest
				default:
				}
				return more()
			}
		}
		began, _ := run(t, Loop{Every: time.Hour, Rest: true, Wake: wake}, []func() (bool, error){works(time.Second), works(3 * time.Second), nothing, nothing})
		if began[1] != 2*time.Second || began[2] != 8*time.Second || began[3] != 8*time.Second {
			t.Errorf("looked at %v, want at 0s, 2s, 8s, and 8s because it was woken", began)
		}
	})
}

func TestLoopIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		go func() {
			time.Sleep(time.Second)
			wake <- struct{}{}
		}()
		began, _ := run(t, Loop{Every: time.Hour, Wake: wake}, []func() (bool, error){nothing, nothing, nothing})
		if began[1] != time.Second || began[2] != time.Hour+time.Second {
			t.Errorf("looked at %v, want at 0s, 1s and 1h0m1s", began)
		}
	})
}
