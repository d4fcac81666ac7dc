package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// settlers is how many contacts are in the sequence that is changed while the program is killed.
const settlers = 20_000

// TestKilledProcessesApplyChangesOfASequenceToAllItsContacts kills the program while the contacts in a sequence follow, page by
// page, a pause, a resumption, the removal of a node and the archiving of the sequence.
func TestKilledProcessesApplyChangesOfASequenceToAllItsContacts(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 5))
		p, ready, _ := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address)
		db := e2etest.Database(t, p)
		defer db.Close()
		wait52 := map[string]any{"mode": "duration", "amount": 52, "unit": "week"}
		node := func(id, kind string, config map[string]any) map[string]any {
			return map[string]any{"id": id, "type": kind, "config": config}
		}
		seq := e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences", map[string]any{"name": "Long"})["id"].(string)
		e2etest.Must(t, ready.Owner, http.MethodPut, "/sequences/"+seq+"/graph", map[string]any{
			"entry_node_id": "a",
			"nodes":         []any{node("a", "wait", wait52), node("b", "wait", wait52)},
			"edges":         []any{map[string]any{"from_node": "a", "to_node": "b"}},
		})
		e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences/"+seq+"/activate", nil)
		settle(t, db, seq)
		number := func(text string) (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), text).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		kills := 0
		change := func(method, path string, body any, want map[string]int) {
			t.Helper()
			e2etest.Must(t, ready.Owner, method, "/sequences/"+seq+path, body)
			for range 2 {
				e2etest.Wait(t, time.Duration(random.IntN(400))*time.Millisecond)
				if number(`SELECT COUNT(*) FROM sequence WHERE pending IS NOT NULL`) > 0 {
					kills++
				}
				if err := p.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			e2etest.Eventually(t, func() (bool, bool) {
				return true, number(`SELECT COUNT(*) FROM sequence WHERE pending IS NOT NULL`) == 0
			})
			got := map[string]int{}
			rows, err := db.Query(t.Context(), `SELECT status || ' ' || COALESCE(exit_reason, '') || ' ' || COALESCE(node_id, ''), COUNT(*) FROM enrollment GROUP BY 1`)
			err = sqldb.Each(rows, err, func(scan func(...any) error) error {
				var what string
				var n int
				err := scan(&what, &n)
				got[what] = n
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("after %s %s: enrollments (-want +got)\n%s", method, path, d)
			}
		}
		half := settlers / 2
		change(http.MethodPost, "/pause", nil, map[string]int{"paused  a": half, "paused  b": half})
		if n := number(`SELECT COUNT(*) FROM enrollment WHERE left_at < 0 OR left_at IS NULL OR due_at IS NOT NULL`); n > 0 {
			t.Errorf("%d paused enrollments have no time left, or are due", n)
		}
		change(http.MethodPost, "/resume", nil, map[string]int{"active  a": half, "active  b": half})
		if n := number(fmt.Sprintf(`SELECT COUNT(*) FROM enrollment WHERE left_at IS NOT NULL OR due_at IS NULL OR timer_at < %d`, time.Now().AddDate(0, 11, 0).UnixMicro())); n > 0 {
			t.Errorf("%d resumed enrollments do not wait for the rest of their year", n)
		}
		e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences/"+seq+"/pause", nil)
		change(http.MethodPut, "/graph", map[string]any{"entry_node_id": "a", "nodes": []any{node("a", "wait", wait52)}, "edges": []any{}},
			map[string]int{"paused  a": half, "exited node_removed ": half})
		change(http.MethodPost, "/archive", nil, map[string]int{"exited sequence_archived ": half, "exited node_removed ": half})
		for text, want := range map[string]int{
			`SELECT COUNT(*) FROM journal WHERE type = 'sequence_exited'`:                   settlers,
			`SELECT COUNT(DISTINCT contact_id) FROM journal WHERE type = 'sequence_exited'`: settlers,
			`SELECT exited FROM sequence_count WHERE node_id = ''`:                          settlers,
		} {
			if got := number(text); got != want {
				t.Errorf("%s: %d, want %d", text, got, want)
			}
		}
		t.Logf("killed %d times while enrollments were behind", kills)
		if kills == 0 {
			t.Error("no page was interrupted")
		}
	})
}

// settle stores enrollments that wait for a year, half of them at each node of a sequence.
func settle(t *testing.T, db *sqldb.DB, seq string) {
	t.Helper()
	q, _ := id.Parse[id.Sequence](seq)
	now := time.Now()
	end := now.AddDate(1, 0, 0).UnixMicro()
	var tenant id.Tenant
	if err := db.QueryRow(t.Context(), `SELECT tenant_id FROM sequence`).Scan(&tenant); err != nil {
		t.Fatal(err)
	}
	rows := db.Table("id UUID", "sequence_id UUID", "contact_id UUID", "status TEXT", "node_id TEXT", "arrived BOOLEAN", "entered_at BIGINT", "node_entered_at BIGINT", "due_at BIGINT", "timer_at BIGINT")
	for i := range settlers {
		rows.Add(id.New[id.Enrollment](), q, id.New[id.Contact](), "active", []string{"a", "b"}[i%2], true, now.UnixMicro(), now.UnixMicro(), end, end)
	}
	err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO sequence_count (tenant_id, sequence_id, node_id, entered) VALUES ($1, $2, '', $3)`, tenant, q, settlers)
		if err != nil {
			return err
		}
		return rows.Load(t.Context(), tx, "enrollment", tenant)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// celebrators is how many contacts reach a date while the program is killed.
const celebrators = 6000

// TestKilledProcessesFireEachDateTriggerOnce kills the program while it reads the dates of contacts, and again while
// all of them are due.
func TestKilledProcessesFireEachDateTriggerOnce(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 5))
		p, ready, _ := e2etest.StartWith(t, &harness.Program{Env: []string{"PACKETBOAT_NODE_LEASE=" + nodeLease.String()}}, address)
		db := e2etest.Database(t, p)
		defer db.Close()
		if err := harness.Seed(t.Context(), db, ready.List, celebrators, "example.org"); err != nil {
			t.Fatal(err)
		}
		number := func(text string) (n int) {
			t.Helper()
			if err := db.QueryRow(t.Context(), text).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		kill := func() {
			t.Helper()
			e2etest.Wait(t, time.Duration(random.IntN(100))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		seq := e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences", map[string]any{"name": "Anniversary", "allow_reentry": true, "entry_trigger": map[string]any{
			"trigger_type": "date", "trigger_config": map[string]any{
				"field": "created_at", "offset": map[string]any{"amount": 1, "unit": "week", "direction": "after"},
			},
		}})["id"].(string)
		e2etest.Must(t, ready.Owner, http.MethodPut, "/sequences/"+seq+"/graph", map[string]any{
			"entry_node_id": "tag", "nodes": []any{map[string]any{"id": "tag", "type": "tag", "config": map[string]any{"action": "add", "tags": []string{"old"}}}}, "edges": []any{},
		})
		e2etest.Must(t, ready.Owner, http.MethodPost, "/sequences/"+seq+"/activate", nil)
		kill()
		n := e2etest.Eventually(t, func() (int, bool) {
			n := number(`SELECT COUNT(*) FROM date_due WHERE due_at IS NOT NULL`)
			return n, n >= celebrators && number(`SELECT COUNT(*) FROM date_watch WHERE state = 'ready'`) == 1
		})
		people := number(`SELECT COUNT(*) FROM contact`)
		if n != people {
			t.Fatalf("the dates of %d contacts are to come, want %d", n, people)
		}
		// A week passes.
		week := (7 * 24 * time.Hour).Microseconds()
		err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
			if _, err := tx.Exec(t.Context(), `UPDATE contact SET created_at = created_at - $1`, week); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE date_due SET value = value - $1, due_at = due_at - $1`, week)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			for number(`SELECT COUNT(*) FROM journal WHERE type = 'date_reached'`) < i*people/6 {
				e2etest.Wait(t, 5*time.Millisecond)
			}
			kill()
			t.Logf("%d of %d fired, %d enrolled", number(`SELECT COUNT(*) FROM journal WHERE type = 'date_reached'`), people, number(`SELECT COUNT(*) FROM enrollment`))
		}
		e2etest.Eventually(t, func() (bool, bool) {
			return true, number(`SELECT COUNT(*) FROM enrollment WHERE status = 'completed'`) >= people
		})
		for text, want := range map[string]int{
			`SELECT COUNT(*) FROM date_due WHERE due_at IS NOT NULL`:                       0,
			`SELECT COUNT(*) FROM journal WHERE type = 'date_reached'`:                     people,
			`SELECT COUNT(*) FROM enrollment`:                                              people,
			`SELECT COUNT(DISTINCT contact_id) FROM enrollment WHERE status = 'completed'`: people,
			`SELECT COUNT(*) FROM journal WHERE type = 'tag_added' AND name = 'old'`:       people,
		} {
			if got := number(text); got != want {
				t.Errorf("%s: %d, want %d", text, got, want)
			}
		}
	})
}
