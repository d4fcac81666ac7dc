package deliver_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/senders/hold"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"

	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
)

// A send whose last messages are deferred ends with their next attempts.
func TestASendEndsWithItsLastNextAttempt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, to string
		want     int // deferred
	}{
		{"one of many", `^c3@`, 1},
		{"all", `@`, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.One(t))
			h.relay(sink.Start(t, sink.Options{Rules: []sink.Rule{{Stage: sink.Rcpt, To: test.to, Reply: "451 4.7.1 greylisted, try again later"}}}).Port())
			h.send(20)
			h.run(h.engine())
			h.await("only deferred messages wait", func(p outbox.Progress) bool { return p.Deferred == test.want && p.Waiting == test.want })
			var last int64
			h.must(h.DB.QueryRow(t.Context(), `SELECT MAX(due_at) FROM outbox WHERE tenant_id = $1 AND send_id = $2 AND state = 'queued'`, h.Tenant, h.SendOf(h.id)).Scan(&last))
			p, err := broadcast.LoadProgress(t.Context(), h.DB, h.Load(h.id), h.now())
			h.must(err)
			if want := time.UnixMicro(last); p.ETA == nil || !p.ETA.Equal(want) {
				t.Errorf("it ends at %v, want %s", p.ETA, want)
			}
		})
	}
}

// The API shows why a send waits, and its speed.
func TestWaitsAndSpeedOfASendAreRecorded(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T) int {
		away, err := sink.Listen(sink.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := away.Close(); err != nil {
			t.Fatal(err)
		}
		return away.Port()
	}
	for _, test := range []struct {
		name  string
		lane  func(*lane.Fields)
		send  func(*broadcast.Change)
		spoil func(h *house) error
		away  bool
		held  bool
		want  outbox.Wait
		soon  time.Duration
	}{
		{
			name: "a lane's rate", lane: func(f *lane.Fields) { f.MaxPerMinute = &lane.Bound{To: new(60)} },
			want: outbox.Wait{Kind: outbox.WaitLaneRate, Max: 60, Per: time.Minute, Reason: "the MTA config may not send faster"}, soon: 10 * time.Second,
		}, {
			name: "a provider's rate", lane: func(f *lane.Fields) {
				f.MaxPerSecond = &lane.Bound{To: new(50)}
				f.Throttles = &[]lane.ThrottleFields{{Pattern: "example.com", MaxPerHour: new(360)}}
			},
			want: outbox.Wait{Kind: outbox.WaitProviderRate, Provider: "example.com", Max: 360, Per: time.Hour, Reason: "the MTA config may not send faster to this provider"}, soon: time.Minute,
		}, {
			name: "the author's rate", lane: func(f *lane.Fields) { f.MaxPerSecond = &lane.Bound{To: new(50)} },
			send: func(ch *broadcast.Change) { ch.Delivery = &broadcast.DeliveryChange{PerHour: new(new(1800))} },
			want: outbox.Wait{Kind: outbox.WaitSendRate, Max: 1800, Per: time.Hour, Reason: "the broadcast may not send faster"}, soon: 10 * time.Second,
		}, {
			name: "a paused domain", spoil: func(h *house) error {
				_, err := h.DB.Exec(h.t.Context(), `UPDATE sending_domain SET paused = TRUE WHERE tenant_id = $1`, h.Tenant)
				return err
			},
			want: outbox.Wait{Kind: outbox.WaitHold, Reason: "the sending domain is paused"}, soon: 10 * time.Second,
		}, {
			name: "a hold of all sends", held: true, spoil: func(h *house) error { return hold.Set(h.t.Context(), h.DB, h.now()) },
			want: outbox.Wait{Kind: outbox.WaitHold, Reason: "the operator of the installation holds all sends"}, soon: 10 * time.Second,
		}, {
			name: "a lane that is down", away: true,
			want: outbox.Wait{Kind: outbox.WaitLaneDown, Reason: "the MTA config cannot be reached"}, soon: 10 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, dbtest.One(t))
			port := 0
			if test.away {
				port = refused(t)
			} else {
				port = sink.Start(t, sink.Options{}).Port()
			}
			edits := []func(*lane.Fields){func(*lane.Fields) {}}
			if test.lane != nil {
				edits = append(edits, test.lane)
			}
			h.relay(port, edits...)
			h.send(100, func(ch *broadcast.Change) {
				if test.send != nil {
					test.send(ch)
				}
			})
			if test.spoil != nil {
				h.must(test.spoil(h))
			}
			if !test.held {
				h.run(h.engine())
			}
			var p *broadcast.Progress
			h.await("it is said what the send waits for", func(outbox.Progress) bool {
				var err error
				p, err = broadcast.LoadProgress(t.Context(), h.DB, h.Load(h.id), h.now())
				h.must(err)
				return p.Limit != nil
			})
			got, now := *p.Limit, h.now()
			if got.Until.Before(now.Add(-10*time.Second)) || got.Until.After(now.Add(test.soon)) {
				t.Errorf("it waits until %s, at %s", got.Until, now)
			}
			got.Until, test.want.Tenant, test.want.Send = time.Time{}, h.Tenant, h.SendOf(h.id)
			if test.want.Kind != outbox.WaitHold && test.want.Kind != outbox.WaitSendRate {
				test.want.Lane = h.Lane.ID
			}
			if got != test.want {
				t.Errorf("it waits for %+v, want %+v", got, test.want)
			}
			if test.held {
				return
			}
			samples, err := outbox.LoadSamples(t.Context(), h.DB, h.Tenant, h.SendOf(h.id), broadcasttest.Now)
			if err != nil || len(samples) == 0 {
				t.Errorf("%d samples, %v", len(samples), err)
			}
		})
	}
}
