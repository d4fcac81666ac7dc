package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// The crash proof of sequences: contacts enter by events, and each gets two mails, an hour of the
// sequence apart.
const (
	walkers         = 1500
	walkConnections = 8
	walkKills       = 4
)

// TestKilledProcessesExecuteEachSequenceStepOnce kills the program without a warning, at random moments, while
// events enroll contacts in a sequence with a loop and its steps change them. In the end each contact
// has taken its path once: in its enrollment, its tags and list, the journal, the counts, and its
// mails, of which one may arrive twice for each connection and kill.
func TestKilledProcessesExecuteEachSequenceStepOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 5))
		p, ready, s := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address)
		db := e2etest.Database(t, p)
		defer db.Close()
		if err := harness.Seed(t.Context(), db, ready.List, walkers, "example.org"); err != nil {
			t.Fatal(err)
		}
		name := startWalk(t, ready, s)
		for from := 0; from < walkers; from += 500 {
			var events []any
			for i := from; i < from+500; i++ {
				events = append(events, map[string]any{"event_name": "signed_up", "contact_email": fmt.Sprintf("person%d@example.org", i)})
			}
			e2etest.Must(t, ready.Key, http.MethodPost, "/events/batch", map[string]any{"events": events})
		}
		completed := func() int {
			r := read(t, ready, "/sequences/"+name+"/report")
			n, _ := r["completed"].(float64)
			return int(n)
		}
		for range walkKills {
			e2etest.Wait(t, time.Duration(200+random.IntN(600))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d completed", completed())
			hurryWaits(t, db)
		}
		ctx, cancel := context.WithTimeout(t.Context(), longest(2*walkers))
		defer cancel()
		for completed() < walkers && ctx.Err() == nil {
			hurryWaits(t, db)
			e2etest.Wait(t, 250*time.Millisecond)
		}
		for left := 1; left > 0 && ctx.Err() == nil; e2etest.Wait(t, 250*time.Millisecond) {
			if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM outbox WHERE state = 'queued'`).Scan(&left); err != nil {
				t.Fatal(err)
			}
		}
		taken, err := s.Messages()
		if err != nil {
			t.Fatal(err)
		}
		checkWalk(t, db, read(t, ready, "/sequences/"+name+"/report"), taken)
	})
}

// startWalk activates the sequence: a mail, changes of the contact, an hour, the same again, and a split.
func startWalk(t *testing.T, ready *harness.Ready, s *harness.Sink) string {
	t.Helper()
	lane, err := ready.Lane(t.Context(), "Sink", s.Address, walkConnections, false)
	if err != nil {
		t.Fatal(err)
	}
	message := e2etest.Must(t, ready.Key, http.MethodPost, "/messages", map[string]any{
		"name": "Welcome", "content": map[string]any{"subject": "Welcome {{ first_name }}", "body_html": `<p>Hello, <a href="https://example.com/">read on</a></p>`},
	})
	made := e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences", map[string]any{
		"name": "Walk", "entry_trigger": map[string]any{"trigger_type": "event", "trigger_config": map[string]any{"event_name": "signed_up"}},
	})
	name := made["id"].(string)
	node := func(id, kind string, config map[string]any) map[string]any {
		return map[string]any{"id": id, "type": kind, "config": config}
	}
	tag := func(id, tag string) map[string]any {
		return node(id, "tag", map[string]any{"action": "add", "tags": []string{tag}})
	}
	edge := func(from, to string, label ...string) map[string]any {
		e := map[string]any{"from_node": from, "to_node": to}
		if len(label) > 0 {
			e["branch_label"] = label[0]
		}
		return e
	}
	vips := e2etest.Must(t, ready.Key, http.MethodPost, "/segments", map[string]any{"name": "Walked", "type": "static"})
	e2etest.Must(t, ready.Owner, http.MethodPut, "/sequences/"+name+"/graph", map[string]any{
		"entry_node_id": "hello",
		"nodes": []any{
			node("hello", "send", map[string]any{"message_id": message["id"], "email_type_key": "newsletter", "mta_config_key": lane}),
			tag("welcome", "welcomed"),
			node("join", "list", map[string]any{"action": "add", "segment_key": vips["segment_key"]}),
			node("record", "event", map[string]any{"event_name": "walked", "properties": map[string]any{}}),
			node("rest", "wait", map[string]any{"mode": "duration", "amount": 1, "unit": "hour"}),
			node("twice", "condition", map[string]any{"definition": map[string]any{"logic": "and", "conditions": []any{
				map[string]any{"field": "tags", "operator": "has_any", "value": []string{"once"}},
			}}}),
			tag("once", "once"),
			node("choose", "split", map[string]any{"branches": []any{
				map[string]any{"label": "left", "weight": 1}, map[string]any{"label": "right", "weight": 1},
			}}),
			tag("left", "left"), tag("right", "right"),
		},
		"edges": []any{
			edge("hello", "welcome"), edge("welcome", "join"), edge("join", "record"), edge("record", "rest"), edge("rest", "twice"),
			edge("twice", "once", "false"), edge("once", "hello"), edge("twice", "choose", "true"), edge("choose", "left", "left"), edge("choose", "right", "right"),
		},
	})
	e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences/"+name+"/activate", nil)
	return name
}

// hurryWaits ends all waits of sequences, and the retries of mails.
func hurryWaits(t *testing.T, db *sqldb.DB) {
	t.Helper()
	now := time.Now()
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		if _, err := tx.Exec(t.Context(), `UPDATE enrollment SET due_at = $1, timer_at = $1 WHERE due_at > $1`, now.UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), `UPDATE outbox SET due_at = $1 WHERE state = 'queued' AND due_at > $2`, now.UnixMicro(), now.Add(3*time.Second).UnixMicro()); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `UPDATE send SET low_due = 0, low_id = NULL, low_turn = low_turn + 1`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkWalk compares everything that the walk leaves behind.
func checkWalk(t *testing.T, db *sqldb.DB, report map[string]any, taken []sink.Message) {
	t.Helper()
	number := func(text string) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), text).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	left := number(`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'left'`)
	for text, want := range map[string]int{
		`SELECT COUNT(*) FROM enrollment`:                                                                         walkers,
		`SELECT COUNT(DISTINCT contact_id) FROM enrollment WHERE status = 'completed'`:                            walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'sequence_enrolled'`:                                           walkers,
		`SELECT COUNT(DISTINCT contact_id) FROM journal WHERE type = 'sequence_completed'`:                        walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'sequence_completed'`:                                          walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'event' AND name = 'walked'`:                                   2 * walkers,
		`SELECT COUNT(DISTINCT contact_id) FROM journal WHERE type = 'event' AND name = 'walked'`:                 walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'welcomed'`:                             walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'once'`:                                 walkers,
		`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'right'`:                                walkers - left,
		`SELECT COUNT(*) FROM journal WHERE type = 'list_added'`:                                                  walkers,
		`SELECT COUNT(*) FROM segment_member AS m JOIN segment AS s ON s.id = m.segment_id AND s.name = 'Walked'`: walkers,
		`SELECT COUNT(*) FROM outbox`:                                                                             2 * walkers,
		`SELECT COUNT(*) FROM outbox WHERE state IN ('sent', 'delivered')`:                                        2 * walkers,
		`SELECT COUNT(DISTINCT contact_id) FROM outbox`:                                                           walkers,
	} {
		if got := number(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if left < walkers/3 || left > walkers*2/3 {
		t.Errorf("%d of %d contacts went left", left, walkers)
	}
	checkLogs(t, db)
	counted := map[string][2]float64{"": {report["enrolled"].(float64), report["completed"].(float64)}}
	for _, n := range report["nodes"].([]any) {
		n := n.(map[string]any)
		counted[n["node_id"].(string)] = [2]float64{n["entered"].(float64), n["completed"].(float64)}
	}
	times := func(n int) [2]float64 { return [2]float64{float64(n), float64(n)} }
	want := map[string][2]float64{
		"": times(walkers), "hello": times(2 * walkers), "welcome": times(2 * walkers), "join": times(2 * walkers), "record": times(2 * walkers),
		"rest": times(2 * walkers), "twice": times(2 * walkers), "once": times(walkers), "choose": times(walkers), "left": times(left), "right": times(walkers - left),
	}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Errorf("the report (-want +got): %s", diff)
	}
	mails, repeats, lost := map[string]map[string]bool{}, 0, 0
	for _, m := range taken {
		if m.Lost {
			lost++
		}
		for _, to := range m.Rcpt {
			if mails[to] == nil {
				mails[to] = map[string]bool{}
			}
			if mails[to][m.Ref] {
				repeats++
			}
			mails[to][m.Ref] = true
		}
	}
	for _, to := range people(0, walkers, "example.org") {
		if len(mails[to]) != 2 {
			t.Errorf("%s got %d different mails, want 2", to, len(mails[to]))
		}
	}
	if most := walkKills*walkConnections + lost; repeats > most {
		t.Errorf("%d mails arrived twice, want at most %d", repeats, most)
	}
	t.Logf("%d mails, %d of them twice; %d of %d went left", len(taken), repeats, left, walkers)
}

// checkLogs compares the logs of all enrollments with the path.
func checkLogs(t *testing.T, db *sqldb.DB) {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT tenant_id, sequence_id, id FROM enrollment`)
	type place struct {
		tenant     id.Tenant
		sequence   id.Sequence
		enrollment id.Enrollment
	}
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (p place, err error) {
		err = scan(&p.tenant, &p.sequence, &p.enrollment)
		return p, err
	})
	if err != nil {
		t.Fatal(err)
	}
	loop := "hello mail_queued, welcome carried_out, join carried_out, record carried_out, rest waited, twice "
	want := loop + "condition_not_met, once carried_out, " + loop + "condition_met, choose split, "
	for _, p := range list {
		h, err := sequence.LoadHistory(t.Context(), db, p.tenant, p.sequence, p.enrollment, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		mails := map[id.Message]bool{}
		for i, v := range h.Visits {
			words = append(words, fmt.Sprintf("%s %s", v.Node, v.Why.Code))
			if v.Left == nil || i > 0 && !h.Visits[i-1].Left.Equal(v.At) {
				t.Fatalf("the log of %s has gaps: %+v", p.enrollment, h.Visits)
			}
			if !v.Message.IsZero() {
				mails[v.Message] = true
			}
		}
		got := strings.Join(words, ", ")
		if got != want+"left carried_out" && got != want+"right carried_out" || h.Omitted != 0 || len(mails) != 2 {
			t.Fatalf("the log of %s is %s; %d omitted, %d mails", p.enrollment, got, h.Omitted, len(mails))
		}
	}
}
