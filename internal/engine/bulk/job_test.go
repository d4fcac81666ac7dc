package bulk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/engine/bulk"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// queue starts a job for the contacts that a selector matches.
func (d *fixture) queue(action bulk.Action, params, selector string) job.Job {
	d.Helper()
	var in segment.SelectorInput
	d.ok(json.Unmarshal([]byte(selector), &in))
	p := d.key()
	r, target, err := d.doer.Read(d.Context(), d.db, p, bulk.Input{Action: string(action), Selector: &in, Params: d.params(params)}, d.now)
	d.ok(err)
	j, err := d.doer.Start(d.Context(), d.db, p, r, *target.Selector, d.now)
	d.ok(err)
	return j
}

// engine runs bulk jobs; it calls stop with the number of times it has read the clock.
func (d *fixture) engine(owner string, stop func(looks int)) *job.Engine {
	looks := 0
	return &job.Engine{
		DB: d.db, Owner: owner, Log: slog.New(slog.DiscardHandler),
		Now:     func() time.Time { looks++; stop(looks); return d.now },
		Runners: map[job.Kind]job.Runner{job.Bulk: d.doer.Run},
	}
}

func (d *fixture) tick(ctx context.Context, e *job.Engine) {
	d.Helper()
	if _, err := e.Tick(ctx); err != nil && ctx.Err() == nil {
		d.Fatal(err)
	}
}

func (d *fixture) job(j job.Job) job.Job {
	d.Helper()
	j, err := job.ByID(d.Context(), d.db, d.tenant, j.ID)
	d.ok(err)
	return j
}

func (d *fixture) entries(typ string) map[id.Contact]int {
	d.Helper()
	rows, err := d.db.Query(d.Context(), `SELECT contact_id FROM journal WHERE tenant_id = $1 AND type = $2`, d.tenant, typ)
	list, err := sqldb.Collect(rows, err, func(row func(...any) error) (id.Contact, error) {
		var c id.Contact
		err := row(&c)
		return c, err
	})
	d.ok(err)
	n := map[id.Contact]int{}
	for _, c := range list {
		n[c]++
	}
	return n
}

type result struct {
	Action                     string
	Matched, Affected, Skipped int
	Errors                     []bulk.Refusal
	Truncated                  bool `json:"errors_truncated"`
}

func resultOf(t *testing.T, j job.Job) result {
	t.Helper()
	var r result
	if err := json.Unmarshal(j.Result, &r); err != nil {
		t.Fatalf("result %s: %v", j.Result, err)
	}
	return r
}

// A job that is interrupted repeatedly, at any point, and continued by another process each time,
// processes each contact once, although the action makes processed contacts stop matching.
func TestAnInterruptedJobProcessesEachContactOnce(t *testing.T) {
	each(t, func(d *fixture) {
		const crowd = 1200
		ids := d.addContacts(crowd)
		from, to := d.stage("Cold"), d.stage("Warm")
		d.do(d.key(), bulk.SetStage, fmt.Sprintf(`{"stage_id": %q}`, from.ID), ids[:bulk.MaxIDs]...)
		d.do(d.key(), bulk.SetStage, fmt.Sprintf(`{"stage_id": %q}`, from.ID), ids[bulk.MaxIDs:]...)
		before := d.entries("stage_changed")
		j := d.queue(bulk.SetStage, fmt.Sprintf(`{"stage_id": %q}`, to.ID),
			fmt.Sprintf(`{"filters": [{"field": "stage", "operator": "equals", "value": %q}]}`, from.Slug))
		d.now = d.now.Add(time.Hour)
		d.do(d.key(), bulk.SetStage, fmt.Sprintf(`{"stage_id": %q}`, from.ID), d.addContacts(1)...) // created after the job
		runs := 0
		for looks := 3; !d.job(j).Status.Ended(); looks++ {
			if runs++; runs > 30 {
				d.Fatalf("the job does not end: %+v", d.job(j))
			}
			ctx, cancel := context.WithCancel(d.Context())
			d.tick(ctx, d.engine(fmt.Sprint("process ", runs), func(n int) {
				if n >= looks {
					cancel()
				}
			}))
			cancel()
			d.now = d.now.Add(time.Hour) // later than every lease and pause
		}
		if runs < 2 {
			d.Error("the job was never stopped")
		}
		got := d.job(j)
		want := result{Action: "set_stage", Matched: crowd, Affected: crowd, Errors: []bulk.Refusal{}}
		if diff := cmp.Diff(want, resultOf(d.T, got)); diff != "" || got.Status != job.Completed || got.Processed != crowd || got.Total == nil || *got.Total != crowd {
			d.Errorf("job = %+v\n%s", got, diff)
		}
		after := d.entries("stage_changed")
		for _, c := range ids {
			if n := after[c] - before[c]; n != 1 {
				d.Errorf("contact %s was moved %d times", c, n)
			}
		}
	})
}

// A selector matches what the list of contacts shows. All errors of a job are counted and some are
// stored. A record that is deleted meanwhile fails the job.
func TestJobsReportWhatTheyDid(t *testing.T) {
	each(t, func(d *fixture) {
		ids := d.addContacts(150)
		d.do(d.key(), bulk.Unsubscribe, ``, ids[:120]...)
		never := func(int) {}
		j := d.queue(bulk.Subscribe, ``, `{}`)
		d.tick(d.Context(), d.engine("a", never))
		got := resultOf(d.T, d.job(j))
		if got.Matched != 150 || got.Affected != 0 || got.Skipped != 150 || len(got.Errors) != 100 || !got.Truncated {
			d.Errorf("subscribe: matched %d, affected %d, skipped %d, %d errors, truncated %v",
				got.Matched, got.Affected, got.Skipped, len(got.Errors), got.Truncated)
		}
		if i := slices.IndexFunc(got.Errors, func(r bulk.Refusal) bool { return r.Code != "UNSUBSCRIBED" }); i >= 0 {
			d.Errorf("subscribe: %+v", got.Errors[i])
		}

		j = d.queue(bulk.AddTags, `{"tags": ["left"]}`, `{"status": ["unsubscribed"], "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_none", "value": ["left"]}]}}`)
		d.tick(d.Context(), d.engine("a", never))
		if got := resultOf(d.T, d.job(j)); got.Affected != 120 || got.Matched != 120 {
			d.Errorf("add_tags: %+v", got)
		}

		list := d.list("Readers")
		j = d.queue(bulk.AddToList, fmt.Sprintf(`{"segment_key": %q}`, list.Key), `{"search": "c1"}`)
		if _, err := d.db.Exec(d.Context(), `DELETE FROM segment WHERE tenant_id = $1 AND id = $2`, d.tenant, list.ID); err != nil {
			d.Fatal(err)
		}
		d.tick(d.Context(), d.engine("a", never))
		if got := d.job(j); got.Status != job.Failed || got.Error == nil || got.Error.Code != "NOT_FOUND" {
			d.Errorf("a job whose list is gone: %s, %+v", got.Status, got.Error)
		}
	})
}

// Actions on sequences enroll contacts and end their enrollments.
func TestSequenceActionsEnrollAndExit(t *testing.T) {
	each(t, func(d *fixture) {
		ids := d.addContacts(2)
		s, err := sequence.Create(d.Context(), d.db, d.tenant, sequence.Change{Name: new("Onboarding")}, d.now)
		if err != nil {
			d.Fatal(err)
		}
		in := `{"sequence_id": "` + s.ID.String() + `"}`
		g := sequence.Graph{Entry: "rest", Nodes: []sequence.Node{{ID: "rest", Type: sequence.WaitNode, Config: []byte(`{"mode": "duration", "amount": 1, "unit": "day"}`)}}}
		_, err = sequence.SetGraph(d.Context(), d.db, d.tenant, s.ID, g, false, d.now)
		if err != nil {
			d.Fatal(err)
		}
		got := d.do(d.key(), bulk.Enroll, in, ids...)
		if got.Affected != 0 || got.Skipped != 2 || len(got.Results) != 2 || got.Results[1].Status != "sequence_not_active" || len(got.Errors) != 2 || got.Errors[0].Code != "SEQUENCE_NOT_ENROLLABLE" {
			d.Errorf("enroll in a draft = %+v", got)
		}
		_, err = sequence.Activate(d.Context(), d.db, d.tenant, s.ID, d.now)
		if err != nil {
			d.Fatal(err)
		}
		d.do(d.key(), bulk.Enroll, in, ids[0])
		got = d.do(d.key(), bulk.Enroll, in, ids...)
		if got.Affected != 1 || got.Skipped != 1 || len(got.Results) != 2 || got.Results[0].Status != "duplicate" || got.Results[1].Status != "enrolled" {
			d.Errorf("enroll = %+v", got)
		}
		if got := d.do(d.userWith(auth.Editor), bulk.ExitSequence, in, append(ids, d.addContacts(1)...)...); got.Affected != 2 || got.Skipped != 1 {
			d.Errorf("exit_sequence = %+v", got)
		}
	})
}
