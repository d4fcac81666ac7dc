package endpoint_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const key = "Idempotency-Key: order_2026-03"

func TestARepeatedKeyReplaysTheFirstAnswer(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, options{db: db})
		post := func(tenant, body string, header ...string) reply {
			return s.do("POST /t/"+tenant+"/api/things", body, append(header, "X-API-Key: "+writer)...)
		}
		first := post("acme", `{"name": "one"}`, key)
		if first.status != 201 || first.header.Get("Idempotency-Replay") != "" {
			t.Fatalf("first = %d %v", first.status, first.header)
		}
		for _, body := range []string{`{"name": "one"}`, `{"name": "two"}`, `{"name": 5}`, "garbage"} {
			got := post("acme", body, key)
			if got.status != 201 || got.body != first.body || got.header.Get("Idempotency-Replay") != "true" || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("repeat with %s = %d %s %v, want the first answer", body, got.status, got.body, got.header)
			}
		}
		if got := post("other", `{"name": "one"}`, key); got.body == first.body || got.header.Get("Idempotency-Replay") != "" {
			t.Error("a key of one tenant answers another")
		}
		if got := post("acme", `{"name": "one"}`, "Idempotency-Key: other_key"); got.body == first.body {
			t.Error("another key answers the same")
		}
		for range 2 { // a key that breaks the pattern is ignored
			if got := post("acme", `{"name": "one"}`, "Idempotency-Key: short"); got.status != 201 || got.header.Get("Idempotency-Replay") != "" {
				t.Errorf("bad key = %d %v", got.status, got.header)
			}
		}
		s.pass(24*time.Hour - time.Second)
		if got := post("acme", `{"name": "one"}`, key); got.body != first.body {
			t.Error("the key is forgotten before a day is over")
		}
		s.pass(2 * time.Second)
		if got := post("acme", `{"name": "one"}`, key); got.status != 201 || got.body == first.body {
			t.Error("the key is not forgotten after a day")
		}
		if s.created != 6 {
			t.Errorf("%d things were created, want 6", s.created)
		}
	})
}

func TestAFailureReleasesTheKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, options{db: db})
		post := func(body string) reply { return s.do("POST /t/acme/api/things", body, key, "X-API-Key: "+writer) }
		for body, want := range map[string]int{`{"name": ""}`: 400, `{"name": "taken"}`: 409, `nonsense`: 400} {
			if got := post(body); got.status != want {
				t.Errorf("%s = %d, want %d", body, got.status, want)
			}
		}
		for _, hook := range []func(context.Context) error{
			func(context.Context) error { return errors.New("a bug") },
			func(context.Context) error { panic("a worse bug") },
		} {
			s.hook = hook
			if got := post(`{"name": "x"}`); got.status != 500 {
				t.Errorf("a bug = %d, want 500", got.status)
			}
		}
		s.hook = nil
		if got := post(`{"name": "x"}`); got.status != 201 || got.header.Get("Idempotency-Replay") != "" {
			t.Errorf("after failures = %d %s, want a fresh success", got.status, got.body)
		}
	})
}

func TestConcurrentRequestsWithOneKeyCreateOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		// Two routers on one database behave like two processes.
		shops := []*server{newServer(t, options{db: db}), newServer(t, options{db: db})}
		replies := make([]reply, 8)
		var wg sync.WaitGroup
		for i := range replies {
			wg.Go(func() {
				replies[i] = shops[i%2].do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer)
			})
		}
		wg.Wait()
		fresh := 0
		for _, r := range replies {
			if r.status != 201 || r.body != replies[0].body {
				t.Errorf("answer = %d %s, want 201 and the same body for all", r.status, r.body)
			}
			if r.header.Get("Idempotency-Replay") == "" {
				fresh++
			}
		}
		if n := shops[0].created + shops[1].created; n != 1 || fresh != 1 {
			t.Errorf("%d things created and %d fresh answers, want 1 and 1", n, fresh)
		}
	})
}

func TestTheSecondGoesAheadWhenTheFirstFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, options{db: db})
		begun, fail := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s.hook = func(context.Context) error {
			var err error
			once.Do(func() {
				close(begun)
				<-fail
				err = errors.New("the first fails")
			})
			return err
		}
		post := func() reply {
			return s.do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer)
		}
		var first, second reply
		var wg sync.WaitGroup
		wg.Go(func() { first = post() })
		<-begun
		wg.Go(func() { second = post() })
		close(fail)
		wg.Wait()
		if first.status != 500 || second.status != 201 || second.header.Get("Idempotency-Replay") != "" {
			t.Errorf("first = %d, second = %d %v; want 500 and a fresh 201", first.status, second.status, second.header)
		}
	})
}

func TestAnExpiredAttemptIsReplacedAndCannotCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if _, err := db.Exec(t.Context(), `CREATE TABLE creation (tenant_id INTEGER NOT NULL, who TEXT NOT NULL)`); err != nil {
			t.Fatal(err)
		}
		create := func(ctx context.Context, who string) error {
			return db.InTx(ctx, func(tx *sqldb.DB) error {
				if _, err := tx.Exec(ctx, `INSERT INTO creation (tenant_id, who) VALUES ($1, $2)`, acme, who); err != nil {
					return err
				}
				return endpoint.Remember(ctx, tx, map[string]string{"who": who})
			})
		}
		slow, quick := newServer(t, options{db: db}), newServer(t, options{db: db})
		begun, wake := make(chan struct{}), make(chan struct{})
		slow.hook = func(ctx context.Context) error {
			close(begun)
			<-wake
			return create(ctx, "slow")
		}
		quick.hook = func(ctx context.Context) error { return create(ctx, "quick") }
		post := func(s *server) reply {
			return s.do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer)
		}
		var late reply
		var wg sync.WaitGroup
		wg.Go(func() { late = post(slow) })
		<-begun
		quick.pass(2 * time.Minute) // the lease of the first has expired
		if got := post(quick); got.status != 201 || strings.TrimSpace(got.body) != `{"who":"quick"}` {
			t.Errorf("the second = %d %s, want its own success", got.status, got.body)
		}
		close(wake)
		wg.Wait()
		if late.status != 409 || late.code() != "IDEMPOTENCY_IN_PROGRESS" {
			t.Errorf("the first, waking = %d %s, want 409", late.status, late.body)
		}
		var n int
		if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM creation WHERE tenant_id = $1`, acme).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d creations, %v; want 1", n, err)
		}
		if got := post(slow); got.status != 201 || strings.TrimSpace(got.body) != `{"who":"quick"}` {
			t.Errorf("a repeat = %d %s, want the replay", got.status, got.body)
		}
	})
}

func TestWaitingForAnotherAttemptIsBounded(t *testing.T) {
	t.Parallel()
	db := dbtest.One(t)
	s := newServer(t, options{db: db})
	if _, err := db.Exec(t.Context(), `INSERT INTO idempotency (tenant_id, key, holder, lease_until, expires_at) VALUES ($1, 'order_2026-03', 'x', $2, $2)`,
		acme, sqldb.Micros(s.now.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	s.router.SetKeyWait(100 * time.Millisecond)
	got := s.do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer)
	if got.status != 409 || got.code() != "IDEMPOTENCY_IN_PROGRESS" {
		t.Errorf("answer = %d %s", got.status, got.body)
	}
}

// A request whose process died after it had begun to have an effect is not repeated while its key is stored.
// Until its lease ends it counts as running, since it may be.
func TestAnInterruptedRequestIsNotRepeated(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		dying, living := newServer(t, options{db: db}), newServer(t, options{db: db})
		living.router.SetKeyWait(100 * time.Millisecond)
		begun, end := make(chan struct{}), make(chan struct{})
		dying.hook = func(ctx context.Context) error {
			err := db.InTx(ctx, func(tx *sqldb.DB) error { return endpoint.Begin(ctx, tx) })
			close(begun)
			<-end
			return err
		}
		post := func(s *server) reply {
			return s.do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer)
		}
		var wg sync.WaitGroup
		var first reply
		wg.Go(func() { first = post(dying) })
		<-begun
		if got := post(living); got.status != 409 || strings.Contains(got.body, "interrupted") {
			t.Errorf("while it may be running: %d %s", got.status, got.body)
		}
		living.pass(2 * time.Minute)
		for range 2 {
			if got := post(living); got.status != 409 || got.code() != "IDEMPOTENCY_IN_PROGRESS" || !strings.Contains(got.body, `"reason":"interrupted"`) {
				t.Errorf("after its lease: %d %s", got.status, got.body)
			}
		}
		if living.created > 0 {
			t.Error("the request was repeated")
		}
		close(end) // it was only slow
		wg.Wait()
		if got := post(living); first.status != 201 || got.status != 201 || got.body != first.body {
			t.Errorf("the slow request = %d %s, a repetition %d %s", first.status, first.body, got.status, got.body)
		}
		living.pass(24 * time.Hour)
		if got := post(living); got.status != 201 || living.created != 1 {
			t.Errorf("after a day: %d %s", got.status, got.body)
		}
	})
}

// A request that fails after it has begun releases its key, as any failure does.
func TestABegunRequestThatFailsReleasesItsKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, options{db: db})
		fail := errors.New("refused by the relay")
		s.hook = func(ctx context.Context) error { return errors.Join(endpoint.Begin(ctx, db), fail) }
		post := func() reply { return s.do("POST /t/acme/api/things", `{"name": "one"}`, key, "X-API-Key: "+writer) }
		if got := post(); got.status != 500 {
			t.Errorf("the failure = %d", got.status)
		}
		if fail = nil; post().status != 201 || s.created != 1 {
			t.Errorf("after it, %d things were created", s.created)
		}
	})
}
