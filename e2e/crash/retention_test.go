package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/e2e/harness"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const (
	keptPeople = 100
	keptHits   = 30 // of each message
	keptEvents = 4000
	keptCalls  = 3000
	longAgo    = 800 * 24 * time.Hour // longer than anything is kept by default
	recently   = 10 * 24 * time.Hour
)

// TestKilledProcessesDeleteOnlyWhatIsDue kills the program with SIGKILL while it deletes opens and
// clicks, journal entries and webhook deliveries by age. Nothing that is not due is missing, sums agree
// with a recount after each kill, and in the end all that is due is gone.
func TestKilledProcessesDeleteOnlyWhatIsDue(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		p, _, _ := e2etest.Start(t, address)
		db := e2etest.Database(t, p)
		defer db.Close()
		acme, other := newHistory(t, db, harness.Tenant), newHistory(t, db, "archive")
		for _, h := range []*history{acme, other} {
			h.keep(tenant.Retention{Events: 3650, Engagement: 3650, Deliveries: 400, RawRequests: 400})
			h.fill(longAgo)
		}
		// The journal is searched up to the first entry that is not old.
		acme.exec(`UPDATE journal SET occurred_at = $1 WHERE occurred_at > $1 /* all tenants: what the start recorded */`, sqldb.Micros(time.Now().Add(-longAgo)))
		for _, h := range []*history{acme, other} {
			h.fill(recently)
		}
		if err := harness.Followed(t.Context(), db, "score"); err != nil { // the journal is kept until then
			t.Fatal(err)
		}
		if err := p.Stop(); err != nil {
			t.Fatal(err)
		}
		acme.keep(tenant.DefaultRetention())
		acme.deliveries(longAgo)
		acme.deliveries(recently)
		acme.exec(`UPDATE hit SET ip = '192.0.2.1', net = '192.0.2.0/24', agent = 'Firefox/145.0' WHERE tenant_id = $1`, acme.tenant)
		acme.exec(`DELETE FROM hit_cleared WHERE tenant_id = $1`, acme.tenant)
		due, young, sums := acme.rows(true), acme.rows(false), acme.sums()
		otherOld, otherYoung, otherSums := other.rows(true), other.rows(false), other.sums()

		random := rand.New(rand.NewPCG(rand.Uint64(), 3))
		phases := []func(kept) int{
			func(n kept) int { return n.requests }, func(n kept) int { return n.hits },
			func(n kept) int { return n.calls }, func(n kept) int { return n.entries },
		}
		if _, sqlite := e2etest.SQLiteDir(address); !sqlite { // each kill waits for the end of the leader's lease
			phases = []func(kept) int{phases[1], phases[3]}
		}
		between := 0
		intact := func() {
			t.Helper()
			if got := acme.rows(false); got != young {
				t.Errorf("rows that are not due are %+v, were %+v", got, young)
			}
			if got := acme.sums(); got != sums {
				t.Errorf("the sums are\n%s\nwere\n%s", got, sums)
			}
			old, young := other.rows(true), other.rows(false)
			old.requests = otherOld.requests // no tenant keeps addresses so long
			if old != otherOld || young != otherYoung || other.sums() != otherSums {
				t.Errorf("rows of another tenant are %+v and %+v, were %+v and %+v", old, young, otherOld, otherYoung)
			}
			if out, err := p.Run(t.Context(), "recount", "--check"); err != nil {
				t.Errorf("a recount finds differences: %v\n%s", err, out)
			}
		}
		for _, phase := range phases {
			before := acme.rows(true)
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(e2etest.Patience); phase(acme.rows(true)) == phase(before); e2etest.Wait(t, 5*time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("nothing more is deleted of %+v", before)
				}
			}
			e2etest.Wait(t, time.Duration(random.IntN(60))*time.Millisecond)
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
			left := acme.rows(true)
			if t.Logf("killed when %+v of %+v were left", left, due); phase(left) > 0 {
				between++
			}
			intact()
		}
		if between == 0 {
			t.Error("the process was never killed between two steps")
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := e2etest.Eventually(t, func() (kept, bool) {
			left := acme.rows(true)
			return left, left == kept{}
		})
		if left != (kept{}) {
			t.Errorf("%+v are due and were not deleted", left)
		}
		if err := p.Stop(); err != nil {
			t.Fatal(err)
		}
		intact()
		shrinks(t, db)
	})
}

// shrinks checks that the documented commands return space to the disk.
func shrinks(t *testing.T, db *sqldb.DB) {
	t.Helper()
	size, command := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`, `VACUUM`
	if db.Dialect() == sqldb.Postgres {
		size, command = `SELECT pg_total_relation_size('hit') + pg_total_relation_size('journal')`, `VACUUM FULL hit, journal`
	}
	bytes := func() (n int64) {
		t.Helper()
		if err := db.QueryRow(t.Context(), size+` /* all tenants: sizes */`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := bytes()
	if _, err := db.Exec(t.Context(), command+` /* all tenants */`); err != nil {
		t.Fatal(err)
	}
	after := bytes()
	t.Logf("%s: %d KB, then %d KB", command, before>>10, after>>10)
	if after > before*9/10 {
		t.Errorf("%s left %d of %d bytes", command, after, before)
	}
}

// history is a tenant with sends, hits, events and deliveries of different ages.
type history struct {
	*testing.T
	db       *sqldb.DB
	tenant   id.Tenant
	contacts []id.Contact
	sends    []id.Send
}

func newHistory(t *testing.T, db *sqldb.DB, slug string) *history {
	t.Helper()
	h := &history{T: t, db: db}
	made, err := tenant.BySlug(t.Context(), db, slug)
	if err != nil {
		made, err = tenant.Create(t.Context(), db, slug, slug, "UTC", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	h.tenant = made.ID
	for range keptPeople {
		h.contacts = append(h.contacts, id.New[id.Contact]())
	}
	table := db.Table("id UUID", "n BIGINT")
	for i, c := range h.contacts {
		table.Add(c, i)
	}
	h.exec(`
		INSERT INTO contact (tenant_id, id, email, email_domain, custom_fields, tags, subscriptions, category_subscriptions, global_status,
			do_not_contact, prospect_score, customer_score, created_at, updated_at, search_text)
		SELECT h.tenant_id, v.id, 'p' || v.n || '@example.org', 'example.org', '{}', '[]', '{}', '{}', 'active', FALSE, 0, 0, 1, 1, ''
		FROM `+db.Home(1)+` CROSS JOIN `+table.As("v", 2), table.Args(h.tenant)...)
	_, err = contact.CorrectCounts(t.Context(), db, h.tenant)
	h.must(err)
	return h
}

func (h *history) exec(text string, args ...any) {
	h.Helper()
	if _, err := h.db.Exec(h.Context(), text, args...); err != nil {
		h.Fatal(err)
	}
}

func (h *history) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *history) keep(r tenant.Retention) {
	h.Helper()
	all, err := tenant.ByID(h.Context(), h.db, h.tenant)
	h.must(err)
	all.Settings.Retention = r
	h.must(tenant.SaveSettings(h.Context(), h.db, h.tenant, all.Name, all.Settings, time.Now()))
}

// fill adds a send that ended some time ago, with hits that people made, and events of the same age.
func (h *history) fill(ago time.Duration) {
	h.Helper()
	at := time.Now().Add(-ago).UTC().Truncate(time.Second)
	send := id.New[id.Send]()
	h.sends = append(h.sends, send)
	var messages []outbox.Message
	for i, c := range h.contacts {
		messages = append(messages, outbox.Message{
			ID: id.New[id.Message](), Contact: c, Email: fmt.Sprintf("p%d@example.org", i), Content: id.New[id.Content](), Lane: id.New[id.Lane](), DueAt: at,
		})
	}
	h.must(h.db.InTx(h.Context(), func(tx *sqldb.DB) error {
		if err := outbox.Create(h.Context(), tx, outbox.Send{Tenant: h.tenant, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, at); err != nil {
			return err
		}
		if _, err := outbox.AddMessages(h.Context(), tx, h.tenant, send, messages); err != nil {
			return err
		}
		return outbox.Start(h.Context(), tx, h.tenant, send, at)
	}))
	node := &outbox.Node{DB: h.db, Owner: send.String()}
	h.must(node.Renew(h.Context(), at.Add(time.Hour)))
	items, err := node.Claim(h.Context(), h.tenant, send, len(messages), at)
	h.must(err)
	var results []outbox.Result
	for _, it := range items {
		results = append(results, outbox.Result{Item: it, State: outbox.Delivered, At: at})
	}
	_, err = node.Commit(h.Context(), results, nil, at)
	h.must(err)
	h.exec(`UPDATE send SET sealed = TRUE, phase = 'done' WHERE tenant_id = $1`, h.tenant)

	h.must(h.db.InTx(h.Context(), func(tx *sqldb.DB) error {
		var hits []track.Hit
		var ids []id.Message
		for i, m := range messages {
			ids = append(ids, m.ID)
			for n := range keptHits {
				hit := track.Hit{
					Tenant: h.tenant, Message: m.ID, At: at.Add(time.Hour + time.Duration(n)*time.Minute), Method: "GET",
					Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", IP: fmt.Sprintf("192.0.2.%d", i+1),
				}
				if n%5 == 0 {
					hit.Click, hit.URL = true, "https://example.org/a"
				}
				hits = append(hits, hit)
			}
		}
		if err := track.Record(h.Context(), tx, hits); err != nil {
			return err
		}
		found, err := track.LoadEvidence(h.Context(), tx, h.tenant, ids)
		if err != nil {
			return err
		}
		for i := range found.Hits {
			found.Hits[i].Class, found.Hits[i].Rule = track.Human, "G2"
		}
		return found.ApplyVerdicts(h.Context(), found.Hits)
	}))
	var events []event.Input
	for i := range keptEvents {
		events = append(events, event.Input{Name: "order_placed", Contact: h.contacts[i%len(h.contacts)], OccurredAt: at})
	}
	for from := 0; from < len(events); from += event.MaxBatch {
		_, err := event.Record(h.Context(), h.db, h.tenant, events[from:from+event.MaxBatch], at)
		h.must(err)
	}
}

// deliveries adds deliveries of webhooks from some time ago.
func (h *history) deliveries(ago time.Duration) {
	h.Helper()
	at := time.Now().Add(-ago)
	calls := h.db.Table("id UUID")
	for range keptCalls {
		calls.Add(id.Made[id.Delivery](at))
	}
	h.exec(`
		INSERT INTO webhook_delivery (tenant_id, id, endpoint_id, event_at, created_at, status, event_type, body)
		SELECT h.tenant_id, v.id, `+h.db.Param(2, "UUID")+`, `+h.db.Param(3, "BIGINT")+`, `+h.db.Param(3, "BIGINT")+`, 'delivered', 'event', '{}'
		FROM `+h.db.Home(1)+` CROSS JOIN `+calls.As("v", 4), calls.Args(h.tenant, id.New[id.Webhook](), sqldb.Micros(at))...)
}

// kept are numbers of rows.
type kept struct{ hits, requests, entries, calls int }

// rows counts the rows from before 400 days ago, or those since then.
func (h *history) rows(old bool) (n kept) {
	h.Helper()
	is := ">="
	if old {
		is = "<"
	}
	err := h.db.QueryRow(h.Context(), `
		SELECT (SELECT COUNT(*) FROM hit WHERE tenant_id = $1 AND at `+is+` $2), (SELECT COUNT(*) FROM hit WHERE tenant_id = $1 AND at `+is+` $2 AND ip <> ''),
			(SELECT COUNT(*) FROM journal WHERE tenant_id = $1 AND type IN ('event', 'email_opened', 'email_clicked', 'email_delivered') AND occurred_at `+is+` $2),
			(SELECT COUNT(*) FROM webhook_delivery WHERE tenant_id = $1 AND created_at `+is+` $2) /* reads the tenant: a test */`,
		h.tenant, sqldb.Micros(time.Now().Add(-400*24*time.Hour))).Scan(&n.hits, &n.requests, &n.entries, &n.calls)
	h.must(err)
	return n
}

// sums returns what reports show of all sends.
func (h *history) sums() string {
	h.Helper()
	var b strings.Builder
	for _, send := range h.sends {
		p, err := outbox.Load(h.Context(), h.db, h.tenant, send)
		h.must(err)
		s, err := track.LoadSums(h.Context(), h.db, h.tenant, send)
		h.must(err)
		links, err := track.LoadLinks(h.Context(), h.db, h.tenant, send)
		h.must(err)
		times, err := track.LoadTimes(h.Context(), h.db, h.tenant, send)
		h.must(err)
		fmt.Fprintf(&b, "%+v\n%+v\n%v\n%v\n", p.Sums, s, links, times)
	}
	return b.String()
}
