package testmail_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/senders/testmail"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func call(t *testing.T, db *sqldb.DB, slug string) testmail.Call {
	t.Helper()
	made, err := tenant.Create(t.Context(), db, slug, slug, "UTC", noon)
	if err != nil {
		t.Fatal(err)
	}
	return testmail.Call{
		By:     auth.Principal{Tenant: made.ID, IP: netip.MustParseAddr("192.0.2.1")},
		Action: "broadcast.test_send", Target: "broadcast", ID: "b", To: []string{"ann@example.org"},
	}
}

func TestATenantsTestsAreBoundedByTheHour(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		acme, other := call(t, db, "acme"), call(t, db, "other")
		begin := func(c testmail.Call, mails int, after time.Duration) error {
			c.Mails = mails
			return testmail.Begin(t.Context(), db, c, noon.Add(after))
		}
		for _, tt := range []struct {
			name  string
			call  testmail.Call
			mails int
			after time.Duration
			wait  int // seconds; 0: it is let through
		}{
			{"most of the hour", acme, 200, 0, 0},
			{"more than is left", acme, 101, time.Minute, 59 * 60},
			{"what was refused is not counted", acme, 100, time.Minute, 0},
			{"nothing left", acme, 1, 30*time.Minute + time.Millisecond, 30 * 60},
			{"another tenant", other, 300, 30 * time.Minute, 0},
			{"just before the hour ends", acme, 1, time.Hour - time.Microsecond, 1},
			{"the next hour", acme, 300, time.Hour, 0},
			{"nothing left again", acme, 1, time.Hour + time.Minute, 59 * 60},
		} {
			err := begin(tt.call, tt.mails, tt.after)
			f, _ := fault.As(err)
			switch {
			case tt.wait == 0 && err != nil:
				t.Errorf("%s: %v", tt.name, err)
			case tt.wait > 0 && (!errors.Is(err, testmail.ErrLimit) || f.Kind != fault.Limited || f.Details != fault.Wait{Seconds: tt.wait}):
				t.Errorf("%s: %v with %v, want a wait of %d s", tt.name, err, f.Details, tt.wait)
			}
		}
		log, err := auth.AuditLog(t.Context(), db, acme.By.Tenant, auth.AuditFilter{}, time.Time{}, id.AuditEntry{}, 9)
		if err != nil || len(log) != 3 {
			t.Fatalf("the audit log has %d entries, %v; want 3: a call that is refused did nothing", len(log), err)
		}
		var got struct {
			To    []string `json:"to"`
			Mails int      `json:"mails"`
		}
		details, _ := log[0].Details.(json.RawMessage)
		if err := json.Unmarshal(details, &got); err != nil || log[0].Action != "broadcast.test_send" || len(got.To) != 1 || got.To[0] != "ann@example.org" || got.Mails != 300 {
			t.Errorf("the audit log says %+v with %s", log[0], details)
		}
	})
}

// TestProcessesShareTheBound: each of many calls has the database alone, as
// several processes do.
func TestProcessesShareTheBound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := call(t, db, "acme")
		c.Mails = 40
		var through atomic.Int64
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				switch err := testmail.Begin(t.Context(), db, c, noon); {
				case err == nil:
					through.Add(1)
				case !errors.Is(err, testmail.ErrLimit):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := through.Load(); n != 7 {
			t.Errorf("%d calls of 40 mails are let through, want 7", n)
		}
	})
}
