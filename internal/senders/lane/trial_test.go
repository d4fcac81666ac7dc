package lane_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/traffic"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// loggedIn returns the fields of a relay with a login.
func loggedIn(host string) lane.Fields {
	f := relay(host)
	f.Auth, f.Username, f.Password = new(smtpclient.AuthPlain), new("u"), new("stored")
	return f
}

// A draft is what a save would make of the fields, with the password that it would have, and nothing is stored.
func TestADraftUsesAStoredPasswordOnlyWhereItIsBoundTo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, mine := newBox(t), idtest.Tenant()
		c := mustCreate(t, db, box, mine, loggedIn("smtp.example.net"))
		for _, tt := range []struct {
			name   string
			tenant id.Tenant
			config id.Lane
			fields lane.Fields
			secret string
			wrong  []string // fields
			err    error
		}{
			{name: "a new one without a name", tenant: mine, fields: lane.Fields{Type: new(lane.SMTP), Host: new("smtp.example.net")}},
			{name: "a new one with a password", tenant: mine, fields: loggedIn("smtp.other.example"), secret: "stored"},
			{name: "a new one without a host", tenant: mine, fields: lane.Fields{Type: new(lane.SMTP)}, wrong: []string{"settings.host"}},
			{name: "a private host", tenant: mine, fields: relay("10.0.0.1"), wrong: []string{"settings.host"}},
			{name: "the stored settings", tenant: mine, config: c.ID, secret: "stored"},
			{name: "another mechanism", tenant: mine, config: c.ID, fields: lane.Fields{Auth: new(smtpclient.AuthLogin)}, secret: "stored"},
			{name: "another host without the password", tenant: mine, config: c.ID, fields: lane.Fields{Host: new("thief.example")}, wrong: []string{"settings.password"}},
			{name: "another port without the password", tenant: mine, config: c.ID, fields: lane.Fields{Port: new(2525)}, wrong: []string{"settings.password"}},
			{name: "another user without the password", tenant: mine, config: c.ID, fields: lane.Fields{Username: new("v")}, wrong: []string{"settings.password"}},
			{name: "without encryption", tenant: mine, config: c.ID, fields: lane.Fields{TLS: new(smtpclient.Implicit)}, wrong: []string{"settings.password"}},
			{name: "another host with a password", tenant: mine, config: c.ID, fields: lane.Fields{Host: new("smtp.other.example"), Password: new("typed")}, secret: "typed"},
			{name: "one of another tenant", tenant: idtest.Tenant(), config: c.ID, err: lane.ErrNotFound},
		} {
			draft, secret, err := lane.Draft(t.Context(), db, box, tt.tenant, tt.config, tt.fields, lane.Rules{})
			switch {
			case tt.err != nil && !errors.Is(err, tt.err):
				t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
			case tt.wrong != nil && !slices.Equal(invalidPaths(t, err), tt.wrong):
				t.Errorf("%s: %v, want problems at %v", tt.name, err, tt.wrong)
			case tt.err == nil && tt.wrong == nil && (err != nil || secret != tt.secret || draft.ID != tt.config || draft.Tenant != mine):
				t.Errorf("%s: %+v with %q, %v; want the secret %q", tt.name, draft, secret, err, tt.secret)
			}
		}
		if list, err := lane.List(t.Context(), db, mine); err != nil || len(list) != 1 || list[0].SMTP.Host != "smtp.example.net" || list[0].TestedAt != nil {
			t.Errorf("afterwards there are %+v, %v", list, err)
		}
	})
}

func TestATestSaysAtOnceWhetherALaneWorks(t *testing.T) {
	t.Parallel()
	accepted := lane.Trial{Accepted: true, Reached: true, Code: 235}
	refused := lane.Trial{Response: "535 5.7.8 wrong password", Code: 535}
	noRecipient := lane.Trial{Reached: true, Code: 550, Response: "550 no such user"}
	down := lane.Health{State: lane.Down, Since: noon.Add(-time.Hour), LastError: "refused", ProbedAt: new(noon.Add(-time.Minute))}
	for _, tt := range []struct {
		name    string
		before  lane.Health
		sent    int // in the last minute
		trial   lane.Trial
		direct  bool
		changed bool // since the test began
		state   lane.State
		words   string
		tested  bool
	}{
		{name: "accepted", trial: accepted, state: lane.Healthy, tested: true},
		{name: "refused", trial: refused, state: lane.Down, words: "535 5.7.8 wrong password"},
		{name: "refused while mail goes out", sent: 5, trial: refused, state: lane.Degraded, words: "535 5.7.8 wrong password"},
		{name: "refused again", before: down, trial: refused, state: lane.Down, words: "535 5.7.8 wrong password"},
		{name: "down, and accepted", before: down, trial: accepted, state: lane.Healthy, tested: true},
		{name: "a mail refused in a session", trial: noRecipient, state: lane.Healthy},
		{name: "a recipient's server that is down", direct: true, trial: refused, state: lane.Healthy},
		{name: "accepted, but changed meanwhile", trial: accepted, changed: true, state: lane.Healthy},
		{name: "refused, but changed meanwhile", trial: refused, changed: true, state: lane.Healthy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				box := newBox(t)
				account, err := tenant.Create(t.Context(), db, "acme", "Acme", "UTC", noon)
				if err != nil {
					t.Fatal(err)
				}
				mine := account.ID
				fields := loggedIn("smtp.example.net")
				if tt.direct {
					fields = lane.Fields{Name: new("Direct"), Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{{IP: "192.0.2.1", HELO: "out.example.net"}}}
				}
				c, other := mustCreate(t, db, box, mine, fields), mustCreate(t, db, box, mine, relay("smtp.example.net"))
				key := traffic.Lane{Tenant: mine, Lane: c.ID}
				ok := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				if tt.before.State != "" {
					ok(lane.StoreHealth(t.Context(), db, key, lane.Health{State: lane.Healthy}, tt.before))
				}
				ok(traffic.Add(t.Context(), db, noon, map[traffic.Key]traffic.Counts{{Tenant: mine, Lane: c.ID}: {Tries: 1, Delivered: tt.sent}}))
				if tt.changed {
					_, err := lane.Update(t.Context(), db, box, mine, c.ID, lane.Fields{Name: new("Renamed")}, lane.Rules{}, noon)
					ok(err)
				}
				ok(lane.RecordTrial(t.Context(), db, c, tt.trial, noon))
				stored, err := lane.ByID(t.Context(), db, mine, c.ID)
				ok(err)
				if (stored.TestedAt != nil) != tt.tested {
					t.Errorf("tested at %v, want tested %v", stored.TestedAt, tt.tested)
				}
				states, err := lane.StatesOf(t.Context(), db, mine, []id.Lane{c.ID, other.ID})
				ok(err)
				if got := states[c.ID]; got.State != tt.state || got.LastError != tt.words {
					t.Errorf("health is %+v, want %s with %q", got, tt.state, tt.words)
				}
				if states[other.ID].State != lane.Healthy {
					t.Errorf("another lane is %+v", states[other.ID])
				}
			})
		})
	}
}

// A test counts for the settings that it was made with; so does mail that was delivered.
func TestAChangeOfTheConnectionNeedsAnotherTest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, mine := newBox(t), idtest.Tenant()
		c := mustCreate(t, db, box, mine, loggedIn("smtp.example.net"))
		now := noon
		tested := func() bool {
			t.Helper()
			stored, err := lane.ByID(t.Context(), db, mine, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			c = stored
			return stored.TestedAt != nil
		}
		for _, tt := range []struct {
			name   string
			change lane.Fields
			keeps  bool
		}{
			{"the name", lane.Fields{Name: new("Other")}, true},
			{"a limit", lane.Fields{MaxPerDay: to(5)}, true},
			{"a host", lane.Fields{Host: new("smtp.other.example"), Password: new("p")}, false},
			{"a port", lane.Fields{Port: new(2525), Password: new("p")}, false},
			{"a password", lane.Fields{Password: new("q")}, false},
			{"the mechanism", lane.Fields{Auth: new(smtpclient.AuthLogin)}, false},
		} {
			tested()
			if err := lane.RecordTrial(t.Context(), db, c, lane.Trial{Accepted: true, Reached: true}, now); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Hour)
			if _, err := lane.Update(t.Context(), db, box, mine, c.ID, tt.change, lane.Rules{}, now); err != nil {
				t.Fatal(err)
			}
			if got := tested(); got != tt.keeps {
				t.Errorf("after a change of %s, tested: %t, want %t", tt.name, got, tt.keeps)
			}
		}
		key := traffic.Lane{Tenant: mine, Lane: c.ID}
		note := func(after time.Duration, delivered int) {
			t.Helper()
			b := traffic.Bucket{At: now.Add(after), Counts: traffic.Counts{Tries: 1, Delivered: delivered}}
			if err := lane.NoteDelivered(t.Context(), db, map[traffic.Lane][]traffic.Bucket{key: {b}}, now.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		if note(-time.Minute, 3); tested() {
			t.Error("mail from before the change counts")
		}
		if note(2*time.Minute, 0); tested() {
			t.Error("no mail counts")
		}
		if note(2*time.Minute, 3); !tested() {
			t.Error("delivered mail does not count")
		}
	})
}
