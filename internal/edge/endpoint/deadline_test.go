package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// reason returns details.reason of a refusal.
func (r reply) reason() string {
	e, _ := r.json["error"].(map[string]any)
	d, _ := e["details"].(map[string]any)
	text, _ := d["reason"].(string)
	return text
}

func wantDeadline(t *testing.T, what string, got reply) {
	t.Helper()
	if got.status != 503 || got.code() != "UNAVAILABLE" || got.reason() != "deadline" {
		t.Errorf("%s: %d %s, want 503 UNAVAILABLE with the reason deadline", what, got.status, got.body)
	}
}

func TestARequestThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{timeout: time.Millisecond})
	s.hook = func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("ERROR: canceling statement due to user request (SQLSTATE 57014)")
	}
	wantDeadline(t, "an operation", s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer))
	s.hook = func(ctx context.Context) error {
		<-ctx.Done()
		return errTaken
	}
	if got := s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer); got.code() != "DUPLICATE_NAME" {
		t.Errorf("an operation that came to an end: %s, want its own fault", got.body)
	}
}

func TestADatabaseQueryEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, options{db: db, timeout: 50 * time.Millisecond})
		s.hook = func(ctx context.Context) error {
			return db.QueryRow(ctx, `
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
				SELECT COUNT(*) FROM n`).Scan(new(int))
		}
		wantDeadline(t, "an endless query", s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer))
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("afterwards the database says %v", err)
		}
	})
}

func TestABodyThatDoesNotArriveIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{timeout: 50 * time.Millisecond})
	server := httptest.NewServer(s.router)
	t.Cleanup(server.Close)
	u, _ := url.Parse(server.URL)
	for _, begin := range []string{
		"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{",
		"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"POST /t/acme/api/things HTTP/1.1\r\nHost: x\r\nX-API-Key: " + writer + "\r\nContent-Length: 60000\r\n\r\n{",
	} {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, begin); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn) // until the server closes it
		if err != nil {
			t.Fatal(err)
		}
		if text := string(answer); !strings.HasPrefix(text, "HTTP/1.1 503 ") || !strings.Contains(text, `"reason":"deadline"`) {
			t.Errorf("%q: answered\n%s", begin, text)
		}
	}
}

// The deadline is removed once the body is complete: the server reads on to detect
// that a caller disconnects, and would report the deadline as that.
func TestTheDeadlineOfABodyEndsWithIt(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{timeout: time.Hour})
	var during []time.Time
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	s.hook = func(ctx context.Context) error {
		during = w.set
		if until, ok := ctx.Deadline(); !ok || !w.set[0].Equal(until) {
			t.Errorf("the request ends at %v, its body at %v", until, w.set[0])
		}
		return nil
	}
	req := httptest.NewRequest("POST", "/t/acme/api/things", iotest.OneByteReader(strings.NewReader(`{"name": "x"}`)))
	req.Header.Set("X-API-Key", writer)
	s.router.ServeHTTP(w, req)
	if w.Code != 201 || len(during) != 2 || !during[1].IsZero() {
		t.Errorf("%d; deadlines %v, want one and then none\n%s", w.Code, during, s.log)
	}
}

// deadlines records the read deadlines that are set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func TestADatabaseThatHangsIsADeadline(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		if !strings.HasPrefix(address, "postgres") {
			return // SQLite has no server that can hang
		}
		cable, db := openThroughProxy(t, address)
		defer cable.close()
		s := newServer(t, options{db: db, timeout: 200 * time.Millisecond})
		s.hook = func(ctx context.Context) error {
			return db.InTx(ctx, func(tx *sqldb.DB) error {
				cable.freeze()
				_, err := tx.Exec(ctx, `SELECT 1`)
				return err
			})
		}
		wantDeadline(t, "while it works", s.do("POST /t/acme/api/things", `{"name": "x"}`, key, "X-API-Key: "+writer))
		cable.freeze() // the first request may have ended before
		s.hook = func(ctx context.Context) error { return db.Ping(ctx) }
		wantDeadline(t, "when it hangs already", s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer))
	})
}

func TestTheDeadlineOfAnOperationIsReported(t *testing.T) {
	t.Parallel()
	s := newServer(t, options{})
	s.hook = func(context.Context) error { return fault.ErrDeadline.Because(errors.New("10 s")) }
	wantDeadline(t, "an evaluation", s.do("POST /t/acme/api/things", `{"name": "x"}`, "X-API-Key: "+writer))
}
