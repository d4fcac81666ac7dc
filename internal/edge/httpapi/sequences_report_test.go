package httpapi_test

import (
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The days of a sequence begin at midnight of the account's time zone, and add up to its report.
func TestDaysOfASequenceAddUpToItsReport(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ctx := t.Context()
		if _, err := s.db.Exec(ctx, `UPDATE tenant SET timezone = 'Asia/Kolkata' WHERE tenant_id = $1`, s.acme); err != nil {
			t.Fatal(err)
		}
		kolkata, err := time.LoadLocation("Asia/Kolkata")
		if err != nil {
			t.Fatal(err)
		}
		midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, kolkata)
		seq, err := sequence.Create(ctx, s.db, s.acme, sequence.Change{Name: new("Welcome")}, s.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Exec(ctx, `UPDATE sequence SET status = 'active', graph = '{"entry_node_id": "mail", "nodes": [{"id": "mail", "type": "send", "config": {}}], "edges": []}' WHERE tenant_id = $1 AND id = $2`, s.acme, seq.ID); err != nil {
			t.Fatal(err)
		}
		seq.Status, seq.Graph.Entry = sequence.Active, "mail"
		enter := func(at time.Time, n int) (list []sequence.Enrollment) {
			t.Helper()
			var people []sequence.Candidate
			for range n {
				people = append(people, sequence.Candidate{Contact: id.New[id.Contact]()})
			}
			err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
				_, err := sequence.EnrollAll(ctx, tx, seq, people, at)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range people {
				found, err := sequence.OfContact(ctx, s.db, s.acme, p.Contact)
				if err != nil || len(found) != 1 {
					t.Fatalf("%d enrollments, %v", len(found), err)
				}
				list = append(list, found...)
			}
			return list
		}
		end := func(e sequence.Enrollment, status sequence.EnrollmentStatus, reason sequence.Reason, at time.Time) {
			t.Helper()
			e.Finish(status, reason, at)
			err := s.db.InTx(ctx, func(tx *sqldb.DB) error {
				return sequence.SaveSteps(ctx, tx, s.acme, sequence.Steps{Enrollments: []sequence.Enrollment{e}}, at)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		enter(midnight.Add(-time.Minute), 1) // stays
		people := enter(midnight, 4)
		end(people[0], sequence.Completed, "", midnight.Add(23*time.Hour+59*time.Minute))
		end(people[1], sequence.Exited, sequence.ReasonGoal, midnight.Add(24*time.Hour))
		end(people[2], sequence.Exited, sequence.ReasonManual, midnight.Add(24*time.Hour))
		end(people[3], sequence.Failed, sequence.ReasonError, midnight.Add(25*time.Hour))

		b := s.newSend(t, 3, midnight)
		if _, err := s.db.Exec(ctx, `INSERT INTO sequence_send (tenant_id, sequence_id, node_id, send_id) VALUES ($1, $2, 'mail', $3)`, s.acme, seq.ID, b.send); err != nil {
			t.Fatal(err)
		}
		b.settle(t, 0, outbox.Result{State: outbox.Delivered, At: midnight})
		b.settle(t, 1, outbox.Result{State: outbox.Delivered, At: midnight.Add(24 * time.Hour)})
		b.settle(t, 2, outbox.Result{State: outbox.Bounced, At: midnight.Add(24 * time.Hour), BounceType: "hard", Code: 550})
		s.classified(t, b, 0, track.Human, track.Hit{At: midnight.Add(25 * time.Hour), Agent: iphone, IP: "192.0.2.1"}, track.Hit{At: midnight.Add(26 * time.Hour), URL: "https://example.org/", Agent: iphone, IP: "192.0.2.1"})
		s.classified(t, b, 1, track.Bot, track.Hit{At: midnight.Add(25 * time.Hour), Agent: "curl", IP: "192.0.2.3"})
		s.newSend(t, 1, midnight).settle(t, 0, outbox.Result{State: outbox.Delivered, At: midnight}) // of a broadcast

		at := "/sequences/" + seq.ID.String()
		names := []string{"entered", "completed", "exited", "converted", "failed", "sent", "delivered", "opened", "clicked", "bounced", "unsubscribed"}
		timing := s.answer(t, "viewer", at+"/timing?from=2026-03-01&to=2026-03-03")
		sums := map[string]float64{}
		for i, want := range [][]float64{
			{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
			{4, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0},
			{0, 0, 2, 1, 1, 2, 1, 1, 1, 1, 0},
		} {
			day := pick(t, timing, "series", i)
			for k, name := range names {
				got, _ := pick(t, day, name).(float64)
				if got != want[k] {
					t.Errorf("%s of %v = %v, want %v", name, pick(t, day, "date"), got, want[k])
				}
				sums[name] += got
			}
		}
		if pick(t, timing, "timezone") != "Asia/Kolkata" || pick(t, timing, "from") != "2026-03-01" || len(pick(t, timing, "series").([]any)) != 3 {
			t.Errorf("the answer is %v", timing)
		}
		r := s.answer(t, "viewer", at+"/report")
		for of, name := range map[string]string{"enrolled": "entered", "completed": "completed", "exited": "exited", "converted": "converted"} {
			if pick(t, r, of) != sums[name] {
				t.Errorf("%s: the report has %v, the days together %v", of, pick(t, r, of), sums[name])
			}
		}
		for _, name := range names[5:] {
			if got := pick(t, r, "nodes", 0, name); got != sums[name] {
				t.Errorf("%s: the report has %v, the days together %v", name, got, sums[name])
			}
		}
		outside := s.answer(t, "viewer", at+"/timing?from=2026-03-04&to=2026-03-05")
		for _, name := range names {
			if pick(t, outside, "series", 0, name) != 0.0 || pick(t, outside, "series", 1, name) != 0.0 {
				t.Errorf("%s on days on which nothing happened: %v", name, outside)
			}
		}

		for path, want := range map[string]int{
			at + "/timing?from=2026-02-30": 400, at + "/timing?from=2026-02-02&to=2026-02-01": 400, at + "/timing?from=2020-01-01&to=2026-02-01": 400,
			"/sequences/" + id.NewText() + "/timing": 404, "/t/other/api" + at + "/timing": 404, at + "/timing": 200,
		} {
			if r := s.call("viewer", "GET "+path, ""); r.status != want {
				t.Errorf("GET %s answered %d %s, want %d", path, r.status, r.text, want)
			}
		}
		if r := s.call("key", "GET "+at+"/timing", ""); r.status != 403 || r.code != "API_KEY_FORBIDDEN" {
			t.Errorf("a key reads the days of a sequence: %d %s", r.status, r.text)
		}
	})
}
