package outbox

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// line is an open send whose messages are claimed in order.
type line struct {
	*testing.T
	db     *sqldb.DB
	tenant id.Tenant
	send   id.Send
	node   *Node
	noon   time.Time
}

func newLine(t *testing.T, db *sqldb.DB, n int) line {
	t.Helper()
	l := line{t, db, idtest.Tenant(), id.New[id.Send](), &Node{DB: db, Owner: id.NewText()}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	if err := db.InTx(t.Context(), func(tx *sqldb.DB) error {
		return Create(t.Context(), tx, Send{Tenant: l.tenant, ID: l.send, Source: FromBroadcast(id.New[id.Broadcast]())}, Terms{}, l.noon)
	}); err != nil {
		t.Fatal(err)
	}
	l.put(n, l.noon)
	if err := Start(t.Context(), db, l.tenant, l.send, l.noon); err != nil {
		t.Fatal(err)
	}
	if err := l.node.Renew(t.Context(), l.noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l line) put(n int, due time.Time) {
	l.Helper()
	list := make([]Message, n)
	for i := range list {
		list[i] = Message{Contact: id.New[id.Contact](), Email: "x@example.org", Content: idtest.Named[id.Content]("content"),
			Identity: idtest.Named[id.Identity]("identity"), Lane: idtest.Named[id.Lane]("lane"), DueAt: due}
	}
	if added, err := AddMessages(l.Context(), l.db, l.tenant, l.send, list); err != nil || added != n {
		l.Fatalf("AddMessages = %d, %v", added, err)
	}
}

func (l line) ready() Ready {
	l.Helper()
	all, err := ReadySends(l.Context(), l.db)
	i := slices.IndexFunc(all, func(r Ready) bool { return r.Tenant == l.tenant })
	if err != nil || i < 0 {
		l.Fatalf("ReadySends = %v, %v", all, err)
	}
	return all[i]
}

func (l line) claim(n int, now time.Time) []Item {
	l.Helper()
	items, err := l.node.Claim(l.Context(), l.tenant, l.send, n, now)
	if err != nil {
		l.Fatal(err)
	}
	return items
}

func (l line) commit(results ...Result) {
	l.Helper()
	if _, err := l.node.Commit(l.Context(), results, nil, l.noon); err != nil {
		l.Fatal(err)
	}
}

// mark is the position before which no message waits, as stored with the send.
func (l line) mark() Position {
	l.Helper()
	due, m, err := lowMark(l.Context(), l.db, l.tenant, l.send)
	if err != nil {
		l.Fatal(err)
	}
	return Position{sqldb.Time(due), m}
}

// Messages that have ended are not read again, and messages that begin to wait before the mark are
// found.
func TestWaitingMessagesAreFoundAfterEndedOnes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := newLine(t, db, 30)
		items := l.claim(20, l.noon)
		for _, it := range items {
			l.commit(Result{Item: it, State: Delivered, At: l.noon})
		}
		l.ready()
		rest := l.claim(20, l.noon)
		if len(rest) != 10 || l.mark().compare(rest[0].position()) != 0 {
			t.Fatalf("%d can be claimed; the mark is %v, want it at the first", len(rest), l.mark())
		}
		// All others wait for tomorrow, and the mark with them.
		tomorrow := l.noon.Add(24 * time.Hour)
		for i := range rest {
			rest[i].DueAt = tomorrow
		}
		if err := l.node.Delay(t.Context(), rest); err != nil {
			t.Fatal(err)
		}
		if r := l.ready(); !r.NextDue.Equal(tomorrow) || !l.mark().DueAt.Equal(tomorrow) {
			t.Fatalf("the next is due at %v, the mark is %v", r.NextDue, l.mark())
		}
		late := l.claim(1, tomorrow)
		l.commit(Result{Item: late[0], State: Queued, Due: l.noon.Add(time.Hour), At: l.noon})
		if r := l.ready(); !r.NextDue.Equal(l.noon.Add(time.Hour)) {
			t.Errorf("with a deferred message: the next is due at %v", r.NextDue)
		}
		l.put(1, l.noon.Add(time.Minute))
		if r := l.ready(); !r.NextDue.Equal(l.noon.Add(time.Minute)) {
			t.Errorf("with an added message: the next is due at %v", r.NextDue)
		}
		if got := l.claim(5, l.noon.Add(2*time.Hour)); len(got) != 2 {
			t.Errorf("%d can be claimed, want 2", len(got))
		}
	})
}

// A ReadySends that read before a message was put does not raise the mark above it.
func TestTheMarkIsNotRaisedFromAnEarlierRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		l := newLine(t, db, 2)
		old := l.ready()
		old.NextDue = l.noon.Add(time.Hour)
		l.put(1, l.noon.Add(-time.Minute))
		if err := old.raiseMark(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := l.claim(5, l.noon); len(got) != 3 {
			t.Errorf("%d can be claimed, want 3", len(got))
		}
	})
}

// No index of outbox contains a column that a result changes, except for the lane in one, which
// usually stays the same.
func TestResultsChangeNoIndexedColumn(t *testing.T) {
	t.Parallel()
	db := dbtest.Postgres(t)
	rows, err := db.Query(t.Context(), `SELECT indexdef FROM pg_indexes WHERE tablename = 'outbox' AND schemaname = current_schema() ORDER BY 1`)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if err != nil {
		t.Fatal(err)
	}
	prefix := regexp.MustCompile(`CREATE (UNIQUE )?INDEX (\w+) ON \S+ USING btree `)
	for i, def := range list {
		list[i] = prefix.ReplaceAllString(def, "$2 ")
	}
	slices.Sort(list)
	want := []string{
		"outbox_contact (tenant_id, send_id, contact_id, visit) WITH (deduplicate_items=off)",
		"outbox_due (tenant_id, send_id, due_at, id) WITH (deduplicate_items=off)",
		"outbox_pkey (tenant_id, id) WITH (deduplicate_items=off)",
		"outbox_rank (tenant_id, send_id, lane_id, rank, id) WITH (deduplicate_items=off) WHERE (rank IS NOT NULL)",
		"outbox_recipient (tenant_id, contact_id)",
	}
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "='off'", "=off")
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("the indexes of outbox differ:\n%s", diff)
	}
}
