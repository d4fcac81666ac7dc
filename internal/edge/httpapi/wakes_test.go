package httpapi_test

import (
	"maps"
	"testing"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// A request wakes the engines for the rows that it writes.
func TestRequestsWakeTheEnginesOfTheirRows(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		signals := map[sqldb.Signal]<-chan struct{}{}
		for _, name := range []sqldb.Signal{journal.Wake, broadcast.Wake, outbox.Wake, job.Wake} {
			signals[name] = s.db.Subscribe(name)
		}
		expect := func(what string, want ...sqldb.Signal) {
			t.Helper()
			got, wanted := map[sqldb.Signal]bool{}, map[sqldb.Signal]bool{}
			for name, c := range signals {
				select {
				case <-c:
					got[name] = true
				default:
				}
			}
			for _, name := range want {
				wanted[name] = true
			}
			if !maps.Equal(got, wanted) {
				t.Errorf("%s woke %v, want %v", what, got, wanted)
			}
		}
		expect("setup") // without rows for engines

		for _, caller := range []string{"key", "editor"} {
			ann := s.must(201, caller, "POST /contacts", `{"email": "ann-`+caller+`@example.org"}`).str("id")
			expect("creating a contact", journal.Wake)
			s.must(200, caller, "PUT /contacts/"+ann, `{"first_name": "Ann"}`)
			expect("changing a contact", journal.Wake)
			s.must(200, caller, "GET /contacts/"+ann, "")
			expect("reading a contact")
			s.must(400, caller, "POST /contacts", `{"email": "nobody"}`)
			expect("a refused contact")

			made := s.must(201, caller, "POST /broadcasts", broadcastJSON(t, `{}`)).str("id")
			expect("writing a draft")
			s.must(200, caller, "POST /broadcasts/"+made+"/schedule", "")
			expect("scheduling a broadcast", journal.Wake, broadcast.Wake)
			s.must(409, caller, "POST /broadcasts/"+made+"/schedule", "")
			expect("scheduling it again")
			s.must(200, caller, "POST /broadcasts/"+made+"/cancel", "")
			expect("cancelling a broadcast before it began", journal.Wake, broadcast.Wake)

			if status, answer := s.importFile(caller, "email\nbob@example.org\n", ""); status != 202 {
				t.Fatalf("import = %d %v", status, answer)
			}
			expect("an import", job.Wake)
			s.must(202, caller, "POST /contacts/export", `{"format": "csv", "selector": {}}`)
			expect("an export", job.Wake)
		}

		sends := newSpreadTest(t, s, 6)
		at, _ := sends.start(`{"delivery_mode": "over_days", "scheduled_at": "2026-03-01", "delivery_window_days": 3}`)
		expect("beginning a send", journal.Wake, broadcast.Wake, outbox.Wake)
		s.must(200, "key", "POST "+at+"/pause", "")
		expect("pausing it", journal.Wake, broadcast.Wake, outbox.Wake)
		s.must(200, "key", "POST "+at+"/resume", "")
		expect("resuming it", journal.Wake, broadcast.Wake, outbox.Wake)
		s.must(200, "key", "POST "+at+"/reschedule", `{"skipped_dates": ["2026-03-02"]}`)
		expect("rescheduling it", broadcast.Wake, outbox.Wake)
		s.must(200, "key", "POST "+at+"/cancel", "")
		expect("cancelling it", journal.Wake, broadcast.Wake, outbox.Wake)
	})
}
