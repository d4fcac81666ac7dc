package hold_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAHoldStandsUntilItIsReleased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		since := func(want *time.Time) {
			t.Helper()
			got, err := hold.Since(ctx, db)
			if err != nil || (got == nil) != (want == nil) || got != nil && !got.Equal(*want) {
				t.Errorf("held since %v, %v; want %v", got, err, want)
			}
		}
		since(nil)
		if err := errors.Join(hold.Set(ctx, db, noon), hold.Set(ctx, db, noon.Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		since(&noon)
		for _, want := range []bool{true, false} {
			if was, err := hold.Release(ctx, db); was != want || err != nil {
				t.Errorf("Release = %v, %v; want %v", was, err, want)
			}
			since(nil)
		}
	})
}

func TestNothingIsSentWhileSendsAreHeld(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		if err := hold.Set(ctx, db, noon); err != nil {
			t.Fatal(err)
		}
		ticks, began, rests := make(chan time.Time), make(chan bool), make(chan bool)
		done := make(chan error)
		go func() {
			done <- hold.Run(ctx, db, ticks, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
				began <- true
				<-ctx.Done()
				rests <- true
				return nil
			})
		}()
		// Which look follows a change is not known: there are ticks until one has.
		await := func(event <-chan bool) {
			for {
				select {
				case ticks <- noon:
				case <-event:
					return
				}
			}
		}
		// A tick is taken after a look: two of them mean one whole look at least.
		for range 2 {
			select {
			case ticks <- noon:
			case <-began:
				t.Fatal("it sends while sends are held")
			}
		}
		if _, err := hold.Release(ctx, db); err != nil {
			t.Fatal(err)
		}
		await(began)
		if err := hold.Set(ctx, db, noon); err != nil {
			t.Fatal(err)
		}
		await(rests) // it has stopped, in order
		if _, err := hold.Release(ctx, db); err != nil {
			t.Fatal(err)
		}
		await(began)
		end()
		<-rests
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAFailureOfASenderIsPassedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	err := hold.Run(t.Context(), dbtest.One(t), nil, slog.New(slog.DiscardHandler), func(context.Context) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("Run = %v", err)
	}
}
